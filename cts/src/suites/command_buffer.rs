// SPDX-License-Identifier: MIT OR Apache-2.0
//! Command buffers: recording, tables, replay. The cases of their dispatches are in `command_buffer_dispatch`.

use windlass_hal::{
    BindingTable, Buffer, BufferParams, BufferRef, BufferUsage, Code, CommandBuffer, Error, Fence, Recorder,
    Semaphore,
};

use crate::{
    check::{ensure, ensure_eq, names, refused, same_bytes},
    context::Context,
    outcome::Outcome,
};

suite! { "command_buffer";
    empty [CommandBuffers]: "An empty command buffer waits and signals.";
    fill_direct [CommandBuffers] = |ctx| fill(ctx, Form::Direct), "Recorded fills touch exactly their direct ranges.";
    fill_table [CommandBuffers] = |ctx| fill(ctx, Form::Table), "Recorded fills touch exactly their ranges of a binding table.";
    update_direct [CommandBuffers] = |ctx| update(ctx, Form::Direct), "Recorded updates write the recorded bytes to direct ranges.";
    update_table [CommandBuffers] = |ctx| update(ctx, Form::Table), "Recorded updates write the recorded bytes to ranges of a table.";
    #[smoke] copy_direct [CommandBuffers] = |ctx| copy(ctx, Form::Direct), "Recorded copies move exactly their direct ranges.";
    #[smoke] copy_table [CommandBuffers] = |ctx| copy(ctx, Form::Table), "Recorded copies move exactly their ranges of a binding table.";
    #[smoke] barriers_order_direct [CommandBuffers] = |ctx| barriers_order(ctx, Form::Direct), "Barriers order the commands before them and after them.";
    barriers_order_table [CommandBuffers] = |ctx| barriers_order(ctx, Form::Table), "Barriers order commands on ranges of a table.";
    many_commands [CommandBuffers]: "A thousand commands with barriers between them run in order.";
    #[smoke] submitted_many_times [CommandBuffers]: "A command buffer may be submitted again and again.";
    in_flight_at_once [CommandBuffers]: "Each in-flight submission of one command buffer uses its own table.";
    table_is_captured [CommandBuffers]: "A submission keeps its table and the table's buffers until it has run.";
    keeps_what_it_recorded [CommandBuffers]: "A command buffer keeps its recorded buffers.";
    submission_keeps_command_buffer [CommandBuffers]: "A submission keeps its command buffer until it has run.";
    slot_ranges [CommandBuffers]: "A slot's offset counts from the bound range, not from its allocation.";
    unused_slots_need_no_binding [CommandBuffers]: "A table may end after the last slot that is used.";
    table_is_checked [CommandBuffers]: "A table with a missing or unfit binding is refused, and signals stay untouched.";
    table_overlap_refused [CommandBuffers]: "A table that makes a copy's ranges overlap is INVALID_ARGUMENT.";
    recording_is_checked [CommandBuffers]: "A command that is refused while recording records nothing.";
    debug_groups [CommandBuffers]: "Debug groups nest, change nothing, and must be balanced.";
    failure_skips_commands [CommandBuffers]: "A command buffer whose wait failed does not run.";
    refers_to_transient_memory [CommandBuffers, Alloca]: "Commands may be recorded over memory of an alloca before the alloca has run.";
    transient_memory_in_a_table [CommandBuffers, Alloca]: "A table may hold memory of an alloca that has not run.";
}

/// The form in which a recording names its buffers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// As buffers.
    Direct,
    /// As slots of a table.
    Table,
}

/// A recording in one of the two forms.
pub(super) struct Recording {
    pub(super) recorder: Recorder,
    form: Form,
    table: Vec<Buffer>,
}

impl Recording {
    pub(super) fn new(ctx: &Context, form: Form) -> Outcome<Self> {
        let recorder = match form {
            Form::Direct => ctx.device().record()?,
            Form::Table => ctx.device().record_with_slots(64)?,
        };
        Ok(Self { recorder, form, table: Vec::new() })
    }

