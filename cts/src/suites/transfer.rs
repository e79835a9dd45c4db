// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fills, updates and copies on a queue.

use windlass_hal::{Buffer, Code, Pattern, Semaphore};

use crate::{
    check::{ensure_eq, refused, same_bytes},
    context::Context,
    outcome::Outcome,
};

suite! { "transfer";
    fill_pattern_1 = |ctx| fill_classes(ctx, 0x5a_u8), "A one-byte pattern fills exactly its range, at any offset and length.";
    fill_pattern_2 = |ctx| fill_classes(ctx, 0xa1b2_u16), "A two-byte pattern fills exactly its range, at any offset and length.";
    #[smoke] fill_pattern_4 = |ctx| fill_classes(ctx, 0xa1b2_c3d4_u32), "A four-byte pattern fills exactly its range, at any offset and length.";
    fill_with_a_float: "A fill with a float repeats its bits.";
    fill_large: "A fill of megabytes reaches the last byte.";
    fill_misaligned_refused: "A fill whose address or length is no multiple of the pattern is INVALID_ARGUMENT.";
    #[smoke] update_classes: "An update writes exactly its range, at any offset and length.";
    update_large: "An update of megabytes arrives completely.";
    update_captures_source: "An update writes the bytes that its source held at submission, even if it runs later.";
    update_length_mismatch_refused: "An update with a source and a target of different lengths is INVALID_ARGUMENT.";
    #[smoke] copy_classes: "A copy moves exactly its range, at any pair of offsets and any length.";
    copy_large: "A copy of megabytes arrives completely.";
    copy_within_a_buffer: "A copy between ranges of one buffer that touch but do not overlap is right.";
    copy_overlap_refused: "A copy between overlapping ranges is INVALID_ARGUMENT.";
    copy_length_mismatch_refused: "A copy between different lengths is INVALID_ARGUMENT.";
    copy_between_memory_types: "Copies work between device memory and host memory, in every direction.";
    empty_transfers_signal: "Transfers of no bytes wait, touch nothing, and reach their signals.";
    refused_leaves_signals_untouched: "A refused transfer signals nothing, and the queue goes on.";
    burst_of_copies: "Two hundred copies without edges between them all arrive.";
    #[smoke] chained_transfers: "Fill, update and copy in a chain of semaphores leave the bytes of their order.";
    download_waits: "A download returns the bytes that memory holds when its waits are reached.";
}

/// The byte around the range under test.
const BACKGROUND: u8 = 0xee;

fn fill_classes(ctx: &Context, pattern: impl Into<Pattern>) -> Outcome {
    let pattern = pattern.into();
    let unit = pattern.bytes().len() as u64;
    let queue = ctx.queue(0)?;
    let done = Semaphore::new(0);
    let mut value = 0;
    let buffer = ctx.device().allocate_device(1200)?;
    for offset in [0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 64, 100] {
        for length in [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 255, 256, 1000] {
            let (offset, length) = (offset * unit % 128 / unit * unit, length * unit % 1024 / unit * unit);
            queue.fill(&[done.at(value)], &[done.at(value + 1)], &buffer, BACKGROUND)?;
            let span = buffer.subspan(offset, length)?;
            queue.fill(&[done.at(value + 1)], &[done.at(value + 2)], &span, pattern)?;
            value += 2;
            let mut expected = vec![BACKGROUND; 1200];
            for (at, byte) in expected[offset as usize..][..length as usize].iter_mut().enumerate() {
                *byte = pattern.bytes()[at % unit as usize];
            }
            let bytes = ctx.download_after(&done.at(value), &buffer)?;
            same_bytes(&bytes, &expected, &format!("a fill of {length} bytes at {offset}"))?;
        }
    }
    Ok(())
}

fn fill_with_a_float(ctx: &Context) -> Outcome {
    let (buffer, done) = (ctx.device().allocate_device(64)?, Semaphore::new(0));
    ctx.queue(0)?.fill(&[], &[done.at(1)], &buffer, -1.5_f32)?;
    same_bytes(&ctx.download_after(&done.at(1), &buffer)?, &(-1.5_f32).to_le_bytes().repeat(16), "the buffer")
}

