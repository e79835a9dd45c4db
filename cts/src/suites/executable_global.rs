// SPDX-License-Identifier: MIT OR Apache-2.0
//! Global variables of executables: buffers over the memory that kernels see.

use windlass_hal::{Argument, Buffer, BufferRef, Code, Executable, Function, QueueAffinity, Semaphore};

use super::{
    command_buffer::execute,
    dispatch::{bytes_of, floats, over, single, to_floats, to_words, words},
};
use crate::{
    check::{ensure, ensure_eq, names, refused, same_items},
    context::Context,
    kernels,
    outcome::Outcome,
};

suite! { "executable_global";
    listed [Dispatch, Globals]: "An executable lists its global variables with their sizes.";
    found_by_name [Dispatch, Globals]: "A variable is found by its exact name, as a buffer of its size.";
    lies_at_its_address [Dispatch, Globals]: "A kernel that gets a variable's address finds its initial value there.";
    not_found_names_the_nearest [Dispatch, Globals]: "Looking up a missing variable is NOT_FOUND and names the most similar one first.";
    read_by_a_queue [Dispatch, Globals]: "A copy from a variable reads its initial value.";
    #[smoke] written_by_a_queue [Dispatch, Globals]: "Kernels see the writes of fills, updates and copies to a variable.";
    written_by_a_kernel [Dispatch, Globals]: "Queues see the writes of kernels to a variable.";
    as_an_argument [Dispatch, Globals]: "A variable may be the argument of a dispatch.";
    in_command_buffers [CommandBuffers, Dispatch, Globals]: "A variable may be recorded, and bound to a slot.";
    keeps_its_executable [Dispatch, Globals]: "A variable keeps its executable loaded.";
    same_memory_each_time [Dispatch, Globals]: "Two lookups of a variable are the same memory, and count as overlapping.";
    one_copy_for_a_queue [Dispatch, Globals]: "Each queue sees one copy; a lookup for queues with different copies is FAILED_PRECONDITION.";
    not_mapped [Dispatch, Globals]: "A variable cannot be mapped.";
}

/// The variable as kernels on queue 0 see it.
fn global(executable: &Executable, name: &str) -> Outcome<Buffer> {
    Ok(executable.global_on(name, QueueAffinity::queue(0))?)
}

fn bytes(ctx: &Context, executable: &Executable, name: &str) -> Outcome<Vec<u8>> {
    ctx.download(&global(executable, name)?)
}

/// Runs `use_globals` over `n` elements on queue 0.
fn use_globals(ctx: &Context, executable: &Executable, n: usize) -> Outcome<Vec<f32>> {
    let (function, out, done) =
        (executable.function("use_globals")?, ctx.filled(4 * n as u64, 0)?, Semaphore::new(0));
    ctx.queue(0)?.dispatch(&[], &[done.at(1)], &function, over(n), &[out.arg(), (n as i32).into()])?;
    Ok(to_floats(&ctx.download_after(&done.at(1), &out)?))
}

fn listed(ctx: &Context) -> Outcome {
    let executable = ctx.load(&kernels::GLOBALS)?;
    for (name, size) in [("counter", 4), ("table", 64), ("biases", 256)] {
        let found: Vec<_> = executable.globals().iter().filter(|global| global.name == name).collect();
        ensure_eq!(found.len(), 1, "variables called `{name}`");
        ensure_eq!(found[0].size, size, "the size of `{name}`");
    }
    Ok(())
}

fn found_by_name(ctx: &Context) -> Outcome {
    let executable = ctx.load(&kernels::GLOBALS)?;
    let mut addresses = Vec::new();
    for (name, size) in [("counter", 4), ("table", 64), ("biases", 256)] {
        let buffer = global(&executable, name)?;
        ensure_eq!(buffer.len(), size, "the size of `{name}`");
        ensure!(buffer.device_address() != 0, "the address of `{name}` is null");
        ensure!(!addresses.contains(&buffer.device_address()), "`{name}` is where another one is");
        addresses.push(buffer.device_address());
    }
    for name in ["", "count", "counter ", "COUNTER", "counter\0", "use_globals"] {
        refused(executable.global(name), Code::NotFound, &format!("a variable {name:?}"))?;
    }
    Ok(())
}