    /// A range in the recording's form. The form with a table uses a new slot for each call.
    pub(super) fn range(&mut self, buffer: &Buffer) -> BufferRef {
        match self.form {
            Form::Direct => BufferRef::from(buffer),
            Form::Table => {
                self.table.push(buffer.clone());
                BufferRef::slot(self.table.len() as u32 - 1, 0, buffer.len())
            }
        }
    }

    pub(super) fn finish(self) -> Outcome<(CommandBuffer, BindingTable)> {
        Ok((self.recorder.finish()?, self.table.into()))
    }

    /// Submits the recording once and waits for it.
    pub(super) fn run(self, ctx: &Context) -> Outcome {
        let (commands, table) = self.finish()?;
        execute(ctx, &commands, table)
    }
}

/// Submits without waits and waits for the end.
pub(super) fn execute(ctx: &Context, commands: &CommandBuffer, table: impl Into<BindingTable>) -> Outcome {
    let done = Semaphore::new(0);
    ctx.queue(0)?.execute(&[], &[done.at(1)], commands, table)?;
    ctx.wait(&done.at(1))
}

fn empty(ctx: &Context) -> Outcome {
    let commands = ctx.device().record()?.finish()?;
    let (gate, done) = (Semaphore::new(0), Semaphore::new(0));
    ctx.queue(0)?.execute(&[gate.at(1)], &[done.at(1)], &commands, [])?;
    ensure_eq!(done.query()?, 0, "the payload before the gate opens");
    gate.signal(1)?;
    ctx.wait(&done.at(1))
}

fn fill(ctx: &Context, form: Form) -> Outcome {
    let buffer = ctx.filled(256, 0xee)?;
    let mut expected = vec![0xee; 256];
    let mut recording = Recording::new(ctx, form)?;
    for (start, end) in [(0, 1), (3, 8), (16, 33), (255, 256)] {
        let range = recording.range(&buffer.subspan(start, end - start)?);
        recording.recorder.fill(range, 0x11_u8)?;
        expected[start as usize..end as usize].fill(0x11);
    }
    let halves = recording.range(&buffer.subspan(34, 6)?);
    recording.recorder.fill(halves, 0x2233_u16)?;
    expected[34..40].copy_from_slice(&[0x33, 0x22].repeat(3));
    let words = recording.range(&buffer.subspan(64, 100)?);
    recording.recorder.fill(words, 0x4455_6677_u32)?;
    expected[64..164].copy_from_slice(&[0x77, 0x66, 0x55, 0x44].repeat(25));
    recording.run(ctx)?;
    same_bytes(&ctx.download(&buffer)?, &expected, "the buffer")
}

fn update(ctx: &Context, form: Form) -> Outcome {
    let mut random = ctx.random();
    let buffer = ctx.filled(200_000, 0xee)?;
    let mut expected = vec![0xee; 200_000];
    let mut recording = Recording::new(ctx, form)?;
    for (start, length) in [(0, 1), (2, 3), (100, 64), (1001, 5000), (10_000, 150_001)] {
        let mut bytes = random.bytes(length);
        let range = recording.range(&buffer.subspan(start as u64, length as u64)?);
        recording.recorder.update(&bytes, range)?;
        expected[start..start + length].copy_from_slice(&bytes);
        // The recording has captured the bytes, so a later change must not matter.
        bytes.fill(0);
    }
    recording.run(ctx)?;
    same_bytes(&ctx.download(&buffer)?, &expected, "the buffer")
}

fn copy(ctx: &Context, form: Form) -> Outcome {
    let bytes = ctx.random().bytes(10_000);
    let (source, target) = (ctx.upload(&bytes)?, ctx.filled(10_000, 0xee)?);
    let mut expected = vec![0xee; 10_000];
    let mut recording = Recording::new(ctx, form)?;
    for (from, to, length) in [(0, 0, 1), (1, 3, 5), (100, 64, 64), (99, 201, 1000), (5000, 4000, 4999)] {
        let a = recording.range(&source.subspan(from as u64, length as u64)?);
        let b = recording.range(&target.subspan(to as u64, length as u64)?);
        recording.recorder.copy(a, b)?;
        expected[to..to + length].copy_from_slice(&bytes[from..from + length]);
    }
    recording.run(ctx)?;
    same_bytes(&ctx.download(&target)?, &expected, "the target")
}

