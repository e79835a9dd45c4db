// SPDX-License-Identifier: MIT OR Apache-2.0
//! Indirect dispatch: workgroup counts from memory, in command buffers and on queues.

pub(super) mod count;
mod refused;

use windlass_hal::{
    Argument, Buffer, BufferParams, BufferRef, BufferUsage, Code, Error, Fence, IndirectDispatchConfig,
    IndirectParameters, Semaphore,
};

use self::count::{allocate, count, dynamic, fixed, increment, mapped, read, twice};
use self::refused::{queue_is_checked, recording_is_checked, table_is_checked};
use super::{
    command_buffer::{Form, Recording, execute},
    dispatch::{bytes_of, to_words, words},
};
use crate::{
    check::{ensure_eq, names, same_items},
    context::Context,
    kernels,
    outcome::Outcome,
};

suite! { "command_buffer_indirect";
    #[smoke] queue_dispatch [Dispatch, IndirectDispatch]: "A queue's dispatch takes its workgroup count from memory.";
    queue_count_within_a_buffer [Dispatch, IndirectDispatch]: "A queue's dispatch reads its count from the start of the given range.";
    queue_waits_for_its_count [Dispatch, IndirectDispatch]: "The count is read when the waits are reached, not when the dispatch is submitted.";
    queue_count_from_another_queue [Dispatch, IndirectDispatch]: "A count written by another queue is read after that queue's signal.";
    queue_count_from_the_host [Dispatch, IndirectDispatch]: "A count that the host writes through a mapping before it signals is used.";
    queue_chain [Dispatch, IndirectDispatch]: "Each dispatch of a chain takes the count that the dispatch before wrote.";
    static_direct [CommandBuffers, Dispatch, IndirectDispatch] = |ctx| static_count(ctx, Form::Direct), "A recorded dispatch takes a count that is in memory when the waits are reached.";
    #[smoke] static_table [CommandBuffers, Dispatch, IndirectDispatch] = |ctx| static_count(ctx, Form::Table), "A recorded dispatch takes a count from a slot of the table.";
    static_from_the_host [CommandBuffers, Dispatch, IndirectDispatch]: "A static count in mapped memory is read again by each submission.";
    static_before_any_command [CommandBuffers, Dispatch, IndirectDispatch]: "A static count is read before any command of the list runs.";
    #[smoke] dynamic_direct [CommandBuffers, Dispatch, IndirectDispatch] = |ctx| dynamic_count(ctx, Form::Direct), "A count that earlier commands wrote by fill, update, copy or kernel is used.";
    dynamic_table [CommandBuffers, Dispatch, IndirectDispatch] = |ctx| dynamic_count(ctx, Form::Table), "A count that earlier commands wrote is used through a table.";
    dynamic_behind_an_event [CommandBuffers, Dispatch, IndirectDispatch]: "An event orders a count before the dispatch that reads it.";
    dynamic_chain [CommandBuffers, Dispatch, IndirectDispatch]: "Each dispatch of one command buffer takes the count that the dispatch before wrote.";
    both_kinds [CommandBuffers, Dispatch, IndirectDispatch]: "Static, dynamic and direct counts of one command buffer keep their order with all other commands.";
    many_in_flight [CommandBuffers, Dispatch, IndirectDispatch]: "Each in-flight submission of one command buffer reads the count of its own table.";
    dependants_wait_for_all [CommandBuffers, Dispatch, IndirectDispatch]: "Signals are reached only when the last command is done, for dependants on every queue.";
    within_larger_buffers [CommandBuffers, Dispatch, IndirectDispatch]: "A count may lie anywhere in a buffer, and its range may be longer than the count.";
    three_dimensions [CommandBuffers, Dispatch, IndirectDispatch]: "The three numbers are x, y and z.";
    zero_launches_nothing [CommandBuffers, Dispatch, IndirectDispatch]: "A zero among the numbers launches nothing, and the rest of the list runs.";
    beyond_the_limits [CommandBuffers, Dispatch, IndirectDispatch]: "A count beyond the device's limits fails the signals with OUT_OF_RANGE, naming command and count.";
    configuration [CommandBuffers, Dispatch, IndirectDispatch]: "The largest dynamic local memory, fixed workgroup sizes and raw arguments work with an indirect count.";
    keeps_what_it_uses [CommandBuffers, Dispatch, IndirectDispatch]: "A submission keeps buffers, code and recording until its last command has run.";
    drained_whole [CommandBuffers, Dispatch, IndirectDispatch]: "A drain waits for all commands of a list that has begun.";
    closed_in_between [CommandBuffers, Dispatch, IndirectDispatch]: "Closing a device cancels a list that has not begun; a list that has begun completes or is cancelled, and nothing hangs.";
    failure_skips_commands [CommandBuffers, Dispatch, IndirectDispatch]: "A list whose wait failed reads no count and runs no command.";
    recording_is_checked [CommandBuffers, Dispatch, IndirectDispatch]: "Parameters that are short, misaligned, foreign or without their usage are refused while recording.";
    table_is_checked [CommandBuffers, Dispatch, IndirectDispatch]: "A slot of parameters that is bound short, misaligned or without its usage is refused.";
    queue_is_checked [Dispatch, IndirectDispatch]: "A queue refuses a count with bad parameters, or from a slot.";
}

