// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buffers that grow in place: reserved addresses, growth, shrinking, and the buffers made of them.

use windlass_hal::{BufferParams, Code, GrowableBuffer, MemoryType, Semaphore};

use super::dispatch::{bytes_of, floats, over, to_floats};
use crate::{
    check::{ensure, ensure_eq, refused, same_bytes, same_items},
    context::{Context, queue_of},
    kernels,
    outcome::Outcome,
};

suite! { "growable";
    #[smoke] sizes [VirtualMemory]: "A reservation has no memory, grows in whole granules, and never beyond its capacity.";
    #[smoke] grows_in_place [VirtualMemory]: "Growing keeps the address and all contents, and the new part follows the old one.";
    transfers_cross_growths [VirtualMemory]: "Fills, updates and copies work on ranges that two growths have made, at any byte.";
    kernels_see_the_new_part [VirtualMemory, Dispatch]: "A kernel reads and writes old and new memory as one range.";
    in_command_buffers [VirtualMemory, CommandBuffers]: "A command buffer takes ranges of growing memory, recorded and through a table.";
    buffers_have_their_range [VirtualMemory]: "A buffer of a range has its address and length, and no buffer reaches memory that is not there.";
    grows_beside_work [VirtualMemory]: "Memory grows while work on its first part is in flight.";
    work_keeps_its_pages [VirtualMemory]: "Work in flight keeps its memory when the owner shrinks it or goes away.";
    shrinks_and_grows [VirtualMemory]: "Memory that was given back can be had again, and the rest keeps its contents.";
    kept_pages_come_back [VirtualMemory]: "A growth over pages that a buffer kept has their contents.";
    counted [VirtualMemory]: "Statistics count the memory that a growing buffer has, until it is given back.";
    exhausted_changes_nothing [VirtualMemory]: "A growth that does not fit is RESOURCE_EXHAUSTED, and changes nothing.";
    grows_on_many_threads [VirtualMemory]: "Threads may grow the same memory at the same time.";
    outlives_the_device [VirtualMemory]: "Memory and its buffers outlive the handles of their device.";
    dealloca_is_a_barrier [VirtualMemory, Alloca]: "A dealloca of a buffer that grew signals, and the memory stays.";
    belongs_to_its_device [VirtualMemory]: "A buffer that grew on another device is INVALID_ARGUMENT.";
    capacity_refused [VirtualMemory]: "A capacity of 0 is INVALID_ARGUMENT, and one that no address space has is RESOURCE_EXHAUSTED.";
    host_memory_refused [VirtualMemory]: "Growing memory that the host could map is INVALID_ARGUMENT.";
    beyond_the_capacity_refused [VirtualMemory]: "A growth beyond the capacity is OUT_OF_RANGE.";
}

const DEVICE: BufferParams = BufferParams::device();

/// Memory of four granules, two of which it has.
fn half(ctx: &Context) -> Outcome<(GrowableBuffer, u64)> {
    let granule = ctx.device().reserve_growable(&DEVICE, 1)?.granularity();
    let growable = ctx.device().reserve_growable(&DEVICE, 4 * granule)?;
    growable.grow_to(granule)?;
    growable.grow_to(2 * granule)?;
    Ok((growable, granule))
}

fn sizes(ctx: &Context) -> Outcome {
    let growable = ctx.device().reserve_growable(&DEVICE, 1)?;
    let granule = growable.granularity();
    ensure!(granule > 0, "granules of no bytes");
    ensure_eq!((growable.size(), growable.capacity()), (0, granule), "size and capacity of one byte");
    ensure!(growable.device_address() != 0, "the address is null");
    ensure_eq!(growable.params(), DEVICE, "the parameters");
    growable.grow_to(0)?;
    ensure_eq!(growable.size(), 0, "the size after growing to nothing");
    growable.grow_to(1)?;
    ensure_eq!(growable.size(), granule, "the size after growing to one byte");
    let large = ctx.device().reserve_growable(&DEVICE, 5 * granule + 1)?;
    ensure_eq!(large.capacity(), 6 * granule, "the capacity");
    for (asked, expected) in [(granule, 1), (granule + 1, 2), (granule, 2), (6 * granule, 6)] {
        large.grow_to(asked)?;
        ensure_eq!(large.size(), expected * granule, "the size after growing to {asked}");
    }
    let aligned = DEVICE.with_min_alignment(4 * granule);
    let address = ctx.device().reserve_growable(&aligned, granule)?.device_address();
    ensure_eq!(address % (4 * granule), 0, "the rest of the address by the alignment");
    Ok(())
}