fn fill_large(ctx: &Context) -> Outcome {
    let length = (4 << 20) + 12;
    let (buffer, done) = (ctx.device().allocate_device(length)?, Semaphore::new(0));
    ctx.queue(0)?.fill(&[], &[done.at(1)], &buffer, 0x0403_0201_u32)?;
    let bytes = ctx.download_after(&done.at(1), &buffer)?;
    same_bytes(&bytes, &[1, 2, 3, 4].repeat(length as usize / 4), "the buffer")
}

fn fill_misaligned_refused(ctx: &Context) -> Outcome {
    let (buffer, done) = (ctx.filled(64, 1)?, Semaphore::new(0));
    let queue = ctx.queue(0)?;
    for (offset, length, pattern) in [
        (1, 2, Pattern::from(7_u16)),
        (0, 3, Pattern::from(7_u16)),
        (2, 4, Pattern::from(7_u32)),
        (0, 6, Pattern::from(7_u32)),
    ] {
        let span = buffer.subspan(offset, length)?;
        let what = format!("a fill of {length} bytes at {offset} with {pattern:?}");
        refused(queue.fill(&[], &[done.at(1)], &span, pattern), Code::InvalidArgument, &what)?;
    }
    ensure_eq!(done.query()?, 0, "the semaphore of refused fills");
    same_bytes(&ctx.download(&buffer)?, &[1; 64], "the buffer after refused fills")
}

fn update_classes(ctx: &Context) -> Outcome {
    let mut random = ctx.random();
    let (queue, done) = (ctx.queue(0)?, Semaphore::new(0));
    let mut model = vec![BACKGROUND; 600];
    let buffer = ctx.filled(600, BACKGROUND)?;
    let mut value = 0;
    for offset in [0, 1, 2, 3, 4, 8, 13, 64, 99] {
        for length in [1, 2, 3, 4, 5, 8, 16, 63, 64, 65, 500] {
            let bytes = random.bytes(length);
            let span = buffer.subspan(offset, length as u64)?;
            queue.update(&[done.at(value)], &[done.at(value + 1)], &bytes, &span)?;
            value += 1;
            model[offset as usize..][..length].copy_from_slice(&bytes);
            let now = ctx.download_after(&done.at(value), &buffer)?;
            same_bytes(&now, &model, &format!("an update of {length} bytes at {offset}"))?;
        }
    }
    Ok(())
}

fn update_large(ctx: &Context) -> Outcome {
    let bytes = ctx.random().bytes((2 << 20) + 5);
    same_bytes(&ctx.download(&ctx.upload(&bytes)?)?, &bytes, "the buffer")
}

fn update_captures_source(ctx: &Context) -> Outcome {
    let (gate, done) = (Semaphore::new(0), Semaphore::new(0));
    for length in [4, 70_000] {
        let buffer = ctx.filled(length, 0)?;
        let mut source = vec![1; length as usize];
        let next = gate.query()? + 1;
        ctx.queue(0)?.update(&[gate.at(next)], &[done.at(next)], &source, &buffer)?;
        source.fill(2);
        drop(source);
        gate.signal(next)?;
        let bytes = ctx.download_after(&done.at(next), &buffer)?;
        same_bytes(&bytes, &vec![1; length as usize], "the buffer")?;
    }
    Ok(())
}

fn update_length_mismatch_refused(ctx: &Context) -> Outcome {
    let (buffer, done) = (ctx.filled(64, 1)?, Semaphore::new(0));
    let queue = ctx.queue(0)?;
    for length in [0, 63, 65] {
        let updated = queue.update(&[], &[done.at(1)], &vec![9; length], &buffer);
        refused(updated, Code::InvalidArgument, &format!("an update of 64 bytes from {length}"))?;
    }
    ensure_eq!(done.query()?, 0, "the semaphore of refused updates");
    Ok(())
}

