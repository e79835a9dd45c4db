// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dispatches of command buffers, over direct ranges and over ranges of tables.

use windlass_hal::{
    Argument, Buffer, BufferParams, BufferRef, Code, DispatchConfig, Fence, Function, Semaphore,
};

use super::{
    command_buffer::{Form, Recording, execute},
    dispatch::{bytes_of, floats, over, scale, single, to_floats, to_words, words},
};
use crate::{
    check::{ensure_eq, names, refused, same_bytes, same_items},
    context::Context,
    kernels,
    outcome::Outcome,
};

suite! { "command_buffer_dispatch";
    #[smoke] vector_add_direct [CommandBuffers, Dispatch] = |ctx| vector_add(ctx, Form::Direct), "A recorded kernel computes over direct ranges.";
    #[smoke] vector_add_table [CommandBuffers, Dispatch] = |ctx| vector_add(ctx, Form::Table), "A recorded kernel computes over ranges of a table.";
    struct_argument_direct [CommandBuffers, Dispatch] = |ctx| struct_argument(ctx, Form::Direct), "A struct by value is recorded between direct buffers.";
    struct_argument_table [CommandBuffers, Dispatch] = |ctx| struct_argument(ctx, Form::Table), "A struct by value is recorded between slots of a table.";
    chain_direct [CommandBuffers, Dispatch] = |ctx| chain(ctx, Form::Direct), "Barriers order a hundred recorded dispatches.";
    chain_table [CommandBuffers, Dispatch] = |ctx| chain(ctx, Form::Table), "Barriers order a hundred recorded dispatches over a table.";
    pipeline_direct [CommandBuffers, Dispatch] = |ctx| pipeline(ctx, Form::Direct), "Update, fill, dispatches and copy of one command buffer each see the data of the command before.";
    pipeline_table [CommandBuffers, Dispatch] = |ctx| pipeline(ctx, Form::Table), "Update, fill, dispatches and copy on ranges of a table each see the data of the command before.";
    mixed_arguments [CommandBuffers, Dispatch]: "One dispatch may name a buffer, a slot and null side by side.";
    null_and_empty [CommandBuffers, Dispatch]: "Null arguments, kernels without parameters and empty grids can be recorded.";
    slot_offsets [CommandBuffers, Dispatch]: "A slot argument's offset counts from the bound range.";
    #[smoke] replay_with_other_tables [CommandBuffers, Dispatch]: "Each in-flight replay uses the table of its own submission.";
    table_is_captured [CommandBuffers, Dispatch]:
        "A submission keeps its command buffer, kernels, table and the table's buffers until it has run.";
    replay_in_a_chain [CommandBuffers, Dispatch]: "Fifty replays in a chain each work on the results of the one before.";
    transient_memory [CommandBuffers, Dispatch, Alloca]:
        "A command buffer works on memory of an alloca, in one cycle and in several cycles in flight.";
    long_table [CommandBuffers, Dispatch]: "A table of forty slots binds each slot to its own buffer.";
    concurrent_dispatches [CommandBuffers, Dispatch]: "Recorded dispatches without barriers all run, in any order.";
    keeps_executable [CommandBuffers, Dispatch]: "A command buffer keeps its recorded executables.";
    slot_is_checked [CommandBuffers, Dispatch]: "A slot of a dispatch that is bound too short is OUT_OF_RANGE.";
    local_memory [CommandBuffers, Dispatch]: "Static and dynamic local memory work in command buffers.";
}

/// A range as an argument of a dispatch, in the recording's form.
fn as_argument<'a>(range: &'a BufferRef) -> Argument<'a> {
    match range {
        BufferRef::Direct(buffer) => buffer.arg(),
        BufferRef::Slot { slot, offset, length } => {
            Argument::Slot { slot: *slot, offset: *offset, length: *length }
        }
    }
}