fn queue_dispatch(ctx: &Context) -> Outcome {
    let (function, counter) = (increment(ctx)?, words(ctx, &[0])?);
    for (kind, expected) in [(fixed(&count(ctx, [3, 2, 4])?), 24), (dynamic(&count(ctx, [5, 1, 1])?), 29)] {
        let done = Semaphore::new(0);
        ctx.queue(0)?.dispatch_indirect(&[], &[done.at(1)], &function, kind, &[counter.arg()])?;
        ctx.wait(&done.at(1))?;
        same_items(&read(ctx, &counter)?, &[expected], "the counter")?;
    }
    Ok(())
}

fn queue_count_within_a_buffer(ctx: &Context) -> Outcome {
    let (function, counter, done) = (increment(ctx)?, words(ctx, &[0])?, Semaphore::new(0));
    let counts = allocate(ctx.device(), 48)?;
    let numbers: Vec<u32> = (1..=12).collect();
    ctx.queue(0)?.update(&[], &[done.at(1)], &bytes_of(&numbers, u32::to_le_bytes), &counts)?;
    let range = counts.subspan(4 * 4, 4 * 5)?;
    ctx.queue(0)?.dispatch_indirect(
        &[done.at(1)],
        &[done.at(2)],
        &function,
        fixed(&range),
        &[counter.arg()],
    )?;
    ctx.wait(&done.at(2))?;
    same_items(&read(ctx, &counter)?, &[5 * 6 * 7], "the counter")
}

fn queue_waits_for_its_count(ctx: &Context) -> Outcome {
    let (function, counter, workgroups) = (increment(ctx)?, words(ctx, &[0])?, count(ctx, [9, 9, 9])?);
    let (gate, step, queue) = (Semaphore::new(0), Semaphore::new(0), ctx.queue(0)?);
    let config = fixed(&workgroups);
    queue.dispatch_indirect(&[step.at(1)], &[step.at(2)], &function, config, &[counter.arg()])?;
    queue.update(&[gate.at(1)], &[step.at(1)], &bytes_of(&[2, 1, 3], u32::to_le_bytes), &workgroups)?;
    ensure_eq!(step.query()?, 0, "the payload before the gate opens");
    gate.signal(1)?;
    ctx.wait(&step.at(2))?;
    same_items(&read(ctx, &counter)?, &[6], "the counter")
}

