// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events of command buffers: barriers in two halves.

use windlass_hal::{Code, Command, Fence, Recorder, Semaphore};

use super::command_buffer::{Form, Recording, execute};
use crate::{
    check::{ensure_eq, names, refused, same_bytes, same_items},
    context::Context,
    outcome::{Outcome, Stop},
};

suite! { "command_buffer_event";
    #[smoke] orders_direct [CommandBuffers] = |ctx| orders(ctx, Form::Direct), "Commands before a signal are done before commands after the wait start.";
    #[smoke] orders_table [CommandBuffers] = |ctx| orders(ctx, Form::Table), "Events order commands on ranges of a table.";
    both_directions [CommandBuffers]: "An event orders reads before writes as well as writes before reads.";
    waits_for_several [CommandBuffers]: "One wait for several events orders the commands before each of their signals.";
    one_signal_many_waits [CommandBuffers]: "One signal serves any number of waits.";
    signal_covers_earlier_waits [CommandBuffers]: "Order is transitive: a signal covers the commands that earlier waits order.";
    signalled_again [CommandBuffers]: "After a reset an event can be signalled anew, and a wait refers to the last signal before it.";
    reset_leaves_earlier_waits [CommandBuffers]: "A reset does not affect waits recorded before it.";
    among_barriers [CommandBuffers]: "Events and barriers of one command buffer work together.";
    chain [CommandBuffers]: "Two hundred events in a row order copies that hand a byte on.";
    submitted_many_times [CommandBuffers]: "Every replay begins with its events unsignalled, in flight at once or in a chain.";
    unused_events [CommandBuffers]: "Events without a signal or without a wait change nothing.";
    unsignalled_refused [CommandBuffers]: "A wait for an event that is not signalled at that point is FAILED_PRECONDITION and records nothing.";
    signalled_twice_refused [CommandBuffers]: "Signalling an event twice without a reset is FAILED_PRECONDITION.";
    foreign_refused [CommandBuffers]: "An event of another recording is INVALID_ARGUMENT.";
    tells_the_order [CommandBuffers]: "The list gives for each command the number of earlier commands that must have completed.";
}

fn orders(ctx: &Context, form: Form) -> Outcome {
    let (a, b, c) = (ctx.filled(64, 0)?, ctx.filled(64, 0)?, ctx.filled(64, 0)?);
    let mut recording = Recording::new(ctx, form)?;
    let [first, second, between] = [&a, &b, &c].map(|buffer| recording.range(buffer));
    let recorder = &mut recording.recorder;
    let event = recorder.event();
    recorder.fill(first.clone(), 7_u8)?;
    recorder.signal_event(event)?;
    recorder.fill(between, 1_u8)?;
    recorder.wait_events(&[event])?;
    recorder.copy(first, second)?;
    recording.run(ctx)?;
    same_bytes(&ctx.download(&b)?, &[7; 64], "the bytes copied after the wait")?;
    same_bytes(&ctx.download(&c)?, &[1; 64], "the bytes filled between signal and wait")
}

fn both_directions(ctx: &Context) -> Outcome {
    let (a, b) = (ctx.filled(64, 3)?, ctx.filled(64, 0)?);
    let mut recorder = ctx.device().record()?;
    let read = recorder.event();
    recorder.copy(&a, &b)?;
    recorder.signal_event(read)?;
    recorder.wait_events(&[read])?;
    recorder.fill(&a, 9_u8)?;
    execute(ctx, &recorder.finish()?, [])?;
    same_bytes(&ctx.download(&b)?, &[3; 64], "the bytes read before the wait")?;
    same_bytes(&ctx.download(&a)?, &[9; 64], "the bytes written after it")
}

