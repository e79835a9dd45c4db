// SPDX-License-Identifier: MIT OR Apache-2.0
//! Allocations, ranges and mappings.

use windlass_hal::{Buffer, BufferParams, BufferUsage, Code, Semaphore};

use crate::{
    check::{ensure, ensure_eq, refused, same_bytes},
    context::Context,
    outcome::Outcome,
};

suite! { "buffer";
    #[smoke] sizes_and_alignment: "An allocation has the requested size, at a multiple of the device's alignment.";
    min_alignment_honoured: "An allocation's address is a multiple of the requested alignment.";
    bad_alignment_refused: "An alignment that is no power of two is INVALID_ARGUMENT.";
    empty_allocation: "An allocation of no bytes is legal and takes transfers of no bytes.";
    allocations_do_not_overlap: "Buffers that are alive at the same time share no byte.";
    too_large_is_exhausted: "An allocation that does not fit is RESOURCE_EXHAUSTED with its size, and the device stays usable.";
    subspan_bounds: "A subspan outside of its range is OUT_OF_RANGE, also if its end overflows.";
    subspans_nest: "A subspan of a subspan counts from its parent, in offset, address and contents.";
    clones_share_memory: "Clones and subspans are handles of the same bytes.";
    usage_is_enforced: "Use without the usage flag of the allocation is INVALID_ARGUMENT and leaves signals untouched.";
    mapping_needs_usage: "Mapping a buffer without usage MAPPING is FAILED_PRECONDITION.";
    mapping_bounds: "Access outside a mapping is OUT_OF_RANGE and touches nothing.";
    #[smoke] mapping_reads_what_was_written: "Bytes written through a mapping are read back, at any offset and length.";
    mapping_sees_device_writes: "A mapping shows a queue's writes once their signal is reached.";
    device_sees_mapping_writes: "A queue reads bytes written through a mapping before the submission.";
    mapping_of_subspan: "A mapping of a subspan shows only its own bytes.";
    statistics_count: "Statistics count bytes and allocations while they are in use, and the peak stays.";
}

fn sizes_and_alignment(ctx: &Context) -> Outcome {
    let alignment = ctx.device().limits().allocation_alignment;
    for size in [1, 2, 3, 4, 63, 64, 65, 4095, 4096, 4097, 1 << 20, (1 << 20) + 1] {
        for params in [BufferParams::device(), BufferParams::host()] {
            let buffer = ctx.device().allocate(&params, size)?;
            ensure_eq!((buffer.len(), buffer.offset()), (size, 0), "length and offset");
            ensure_eq!(buffer.params(), params, "the parameters of the allocation");
            let address = buffer.device_address();
            ensure!(address != 0 && address % alignment == 0, "{address:#x} is no multiple of {alignment}");
        }
    }
    Ok(())
}

fn min_alignment_honoured(ctx: &Context) -> Outcome {
    for power in [0, 2, 8, 12, 16] {
        let alignment = 1 << power;
        for params in [BufferParams::device(), BufferParams::host()] {
            let buffer = ctx.device().allocate(&params.with_min_alignment(alignment), 100)?;
            let address = buffer.device_address();
            ensure!(address % alignment == 0, "{address:#x} is no multiple of {alignment}");
        }
    }
    Ok(())
}

fn bad_alignment_refused(ctx: &Context) -> Outcome {
    for alignment in [3, 100, u64::MAX] {
        let params = BufferParams::device().with_min_alignment(alignment);
        refused(ctx.device().allocate(&params, 64), Code::InvalidArgument, "an odd alignment")?;
    }
    Ok(())
}

fn empty_allocation(ctx: &Context) -> Outcome {
    let (empty, done) = (ctx.device().allocate_device(0)?, Semaphore::new(0));
    ensure!(empty.is_empty(), "an allocation of no bytes has {}", empty.len());
    ctx.queue(0)?.fill(&[], &[done.at(1)], &empty, 1_u32)?;
    ctx.wait(&done.at(1))?;
    refused(empty.subspan(0, 1), Code::OutOfRange, "a byte of an empty buffer")?;
    Ok(())
}

fn allocations_do_not_overlap(ctx: &Context) -> Outcome {
    let mut random = ctx.random();
    let mut buffers = Vec::new();
    for _ in 0..300 {
        buffers.push(ctx.device().allocate_device(1 + random.below(5000) as u64)?);
        if random.below(3) == 0 {
            buffers.swap_remove(random.below(buffers.len()));
        }
    }
    let mut ranges: Vec<_> = buffers
        .iter()
        .map(|buffer| (buffer.device_address(), buffer.device_address() + buffer.len()))
        .collect();
    ranges.sort_unstable();
    for pair in ranges.windows(2) {
        ensure!(pair[0].1 <= pair[1].0, "two buffers overlap: {:#x?} and {:#x?}", pair[0], pair[1]);
    }
    Ok(())
}