fn queue_count_from_another_queue(ctx: &Context) -> Outcome {
    let (function, counter) = (increment(ctx)?, words(ctx, &[0])?);
    let mut expected = 0;
    let (gate, step) = (Semaphore::new(0), Semaphore::new(0));
    for round in 0..20_u64 {
        let workgroups = count(ctx, [100; 3])?;
        let bytes = bytes_of(&[round as u32, 2, 1], u32::to_le_bytes);
        expected += 2 * round as u32;
        let before = if round == 0 { gate.at(1) } else { step.at(2 * round) };
        let after = step.at(2 * round + 1);
        ctx.queue(1)?.update(&[before], std::slice::from_ref(&after), &bytes, &workgroups)?;
        let config = if round % 2 == 0 { fixed(&workgroups) } else { dynamic(&workgroups) };
        let end = [step.at(2 * round + 2)];
        ctx.queue(2)?.dispatch_indirect(&[after], &end, &function, config, &[counter.arg()])?;
    }
    gate.signal(1)?;
    ctx.wait(&step.at(40))?;
    same_items(&read(ctx, &counter)?, &[expected], "the counter")
}

fn queue_count_from_the_host(ctx: &Context) -> Outcome {
    let (function, counter, workgroups) = (increment(ctx)?, words(ctx, &[0])?, mapped(ctx)?);
    let (gate, done, mapping) = (Semaphore::new(0), Semaphore::new(0), workgroups.map()?);
    mapping.write(0, &[0xff; 12])?;
    let config = fixed(&workgroups);
    ctx.queue(0)?.dispatch_indirect(&[gate.at(1)], &[done.at(1)], &function, config, &[counter.arg()])?;
    mapping.write(0, &bytes_of(&[7, 1, 2], u32::to_le_bytes))?;
    gate.signal(1)?;
    ctx.wait(&done.at(1))?;
    same_items(&read(ctx, &counter)?, &[14], "the counter")
}

fn queue_chain(ctx: &Context) -> Outcome {
    let function = increment(ctx)?;
    // The counter is the x of the next round's count, so x doubles while y and z stay.
    let workgroups = count(ctx, [1, 1, 1])?;
    let step = Semaphore::new(0);
    for round in 0..8 {
        let config = dynamic(&workgroups);
        let arguments = [workgroups.arg()];
        let queue = ctx.queue(round as u32)?;
        queue.dispatch_indirect(&[step.at(round)], &[step.at(round + 1)], &function, config, &arguments)?;
    }
    ctx.wait(&step.at(8))?;
    same_items(&read(ctx, &workgroups)?, &[256, 1, 1], "the count after eight doublings")
}

fn static_count(ctx: &Context, form: Form) -> Outcome {
    let (function, counter, workgroups) = (increment(ctx)?, words(ctx, &[0])?, count(ctx, [4, 3, 1])?);
    let mut recording = Recording::new(ctx, form)?;
    let range = recording.range(&workgroups);
    for _ in 0..3 {
        recording.recorder.dispatch_indirect(&function, fixed(range.clone()), &[counter.arg()])?;
    }
    let (commands, table) = recording.finish()?;
    for round in 1..=3 {
        execute(ctx, &commands, table.clone())?;
        same_items(&read(ctx, &counter)?, &[36 * round], "the counter")?;
    }
    Ok(())
}

fn static_from_the_host(ctx: &Context) -> Outcome {
    let (function, counter, workgroups) = (increment(ctx)?, words(ctx, &[0])?, mapped(ctx)?);
    let mut recorder = ctx.device().record()?;
    recorder.dispatch_indirect(&function, fixed(&workgroups), &[counter.arg()])?;
    let (commands, mapping) = (recorder.finish()?, workgroups.map()?);
    let mut expected = 0;
    for x in [5, 0, 11] {
        mapping.write(0, &bytes_of(&[x, 1, 1], u32::to_le_bytes))?;
        execute(ctx, &commands, [])?;
        expected += x;
        same_items(&read(ctx, &counter)?, &[expected], "the counter")?;
    }
    Ok(())
}