fn lies_at_its_address(ctx: &Context) -> Outcome {
    let executable = ctx.load(&kernels::GLOBALS)?;
    let twice = ctx.function(&kernels::ENTRIES, "twice")?;
    let table = global(&executable, "table")?.device_address();
    let (out, done) = (ctx.filled(64, 0)?, Semaphore::new(0));
    let values: [&[u8]; 3] =
        [&table.to_le_bytes(), &out.device_address().to_le_bytes(), &16_i32.to_le_bytes()];
    let mut block = vec![0; twice.info().argument_size as usize];
    for (parameter, value) in twice.info().parameters.iter().zip(values) {
        block[parameter.offset as usize..][..value.len()].copy_from_slice(value);
    }
    let config = over(16).raw_arguments();
    ctx.queue(0)?.dispatch(&[], &[done.at(1)], &twice, config, &[Argument::Bytes(&block), out.arg()])?;
    let expected: Vec<f32> = (1..=16).map(|power| (1 << power) as f32).collect();
    let values = to_floats(&ctx.download_after(&done.at(1), &out)?);
    same_items(&values, &expected, "twice the table of powers of two")
}

fn not_found_names_the_nearest(ctx: &Context) -> Outcome {
    let executable = ctx.load(&kernels::GLOBALS)?;
    let error = refused(executable.global("countr"), Code::NotFound, "a misspelt variable")?;
    ["countr", "counter", "table", "biases"].into_iter().try_for_each(|name| names(&error, name))?;
    let text = error.to_string();
    ensure!(text.find("`counter`") < text.find("`table`"), "the most similar name is not the first: {text}");
    Ok(())
}

fn read_by_a_queue(ctx: &Context) -> Outcome {
    let executable = ctx.load(&kernels::GLOBALS)?;
    let powers: Vec<f32> = (0..16).map(|power| (1 << power) as f32).collect();
    same_items(&to_floats(&bytes(ctx, &executable, "table")?), &powers, "the table")
}

fn written_by_a_queue(ctx: &Context) -> Outcome {
    let executable = ctx.load(&kernels::GLOBALS)?;
    let (biases, done, queue) = (global(&executable, "biases")?, Semaphore::new(0), ctx.queue(0)?);
    let tail = floats(ctx, &[-3.0; 16])?;
    queue.fill(&[], &[done.at(1)], &biases, 0.5_f32)?;
    let middle = bytes_of(&[7.0_f32; 8], f32::to_le_bytes);
    queue.update(&[done.at(1)], &[done.at(2)], &middle, &biases.subspan(64, 32)?)?;
    queue.copy(&[done.at(2)], &[done.at(3)], &tail, &biases.subspan(192, 64)?)?;
    ctx.wait(&done.at(3))?;
    let bias = |i: usize| match i % 64 {
        16..24 => 7.0,
        48..64 => -3.0,
        _ => 0.5,
    };
    let expected: Vec<f32> = (0..200).map(|i| (1 << (i % 16)) as f32 + bias(i)).collect();
    same_items(&use_globals(ctx, &executable, 200)?, &expected, "table and biases as the kernel sees them")?;
    // Another load of the same bytes may get this executable, so its variable is reset.
    queue.fill(&[], &[done.at(4)], &biases, 0_u32)?;
    ctx.wait(&done.at(4))
}

fn written_by_a_kernel(ctx: &Context) -> Outcome {
    let executable = ctx.load(&kernels::GLOBALS)?;
    let counter = global(&executable, "counter")?;
    let before = to_words(&ctx.download(&counter)?)[0];
    use_globals(ctx, &executable, 100)?;
    same_items(&to_words(&ctx.download(&counter)?), &[before + 100], "the counter")
}

/// The value that a kernel reads from `counter`.
fn read_counter(ctx: &Context, function: &Function) -> Outcome<u32> {
    let (out, done) = (words(ctx, &[0])?, Semaphore::new(0));
    ctx.queue(0)?.dispatch(&[], &[done.at(1)], function, single(), &[out.arg()])?;
    Ok(to_words(&ctx.download_after(&done.at(1), &out)?)[0])
}

fn as_an_argument(ctx: &Context) -> Outcome {
    let executable = ctx.load(&kernels::GLOBALS)?;
    let (read, increment) =
        (executable.function("read_counter")?, ctx.function(&kernels::ORDER, "increment")?);
    let (before, done) = (read_counter(ctx, &read)?, Semaphore::new(0));
    let counter = global(&executable, "counter")?;
    ctx.queue(0)?.dispatch(&[], &[done.at(1)], &increment, over(128), &[counter.arg()])?;
    ctx.wait(&done.at(1))?;
    ensure_eq!(read_counter(ctx, &read)?, before + 128, "the counter");
    Ok(())
}

