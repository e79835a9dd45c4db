// SPDX-License-Identifier: MIT OR Apache-2.0
//! Debug groups of command buffers.

use windlass_hal::{Code, Command, DebugGroup};

use super::command_buffer::execute;
use crate::{
    check::{ensure_eq, names, refused, same_bytes, same_items},
    context::Context,
    outcome::Outcome,
};

suite! { "debug_group";
    nests [CommandBuffers]: "Groups nest to any depth and change nothing.";
    keeps_what_tools_show [CommandBuffers]: "A group keeps its name, colour and source location.";
    orders_nothing [CommandBuffers]: "A group orders none of its commands.";
    replayed_many_times [CommandBuffers]: "A command buffer with groups may be submitted again and again.";
    unbalanced_refused [CommandBuffers]: "A recording with an open group cannot be finished, and the error names the group.";
    end_without_begin_refused [CommandBuffers]: "Closing a group that is not open is FAILED_PRECONDITION, and records nothing.";
}

fn nests(ctx: &Context) -> Outcome {
    let buffer = ctx.filled(65, 0)?;
    let mut recorder = ctx.device().record()?;
    for depth in 0..65 {
        recorder.begin_debug_group(format!("depth {depth}").as_str());
        recorder.fill(&buffer.subspan(depth, 1)?, depth as u8 + 1)?;
    }
    (0..65).try_for_each(|_| recorder.end_debug_group())?;
    recorder.begin_debug_group("");
    recorder.end_debug_group()?;
    execute(ctx, &recorder.finish()?, [])?;
    let expected: Vec<u8> = (1..=65).collect();
    same_bytes(&ctx.download(&buffer)?, &expected, "the bytes filled at each depth")
}

fn keeps_what_tools_show(ctx: &Context) -> Outcome {
    let given = [
        DebugGroup::from("plain"),
        DebugGroup::new("ünusual \0 text").color([1, 2, 3, 4]),
        DebugGroup::new("placed").color([0xff; 4]).location("model.mlir", 17),
    ];
    let mut recorder = ctx.device().record()?;
    for group in &given {
        recorder.begin_debug_group(group.clone());
        recorder.end_debug_group()?;
    }
    let commands = recorder.finish()?;
    let kept: Vec<DebugGroup> = commands
        .list()
        .commands()
        .filter_map(|command| match command {
            Command::BeginDebugGroup(group) => Some(group.clone()),
            _ => None,
        })
        .collect();
    same_items(&kept, &given, "the recorded groups")?;
    execute(ctx, &commands, [])
}

fn orders_nothing(ctx: &Context) -> Outcome {
    let buffer = ctx.filled(8, 0)?;
    let mut recorder = ctx.device().record()?;
    recorder.fill(&buffer.subspan(0, 4)?, 1_u8)?;
    recorder.begin_debug_group("a group is no barrier");
    recorder.fill(&buffer.subspan(4, 4)?, 1_u8)?;
    recorder.end_debug_group()?;
    let commands = recorder.finish()?;
    same_items(&commands.list().predecessors(), &[0; 4], "the number of commands before each")?;
    execute(ctx, &commands, [])
}

fn replayed_many_times(ctx: &Context) -> Outcome {
    let buffer = ctx.filled(8, 0)?;
    let mut recorder = ctx.device().record()?;
    recorder.begin_debug_group(DebugGroup::new("again").color([9; 4]));
    recorder.fill(&buffer, 3_u8)?;
    recorder.end_debug_group()?;
    let commands = recorder.finish()?;
    (0..10).try_for_each(|_| execute(ctx, &commands, []))?;
    same_bytes(&ctx.download(&buffer)?, &[3; 8], "the buffer")
}

fn unbalanced_refused(ctx: &Context) -> Outcome {
    let mut recorder = ctx.device().record()?;
    recorder.begin_debug_group("closed");
    recorder.end_debug_group()?;
    recorder.begin_debug_group("outer");
    recorder.begin_debug_group(DebugGroup::new("inner").location("a.rs", 3));
    let error = refused(recorder.finish(), Code::FailedPrecondition, "a recording with two open groups")?;
    names(&error, "inner (a.rs:3)")
}

fn end_without_begin_refused(ctx: &Context) -> Outcome {
    let mut recorder = ctx.device().record()?;
    refused(recorder.end_debug_group(), Code::FailedPrecondition, "closing a group that is not open")?;
    recorder.begin_debug_group("one");
    recorder.end_debug_group()?;
    refused(recorder.end_debug_group(), Code::FailedPrecondition, "closing a group twice")?;
    ensure_eq!(recorder.finish()?.list().commands().len(), 2, "commands of the recording");
    Ok(())
}