fn static_before_any_command(ctx: &Context) -> Outcome {
    let (function, counter, workgroups) = (increment(ctx)?, words(ctx, &[0])?, count(ctx, [2, 2, 2])?);
    let mut recorder = ctx.device().record()?;
    recorder.fill(&workgroups, 5_u32)?;
    recorder.barrier();
    recorder.dispatch_indirect(&function, fixed(&workgroups), &[counter.arg()])?;
    execute(ctx, &recorder.finish()?, [])?;
    same_items(&read(ctx, &counter)?, &[8], "the counter")?;
    same_items(&read(ctx, &workgroups)?, &[5; 3], "the count after the list has overwritten it")
}

fn dynamic_count(ctx: &Context, form: Form) -> Outcome {
    let (function, counter) = (increment(ctx)?, words(ctx, &[0])?);
    let write = ctx.function(&kernels::ORDER, "multiply_add")?;
    let source = words(ctx, &[1, 5, 2])?;
    let counts: Vec<Buffer> = (0..4).map(|_| count(ctx, [77; 3])).collect::<Outcome<_>>()?;
    let mut recording = Recording::new(ctx, form)?;
    let ranges: Vec<BufferRef> = counts.iter().map(|buffer| recording.range(buffer)).collect();
    let from = recording.range(&source);
    let recorder = &mut recording.recorder;
    recorder.fill(ranges[0].clone(), 2_u32)?;
    recorder.update(&bytes_of(&[3, 3, 1], u32::to_le_bytes), ranges[1].clone())?;
    recorder.copy(from, ranges[2].clone())?;
    // The kernel makes every word of the fourth count 77 * 0 + 3.
    let argument = match &ranges[3] {
        BufferRef::Direct(buffer) => buffer.arg(),
        BufferRef::Slot { slot, offset, length } => {
            Argument::Slot { slot: *slot, offset: *offset, length: *length }
        }
    };
    let arguments = [argument, 3_i32.into(), 0_u32.into(), 3_u32.into()];
    recorder.dispatch(&write, super::dispatch::over(3), &arguments)?;
    recorder.barrier();
    for range in &ranges {
        recorder.dispatch_indirect(&function, dynamic(range.clone()), &[counter.arg()])?;
    }
    recording.run(ctx)?;
    same_items(&read(ctx, &counter)?, &[8 + 9 + 10 + 27], "the counter")
}

fn dynamic_behind_an_event(ctx: &Context) -> Outcome {
    let (function, counter, workgroups) = (increment(ctx)?, words(ctx, &[0])?, count(ctx, [9; 3])?);
    let mut recorder = ctx.device().record()?;
    let written = recorder.event();
    recorder.fill(&workgroups, 2_u32)?;
    recorder.signal_event(written)?;
    recorder.dispatch(&function, super::dispatch::single(), &[counter.arg()])?;
    recorder.wait_events(&[written])?;
    recorder.dispatch_indirect(&function, dynamic(&workgroups), &[counter.arg()])?;
    execute(ctx, &recorder.finish()?, [])?;
    same_items(&read(ctx, &counter)?, &[9], "the counter")
}

fn dynamic_chain(ctx: &Context) -> Outcome {
    let (function, workgroups) = (increment(ctx)?, count(ctx, [1, 1, 1])?);
    let mut recorder = ctx.device().record()?;
    for _ in 0..6 {
        recorder.dispatch_indirect(&function, dynamic(&workgroups), &[workgroups.arg()])?;
        recorder.barrier();
    }
    let commands = recorder.finish()?;
    execute(ctx, &commands, [])?;
    same_items(&read(ctx, &workgroups)?, &[64, 1, 1], "the count after six doublings")?;
    execute(ctx, &commands, [])?;
    same_items(&read(ctx, &workgroups)?, &[4096, 1, 1], "the count after twelve doublings")
}