fn barriers_order(ctx: &Context, form: Form) -> Outcome {
    let (a, b, c) = (ctx.filled(64, 0)?, ctx.filled(64, 0)?, ctx.filled(64, 0)?);
    let mut recording = Recording::new(ctx, form)?;
    let [first, second, third] = [&a, &b, &c].map(|buffer| recording.range(buffer));
    let half = recording.range(&c.subspan(0, 32)?);
    let recorder = &mut recording.recorder;
    recorder.fill(first.clone(), 1_u8)?;
    recorder.barrier();
    recorder.copy(first.clone(), second.clone())?;
    recorder.barrier();
    recorder.fill(first.clone(), 2_u8)?;
    recorder.copy(second, third)?;
    recorder.barrier();
    recorder.update(&[9; 32], half)?;
    let (commands, table) = recording.finish()?;
    for _ in 0..10 {
        execute(ctx, &commands, table.clone())?;
        same_bytes(&ctx.download(&a)?, &[2; 64], "the first buffer")?;
        same_bytes(&ctx.download(&b)?, &[1; 64], "the second buffer")?;
        let mut expected = [9; 64];
        expected[32..].fill(1);
        same_bytes(&ctx.download(&c)?, &expected, "the third buffer")?;
    }
    Ok(())
}

fn many_commands(ctx: &Context) -> Outcome {
    let cells = ctx.filled(1001, 0)?;
    let mut recorder = ctx.device().record()?;
    recorder.fill(&cells.subspan(0, 1)?, 0x66_u8)?;
    for cell in 0..1000 {
        recorder.barrier();
        recorder.copy(&cells.subspan(cell, 1)?, &cells.subspan(cell + 1, 1)?)?;
    }
    execute(ctx, &recorder.finish()?, [])?;
    same_bytes(&ctx.download(&cells)?, &[0x66; 1001], "the byte handed on from cell to cell")
}

fn submitted_many_times(ctx: &Context) -> Outcome {
    let (a, b, step) = (ctx.filled(64, 1)?, ctx.filled(64, 2)?, Semaphore::new(0));
    let spare = ctx.filled(64, 0)?;
    let mut recorder = ctx.device().record()?;
    recorder.copy(&a, &spare)?;
    recorder.barrier();
    recorder.copy(&b, &a)?;
    recorder.barrier();
    recorder.copy(&spare, &b)?;
    let swap = recorder.finish()?;
    for round in 0..51 {
        ctx.queue(round as u32)?.execute(&[step.at(round)], &[step.at(round + 1)], &swap, [])?;
    }
    same_bytes(&ctx.download_after(&step.at(51), &a)?, &[2; 64], "the first buffer after 51 swaps")?;
    same_bytes(&ctx.download(&b)?, &[1; 64], "the second buffer after 51 swaps")
}

/// Fills the bound buffer's first half and copies it to the second.
fn doubled(ctx: &Context, byte: u8) -> Outcome<CommandBuffer> {
    let mut recorder = ctx.device().record_with_slots(1)?;
    recorder.fill(BufferRef::slot(0, 0, 32), byte)?;
    recorder.barrier();
    recorder.copy(BufferRef::slot(0, 0, 32), BufferRef::slot(0, 32, 32))?;
    Ok(recorder.finish()?)
}

fn in_flight_at_once(ctx: &Context) -> Outcome {
    let mut recorder = ctx.device().record_with_slots(2)?;
    recorder.copy(BufferRef::slot(0, 0, 64), BufferRef::slot(1, 0, 64))?;
    let (commands, gate) = (recorder.finish()?, Semaphore::new(0));
    let (mut ends, mut targets) = (Fence::new(), Vec::new());
    for index in 0..32_u8 {
        let (source, target, done) = (ctx.filled(64, index)?, ctx.filled(64, 0xee)?, Semaphore::new(0));
        let table = [source, target.clone()];
        ctx.queue(index.into())?.execute(&[gate.at(1)], &[done.at(1)], &commands, table)?;
        ends.insert(done.at(1));
        targets.push((index, target));
    }
    gate.signal(1)?;
    ends.wait_blocking(ctx.deadline())?;
    for (index, target) in targets {
        same_bytes(&ctx.download(&target)?, &[index; 64], &format!("the target of submission {index}"))?;
    }
    Ok(())
}