fn vector_add(ctx: &Context, form: Form) -> Outcome {
    let function = ctx.function(&kernels::VECTOR_ADD, "vector_add")?;
    let a: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let b: Vec<f32> = (0..1000).map(|i| 1.0 - 2.0 * i as f32).collect();
    let (a_buffer, b_buffer, out) = (floats(ctx, &a)?, floats(ctx, &b)?, ctx.filled(4064, 0xee)?);
    let mut recording = Recording::new(ctx, form)?;
    let ranges = [&a_buffer, &b_buffer, &out].map(|buffer| recording.range(buffer));
    let arguments =
        [as_argument(&ranges[0]), as_argument(&ranges[1]), as_argument(&ranges[2]), 1000_i32.into()];
    recording.recorder.dispatch(&function, over(1000), &arguments)?;
    recording.run(ctx)?;
    let sums: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    let mut expected = bytes_of(&sums, f32::to_le_bytes);
    expected.resize(4064, 0xee);
    same_bytes(&ctx.download(&out)?, &expected, "the sums")
}

fn struct_argument(ctx: &Context, form: Form) -> Outcome {
    let function = ctx.function(&kernels::ARGUMENTS, "apply_scale")?;
    let input: Vec<i64> = (0..100).map(|i| 40 - i).collect();
    let (source, out) = (ctx.upload(&bytes_of(&input, i64::to_le_bytes))?, ctx.filled(800, 0)?);
    let mut recording = Recording::new(ctx, form)?;
    let (from, to) = (recording.range(&source), recording.range(&out));
    let mut by_value = scale(4.0, -(1 << 35));
    let arguments = [as_argument(&from), 100_i32.into(), Argument::Bytes(&by_value), as_argument(&to)];
    recording.recorder.dispatch(&function, over(100), &arguments)?;
    by_value.fill(0);
    recording.run(ctx)?;
    let expected: Vec<i64> = input.iter().map(|i| 4 * i - (1 << 35)).collect();
    same_bytes(&ctx.download(&out)?, &bytes_of(&expected, i64::to_le_bytes), "4 x - 2^35")?;
    ensure_eq!(by_value, [0; 16], "the caller's own bytes");
    Ok(())
}

fn chain(ctx: &Context, form: Form) -> Outcome {
    let function = ctx.function(&kernels::ORDER, "multiply_add")?;
    let mut random = ctx.random();
    let buffer = words(ctx, &(0..100).collect::<Vec<_>>())?;
    let mut expected: Vec<u32> = (0..100).collect();
    let mut recording = Recording::new(ctx, form)?;
    let range = recording.range(&buffer);
    for _ in 0..100 {
        let (factor, addend) = (random.next_u64() as u32 | 1, random.next_u64() as u32);
        let arguments = [as_argument(&range), 100_i32.into(), factor.into(), addend.into()];
        recording.recorder.dispatch(&function, over(100), &arguments)?;
        recording.recorder.barrier();
        expected.iter_mut().for_each(|value| *value = value.wrapping_mul(factor).wrapping_add(addend));
    }
    recording.run(ctx)?;
    same_items(&to_words(&ctx.download(&buffer)?), &expected, "the buffer after a hundred dispatches")
}

fn pipeline(ctx: &Context, form: Form) -> Outcome {
    let executable = ctx.load(&kernels::ENTRIES)?;
    let (scaled, add) =
        (executable.function("scale_and_offset")?, ctx.function(&kernels::VECTOR_ADD, "vector_add")?);
    let buffers: Vec<Buffer> = (0..4).map(|_| ctx.filled(256, 0xee)).collect::<Outcome<_>>()?;
    let mut recording = Recording::new(ctx, form)?;
    let ranges: Vec<_> = buffers.iter().map(|buffer| recording.range(buffer)).collect();
    let input: Vec<f32> = (0..64).map(|i| i as f32).collect();
    let recorder = &mut recording.recorder;
    recorder.update(&bytes_of(&input, f32::to_le_bytes), ranges[0].clone())?;
    recorder.fill(ranges[1].clone(), 0.5_f32)?;
    recorder.barrier();
    let scale =
        [as_argument(&ranges[0]), as_argument(&ranges[2]), 3.0_f32.into(), 1.0_f32.into(), 64_i32.into()];
    recorder.dispatch(&scaled, over(64), &scale)?;
    recorder.barrier();
    let sum = [as_argument(&ranges[1]), as_argument(&ranges[2]), as_argument(&ranges[0]), 64_i32.into()];
    recorder.dispatch(&add, over(64), &sum)?;
    recorder.barrier();
    recorder.copy(ranges[0].clone(), ranges[3].clone())?;
    let (commands, table) = recording.finish()?;
    let expected: Vec<f32> = input.iter().map(|x| 3.0 * x + 1.5).collect();
    for _ in 0..5 {
        execute(ctx, &commands, table.clone())?;
        same_items(&to_floats(&ctx.download(&buffers[3])?), &expected, "3 x + 1 + 0.5")?;
    }
    Ok(())
}