fn both_kinds(ctx: &Context) -> Outcome {
    let append = ctx.function(&kernels::ORDER, "append")?;
    let log = words(ctx, &[0; 9])?;
    let (before, during) = (count(ctx, [1; 3])?, count(ctx, [50; 3])?);
    let entry = |value: u32| [log.arg(), 8_u32.into(), value.into()];
    let mut recorder = ctx.device().record()?;
    recorder.dispatch(&append, super::dispatch::single(), &entry(1))?;
    recorder.fill(&during, 1_u32)?;
    recorder.barrier();
    recorder.dispatch_indirect(&append, fixed(&before), &entry(2))?;
    recorder.barrier();
    recorder.dispatch_indirect(&append, dynamic(&during), &entry(3))?;
    recorder.barrier();
    recorder.dispatch(&append, super::dispatch::single(), &entry(4))?;
    recorder.fill(&during.subspan(4, 4)?, 2_u32)?;
    recorder.barrier();
    recorder.dispatch_indirect(&append, dynamic(&during), &entry(5))?;
    recorder.barrier();
    recorder.dispatch(&append, super::dispatch::single(), &entry(6))?;
    execute(ctx, &recorder.finish()?, [])?;
    same_items(&read(ctx, &log)?, &[7, 1, 2, 3, 4, 5, 5, 6, 0], "the log: its length, then its entries")
}

fn many_in_flight(ctx: &Context) -> Outcome {
    let function = increment(ctx)?;
    let (commands, gate) = (twice(ctx, &function)?, Semaphore::new(0));
    let (mut ends, mut counters) = (Fence::new(), Vec::new());
    for index in 0..24 {
        let (counter, done) = (words(ctx, &[0])?, Semaphore::new(0));
        let table = [count(ctx, [index, 1, 3])?, counter.clone()];
        ctx.queue(index)?.execute(&[gate.at(1)], &[done.at(1)], &commands, table)?;
        ends.insert(done.at(1));
        counters.push(counter);
    }
    drop(commands);
    gate.signal(1)?;
    ends.wait_blocking(ctx.deadline())?;
    for (index, counter) in (0..).zip(&counters) {
        same_items(&read(ctx, counter)?, &[6 * index], &format!("the counter of submission {index}"))?;
    }
    Ok(())
}

fn dependants_wait_for_all(ctx: &Context) -> Outcome {
    let function = increment(ctx)?;
    let commands = twice(ctx, &function)?;
    let (counter, out) = (words(ctx, &[0])?, words(ctx, &[0; 16])?);
    let table = [count(ctx, [2, 1, 1])?, counter.clone()];
    let step = Semaphore::new(0);
    for round in 0..16 {
        let queue = ctx.queue(round as u32)?;
        queue.execute(&[step.at(2 * round)], &[step.at(2 * round + 1)], &commands, table.clone())?;
        let target = out.subspan(4 * round, 4)?;
        let other = ctx.queue(round as u32 + 1)?;
        other.copy(&[step.at(2 * round + 1)], &[step.at(2 * round + 2)], &counter, &target)?;
    }
    ctx.wait(&step.at(32))?;
    let expected: Vec<u32> = (1..=16).map(|round| 4 * round).collect();
    same_items(&read(ctx, &out)?, &expected, "the value that each dependant read")
}