fn copy_classes(ctx: &Context) -> Outcome {
    let bytes = ctx.random().bytes(600);
    let (queue, done) = (ctx.queue(0)?, Semaphore::new(0));
    let (source, target) = (ctx.upload(&bytes)?, ctx.filled(600, BACKGROUND)?);
    let mut value = 0;
    for from in [0, 1, 2, 4, 7, 64] {
        for to in [0, 1, 3, 4, 8, 65] {
            for length in [1, 2, 3, 4, 8, 15, 16, 17, 64, 255, 500] {
                queue.fill(&[done.at(value)], &[done.at(value + 1)], &target, BACKGROUND)?;
                queue.copy(
                    &[done.at(value + 1)],
                    &[done.at(value + 2)],
                    &source.subspan(from, length)?,
                    &target.subspan(to, length)?,
                )?;
                value += 2;
                let mut expected = vec![BACKGROUND; 600];
                expected[to as usize..][..length as usize]
                    .copy_from_slice(&bytes[from as usize..][..length as usize]);
                let now = ctx.download_after(&done.at(value), &target)?;
                same_bytes(&now, &expected, &format!("a copy of {length} bytes from {from} to {to}"))?;
            }
        }
    }
    Ok(())
}

fn copy_large(ctx: &Context) -> Outcome {
    let bytes = ctx.random().bytes((4 << 20) + 7);
    let length = bytes.len() as u64;
    let (source, target, done) = (ctx.upload(&bytes)?, ctx.filled(length, 0)?, Semaphore::new(0));
    ctx.queue(0)?.copy(&[], &[done.at(1)], &source, &target)?;
    same_bytes(&ctx.download_after(&done.at(1), &target)?, &bytes, "the target")
}

fn copy_within_a_buffer(ctx: &Context) -> Outcome {
    let mut bytes = ctx.random().bytes(96);
    let (buffer, done) = (ctx.upload(&bytes)?, Semaphore::new(0));
    let queue = ctx.queue(0)?;
    queue.copy(&[], &[done.at(1)], &buffer.subspan(0, 32)?, &buffer.subspan(32, 32)?)?;
    queue.copy(&[done.at(1)], &[done.at(2)], &buffer.subspan(64, 8)?, &buffer.subspan(72, 8)?)?;
    bytes.copy_within(0..32, 32);
    bytes.copy_within(64..72, 72);
    same_bytes(&ctx.download_after(&done.at(2), &buffer)?, &bytes, "the buffer")
}

fn copy_overlap_refused(ctx: &Context) -> Outcome {
    let (buffer, done) = (ctx.filled(64, 1)?, Semaphore::new(0));
    let queue = ctx.queue(0)?;
    for (from, to, length) in [(0, 0, 64), (0, 1, 32), (31, 0, 32), (10, 12, 3)] {
        let copied =
            queue.copy(&[], &[done.at(1)], &buffer.subspan(from, length)?, &buffer.subspan(to, length)?);
        refused(copied, Code::InvalidArgument, &format!("a copy of {length} bytes from {from} to {to}"))?;
    }
    ensure_eq!(done.query()?, 0, "the semaphore of refused copies");
    Ok(())
}

fn copy_length_mismatch_refused(ctx: &Context) -> Outcome {
    let (a, b, done) = (ctx.filled(64, 1)?, ctx.filled(63, 1)?, Semaphore::new(0));
    let queue = ctx.queue(0)?;
    refused(queue.copy(&[], &[done.at(1)], &a, &b), Code::InvalidArgument, "a copy of 64 bytes to 63")?;
    refused(queue.copy(&[], &[done.at(1)], &b, &a), Code::InvalidArgument, "a copy of 63 bytes to 64")?;
    ensure_eq!(done.query()?, 0, "the semaphore of refused copies");
    Ok(())
}

fn copy_between_memory_types(ctx: &Context) -> Outcome {
    let make: [fn(&Context) -> Outcome<Buffer>; 2] = [|ctx| ctx.filled(1000, 0), |ctx| ctx.host_buffer(1000)];
    for source in make {
        for target in make {
            let bytes = ctx.random().bytes(1000);
            let (source, target, done) = (source(ctx)?, target(ctx)?, Semaphore::new(0));
            let queue = ctx.queue(0)?;
            queue.update(&[], &[done.at(1)], &bytes, &source)?;
            queue.copy(&[done.at(1)], &[done.at(2)], &source, &target)?;
            same_bytes(&ctx.download_after(&done.at(2), &target)?, &bytes, "the target")?;
        }
    }
    Ok(())
}