fn table_is_captured(ctx: &Context) -> Outcome {
    let (commands, gate, done) = (doubled(ctx, 5)?, Semaphore::new(0), Semaphore::new(0));
    let out = ctx.filled(64, 0)?;
    let bound = ctx.device().allocate_device(64)?;
    let mut table = vec![bound];
    ctx.queue(0)?.execute(&[gate.at(1)], &[done.at(1)], &commands, table.clone())?;
    ctx.queue(0)?.copy(&[done.at(1)], &[done.at(2)], &table[0], &out)?;
    table[0] = ctx.filled(64, 9)?;
    gate.signal(1)?;
    same_bytes(&ctx.download_after(&done.at(2), &out)?, &[5; 64], "the buffer of the table as submitted")?;
    same_bytes(&ctx.download(&table[0])?, &[9; 64], "the buffer that took its place afterwards")
}

fn keeps_what_it_recorded(ctx: &Context) -> Outcome {
    let target = ctx.filled(64, 0)?;
    let mut recorder = ctx.device().record()?;
    let source = ctx.filled(64, 3)?;
    recorder.copy(&source, &target)?;
    let commands = recorder.finish()?;
    drop(source);
    // The memory of the dropped handle would be free for these buffers, if it were freed.
    let _others: Vec<_> = (0..16).map(|_| ctx.filled(64, 0xee)).collect::<Outcome<_>>()?;
    execute(ctx, &commands, [])?;
    same_bytes(&ctx.download(&target)?, &[3; 64], "the target")
}

fn submission_keeps_command_buffer(ctx: &Context) -> Outcome {
    let (gate, done, buffer) = (Semaphore::new(0), Semaphore::new(0), ctx.filled(64, 0)?);
    let commands = doubled(ctx, 4)?;
    ctx.queue(0)?.execute(&[gate.at(1)], &[done.at(1)], &commands, [buffer.clone()])?;
    drop(commands);
    gate.signal(1)?;
    same_bytes(&ctx.download_after(&done.at(1), &buffer)?, &[4; 64], "the buffer")
}

fn slot_ranges(ctx: &Context) -> Outcome {
    let buffer = ctx.filled(256, 0xee)?;
    let mut recorder = ctx.device().record_with_slots(1)?;
    recorder.fill(BufferRef::slot(0, 8, 16), 1_u8)?;
    recorder.update(&[2; 4], BufferRef::slot(0, 28, 4))?;
    let commands = recorder.finish()?;
    execute(ctx, &commands, [buffer.subspan(100, 32)?])?;
    execute(ctx, &commands, [buffer.subspan(0, 200)?])?;
    let mut expected = [0xee; 256];
    for start in [0, 100] {
        expected[start + 8..start + 24].fill(1);
        expected[start + 28..start + 32].fill(2);
    }
    same_bytes(&ctx.download(&buffer)?, &expected, "the buffer")
}

fn unused_slots_need_no_binding(ctx: &Context) -> Outcome {
    let mut recorder = ctx.device().record_with_slots(100)?;
    recorder.fill(BufferRef::slot(1, 0, 64), 1_u8)?;
    let commands = recorder.finish()?;
    let (unused, used) = (ctx.filled(64, 0)?, ctx.filled(64, 0)?);
    execute(ctx, &commands, [unused.clone(), used.clone()])?;
    same_bytes(&ctx.download(&unused)?, &[0; 64], "the buffer of the unused slot")?;
    same_bytes(&ctx.download(&used)?, &[1; 64], "the buffer of the used slot")
}