fn within_larger_buffers(ctx: &Context) -> Outcome {
    let (function, counter) = (increment(ctx)?, words(ctx, &[0])?);
    let all = allocate(ctx.device(), 4096)?;
    let done = Semaphore::new(0);
    let bytes = bytes_of(&(0..1024).map(|word| word % 10).collect::<Vec<_>>(), u32::to_le_bytes);
    ctx.queue(0)?.update(&[], &[done.at(1)], &bytes, &all)?;
    ctx.wait(&done.at(1))?;
    let mut recorder = ctx.device().record_with_slots(1)?;
    // Counts: words 1 to 3 and 1021 to 1023 of the buffer, and words 5 to 7 of the bound range, which are 25 to 27 of
    // the buffer.
    recorder.dispatch_indirect(&function, fixed(&all.subspan(4, 4092)?), &[counter.arg()])?;
    recorder.dispatch_indirect(&function, dynamic(&all.subspan(4084, 12)?), &[counter.arg()])?;
    recorder.dispatch_indirect(&function, dynamic(BufferRef::slot(0, 20, 100)), &[counter.arg()])?;
    recorder.dispatch_indirect(&function, fixed(BufferRef::slot(0, 20, 12)), &[counter.arg()])?;
    execute(ctx, &recorder.finish()?, [all.subspan(80, 32)?])?;
    same_items(&read(ctx, &counter)?, &[6 + 6 + 2 * (5 * 6 * 7)], "the counter")
}

fn three_dimensions(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::POSITIONS, "write_workgroup_ids")?;
    for dynamically in [false, true] {
        let (workgroups, out) = (count(ctx, [3, 2, 4])?, ctx.filled(16 * 24, 0xee)?);
        let config = if dynamically { dynamic(&workgroups) } else { fixed(&workgroups) };
        let mut recorder = ctx.device().record()?;
        recorder.dispatch_indirect(&function, config.workgroup_size([32, 2, 1]), &[out.arg()])?;
        execute(ctx, &recorder.finish()?, [])?;
        let expected: Vec<u32> = (0..24).flat_map(|w| [w % 3, w / 3 % 2, w / 6, w]).collect();
        same_items(&read(ctx, &out)?, &expected, "the ids of each workgroup")?;
    }
    Ok(())
}

fn zero_launches_nothing(ctx: &Context) -> Outcome {
    let (function, counter, other) = (increment(ctx)?, words(ctx, &[0])?, words(ctx, &[0])?);
    for zero in [[0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 0], [u32::MAX, 0, u32::MAX]] {
        let workgroups = count(ctx, zero)?;
        let mut recorder = ctx.device().record()?;
        recorder.dispatch_indirect(&function, fixed(&workgroups), &[counter.arg()])?;
        recorder.dispatch_indirect(&function, dynamic(&workgroups), &[counter.arg()])?;
        recorder.barrier();
        recorder.dispatch(&function, super::dispatch::single(), &[other.arg()])?;
        execute(ctx, &recorder.finish()?, [])?;
        let done = Semaphore::new(0);
        let arguments = [counter.arg()];
        ctx.queue(0)?.dispatch_indirect(&[], &[done.at(1)], &function, fixed(&workgroups), &arguments)?;
        ctx.wait(&done.at(1))?;
    }
    same_items(&read(ctx, &counter)?, &[0], "the counter of empty grids")?;
    same_items(&read(ctx, &other)?, &[5], "the counter of the commands after them")
}

fn beyond_the_limits(ctx: &Context) -> Outcome {
    let (function, counter) = (increment(ctx)?, words(ctx, &[0])?);
    let beyond = count(ctx, [1, u32::MAX, 1])?;
    for dynamically in [false, true] {
        let config = || if dynamically { dynamic(&beyond) } else { fixed(&beyond) };
        let mut recorder = ctx.device().record()?;
        recorder.begin_debug_group("one command before");
        recorder.end_debug_group()?;
        recorder.barrier();
        recorder.dispatch_indirect(&function, config().workgroup_size([2, 2, 1]), &[counter.arg()])?;
        let (commands, done) = (recorder.finish()?, Semaphore::new(0));
        ctx.queue(0)?.execute(&[], &[done.at(1)], &commands, [])?;
        let error = ctx.wait_for_failure(&done.at(1))?;
        ensure_eq!(error.code(), Code::OutOfRange, "the code of {error}");
        for part in ["command 3", "increment", "4294967295"] {
            names(&error, part)?;
        }
        let (step, arguments) = (Semaphore::new(0), [counter.arg()]);
        let config = config().workgroup_size([2, 2, 1]);
        ctx.queue(0)?.dispatch_indirect(&[], &[step.at(1)], &function, config, &arguments)?;
        let error = ctx.wait_for_failure(&step.at(1))?;
        ensure_eq!(error.code(), Code::OutOfRange, "the code of {error}");
        names(&error, "4294967295")?;
    }
    // The device works on after the failures.
    let done = Semaphore::new(0);
    let (config, arguments) = (fixed(&count(ctx, [3, 1, 1])?), [counter.arg()]);
    ctx.queue(0)?.dispatch_indirect(&[], &[done.at(1)], &function, config, &arguments)?;
    ctx.wait(&done.at(1))?;
    same_items(&read(ctx, &counter)?, &[3], "the counter")
}