fn grows_in_place(ctx: &Context) -> Outcome {
    let granule = ctx.device().reserve_growable(&DEVICE, 1)?.granularity();
    let growable = ctx.device().reserve_growable(&DEVICE, 3 * granule)?;
    let address = growable.device_address();
    let (queue, done, mut random) = (ctx.queue(0)?, Semaphore::new(0), ctx.random());
    let mut written = Vec::new();
    for step in 1..=3 {
        growable.grow_to(step * granule)?;
        ensure_eq!(growable.device_address(), address, "the address after growth {step}");
        let start = (step - 1) * granule;
        let part = growable.buffer(start..start + 4096)?;
        ensure_eq!(part.device_address(), address + start, "the address of part {step}");
        written.push(random.bytes(4096));
        queue.update(&[], &[done.at(step)], &written[step as usize - 1], &part)?;
        ctx.wait(&done.at(step))?;
        for (index, bytes) in written.iter().enumerate() {
            let start = index as u64 * granule;
            let part = growable.buffer(start..start + 4096)?;
            same_bytes(&ctx.download(&part)?, bytes, &format!("part {index} after growth {step}"))?;
        }
    }
    Ok(())
}

fn transfers_cross_growths(ctx: &Context) -> Outcome {
    let (growable, granule) = half(ctx)?;
    let (queue, done) = (ctx.queue(0)?, Semaphore::new(0));
    let edge = growable.buffer(granule - 512..granule + 512)?;
    queue.fill(&[], &[done.at(1)], &edge, 0x0102_0304_u32)?;
    queue.update(&[done.at(1)], &[done.at(2)], &[9; 7], &edge.subspan(509, 7)?)?;
    let source = ctx.upload(&[5; 100])?;
    queue.copy(&[done.at(2)], &[done.at(3)], &source.subspan(0, 20)?, &edge.subspan(520, 20)?)?;
    let mut expected = 0x0102_0304_u32.to_le_bytes().repeat(256);
    expected[509..516].fill(9);
    expected[520..540].fill(5);
    same_bytes(&ctx.download_after(&done.at(3), &edge)?, &expected, "the range over both growths")?;
    let target = ctx.filled(1024, 0)?;
    queue.copy(&[done.at(3)], &[done.at(4)], &edge, &target)?;
    same_bytes(&ctx.download_after(&done.at(4), &target)?, &expected, "a copy of it")
}

fn kernels_see_the_new_part(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::VECTOR_ADD, "vector_add")?;
    let (growable, granule) = half(ctx)?;
    let half = granule.min(8192);
    let count = half as usize / 2;
    let (a, b) = (floats(ctx, &vec![1.0; count])?, floats(ctx, &vec![0.5; count])?);
    let out = growable.buffer(granule - half..granule + half)?;
    let (queue, done) = (ctx.queue(0)?, Semaphore::new(0));
    let arguments = [a.arg(), b.arg(), out.arg(), (count as i32).into()];
    queue.dispatch(&[], &[done.at(1)], &function, over(count), &arguments)?;
    let again = [out.arg(), a.arg(), out.arg(), (count as i32).into()];
    queue.dispatch(&[done.at(1)], &[done.at(2)], &function, over(count), &again)?;
    let found = to_floats(&ctx.download_after(&done.at(2), &out)?);
    same_items(&found, &vec![2.5; count], "sums on both sides of the edge")
}

fn in_command_buffers(ctx: &Context) -> Outcome {
    let (growable, granule) = half(ctx)?;
    growable.grow_to(3 * granule)?;
    let source = ctx.upload(&bytes_of(&[7_u32; 64], u32::to_le_bytes))?;
    let recorded = growable.buffer(granule - 128..granule + 128)?;
    let mut recorder = ctx.device().record_with_slots(1)?;
    recorder.copy(&source, &recorded)?;
    recorder.copy(&source, windlass_hal::BufferRef::slot(0, 0, 256))?;
    let (commands, done) = (recorder.finish()?, Semaphore::new(0));
    for (value, start) in [(1, 0), (2, 2 * granule - 100), (3, 3 * granule - 256)] {
        let by_table = growable.buffer(start..start + 256)?;
        ctx.queue(0)?.execute(&[], &[done.at(value)], &commands, [by_table.clone()])?;
        let expected = 7_u32.to_le_bytes().repeat(64);
        same_bytes(&ctx.download_after(&done.at(value), &by_table)?, &expected, "the range of the table")?;
        same_bytes(&ctx.download(&recorded)?, &expected, "the recorded range")?;
    }
    Ok(())
}