fn empty_transfers_signal(ctx: &Context) -> Outcome {
    let (buffer, gate, done) = (ctx.filled(64, 1)?, Semaphore::new(0), Semaphore::new(0));
    let nothing = buffer.subspan(64, 0)?;
    let queue = ctx.queue(0)?;
    queue.fill(&[gate.at(1)], &[done.at(1)], &nothing, 9_u32)?;
    queue.update(&[done.at(1)], &[done.at(2)], &[], &nothing)?;
    queue.copy(&[done.at(2)], &[done.at(3)], &nothing, &nothing)?;
    ensure_eq!(done.query()?, 0, "the semaphore before the wait is reached");
    gate.signal(1)?;
    ctx.wait(&done.at(3))?;
    same_bytes(&ctx.download(&buffer)?, &[1; 64], "the buffer")
}

fn refused_leaves_signals_untouched(ctx: &Context) -> Outcome {
    let (buffer, done) = (ctx.filled(64, 1)?, Semaphore::new(0));
    let queue = ctx.queue(0)?;
    refused(queue.update(&[], &[done.at(1)], &[0], &buffer), Code::InvalidArgument, "a wrong update")?;
    ensure_eq!(done.query()?, 0, "the semaphore of a refused update");
    queue.fill(&[], &[done.at(1)], &buffer, 2_u8)?;
    same_bytes(&ctx.download_after(&done.at(1), &buffer)?, &[2; 64], "the buffer after the next fill")
}

fn burst_of_copies(ctx: &Context) -> Outcome {
    let bytes = ctx.random().bytes(200 * 64);
    let (source, target) = (ctx.upload(&bytes)?, ctx.filled(200 * 64, 0)?);
    let mut fence = windlass_hal::Fence::new();
    for index in 0..200 {
        let done = Semaphore::new(0);
        ctx.queue(index as u32)?.copy(
            &[],
            &[done.at(1)],
            &source.subspan(index * 64, 64)?,
            &target.subspan(index * 64, 64)?,
        )?;
        fence.insert(done.at(1));
    }
    fence.wait_blocking(ctx.deadline())?;
    same_bytes(&ctx.download(&target)?, &bytes, "the target")
}

fn chained_transfers(ctx: &Context) -> Outcome {
    let bytes = ctx.random().bytes(64);
    let (a, b, step) = (ctx.filled(64, 0)?, ctx.filled(64, 0)?, Semaphore::new(0));
    let queue = ctx.queue(0)?;
    queue.fill(&[], &[step.at(1)], &a, 1_u8)?;
    queue.copy(&[step.at(1)], &[step.at(2)], &a, &b)?;
    queue.update(&[step.at(2)], &[step.at(3)], &bytes, &a)?;
    queue.copy(&[step.at(3)], &[step.at(4)], &a.subspan(16, 16)?, &b.subspan(0, 16)?)?;
    queue.fill(&[step.at(4)], &[step.at(5)], &a.subspan(0, 32)?, 3_u8)?;
    queue.copy(&[step.at(5)], &[step.at(6)], &a.subspan(24, 16)?, &b.subspan(32, 16)?)?;
    let mut expected = vec![1; 64];
    expected[..16].copy_from_slice(&bytes[16..32]);
    expected[32..40].fill(3);
    expected[40..48].copy_from_slice(&bytes[32..40]);
    same_bytes(&ctx.download_after(&step.at(6), &b)?, &expected, "the buffer at the end of the chain")
}

fn download_waits(ctx: &Context) -> Outcome {
    let (buffer, gate, done) = (ctx.filled(64, 1)?, Semaphore::new(0), Semaphore::new(0));
    let download = ctx.queue(0)?.download(&[done.at(1)], &buffer)?;
    let nothing = ctx.queue(0)?.download(&[done.at(1)], &buffer.subspan(10, 0)?)?;
    ctx.queue(1)?.fill(&[gate.at(1)], &[done.at(1)], &buffer, 2_u8)?;
    gate.signal(1)?;
    same_bytes(&pollster::block_on(download)?, &[2; 64], "the downloaded bytes")?;
    same_bytes(&nothing.wait(ctx.deadline())?, &[], "a download of nothing")
}