fn table_is_checked(ctx: &Context) -> Outcome {
    let mut recorder = ctx.device().record_with_slots(2)?;
    recorder.fill(BufferRef::slot(0, 0, 64), 1_u32)?;
    recorder.copy(BufferRef::slot(1, 0, 32), BufferRef::slot(0, 64, 32))?;
    let commands = recorder.finish()?;
    let (good, source) = (ctx.filled(96, 7)?, ctx.filled(32, 7)?);
    let limited = |usage| ctx.device().allocate(&BufferParams::device().with_usage(usage), 96);
    let foreign = ctx.open()?.allocate_device(96)?;
    let (queue, done) = (ctx.queue(0)?, Semaphore::new(0));
    let cases: [(&str, Code, Vec<Buffer>); 8] = [
        ("no table", Code::InvalidArgument, vec![]),
        ("a table of one", Code::InvalidArgument, vec![good.clone()]),
        ("a table of three", Code::InvalidArgument, vec![good.clone(), source.clone(), source.clone()]),
        ("95 bytes for 96", Code::OutOfRange, vec![good.subspan(0, 95)?, source.clone()]),
        ("31 bytes for 32", Code::OutOfRange, vec![good.clone(), source.subspan(0, 31)?]),
        (
            "a target for transfers from it",
            Code::InvalidArgument,
            vec![limited(BufferUsage::TRANSFER_SOURCE)?, source.clone()],
        ),
        ("a foreign buffer", Code::InvalidArgument, vec![foreign, source.clone()]),
        (
            "a misaligned range",
            Code::InvalidArgument,
            vec![ctx.filled(99, 7)?.subspan(2, 97)?, source.clone()],
        ),
    ];
    for (what, code, table) in cases {
        refused(queue.execute(&[], &[done.at(1)], &commands, table), code, what)?;
    }
    ensure_eq!(done.query()?, 0, "the semaphore of refused submissions");
    same_bytes(&ctx.download(&good)?, &[7; 96], "the buffer after refused submissions")?;
    execute(ctx, &commands, [good, source])
}

fn table_overlap_refused(ctx: &Context) -> Outcome {
    let mut recorder = ctx.device().record_with_slots(2)?;
    recorder.copy(BufferRef::slot(0, 0, 32), BufferRef::slot(1, 0, 32))?;
    let commands = recorder.finish()?;
    let (buffer, done) = (ctx.filled(96, 1)?, Semaphore::new(0));
    for (from, to) in [(0, 0), (0, 31), (40, 10)] {
        let table = [buffer.subspan(from, 32)?, buffer.subspan(to, 32)?];
        let what = format!("a copy from {from} to {to}");
        let submitted = ctx.queue(0)?.execute(&[], &[done.at(1)], &commands, table);
        refused(submitted, Code::InvalidArgument, &what)?;
    }
    ensure_eq!(done.query()?, 0, "the semaphore of refused submissions");
    execute(ctx, &commands, [buffer.subspan(0, 32)?, buffer.subspan(32, 32)?])
}

fn recording_is_checked(ctx: &Context) -> Outcome {
    let (buffer, foreign) = (ctx.filled(64, 1)?, ctx.open()?.allocate_device(64)?);
    let only_source = BufferParams::device().with_usage(BufferUsage::TRANSFER_SOURCE);
    let only_source = ctx.device().allocate(&only_source, 64)?;
    let mut recorder = ctx.device().record_with_slots(1)?;
    let argument = Code::InvalidArgument;
    refused(recorder.fill(&buffer.subspan(0, 3)?, 1_u32), argument, "three bytes with a pattern of four")?;
    refused(recorder.fill(&buffer.subspan(2, 4)?, 1_u32), argument, "address 2 with a pattern of four")?;
    refused(
        recorder.fill(BufferRef::slot(0, 2, 4), 1_u32),
        argument,
        "slot offset 2 with a pattern of four",
    )?;
    refused(recorder.fill(&only_source, 1_u8), argument, "a fill of a source")?;
    refused(recorder.fill(&foreign, 1_u8), argument, "a fill of a foreign buffer")?;
    refused(recorder.update(&[0; 63], &buffer), argument, "63 bytes for 64")?;
    refused(recorder.copy(&buffer.subspan(0, 32)?, &buffer), argument, "a copy of 32 bytes to 64")?;
    refused(recorder.copy(&buffer, &buffer), argument, "a copy onto itself")?;
    refused(recorder.fill(BufferRef::slot(1, 0, 4), 1_u8), Code::OutOfRange, "slot 1 of one")?;
    let overflow = BufferRef::slot(0, u64::MAX, 8);
    refused(recorder.fill(overflow, 1_u8), Code::OutOfRange, "a slot range that overflows")?;
    refused(ctx.device().record_with_slots(u32::MAX), Code::OutOfRange, "four thousand million slots")?;
    recorder.fill(&buffer.subspan(0, 0)?, 9_u8)?;
    let commands = recorder.finish()?;
    ensure_eq!(commands.list().commands().len(), 0, "commands of a recording that was refused all through");
    execute(ctx, &commands, [])?;
    same_bytes(&ctx.download(&buffer)?, &[1; 64], "the buffer")
}