fn buffers_have_their_range(ctx: &Context) -> Outcome {
    let (growable, granule) = half(ctx)?;
    let size = 2 * granule;
    for range in [0..size, 3..5, granule - 1..granule + 1, 0..0, size..size] {
        let buffer = growable.buffer(range.clone())?;
        ensure_eq!(buffer.len(), range.end - range.start, "the length of {range:?}");
        ensure_eq!(buffer.params(), DEVICE, "the parameters of {range:?}");
        if !buffer.is_empty() {
            let address = growable.device_address() + range.start;
            ensure_eq!(buffer.device_address(), address, "the address of {range:?}");
        }
    }
    for range in [0..size + 1, size..size + 1, u64::MAX - 1..u64::MAX] {
        let what = format!("a buffer of {range:?} of {size} bytes");
        refused(growable.buffer(range), Code::OutOfRange, &what)?;
    }
    #[expect(clippy::reversed_empty_ranges, reason = "such a range must be refused")]
    refused(growable.buffer(5..4), Code::InvalidArgument, "a range that ends before it begins")?;
    let buffer = growable.buffer(0..size)?;
    growable.grow_to(3 * granule)?;
    ensure_eq!(buffer.len(), size, "the length of a buffer that was made before a growth");
    refused(buffer.subspan(size, 1), Code::OutOfRange, "a subspan beyond it").map(drop)
}

fn grows_beside_work(ctx: &Context) -> Outcome {
    let (growable, granule) = half(ctx)?;
    let (queue, gate, done) = (ctx.queue(0)?, Semaphore::new(0), Semaphore::new(0));
    let first = growable.buffer(0..2 * granule)?;
    queue.fill(&[gate.at(1)], &[done.at(1)], &first, 3_u8)?;
    growable.grow_to(4 * granule)?;
    let second = growable.buffer(2 * granule..4 * granule)?;
    let other = Semaphore::new(0);
    queue.fill(&[], &[other.at(1)], &second, 4_u8)?;
    ctx.wait(&other.at(1))?;
    gate.signal(1)?;
    ctx.wait(&done.at(1))?;
    let edge = growable.buffer(2 * granule - 64..2 * granule + 64)?;
    same_bytes(&ctx.download(&edge)?, &[[3; 64], [4; 64]].concat(), "both parts")
}

fn work_keeps_its_pages(ctx: &Context) -> Outcome {
    let (queue, done) = (ctx.queue(0)?, Semaphore::new(0));
    for (round, drops) in [(0, false), (1, true)] {
        let (growable, granule) = half(ctx)?;
        let tail = growable.buffer(granule..granule + 4096)?;
        let value = 4 * round;
        queue.fill(&[], &[done.at(value + 1)], &tail, 6_u8)?;
        ctx.wait(&done.at(value + 1))?;
        let (gate, target) = (Semaphore::new(0), ctx.filled(4096, 0)?);
        queue.copy(&[gate.at(1)], &[done.at(value + 2)], &tail, &target)?;
        drop(tail);
        match drops {
            true => drop(growable),
            false => growable.shrink_to(0)?,
        }
        gate.signal(1)?;
        let copied = ctx.download_after(&done.at(value + 2), &target)?;
        same_bytes(&copied, &[6; 4096], "memory that work in flight kept")?;
    }
    Ok(())
}