fn waits_for_several(ctx: &Context) -> Outcome {
    let (parts, whole) = (ctx.filled(64, 0)?, ctx.filled(64, 0)?);
    let mut recorder = ctx.device().record()?;
    let mut events = Vec::new();
    for part in 0..8 {
        let event = recorder.event();
        recorder.fill(&parts.subspan(8 * part, 8)?, part as u8 + 1)?;
        recorder.signal_event(event)?;
        events.push(event);
    }
    events.reverse();
    recorder.wait_events(&events)?;
    recorder.copy(&parts, &whole)?;
    execute(ctx, &recorder.finish()?, [])?;
    let expected: Vec<u8> = (0..64).map(|at| at / 8 + 1).collect();
    same_bytes(&ctx.download(&whole)?, &expected, "the eight parts")
}

fn one_signal_many_waits(ctx: &Context) -> Outcome {
    let (source, targets) = (ctx.filled(16, 0)?, ctx.filled(64, 0)?);
    let mut recorder = ctx.device().record()?;
    let event = recorder.event();
    recorder.fill(&source, 5_u8)?;
    recorder.signal_event(event)?;
    for target in 0..4 {
        recorder.wait_events(&[event, event])?;
        recorder.copy(&source, &targets.subspan(16 * target, 16)?)?;
    }
    execute(ctx, &recorder.finish()?, [])?;
    same_bytes(&ctx.download(&targets)?, &[5; 64], "the copies after each wait")
}

fn signal_covers_earlier_waits(ctx: &Context) -> Outcome {
    let cells = ctx.filled(4, 0)?;
    let cell = |at| cells.subspan(at, 1);
    let mut recorder = ctx.device().record()?;
    let (one, two) = (recorder.event(), recorder.event());
    recorder.fill(&cell(0)?, 8_u8)?;
    recorder.signal_event(one)?;
    recorder.wait_events(&[one])?;
    recorder.copy(&cell(0)?, &cell(1)?)?;
    recorder.signal_event(two)?;
    recorder.wait_events(&[two])?;
    recorder.copy(&cell(1)?, &cell(2)?)?;
    // Event `two` covers the commands before event `one`, the fill included.
    recorder.fill(&cell(0)?, 1_u8)?;
    execute(ctx, &recorder.finish()?, [])?;
    same_bytes(&ctx.download(&cells)?, &[1, 8, 8, 0], "the cells")
}

fn signalled_again(ctx: &Context) -> Outcome {
    let (cell, log) = (ctx.filled(1, 0)?, ctx.filled(10, 0)?);
    let mut recorder = ctx.device().record()?;
    let (written, read) = (recorder.event(), recorder.event());
    for round in 0..10 {
        if round > 0 {
            recorder.wait_events(&[read])?;
            recorder.reset_event(read)?;
            recorder.reset_event(written)?;
        }
        recorder.fill(&cell, round as u8 + 1)?;
        recorder.signal_event(written)?;
        recorder.wait_events(&[written])?;
        recorder.copy(&cell, &log.subspan(round, 1)?)?;
        recorder.signal_event(read)?;
    }
    execute(ctx, &recorder.finish()?, [])?;
    let expected: Vec<u8> = (1..=10).collect();
    same_bytes(&ctx.download(&log)?, &expected, "the bytes that each round read")
}

fn reset_leaves_earlier_waits(ctx: &Context) -> Outcome {
    let (a, b) = (ctx.filled(64, 0)?, ctx.filled(64, 0)?);
    let mut recorder = ctx.device().record()?;
    let event = recorder.event();
    recorder.fill(&a, 6_u8)?;
    recorder.signal_event(event)?;
    recorder.wait_events(&[event])?;
    recorder.reset_event(event)?;
    recorder.copy(&a, &b)?;
    execute(ctx, &recorder.finish()?, [])?;
    same_bytes(&ctx.download(&b)?, &[6; 64], "the copy after wait and reset")
}

