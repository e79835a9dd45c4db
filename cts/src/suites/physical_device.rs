// SPDX-License-Identifier: MIT OR Apache-2.0
//! Devices made of several processors: their queues, the memory of each, and edges between them. On a device of one
//! processor the same holds, but each case proves less.

use windlass_hal::{Argument, Buffer, BufferParams, Queue, QueueAffinity, Semaphore};

use super::dispatch::{floats, over, to_floats};
use crate::{
    check::{ensure, ensure_eq, same_bytes, same_items},
    context::Context,
    kernels,
    outcome::{Outcome, Stop},
};

suite! { "physical_device";
    #[smoke] queues_are_shared_out: "Each physical device has equally many queues, in order.";
    affinity_beyond_the_queues: "A set without a queue of the device is OUT_OF_RANGE; any other set stands for the queues that it names.";
    memory_of_each: "Memory near each physical device can be filled and read back by every other.";
    #[smoke] copies_between: "Each physical device copies bytes between the memories of every two.";
    chain_across: "Data passes through a chain of edges that changes the physical device with every link.";
    alloca_on_each [Alloca]: "Memory that one physical device allocated and another deallocated keeps the bytes of its next owner.";
    dispatch_on_each [Dispatch]: "One executable runs on each physical device, on the memory of another.";
    replay_on_each [CommandBuffers, Dispatch]: "One command buffer runs on all physical devices at once, each with its own table.";
}

fn count(ctx: &Context) -> u32 {
    ctx.device().limits().physical_devices
}

fn affinity(ctx: &Context, index: u32) -> Outcome<QueueAffinity> {
    let found = ctx.device().limits().physical_affinity(index % count(ctx));
    found.ok_or_else(|| Stop::fail(format!("physical device {index} of {} has no queues", count(ctx))))
}

fn queue(ctx: &Context, index: u32) -> Outcome<Queue> {
    Ok(ctx.device().queue_of(affinity(ctx, index)?)?)
}

/// Memory near a physical device, of `length` bytes, each of them `byte`.
fn near(ctx: &Context, index: u32, length: u64, byte: u8) -> Outcome<Buffer> {
    let params = BufferParams::device().with_queue_affinity(affinity(ctx, index)?);
    let buffer = ctx.device().allocate(&params, length)?;
    let done = Semaphore::new(0);
    queue(ctx, index)?.fill(&[], &[done.at(1)], &buffer, byte)?;
    ctx.wait(&done.at(1))?;
    Ok(buffer)
}

fn queues_are_shared_out(ctx: &Context) -> Outcome {
    let limits = ctx.device().limits();
    ensure!(count(ctx) >= 1, "a device is made of {} physical devices", count(ctx));
    ensure_eq!(limits.queues % count(ctx), 0, "the queues that are left over");
    let each = limits.queues / count(ctx);
    let mut seen = 0_u64;
    for index in 0..count(ctx) {
        let bits = affinity(ctx, index)?.bits();
        ensure_eq!(bits.count_ones(), each, "the queues of physical device {index}");
        ensure_eq!(bits & seen, 0, "the queues that physical device {index} shares with one before");
        ensure!(seen < bits, "the queues of physical device {index} come before another's");
        seen |= bits;
    }
    ensure_eq!(seen.count_ones(), limits.queues, "the queues of all physical devices");
    ensure_eq!(limits.physical_affinity(count(ctx)), None, "the queues of one physical device too many");
    Ok(())
}

fn affinity_beyond_the_queues(ctx: &Context) -> Outcome {
    let queues = ctx.device().limits().queues;
    let done = Semaphore::new(0);
    if queues < 64 {
        let beyond = QueueAffinity::from_bits(1 << queues);
        crate::check::refused(
            ctx.device().queue_of(beyond),
            windlass_hal::Code::OutOfRange,
            "a set of a queue that is not there",
        )?;
        let both = QueueAffinity::from_bits(1 << queues | 1);
        ctx.device().queue_of(both)?.barrier(&[], &[done.at(1)])?;
        ctx.wait(&done.at(1))?;
    }
    ctx.device().queue_of(QueueAffinity::ANY)?.barrier(&[], &[done.at(2)])?;
    ctx.wait(&done.at(2))
}

fn memory_of_each(ctx: &Context) -> Outcome {
    for owner in 0..count(ctx) {
        let buffer = near(ctx, owner, 1024, 0x10 + owner as u8)?;
        for user in 0..count(ctx) {
            let done = Semaphore::new(0);
            let part = buffer.subspan(u64::from(user), 1)?;
            queue(ctx, user)?.fill(&[], &[done.at(1)], &part, 0xa0 + user as u8)?;
            ctx.wait(&done.at(1))?;
            let seen = queue(ctx, user)?.download(&[], &buffer)?.wait(ctx.deadline())?;
            let mut expected = vec![0x10 + owner as u8; 1024];
            (0..=user).for_each(|user| expected[user as usize] = 0xa0 + user as u8);
            same_bytes(&seen, &expected, &format!("the memory of {owner} as {user} reads it"))?;
        }
    }
    Ok(())
}