fn shrinks_and_grows(ctx: &Context) -> Outcome {
    let (growable, granule) = half(ctx)?;
    let (queue, done) = (ctx.queue(0)?, Semaphore::new(0));
    let whole = growable.buffer(0..2 * granule)?;
    queue.fill(&[], &[done.at(1)], &whole, 8_u8)?;
    ctx.wait(&done.at(1))?;
    drop(whole);
    growable.shrink_to(granule + 1)?;
    ensure_eq!(growable.size(), 2 * granule, "the size after shrinking to a part of a granule");
    growable.shrink_to(granule)?;
    ensure_eq!(growable.size(), granule, "the size after shrinking");
    refused(
        growable.buffer(granule..granule + 1),
        Code::OutOfRange,
        "a buffer of memory that was given back",
    )?;
    growable.shrink_to(3 * granule)?;
    ensure_eq!(growable.size(), granule, "the size after shrinking to more");
    same_bytes(&ctx.download(&growable.buffer(0..4096)?)?, &[8; 4096], "the rest")?;
    for round in 0..5 {
        growable.grow_to(4 * granule)?;
        let end = growable.buffer(4 * granule - 4096..4 * granule)?;
        queue.fill(&[], &[done.at(round + 2)], &end, round as u8)?;
        let found = ctx.download_after(&done.at(round + 2), &end)?;
        same_bytes(&found, &[round as u8; 4096], "memory that was had again")?;
        drop(end);
        growable.shrink_to(granule)?;
    }
    same_bytes(&ctx.download(&growable.buffer(0..4096)?)?, &[8; 4096], "the rest after it all")
}

fn kept_pages_come_back(ctx: &Context) -> Outcome {
    let (growable, granule) = half(ctx)?;
    let (queue, done) = (ctx.queue(0)?, Semaphore::new(0));
    let tail = growable.buffer(granule..2 * granule)?;
    queue.fill(&[], &[done.at(1)], &tail, 2_u8)?;
    ctx.wait(&done.at(1))?;
    growable.shrink_to(0)?;
    same_bytes(&ctx.download(&tail.subspan(0, 4096)?)?, &[2; 4096], "pages that a buffer kept")?;
    growable.grow_to(2 * granule)?;
    let again = growable.buffer(granule..granule + 4096)?;
    same_bytes(&ctx.download(&again)?, &[2; 4096], "the same pages after a growth")?;
    queue.fill(&[], &[done.at(2)], &again, 3_u8)?;
    let seen = ctx.download_after(&done.at(2), &tail.subspan(0, 4096)?)?;
    same_bytes(&seen, &[3; 4096], "a write through the new buffer, read through the old one")
}

fn counted(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let used = || device.statistics().device_bytes_used;
    let reserved = || device.statistics().device_bytes_reserved;
    let growable = device.reserve_growable(&DEVICE, 1 << 20)?;
    let granule = growable.granularity();
    let growable = device.reserve_growable(&DEVICE, 8 * granule)?;
    let (before, taken) = (used(), reserved());
    growable.grow_to(granule)?;
    ensure_eq!(used() - before, granule, "the bytes in use after one granule");
    growable.grow_to(5 * granule)?;
    ensure_eq!(used() - before, 5 * granule, "the bytes in use after five");
    ensure!(reserved() >= taken + 5 * granule, "{} bytes are reserved", reserved());
    let kept = growable.buffer(0..1)?;
    growable.shrink_to(granule)?;
    ensure_eq!(used() - before, granule, "the bytes in use after shrinking");
    drop(growable);
    ensure_eq!(used() - before, granule, "the bytes that a buffer keeps");
    drop(kept);
    ensure_eq!(used(), before, "the bytes in use at the end");
    Ok(())
}

fn exhausted_changes_nothing(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let granule = device.reserve_growable(&DEVICE, 1)?.granularity();
    let total = device.limits().total_memory;
    let growable = device.reserve_growable(&DEVICE, total.saturating_add(4 * granule))?;
    growable.grow_to(granule)?;
    let queue = queue_of(&device, 0)?;
    let (first, done) = (growable.buffer(0..4096)?, Semaphore::new(0));
    queue.fill(&[], &[done.at(1)], &first, 1_u8)?;
    ctx.wait(&done.at(1))?;
    let used = device.statistics().device_bytes_used;
    let all = growable.capacity();
    refused(growable.grow_to(all), Code::ResourceExhausted, "a growth beyond all memory")?;
    ensure_eq!(growable.size(), granule, "the size afterwards");
    ensure_eq!(device.statistics().device_bytes_used, used, "the bytes in use afterwards");
    same_bytes(&queue.download(&[], &first)?.wait(ctx.deadline())?, &[1; 4096], "the contents")?;
    growable.grow_to(2 * granule)?;
    ensure_eq!(growable.size(), 2 * granule, "the size after a growth that fits");
    Ok(())
}