fn too_large_is_exhausted(ctx: &Context) -> Outcome {
    for size in [1 << 50, u64::MAX / 2, u64::MAX - 1, u64::MAX] {
        for params in [BufferParams::device(), BufferParams::host()] {
            let error = refused(
                ctx.device().allocate(&params, size),
                Code::ResourceExhausted,
                &format!("an allocation of {size} bytes"),
            )?;
            crate::check::names(&error, &size.to_string())?;
        }
    }
    same_bytes(&ctx.download(&ctx.filled(64, 7)?)?, &[7; 64], "a buffer allocated afterwards")
}

fn subspan_bounds(ctx: &Context) -> Outcome {
    let buffer = ctx.device().allocate_device(100)?;
    for (offset, length) in [(0, 100), (0, 0), (100, 0), (99, 1), (30, 70)] {
        let span = buffer.subspan(offset, length)?;
        ensure_eq!((span.offset(), span.len()), (offset, length), "a subspan");
    }
    for (offset, length) in [(0, 101), (100, 1), (101, 0), (u64::MAX, 1), (1, u64::MAX), (u64::MAX, u64::MAX)]
    {
        refused(
            buffer.subspan(offset, length),
            Code::OutOfRange,
            &format!("a subspan of {length} at {offset}"),
        )?;
    }
    let inner = buffer.subspan(40, 20)?;
    refused(inner.subspan(0, 21), Code::OutOfRange, "a subspan that leaves its parent, not the allocation")?;
    Ok(())
}

fn subspans_nest(ctx: &Context) -> Outcome {
    let bytes = ctx.random().bytes(100);
    let buffer = ctx.upload(&bytes)?;
    let inner = buffer.subspan(10, 80)?.subspan(20, 40)?.subspan(5, 7)?;
    ensure_eq!(inner.offset(), 35, "the offset in the allocation");
    ensure_eq!(inner.device_address(), buffer.device_address() + 35, "the address");
    same_bytes(&ctx.download(&inner)?, &bytes[35..42], "the subspan's bytes")
}

fn clones_share_memory(ctx: &Context) -> Outcome {
    let (buffer, done) = (ctx.filled(64, 1)?, Semaphore::new(0));
    let clone = buffer.clone();
    let span = buffer.subspan(32, 32)?;
    drop(buffer);
    ctx.queue(0)?.fill(&[], &[done.at(1)], &span, 2_u8)?;
    let mut expected = [1; 64];
    expected[32..].fill(2);
    same_bytes(&ctx.download_after(&done.at(1), &clone)?, &expected, "the clone after a fill of the subspan")
}

fn limited(ctx: &Context, usage: BufferUsage) -> Outcome<Buffer> {
    Ok(ctx.device().allocate(&BufferParams::device().with_usage(usage), 64)?)
}

fn usage_is_enforced(ctx: &Context) -> Outcome {
    let only_source = limited(ctx, BufferUsage::TRANSFER_SOURCE)?;
    let only_target = limited(ctx, BufferUsage::TRANSFER_TARGET)?;
    let (queue, done) = (ctx.queue(0)?, Semaphore::new(0));
    let signals = [done.at(1)];
    let code = Code::InvalidArgument;
    refused(queue.fill(&[], &signals, &only_source, 0_u8), code, "a fill of a source")?;
    refused(queue.update(&[], &signals, &[0; 64], &only_source), code, "an update of a source")?;
    refused(queue.copy(&[], &signals, &only_source, &only_source), code, "a copy to a source")?;
    refused(queue.copy(&[], &signals, &only_target, &only_target), code, "a copy from a target")?;
    ensure_eq!(done.query()?, 0, "the semaphore of refused work");
    queue.copy(&[], &signals, &only_source, &only_target)?;
    ctx.wait(&done.at(1))
}

fn mapping_needs_usage(ctx: &Context) -> Outcome {
    refused(ctx.device().allocate_device(64)?.map(), Code::FailedPrecondition, "mapping device memory")?;
    let unmapped = BufferParams::host().with_usage(BufferUsage::TRANSFER);
    let buffer = ctx.device().allocate(&unmapped, 64)?;
    refused(buffer.map(), Code::FailedPrecondition, "mapping without usage MAPPING")?;
    Ok(())
}