fn debug_groups(ctx: &Context) -> Outcome {
    let buffer = ctx.filled(64, 0)?;
    let mut recorder = ctx.device().record()?;
    refused(recorder.end_debug_group(), Code::FailedPrecondition, "closing a group that is not open")?;
    recorder.begin_debug_group("outer");
    recorder.fill(&buffer, 1_u8)?;
    recorder.begin_debug_group("inner, with ünusual \0 text");
    recorder.barrier();
    recorder.fill(&buffer.subspan(0, 32)?, 2_u8)?;
    recorder.end_debug_group()?;
    recorder.end_debug_group()?;
    execute(ctx, &recorder.finish()?, [])?;
    let mut expected = [1; 64];
    expected[..32].fill(2);
    same_bytes(&ctx.download(&buffer)?, &expected, "the buffer")?;
    let mut unbalanced = ctx.device().record()?;
    unbalanced.begin_debug_group("never closed");
    refused(unbalanced.finish(), Code::FailedPrecondition, "a recording with an open group")?;
    Ok(())
}

fn failure_skips_commands(ctx: &Context) -> Outcome {
    let (broken, done, buffer) = (Semaphore::new(0), Semaphore::new(0), ctx.filled(64, 1)?);
    let commands = doubled(ctx, 2)?;
    ctx.queue(0)?.execute(&[broken.at(1)], &[done.at(1)], &commands, [buffer.clone()])?;
    broken.fail(Error::aborted("failed on purpose"));
    names(&ctx.wait_for_failure(&done.at(1))?, "failed on purpose")?;
    ctx.device().drain(ctx.deadline())?;
    same_bytes(&ctx.download(&buffer)?, &[1; 64], "the buffer")
}

fn refers_to_transient_memory(ctx: &Context) -> Outcome {
    let (gate, step, out) = (Semaphore::new(0), Semaphore::new(0), ctx.filled(64, 0)?);
    let queue = ctx.queue(0)?;
    let transient = queue.alloca(&[gate.at(1)], &[step.at(1)], &BufferParams::device(), 64)?;
    let mut recorder = ctx.device().record()?;
    recorder.fill(&transient, 8_u8)?;
    recorder.barrier();
    recorder.copy(&transient, &out)?;
    let commands = recorder.finish()?;
    queue.execute(&[step.at(1)], &[step.at(2)], &commands, [])?;
    queue.dealloca(&[step.at(2)], &[step.at(3)], &transient)?;
    ensure!(step.query()? == 0, "the alloca ran before its wait");
    gate.signal(1)?;
    ctx.wait(&step.at(3))?;
    same_bytes(&ctx.download(&out)?, &[8; 64], "the copied bytes")
}

fn transient_memory_in_a_table(ctx: &Context) -> Outcome {
    let commands = doubled(ctx, 6)?;
    let queue = ctx.queue(0)?;
    // The memory of each round is kept for one more round, so that no round gets the memory of the round before.
    let mut before = None;
    for _ in 0..20 {
        let (gate, step, out) = (Semaphore::new(0), Semaphore::new(0), ctx.filled(64, 0)?);
        let transient = queue.alloca(&[gate.at(1)], &[step.at(1)], &BufferParams::device(), 64)?;
        queue.fill(&[step.at(1)], &[step.at(2)], &transient, 0_u8)?;
        queue.execute(&[step.at(2)], &[step.at(3)], &commands, [transient.clone()])?;
        queue.copy(&[step.at(3)], &[step.at(4)], &transient, &out)?;
        if let Some(before) = before.replace(transient) {
            queue.dealloca(&[step.at(4)], &[], &before)?;
        }
        gate.signal(1)?;
        same_bytes(&ctx.download_after(&step.at(4), &out)?, &[6; 64], "the copied bytes")?;
    }
    Ok(())
}