fn grows_on_many_threads(ctx: &Context) -> Outcome {
    let granule = ctx.device().reserve_growable(&DEVICE, 1)?.granularity();
    let growable = ctx.device().reserve_growable(&DEVICE, 16 * granule)?;
    let results = std::thread::scope(|scope| {
        let threads: Vec<_> = (1..=4_u64)
            .map(|thread| {
                let growable = growable.clone();
                scope.spawn(move || {
                    (0..4).try_for_each(|step| {
                        let size = (4 * step + thread) * granule;
                        growable.grow_to(size)?;
                        growable.buffer(size - 1..size).map(drop)
                    })
                })
            })
            .collect();
        threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect::<Vec<_>>()
    });
    for result in results {
        match result {
            Ok(grown) => grown?,
            Err(_) => ensure!(false, "a thread that grows memory panicked"),
        }
    }
    ensure_eq!(growable.size(), 16 * granule, "the size at the end");
    let (whole, done) = (growable.buffer(0..16 * granule)?, Semaphore::new(0));
    ctx.queue(0)?.fill(&[], &[done.at(1)], &whole, 5_u8)?;
    let end = whole.subspan(16 * granule - 64, 64)?;
    same_bytes(&ctx.download_after(&done.at(1), &end)?, &[5; 64], "the last bytes")
}

fn outlives_the_device(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let growable = device.reserve_growable(&DEVICE, 1 << 16)?;
    growable.grow_to(4096)?;
    let (buffer, done) = (growable.buffer(0..4096)?, Semaphore::new(0));
    queue_of(&device, 0)?.fill(&[], &[done.at(1)], &buffer, 1_u8)?;
    ctx.wait(&done.at(1))?;
    drop(device);
    ensure!(growable.size() >= 4096, "{} bytes are left", growable.size());
    drop(growable);
    ensure_eq!(buffer.len(), 4096, "the length of the buffer");
    Ok(())
}

fn dealloca_is_a_barrier(ctx: &Context) -> Outcome {
    let (growable, _) = half(ctx)?;
    let (queue, done) = (ctx.queue(0)?, Semaphore::new(0));
    let size = growable.size();
    let buffer = growable.buffer(0..size)?;
    queue.fill(&[], &[done.at(1)], &buffer, 4_u8)?;
    queue.dealloca(&[done.at(1)], &[done.at(2)], &buffer)?;
    ctx.wait(&done.at(2))?;
    drop(buffer);
    ensure_eq!(growable.size(), size, "the size after the dealloca");
    let (one, other) = (growable.buffer(0..64)?, growable.buffer(0..128)?.subspan(0, 64)?);
    queue.fill(&[], &[done.at(3)], &one, 5_u8)?;
    same_bytes(&ctx.download_after(&done.at(3), &other)?, &[5; 64], "the memory after the dealloca")
}

fn belongs_to_its_device(ctx: &Context) -> Outcome {
    let other = ctx.open()?;
    let growable = other.reserve_growable(&DEVICE, 64)?;
    growable.grow_to(64)?;
    let (foreign, done) = (growable.buffer(0..64)?, Semaphore::new(0));
    let filled = ctx.queue(0)?.fill(&[], &[done.at(1)], &foreign, 1_u8);
    refused(filled, Code::InvalidArgument, "a fill of a foreign buffer")?;
    ensure_eq!(done.query()?, 0, "the semaphore of refused work");
    Ok(())
}

fn capacity_refused(ctx: &Context) -> Outcome {
    let device = ctx.device();
    refused(device.reserve_growable(&DEVICE, 0), Code::InvalidArgument, "a capacity of 0")?;
    for capacity in [u64::MAX, 1 << 62] {
        let reserved = device.reserve_growable(&DEVICE, capacity);
        refused(reserved, Code::ResourceExhausted, &format!("a capacity of {capacity}"))?;
    }
    Ok(())
}

fn host_memory_refused(ctx: &Context) -> Outcome {
    let mut visible = DEVICE;
    visible.memory_type = visible.memory_type | MemoryType::HOST_VISIBLE;
    for params in [BufferParams::host(), visible] {
        let reserved = ctx.device().reserve_growable(&params, 4096);
        refused(reserved, Code::InvalidArgument, &format!("growing {:?}", params.memory_type))?;
    }
    Ok(())
}

fn beyond_the_capacity_refused(ctx: &Context) -> Outcome {
    let (growable, granule) = half(ctx)?;
    for size in [4 * granule + 1, u64::MAX] {
        refused(growable.grow_to(size), Code::OutOfRange, &format!("a growth to {size} bytes"))?;
    }
    ensure_eq!(growable.size(), 2 * granule, "the size afterwards");
    Ok(())
}