fn slot(slot: u32, offset: u64, length: u64) -> Argument<'static> {
    Argument::Slot { slot, offset, length }
}

fn mixed_arguments(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::VECTOR_ADD, "vector_add")?;
    let (fixed, bound) = (floats(ctx, &[2.0; 64])?, floats(ctx, &[40.0; 64])?);
    let out = ctx.filled(256, 0)?;
    let mut recorder = ctx.device().record_with_slots(1)?;
    recorder.dispatch(&function, over(64), &[fixed.arg(), slot(0, 0, 256), out.arg(), 64_i32.into()])?;
    // With n = 0 the kernel dereferences none of its pointers.
    recorder.dispatch(&function, over(64), &[Argument::Null, slot(0, 0, 256), out.arg(), 0_i32.into()])?;
    execute(ctx, &recorder.finish()?, [bound])?;
    same_items(&to_floats(&ctx.download(&out)?), &[42.0; 64], "2 + 40")
}

fn null_and_empty(ctx: &Context) -> Outcome {
    let executable = ctx.load(&kernels::ENTRIES)?;
    let increment = ctx.function(&kernels::ORDER, "increment")?;
    let counter = words(ctx, &[7])?;
    let mut recorder = ctx.device().record()?;
    recorder.dispatch(&executable.function("empty")?, over(1000), &[])?;
    let nothing = [Argument::Null, Argument::Null, 0_i32.into()];
    recorder.dispatch(&executable.function("negate")?, single(), &nothing)?;
    let empty_grid = DispatchConfig::new([0, 4, 4]).workgroup_size([64, 1, 1]);
    recorder.dispatch(&increment, empty_grid, &[counter.arg()])?;
    let commands = recorder.finish()?;
    ensure_eq!(commands.list().commands().len(), 2, "commands: an empty grid records none");
    execute(ctx, &commands, [])?;
    same_items(&to_words(&ctx.download(&counter)?), &[7], "the counter")
}

fn slot_offsets(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::ENTRIES, "negate")?;
    let mut recorder = ctx.device().record_with_slots(1)?;
    let arguments = [slot(0, 32, 64), slot(0, 128, 64), 16_i32.into()];
    recorder.dispatch(&function, over(16), &arguments)?;
    let commands = recorder.finish()?;
    let buffer = floats(ctx, &(0..96).map(|i| i as f32).collect::<Vec<_>>())?;
    // The bound range begins at element 20: elements 28 to 44 are negated into 52 to 68.
    execute(ctx, &commands, [buffer.subspan(80, 192)?])?;
    let expected: Vec<f32> = (0..96).map(|i| if (52..68).contains(&i) { 24 - i } else { i } as f32).collect();
    same_items(&to_floats(&ctx.download(&buffer)?), &expected, "the buffer")
}

fn replay_with_other_tables(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::VECTOR_ADD, "vector_add")?;
    let mut recorder = ctx.device().record_with_slots(3)?;
    let arguments = [slot(0, 0, 256), slot(1, 0, 256), slot(2, 0, 256), 64_i32.into()];
    recorder.dispatch(&function, over(64), &arguments)?;
    let (commands, gate) = (recorder.finish()?, Semaphore::new(0));
    let (mut ends, mut outs) = (Fence::new(), Vec::new());
    for index in 0..32_u32 {
        let (a, b) = (floats(ctx, &[index as f32; 64])?, floats(ctx, &[100.0 * index as f32; 64])?);
        let (out, done) = (ctx.filled(256, 0)?, Semaphore::new(0));
        ctx.queue(index)?.execute(&[gate.at(1)], &[done.at(1)], &commands, [a, b, out.clone()])?;
        ends.insert(done.at(1));
        outs.push((index, out));
    }
    drop(commands);
    gate.signal(1)?;
    ends.wait_blocking(ctx.deadline())?;
    for (index, out) in outs {
        let what = format!("the sums of submission {index}");
        same_items(&to_floats(&ctx.download(&out)?), &[101.0 * index as f32; 64], &what)?;
    }
    Ok(())
}