fn in_command_buffers(ctx: &Context) -> Outcome {
    let executable = ctx.load(&kernels::GLOBALS)?;
    let (table, biases) = (global(&executable, "table")?, global(&executable, "biases")?);
    let out = ctx.filled(64, 0)?;
    let mut recorder = ctx.device().record_with_slots(1)?;
    recorder.copy(&table, BufferRef::slot(0, 64, 64))?;
    recorder.barrier();
    recorder.copy(BufferRef::slot(0, 64, 64), &out)?;
    recorder.barrier();
    recorder.fill(BufferRef::slot(0, 0, 256), 0_u32)?;
    let commands = recorder.finish()?;
    let done = Semaphore::new(0);
    ctx.queue(0)?.execute(&[], &[done.at(1)], &commands, [biases.clone()])?;
    ctx.wait(&done.at(1))?;
    let powers: Vec<f32> = (0..16).map(|power| (1 << power) as f32).collect();
    same_items(&to_floats(&ctx.download(&out)?), &powers, "the table, by way of the biases")?;
    let short = ctx.queue(0)?.execute(&[], &[], &commands, [biases.subspan(0, 128)?]);
    refused(short, Code::OutOfRange, "half a variable for the whole")?;
    Ok(())
}

fn keeps_its_executable(ctx: &Context) -> Outcome {
    let table = global(&ctx.load(&kernels::GLOBALS)?, "table")?;
    // Other code may take the memory of code that was unloaded.
    ctx.load(&kernels::ENTRIES)?;
    ctx.load(&kernels::ORDER)?;
    let powers: Vec<f32> = (0..16).map(|power| (1 << power) as f32).collect();
    same_items(&to_floats(&ctx.download(&table)?), &powers, "the table")?;
    let (gate, out, done) = (Semaphore::new(0), ctx.filled(64, 0)?, Semaphore::new(0));
    ctx.queue(0)?.copy(&[gate.at(1)], &[done.at(1)], &table, &out)?;
    drop(table);
    gate.signal(1)?;
    same_items(&to_floats(&ctx.download_after(&done.at(1), &out)?), &powers, "the table, copied later")
}

fn same_memory_each_time(ctx: &Context) -> Outcome {
    let executable = ctx.load(&kernels::GLOBALS)?;
    let (once, again) = (global(&executable, "biases")?, global(&executable, "biases")?);
    ensure_eq!(once.device_address(), again.device_address(), "the addresses of two lookups");
    let onto_itself = ctx.queue(0)?.copy(&[], &[], &once, &again);
    refused(onto_itself, Code::InvalidArgument, "a copy of a variable onto itself")?;
    let mut recorder = ctx.device().record()?;
    let overlapping = recorder.copy(&once.subspan(0, 128)?, &again.subspan(64, 128)?);
    refused(overlapping, Code::InvalidArgument, "a recorded copy within a variable")?;
    recorder.copy(&once.subspan(0, 128)?, &again.subspan(128, 128)?)?;
    execute(ctx, &recorder.finish()?, [])
}

fn one_copy_for_a_queue(ctx: &Context) -> Outcome {
    let executable = ctx.load(&kernels::GLOBALS)?;
    let queues = ctx.device().limits().queues;
    let address = |queue| -> Outcome<u64> {
        Ok(executable.global_on("counter", QueueAffinity::queue(queue))?.device_address())
    };
    let copies: Vec<u64> = (0..queues).map(address).collect::<Outcome<_>>()?;
    if copies.iter().all(|copy| *copy == copies[0]) {
        ensure_eq!(executable.global("counter")?.device_address(), copies[0], "the one address");
    } else {
        let all = executable.global("counter");
        names(&refused(all, Code::FailedPrecondition, "a variable of several copies")?, "counter")?;
    }
    Ok(())
}

fn not_mapped(ctx: &Context) -> Outcome {
    let counter = global(&ctx.load(&kernels::GLOBALS)?, "counter")?;
    refused(counter.map(), Code::FailedPrecondition, "mapping a variable")?;
    Ok(())
}