fn among_barriers(ctx: &Context) -> Outcome {
    let (a, b, c) = (ctx.filled(64, 0)?, ctx.filled(64, 0)?, ctx.filled(64, 0)?);
    let mut recorder = ctx.device().record()?;
    let event = recorder.event();
    recorder.fill(&a, 1_u8)?;
    recorder.signal_event(event)?;
    recorder.barrier();
    recorder.copy(&a, &b)?;
    // The signal precedes the barrier, so this wait adds no order to the barrier's.
    recorder.wait_events(&[event])?;
    recorder.barrier();
    recorder.fill(&a, 2_u8)?;
    recorder.reset_event(event)?;
    recorder.signal_event(event)?;
    recorder.wait_events(&[event])?;
    recorder.copy(&a, &c)?;
    execute(ctx, &recorder.finish()?, [])?;
    same_bytes(&ctx.download(&b)?, &[1; 64], "the copy that the barrier orders")?;
    same_bytes(&ctx.download(&c)?, &[2; 64], "the copy that the event orders")
}

/// Hands a byte on from cell to cell, with an event between each two copies.
fn hand_on(recorder: &mut Recorder, cells: &windlass_hal::Buffer) -> Outcome {
    for at in 0..cells.len() - 1 {
        let event = recorder.event();
        recorder.signal_event(event)?;
        recorder.wait_events(&[event])?;
        recorder.copy(&cells.subspan(at, 1)?, &cells.subspan(at + 1, 1)?)?;
    }
    Ok(())
}

fn chain(ctx: &Context) -> Outcome {
    let cells = ctx.filled(201, 0)?;
    let mut recorder = ctx.device().record()?;
    recorder.fill(&cells.subspan(0, 1)?, 0x5a_u8)?;
    hand_on(&mut recorder, &cells)?;
    execute(ctx, &recorder.finish()?, [])?;
    same_bytes(&ctx.download(&cells)?, &[0x5a; 201], "the byte handed on")
}

fn submitted_many_times(ctx: &Context) -> Outcome {
    let mut recorder = ctx.device().record_with_slots(2)?;
    let event = recorder.event();
    let slot = windlass_hal::BufferRef::slot;
    recorder.copy(slot(0, 0, 32), slot(1, 0, 32))?;
    recorder.signal_event(event)?;
    recorder.wait_events(&[event])?;
    recorder.copy(slot(1, 0, 32), slot(1, 32, 32))?;
    let (commands, gate) = (recorder.finish()?, Semaphore::new(0));
    let (mut ends, mut targets) = (Fence::new(), Vec::new());
    for index in 0..24_u8 {
        let (source, target, done) = (ctx.filled(32, index)?, ctx.filled(64, 0xee)?, Semaphore::new(0));
        ctx.queue(index.into())?.execute(
            &[gate.at(1)],
            &[done.at(1)],
            &commands,
            [source, target.clone()],
        )?;
        ends.insert(done.at(1));
        targets.push((index, target));
    }
    gate.signal(1)?;
    ends.wait_blocking(ctx.deadline())?;
    for (index, target) in &targets {
        same_bytes(&ctx.download(target)?, &[*index; 64], &format!("the target of submission {index}"))?;
    }
    let (a, b, step) = (ctx.filled(64, 1)?, ctx.filled(64, 2)?, Semaphore::new(0));
    ctx.queue(0)?.execute(&[], &[step.at(1)], &commands, [a.clone(), b.clone()])?;
    ctx.queue(1)?.execute(&[step.at(1)], &[step.at(2)], &commands, [b, a.clone()])?;
    same_bytes(&ctx.download_after(&step.at(2), &a)?, &[1; 64], "the bytes copied there and back")
}

fn unused_events(ctx: &Context) -> Outcome {
    let buffer = ctx.filled(16, 0)?;
    let mut recorder = ctx.device().record()?;
    let events: Vec<_> = (0..100).map(|_| recorder.event()).collect();
    recorder.signal_event(events[99])?;
    recorder.reset_event(events[0])?;
    recorder.wait_events(&[])?;
    recorder.fill(&buffer, 4_u8)?;
    recorder.signal_event(events[7])?;
    execute(ctx, &recorder.finish()?, [])?;
    same_bytes(&ctx.download(&buffer)?, &[4; 16], "the buffer")
}