fn table_is_captured(ctx: &Context) -> Outcome {
    let (gate, done, out) = (Semaphore::new(0), Semaphore::new(0), ctx.filled(256, 0)?);
    {
        let function = ctx.function(&kernels::VECTOR_ADD, "vector_add")?;
        let (a, b) = (floats(ctx, &[2.0; 64])?, floats(ctx, &[40.0; 64])?);
        let mut recorder = ctx.device().record_with_slots(3)?;
        let arguments = [slot(0, 0, 256), slot(1, 0, 256), slot(2, 0, 256), 64_i32.into()];
        recorder.dispatch(&function, over(64), &arguments)?;
        let (commands, mut table) = (recorder.finish()?, vec![a, b, out.clone()]);
        ctx.queue(0)?.execute(&[gate.at(1)], &[done.at(1)], &commands, &table[..])?;
        table.clear();
    }
    // The memory of the dropped handles would be free for these buffers, if it were freed.
    let _others: Vec<_> = (0..8).map(|_| ctx.filled(256, 0xee)).collect::<Outcome<_>>()?;
    gate.signal(1)?;
    same_items(&to_floats(&ctx.download_after(&done.at(1), &out)?), &[42.0; 64], "2 + 40")
}

fn replay_in_a_chain(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::ORDER, "multiply_add")?;
    for form in [Form::Direct, Form::Table] {
        let (buffer, step) = (words(ctx, &[1; 100])?, Semaphore::new(0));
        let mut recording = Recording::new(ctx, form)?;
        let range = recording.range(&buffer);
        for addend in [1_u32, 2] {
            let arguments = [as_argument(&range), 100_i32.into(), 3_u32.into(), addend.into()];
            recording.recorder.dispatch(&function, over(100), &arguments)?;
            recording.recorder.barrier();
        }
        let (commands, table) = recording.finish()?;
        let mut expected = 1_u32;
        for round in 0..50 {
            let queue = ctx.queue(round as u32)?;
            queue.execute(&[step.at(round)], &[step.at(round + 1)], &commands, table.clone())?;
            expected = expected.wrapping_mul(3).wrapping_add(1).wrapping_mul(3).wrapping_add(2);
        }
        let values = to_words(&ctx.download_after(&step.at(50), &buffer)?);
        same_items(&values, &[expected; 100], &format!("the buffer after fifty replays, {form:?}"))?;
    }
    Ok(())
}

fn increments(recorder: &mut windlass_hal::Recorder, function: &Function, argument: Argument<'_>) -> Outcome {
    Ok(recorder.dispatch(function, DispatchConfig::new([2, 1, 1]).workgroup_size([64, 1, 1]), &[argument])?)
}

fn transient_memory(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::ORDER, "multiply_add")?;
    let mut recorder = ctx.device().record_with_slots(1)?;
    recorder.fill(BufferRef::slot(0, 0, 400), 7_u32)?;
    recorder.barrier();
    recorder.dispatch(
        &function,
        over(100),
        &[slot(0, 0, 400), 100_i32.into(), 5_u32.into(), 1_u32.into()],
    )?;
    let commands = recorder.finish()?;
    let (gate, mut cycles) = (Semaphore::new(0), Vec::new());
    for index in 0..12_u32 {
        let (queue, step, out) = (ctx.queue(index)?, Semaphore::new(0), ctx.filled(400, 0)?);
        // Half of the cycles run one after the other, half of them at once.
        let first = if index % 2 == 0 { step.at(0) } else { gate.at(1) };
        let buffer = queue.alloca(&[first], &[step.at(1)], &BufferParams::device(), 400)?;
        queue.execute(&[step.at(1)], &[step.at(2)], &commands, [buffer.clone()])?;
        queue.copy(&[step.at(2)], &[step.at(3)], &buffer, &out)?;
        queue.dealloca(&[step.at(3)], &[step.at(4)], &buffer)?;
        if index % 2 == 0 {
            ctx.wait(&step.at(4))?;
        }
        cycles.push((step, out));
    }
    gate.signal(1)?;
    for (index, (step, out)) in cycles.iter().enumerate() {
        let values = to_words(&ctx.download_after(&step.at(4), out)?);
        same_items(&values, &[36; 100], &format!("the result of cycle {index}"))?;
    }
    Ok(())
}