fn copies_between(ctx: &Context) -> Outcome {
    for from in 0..count(ctx) {
        for to in 0..count(ctx) {
            let (source, target) = (near(ctx, from, 4096, 0x50)?, near(ctx, to, 4096, 0)?);
            let done = Semaphore::new(0);
            let half = |buffer: &Buffer, at| buffer.subspan(at, 2048);
            queue(ctx, from)?.copy(&[], &[done.at(1)], &half(&source, 0)?, &half(&target, 0)?)?;
            queue(ctx, to)?.copy(
                &[done.at(1)],
                &[done.at(2)],
                &half(&source, 2048)?,
                &half(&target, 2048)?,
            )?;
            let copied = ctx.download_after(&done.at(2), &target)?;
            same_bytes(&copied, &[0x50; 4096], &format!("the bytes copied from {from} to {to}"))?;
        }
    }
    Ok(())
}

fn chain_across(ctx: &Context) -> Outcome {
    let steps = 64;
    let cells: Vec<Buffer> =
        (0..=steps).map(|step| near(ctx, step, 256, step as u8)).collect::<Outcome<_>>()?;
    let order = Semaphore::new(0);
    for step in (0..steps).rev() {
        let (source, target) = (&cells[step as usize], &cells[step as usize + 1]);
        let value = u64::from(step) + 1;
        queue(ctx, step)?.copy(&[order.at(value)], &[order.at(value + 1)], source, target)?;
    }
    queue(ctx, steps)?.fill(&[], &[order.at(1)], &cells[0], 0xc4_u8)?;
    let last = ctx.download_after(&order.at(u64::from(steps) + 1), &cells[steps as usize])?;
    same_bytes(&last, &[0xc4; 256], "the bytes at the end of the chain")
}

fn alloca_on_each(ctx: &Context) -> Outcome {
    let order = Semaphore::new(0);
    let kept = near(ctx, 0, 4096 * 8, 0)?;
    let mut value = 0;
    for round in 0..8_u32 {
        let (owner, user) = (queue(ctx, round)?, queue(ctx, round + 1)?);
        let at = |step| order.at(value + step);
        let memory = owner.alloca(&[at(0)], &[at(1)], &BufferParams::device(), 4096)?;
        user.fill(&[at(1)], &[at(2)], &memory, 0x80 + round as u8)?;
        owner.copy(&[at(2)], &[at(3)], &memory, &kept.subspan(u64::from(round) * 4096, 4096)?)?;
        user.dealloca(&[at(3)], &[at(4)], &memory)?;
        value += 4;
    }
    let bytes = ctx.download_after(&order.at(value), &kept)?;
    let expected: Vec<u8> = (0..8).flat_map(|round| [0x80 + round; 4096]).collect();
    same_bytes(&bytes, &expected, "the bytes that each owner of the memory wrote")
}

fn dispatch_on_each(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::VECTOR_ADD, "vector_add")?;
    let a = floats(ctx, &[1.5; 256])?;
    for runner in 0..count(ctx) {
        for owner in 0..count(ctx) {
            let (out, done) = (near(ctx, owner, 1024, 0)?, Semaphore::new(0));
            let arguments = [a.arg(), a.arg(), out.arg(), Argument::from(256_i32)];
            queue(ctx, runner)?.dispatch(&[], &[done.at(1)], &function, over(256), &arguments)?;
            let sums = to_floats(&ctx.download_after(&done.at(1), &out)?);
            same_items(&sums, &[3.0; 256], &format!("the result of {runner} in the memory of {owner}"))?;
        }
    }
    Ok(())
}

fn replay_on_each(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::VECTOR_ADD, "vector_add")?;
    let mut recorder = ctx.device().record_with_slots(2)?;
    let slot = |slot| Argument::Slot { slot, offset: 0, length: 1024 };
    recorder.dispatch(&function, over(256), &[slot(0), slot(0), slot(1), 256_i32.into()])?;
    let commands = recorder.finish()?;
    let gate = Semaphore::new(0);
    let mut running = Vec::new();
    for index in 0..count(ctx) * 4 {
        let input = floats(ctx, &[index as f32; 256])?;
        let (out, done) = (near(ctx, index, 1024, 0)?, Semaphore::new(0));
        let table = [input, out.clone()];
        queue(ctx, index)?.execute(&[gate.at(1)], &[done.at(1)], &commands, table)?;
        running.push((index, out, done));
    }
    gate.signal(1)?;
    for (index, out, done) in running {
        let sums = to_floats(&ctx.download_after(&done.at(1), &out)?);
        same_items(&sums, &[2.0 * index as f32; 256], &format!("the result of replay {index}"))?;
    }
    Ok(())
}