fn unsignalled_refused(ctx: &Context) -> Outcome {
    let mut recorder = ctx.device().record()?;
    let (never, reset, good) = (recorder.event(), recorder.event(), recorder.event());
    recorder.signal_event(good)?;
    recorder.signal_event(reset)?;
    recorder.reset_event(reset)?;
    let precondition = Code::FailedPrecondition;
    names(
        &refused(recorder.wait_events(&[never]), precondition, "a wait for an event without a signal")?,
        "event 0",
    )?;
    names(&refused(recorder.wait_events(&[good, reset]), precondition, "a wait after a reset")?, "event 1")?;
    recorder.signal_event(reset)?;
    recorder.wait_events(&[good, reset])?;
    recorder.signal_event(never)?;
    let commands = recorder.finish()?;
    ensure_eq!(commands.list().commands().len(), 6, "commands, without those that were refused");
    execute(ctx, &commands, [])
}

fn signalled_twice_refused(ctx: &Context) -> Outcome {
    let mut recorder = ctx.device().record()?;
    let event = recorder.event();
    recorder.signal_event(event)?;
    refused(recorder.signal_event(event), Code::FailedPrecondition, "a second signal")?;
    recorder.wait_events(&[event])?;
    refused(recorder.signal_event(event), Code::FailedPrecondition, "a second signal after a wait")?;
    recorder.reset_event(event)?;
    recorder.signal_event(event)?;
    execute(ctx, &recorder.finish()?, [])
}

fn foreign_refused(ctx: &Context) -> Outcome {
    let (mut own, mut other) = (ctx.device().record()?, ctx.device().record()?);
    let (mine, event) = (own.event(), other.event());
    other.signal_event(event)?;
    own.signal_event(mine)?;
    refused(own.signal_event(event), Code::InvalidArgument, "a signal of a foreign event")?;
    refused(own.reset_event(event), Code::InvalidArgument, "a reset of a foreign event")?;
    refused(own.wait_events(&[mine, event]), Code::InvalidArgument, "a wait for a foreign event")?;
    ensure_eq!(own.finish()?.list().commands().len(), 1, "commands of the recording");
    Ok(())
}

fn tells_the_order(ctx: &Context) -> Outcome {
    let buffer = ctx.filled(8, 0)?;
    let mut recorder = ctx.device().record()?;
    let (one, two) = (recorder.event(), recorder.event());
    let mut next = 0;
    let mut fill = |recorder: &mut Recorder| -> Outcome {
        next += 1;
        Ok(recorder.fill(&buffer.subspan(next - 1, 1)?, 1_u8)?)
    };
    fill(&mut recorder)?; // 0
    recorder.signal_event(one)?; // 1
    fill(&mut recorder)?; // 2
    recorder.signal_event(two)?; // 3
    recorder.wait_events(&[one])?; // 4
    fill(&mut recorder)?; // 5: after 0
    recorder.wait_events(&[two, one])?; // 6
    fill(&mut recorder)?; // 7: after 0 and 2
    recorder.barrier(); // 8
    fill(&mut recorder)?; // 9: after all of them
    recorder.wait_events(&[one])?; // 10
    fill(&mut recorder)?; // 11
    let commands = recorder.finish()?;
    let list = commands.list();
    let fills = list.commands().zip(list.predecessors());
    let order: Vec<_> = fills
        .filter(|(command, _)| matches!(command, Command::Fill { .. }))
        .map(|(_, before)| before)
        .collect();
    if list.commands().len() != 12 {
        return Err(Stop::fail(format!("{} commands instead of 12", list.commands().len())));
    }
    same_items(&order, &[0, 0, 1, 3, 8, 8], "the number of commands before each fill")
}