fn long_table(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::ORDER, "increment")?;
    let mut recorder = ctx.device().record_with_slots(40)?;
    for place in 0..40 {
        // Slot N is incremented N times, so that no two slots can be confused.
        (0..place).try_for_each(|_| increments(&mut recorder, &function, slot(place, 0, 4)))?;
    }
    let commands = recorder.finish()?;
    let counters: Vec<Buffer> = (0..40).map(|_| ctx.filled(4, 0)).collect::<Outcome<_>>()?;
    execute(ctx, &commands, counters.clone())?;
    for (place, counter) in (0..).zip(&counters) {
        same_items(
            &to_words(&ctx.download(counter)?),
            &[128 * place],
            &format!("the counter of slot {place}"),
        )?;
    }
    Ok(())
}

fn concurrent_dispatches(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::ORDER, "increment")?;
    let counter = words(ctx, &[0])?;
    let mut recorder = ctx.device().record()?;
    (0..100).try_for_each(|_| increments(&mut recorder, &function, counter.arg()))?;
    let commands = recorder.finish()?;
    let mut ends = Fence::new();
    for index in 0..8 {
        let done = Semaphore::new(0);
        ctx.queue(index)?.execute(&[], &[done.at(1)], &commands, [])?;
        ends.insert(done.at(1));
    }
    ends.wait_blocking(ctx.deadline())?;
    same_items(&to_words(&ctx.download(&counter)?), &[8 * 100 * 128], "the counter")
}

fn keeps_executable(ctx: &Context) -> Outcome {
    let counter = words(ctx, &[0])?;
    let mut recorder = ctx.device().record()?;
    {
        let function = ctx.function(&kernels::ORDER, "increment")?;
        increments(&mut recorder, &function, counter.arg())?;
    }
    let commands = recorder.finish()?;
    // Other code may take the memory of code that was unloaded.
    ctx.load(&kernels::ENTRIES)?;
    execute(ctx, &commands, [])?;
    same_items(&to_words(&ctx.download(&counter)?), &[128], "the counter")
}

fn slot_is_checked(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::ORDER, "increment")?;
    let mut recorder = ctx.device().record_with_slots(1)?;
    let beyond = increments(&mut recorder, &function, slot(1, 0, 4));
    crate::check::ensure!(beyond.is_err(), "slot 1 of one was recorded");
    increments(&mut recorder, &function, slot(0, 60, 4))?;
    let commands = recorder.finish()?;
    let (buffer, done) = (ctx.filled(64, 0)?, Semaphore::new(0));
    let short = [buffer.subspan(0, 63)?];
    let submitted = ctx.queue(0)?.execute(&[], &[done.at(1)], &commands, short);
    names(&refused(submitted, Code::OutOfRange, "63 bytes for 64")?, "slot 0")?;
    ensure_eq!(done.query()?, 0, "the semaphore of a refused submission");
    execute(ctx, &commands, [buffer.clone()])?;
    same_items(&to_words(&ctx.download(&buffer.subspan(60, 4)?)?), &[128], "the counter")
}

fn local_memory(ctx: &Context) -> Outcome {
    let sum = ctx.function(&kernels::REDUCE, "reduce_sum")?;
    let histogram = ctx.function(&kernels::HISTOGRAM, "histogram")?;
    let input: Vec<f32> = (0..500).map(|i| (i % 9) as f32).collect();
    let (numbers, total) = (floats(ctx, &input)?, floats(ctx, &[0.0])?);
    let text: Vec<u8> = (0..3000).map(|i| (i % 13 * 19) as u8).collect();
    let (bytes, bins) = (ctx.upload(&text)?, ctx.filled(1024, 0)?);
    let mut recorder = ctx.device().record()?;
    let config = over(128).workgroup_size([128, 1, 1]).dynamic_local_memory(512);
    recorder.dispatch(&sum, config, &[numbers.arg(), total.arg(), 500_i32.into()])?;
    let config = DispatchConfig::new([2, 1, 1]).workgroup_size([256, 1, 1]);
    recorder.dispatch(&histogram, config, &[bytes.arg(), bins.arg(), 3000_i32.into()])?;
    execute(ctx, &recorder.finish()?, [])?;
    same_items(&to_floats(&ctx.download(&total)?), &[input.iter().sum()], "the sum")?;
    let mut expected = [0; 256];
    text.iter().for_each(|byte| expected[*byte as usize] += 1);
    same_items(&to_words(&ctx.download(&bins)?), &expected, "the histogram")
}
