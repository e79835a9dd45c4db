// SPDX-License-Identifier: MIT OR Apache-2.0
//! Facts of processors and of functions, and occupancy.

use windlass_hal::{Code, DeviceFacts, DispatchConfig, Semaphore};

use super::dispatch::{floats, to_floats};
use crate::{
    check::{ensure, ensure_eq, refused, same_items},
    context::Context,
    kernels,
    outcome::Outcome,
};

suite! { "facts";
    #[smoke] agree_with_the_limits: "The facts of a processor say the same as the limits of the device.";
    memory_adds_up: "No more memory is free than there is, and all processors have the memory of the device.";
    free_memory_is_that_of_now: "The free memory falls when memory is allocated.";
    stay: "Facts other than the free memory do not change.";
    beyond_the_last_refused: "The facts of one processor too many are OUT_OF_RANGE.";
    resources_of_functions [Dispatch]: "A function takes no more registers and no other waves than the device has.";
    occupancy [Dispatch, Occupancy]: "A compute unit runs at least one workgroup of a size that can be launched, and not more of them when they are larger.";
    occupancy_refused [Dispatch, Occupancy]: "The occupancy of workgroups that cannot be launched is OUT_OF_RANGE.";
    suggested_workgroup_runs [Dispatch, Occupancy]: "A function runs rightly with the workgroup size that the device suggests.";
}

fn all(ctx: &Context) -> Outcome<Vec<DeviceFacts>> {
    let count = ctx.device().limits().physical_devices;
    (0..count).map(|index| Ok(ctx.device().facts(index)?)).collect()
}

fn agree_with_the_limits(ctx: &Context) -> Outcome {
    let limits = ctx.device().limits();
    for facts in all(ctx)? {
        ensure_eq!(facts.wave_size.unwrap_or(limits.wave_size), limits.wave_size, "the wave size");
        ensure!(facts.compute_units != Some(0), "a processor has no compute units");
        let local = facts.local_memory_per_workgroup_bytes.unwrap_or(u32::MAX);
        ensure!(local >= limits.max_local_memory, "{local} bytes of local memory, the limit is larger");
        let threads = facts.max_threads_per_compute_unit.unwrap_or(u32::MAX);
        ensure!(threads >= 1, "a compute unit holds no work-items");
    }
    Ok(())
}

fn memory_adds_up(ctx: &Context) -> Outcome {
    let mut sum = Some(0);
    for facts in all(ctx)? {
        if let (Some(free), Some(total)) = (facts.free_memory_bytes, facts.total_memory_bytes) {
            ensure!(free <= total, "{free} bytes of {total} are free");
        }
        sum = sum.zip(facts.total_memory_bytes).map(|(sum, bytes): (u64, u64)| sum + bytes);
    }
    let total = ctx.device().limits().total_memory;
    ensure_eq!(sum.unwrap_or(total), total, "the memory of all processors");
    Ok(())
}

fn free_memory_is_that_of_now(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let free = || Ok::<_, crate::outcome::Stop>(device.facts(0)?.free_memory_bytes);
    let Some(before) = free()? else { return Ok(()) };
    // The pools of the device take no more than this at once, and other programs may give some back meanwhile.
    let size = (before / 8).min(256 << 20);
    let buffer = device.allocate_device(size)?;
    let during = free()?.unwrap_or(before);
    ensure!(during <= before - size / 2, "{during} bytes are free after {size} of {before} were allocated");
    drop(buffer);
    Ok(())
}

fn stay(ctx: &Context) -> Outcome {
    let lasting = |facts: Vec<DeviceFacts>| {
        let mut facts = facts;
        facts.iter_mut().for_each(|facts| facts.free_memory_bytes = None);
        facts
    };
    let before = lasting(all(ctx)?);
    let buffer = ctx.filled(1 << 20, 1)?;
    ensure_eq!(lasting(all(ctx)?), before, "the facts while memory is in use");
    drop(buffer);
    Ok(())
}

fn beyond_the_last_refused(ctx: &Context) -> Outcome {
    let count = ctx.device().limits().physical_devices;
    for index in [count, u32::MAX] {
        refused(ctx.device().facts(index), Code::OutOfRange, &format!("facts of processor {index}"))?;
    }
    Ok(())
}

fn resources_of_functions(ctx: &Context) -> Outcome {
    let (limits, facts) = (ctx.device().limits(), ctx.device().facts(0)?);
    for module in [&kernels::VECTOR_ADD, &kernels::ENTRIES] {
        for function in ctx.load(module)?.functions() {
            let (name, resources) = (function.name().to_owned(), function.info().resources);
            if let Some((used, most)) = resources.vector_registers.zip(facts.max_vector_registers) {
                ensure!(used <= most, "`{name}` takes {used} of {most} vector registers");
            }
            let waves = resources.wave_size.unwrap_or(limits.wave_size);
            ensure_eq!(waves, limits.wave_size, "the wave size of `{name}`");
            if let Some((accumulation, all)) =
                resources.accumulation_registers.zip(resources.vector_registers)
            {
                ensure!(accumulation <= all, "`{name}`: {accumulation} of {all} registers accumulate");
            }
        }
    }
    Ok(())
}

fn occupancy(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::VECTOR_ADD, "vector_add")?;
    let device = ctx.device().limits();
    let most = function.info().max_workgroup_threads.clamp(1, device.max_workgroup_threads.max(1));
    let mut last = u32::MAX;
    for threads in (0..11).map(|power| 1 << power).filter(|threads| *threads <= most) {
        let found = function.occupancy(threads, 0)?.workgroups_per_compute_unit;
        ensure!(found >= 1, "no workgroup of {threads} work-items fits");
        ensure!(found <= last, "{found} workgroups of {threads} work-items fit, and {last} smaller ones");
        last = found;
    }
    let free = function.occupancy(1, 0)?.workgroups_per_compute_unit;
    let full = function.occupancy(1, device.max_local_memory)?.workgroups_per_compute_unit;
    ensure!(full <= free, "{full} workgroups with all local memory fit, {free} without");
    Ok(())
}

fn occupancy_refused(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::VECTOR_ADD, "vector_add")?;
    for threads in [0, u32::MAX] {
        let asked = function.occupancy(threads, 0);
        refused(asked, Code::OutOfRange, &format!("the occupancy of {threads} work-items"))?;
    }
    Ok(())
}

fn suggested_workgroup_runs(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::VECTOR_ADD, "vector_add")?;
    let suggested = function.suggested_workgroup(0)?;
    let device = ctx.device().limits().max_workgroup_threads;
    ensure!(suggested.threads >= 1, "{suggested:?}");
    ensure!(device == 0 || suggested.threads <= device, "{suggested:?}, the device allows {device}");
    ensure!(suggested.workgroups >= 1, "{suggested:?}");
    let (a, b) = (floats(ctx, &[1.5; 5000])?, floats(ctx, &[2.0; 5000])?);
    let (sum, done) = (ctx.filled(20_000, 0)?, Semaphore::new(0));
    let grid = DispatchConfig::new([5000_u32.div_ceil(suggested.threads), 1, 1]);
    let grid = grid.workgroup_size([suggested.threads, 1, 1]);
    let arguments = [a.arg(), b.arg(), sum.arg(), 5000_i32.into()];
    ctx.queue(0)?.dispatch(&[], &[done.at(1)], &function, grid, &arguments)?;
    ctx.wait(&done.at(1))?;
    same_items(&to_floats(&ctx.download(&sum)?), &[3.5; 5000], "the sums")
}