fn mapping_bounds(ctx: &Context) -> Outcome {
    let mapping = ctx.host_buffer(64)?.map()?;
    ensure_eq!(mapping.len(), 64, "the mapping's length");
    mapping.write(0, &[1; 64])?;
    for (offset, length) in [(0, 65), (64, 1), (65, 0), (u64::MAX, 1), (u64::MAX - 3, 8)] {
        let what = format!("{length} bytes at {offset} of a mapping of 64");
        let mut out = vec![9; length];
        refused(mapping.read(offset, &mut out), Code::OutOfRange, &what)?;
        same_bytes(&out, &vec![9; length], "the target of a refused read")?;
        refused(mapping.write(offset, &out), Code::OutOfRange, &what)?;
    }
    mapping.read(64, &mut [])?;
    same_bytes(&mapping.to_vec(), &[1; 64], "the mapping after refused writes")
}

fn mapping_reads_what_was_written(ctx: &Context) -> Outcome {
    let mapping = ctx.host_buffer(256)?.map()?;
    let mut random = ctx.random();
    let mut model = vec![0; 256];
    mapping.write(0, &model)?;
    for _ in 0..300 {
        let start = random.below(257);
        let bytes = {
            let length = random.below(257 - start);
            random.bytes(length)
        };
        mapping.write(start as u64, &bytes)?;
        model[start..start + bytes.len()].copy_from_slice(&bytes);
        let mut back = vec![0; bytes.len()];
        mapping.read(start as u64, &mut back)?;
        same_bytes(&back, &bytes, "the bytes read back")?;
    }
    same_bytes(&mapping.to_vec(), &model, "the whole mapping")
}

fn mapping_sees_device_writes(ctx: &Context) -> Outcome {
    let (buffer, done) = (ctx.host_buffer(64)?, Semaphore::new(0));
    let mapping = buffer.map()?;
    mapping.write(0, &[0; 64])?;
    for value in 1..=10_u8 {
        ctx.queue(0)?.fill(&[], &[done.at(value.into())], &buffer, value)?;
        ctx.wait(&done.at(value.into()))?;
        same_bytes(&mapping.to_vec(), &[value; 64], "the mapping after a fill")?;
    }
    Ok(())
}

fn device_sees_mapping_writes(ctx: &Context) -> Outcome {
    let (source, target, done) = (ctx.host_buffer(64)?, ctx.filled(64, 0)?, Semaphore::new(0));
    let mapping = source.map()?;
    for value in 1..=10_u8 {
        mapping.write(0, &[value; 64])?;
        ctx.queue(0)?.copy(&[], &[done.at(value.into())], &source, &target)?;
        let bytes = ctx.download_after(&done.at(value.into()), &target)?;
        same_bytes(&bytes, &[value; 64], "the copy of mapped memory")?;
    }
    Ok(())
}

fn mapping_of_subspan(ctx: &Context) -> Outcome {
    let buffer = ctx.host_buffer(64)?;
    let (whole, part) = (buffer.map()?, buffer.subspan(13, 20)?.map()?);
    whole.write(0, &[1; 64])?;
    part.write(0, &[2; 20])?;
    refused(part.write(20, &[3]), Code::OutOfRange, "a write past the subspan")?;
    let mut expected = [1; 64];
    expected[13..33].fill(2);
    same_bytes(&whole.to_vec(), &expected, "the whole mapping")
}

fn statistics_count(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let before = device.statistics();
    let buffers = [device.allocate_device(1 << 16)?, device.allocate_device(1 << 20)?];
    let during = device.statistics();
    let grown = during.device_bytes_used.saturating_sub(before.device_bytes_used);
    ensure!(grown >= (1 << 16) + (1 << 20), "bytes in use grew by {grown}");
    ensure_eq!(during.allocations, before.allocations + 2, "allocations in use");
    ensure!(
        during.device_bytes_reserved >= during.device_bytes_used,
        "more in use than reserved: {during:?}"
    );
    ensure!(
        during.device_bytes_peak >= during.device_bytes_used,
        "a peak below the bytes in use: {during:?}"
    );
    drop(buffers);
    let after = device.statistics();
    ensure_eq!(after.device_bytes_used, before.device_bytes_used, "bytes in use after the drop");
    ensure_eq!(after.allocations, before.allocations, "allocations in use after the drop");
    ensure!(after.device_bytes_peak >= during.device_bytes_used, "the peak fell: {after:?}");
    Ok(())
}