fn configuration(ctx: &Context) -> Outcome {
    let sum = ctx.function(&kernels::REDUCE, "reduce_sum")?;
    let input: Vec<f32> = (0..300).map(|i| (i % 7) as f32).collect();
    let (numbers, total) = (super::dispatch::floats(ctx, &input)?, super::dispatch::floats(ctx, &[0.0])?);
    let fixed_size = ctx.function(&kernels::FIXED_BLOCK, "fixed_block")?;
    let (source, out) = (words(ctx, &(0..300).collect::<Vec<_>>())?, words(ctx, &[0; 300])?);
    let (function, counter) = (increment(ctx)?, words(ctx, &[0])?);
    let workgroups = count(ctx, [3, 1, 1])?;
    let local_memory = match ctx.device().limits().max_local_memory {
        0 => 512,
        most => most - sum.info().static_local_memory,
    };
    for dynamically in [false, true] {
        let parameters = || match dynamically {
            false => IndirectParameters::Static(BufferRef::from(&workgroups)),
            true => IndirectParameters::Dynamic(BufferRef::from(&workgroups)),
        };
        let mut recorder = ctx.device().record()?;
        let config = IndirectDispatchConfig::new(parameters());
        let local = config.clone().workgroup_size([128, 1, 1]).dynamic_local_memory(local_memory);
        recorder.dispatch_indirect(&sum, local, &[numbers.arg(), total.arg(), 300_i32.into()])?;
        let arguments = [source.arg(), out.arg(), 300_u32.into()];
        recorder.dispatch_indirect(&fixed_size, parameters(), &arguments)?;
        let block = counter.device_address().to_le_bytes();
        let raw = config.workgroup_size([2, 1, 1]).raw_arguments();
        recorder.dispatch_indirect(&function, raw, &[Argument::Bytes(&block), counter.arg()])?;
        execute(ctx, &recorder.finish()?, [])?;
    }
    let twice = 2.0 * input.iter().sum::<f32>();
    same_items(&super::dispatch::to_floats(&ctx.download(&total)?), &[twice], "the sum, added twice")?;
    same_items(&read(ctx, &counter)?, &[12], "the counter of raw arguments")?;
    let (expected, done) = (words(ctx, &[0; 300])?, Semaphore::new(0));
    let arguments = [source.arg(), expected.arg(), 300_u32.into()];
    ctx.queue(0)?.dispatch(&[], &[done.at(1)], &fixed_size, [3, 1, 1], &arguments)?;
    ctx.wait(&done.at(1))?;
    same_items(&read(ctx, &out)?, &read(ctx, &expected)?, "the result of a direct dispatch")
}

fn keeps_what_it_uses(ctx: &Context) -> Outcome {
    let (counter, gate, done) = (words(ctx, &[0])?, Semaphore::new(0), Semaphore::new(0));
    {
        let function = increment(ctx)?;
        let commands = twice(ctx, &function)?;
        let table = [count(ctx, [6, 1, 1])?, counter.clone()];
        ctx.queue(0)?.execute(&[gate.at(1)], &[done.at(1)], &commands, table)?;
        let config = dynamic(&count(ctx, [1, 5, 1])?);
        ctx.queue(1)?.dispatch_indirect(&[done.at(1)], &[done.at(2)], &function, config, &[counter.arg()])?;
    }
    // The memory of the dropped handles would be free for these buffers, if it were freed.
    let _others: Vec<_> = (0..16).map(|_| ctx.filled(12, 0xee)).collect::<Outcome<_>>()?;
    ctx.load(&kernels::ENTRIES)?;
    gate.signal(1)?;
    ctx.wait(&done.at(2))?;
    same_items(&read(ctx, &counter)?, &[17], "the counter")
}

fn drained_whole(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let function = ctx.load_on(&device, &kernels::ORDER)?.function("increment")?;
    let (workgroups, ready) = (allocate(&device, 12)?, Semaphore::new(0));
    device.queue(0)?.fill(&[], &[ready.at(1)], &workgroups, 1_u32)?;
    let mut recorder = device.record()?;
    for _ in 0..5 {
        recorder.dispatch_indirect(&function, dynamic(&workgroups), &[workgroups.arg()])?;
        recorder.barrier();
    }
    let (commands, done) = (recorder.finish()?, Semaphore::new(0));
    ctx.wait(&ready.at(1))?;
    device.queue(0)?.execute(&[], &[done.at(1)], &commands, [])?;
    device.drain(ctx.deadline())?;
    ensure_eq!(done.query()?, 1, "the payload after the drain");
    let bytes = device.queue(0)?.download(&[], &workgroups)?.wait(ctx.deadline())?;
    same_items(&to_words(&bytes), &[32, 1, 1], "the count after five doublings")
}

fn closed_in_between(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let function = ctx.load_on(&device, &kernels::ORDER)?.function("increment")?;
    let usage = BufferUsage::DEFAULT | BufferUsage::MAPPING | BufferUsage::DISPATCH_INDIRECT_PARAMETERS;
    let workgroups = device.allocate(&BufferParams::host().with_usage(usage), 12)?;
    let (gate, mapping) = (Semaphore::new(0), workgroups.map()?);
    mapping.write(0, &bytes_of(&[1; 3], u32::to_le_bytes))?;
    let mut recorder = device.record()?;
    for _ in 0..5 {
        recorder.dispatch_indirect(&function, dynamic(&workgroups), &[workgroups.arg()])?;
        recorder.barrier();
    }
    let commands = recorder.finish()?;
    let (begun, held) = (Semaphore::new(0), Semaphore::new(0));
    device.queue(0)?.execute(&[], &[begun.at(1)], &commands, [])?;
    device.queue(0)?.execute(&[gate.at(1)], &[held.at(1)], &commands, [])?;
    device.close();
    let error = ctx.wait_for_failure(&held.at(1))?;
    ensure_eq!(error.code(), Code::Cancelled, "the code of {error}");
    match begun.wait_blocking(1, ctx.deadline()) {
        Ok(()) => same_items(&to_words(&mapping.to_vec()), &[32, 1, 1], "the count after five doublings"),
        Err(error) => {
            ensure_eq!(error.code(), Code::Cancelled, "the code of {error}");
            Ok(())
        }
    }
}

fn failure_skips_commands(ctx: &Context) -> Outcome {
    let function = increment(ctx)?;
    let (counter, broken, done) = (words(ctx, &[0])?, Semaphore::new(0), Semaphore::new(0));
    let table = [count(ctx, [6, 1, 1])?, counter.clone()];
    ctx.queue(0)?.execute(&[broken.at(1)], &[done.at(1)], &twice(ctx, &function)?, table)?;
    broken.fail(Error::aborted("failed on purpose"));
    names(&ctx.wait_for_failure(&done.at(1))?, "failed on purpose")?;
    ctx.device().drain(ctx.deadline())?;
    same_items(&read(ctx, &counter)?, &[0], "the counter")
}
