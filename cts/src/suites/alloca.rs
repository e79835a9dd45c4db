// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory in the order of a queue.

use windlass_hal::{BufferParams, BufferRef, Code, Error, Semaphore};

use crate::{
    check::{ensure, ensure_eq, names, refused, same_bytes},
    context::{Context, queue_of},
    outcome::Outcome,
};

suite! { "alloca";
    address_at_once [Alloca]: "An alloca returns a handle with its size and address before its waits are reached.";
    #[smoke] contents_are_ordered [Alloca]: "Alloca, use and dealloca submitted at once keep the contents in their order.";
    waits_for_its_waits [Alloca]: "An alloca and a dealloca reach their signals only after their waits.";
    #[smoke] cycle [Alloca]: "Two hundred allocas and deallocas in a chain each hold their own contents.";
    pipelined [Alloca]: "Allocas whose lifetimes overlap never share memory that is in use.";
    reuse_spares_work_in_flight [Alloca]:
        "Memory is not reused while work ordered before its dealloca has not run.";
    dealloca_returns_memory [Alloca]: "A dealloca takes memory out of use although a handle remains.";
    counts_until_the_dealloca [Alloca]: "Memory counts as in use until its dealloca has run, not until it is submitted.";
    failed_dealloca_keeps_memory [Alloca]: "A dealloca whose wait failed fails its signals and releases nothing.";
    failed_alloca_fails_signals [Alloca]: "An alloca whose wait failed fails its signals, and the device goes on.";
    dropped_without_dealloca [Alloca]: "Memory whose handles are dropped without a dealloca is not leaked.";
    dealloca_of_an_allocation [Alloca]: "A dealloca also takes a buffer of Device::allocate.";
    refused_after_the_dealloca [Alloca]:
        "Calls that take, record, bind or map a deallocated buffer are FAILED_PRECONDITION.";
    released_on_another_queue [Alloca]: "Memory may be deallocated on another queue than that of its alloca.";
    dealloca_of_a_part_refused [Alloca]: "A dealloca of a subspan is INVALID_ARGUMENT.";
    too_large_is_exhausted [Alloca]: "An alloca that does not fit is RESOURCE_EXHAUSTED and signals nothing.";
    alignment [Alloca]: "An alloca honours the requested alignment, and refuses one that is no power of two.";
}

const DEVICE: BufferParams = BufferParams::device();

fn address_at_once(ctx: &Context) -> Outcome {
    let (gate, done) = (Semaphore::new(0), Semaphore::new(0));
    let buffer = ctx.queue(0)?.alloca(&[gate.at(1)], &[done.at(1)], &DEVICE, 1000)?;
    let address = buffer.device_address();
    ensure!(address != 0, "the address is null");
    ensure_eq!((buffer.len(), done.query()?), (1000, 0), "the size, and the payload before the gate opens");
    gate.signal(1)?;
    ctx.wait(&done.at(1))?;
    ensure_eq!(buffer.device_address(), address, "the address afterwards");
    Ok(())
}

fn contents_are_ordered(ctx: &Context) -> Outcome {
    let (gate, step, out) = (Semaphore::new(0), Semaphore::new(0), ctx.filled(4096, 0)?);
    let queue = ctx.queue(0)?;
    let buffer = queue.alloca(&[gate.at(1)], &[step.at(1)], &DEVICE, 4096)?;
    queue.fill(&[step.at(1)], &[step.at(2)], &buffer, 0x1122_3344_u32)?;
    queue.copy(&[step.at(2)], &[step.at(3)], &buffer, &out)?;
    queue.dealloca(&[step.at(3)], &[step.at(4)], &buffer)?;
    drop(buffer);
    gate.signal(1)?;
    ctx.wait(&step.at(4))?;
    same_bytes(&ctx.download(&out)?, &[0x44, 0x33, 0x22, 0x11].repeat(1024), "the copied bytes")
}

fn waits_for_its_waits(ctx: &Context) -> Outcome {
    let (gate, done) = (Semaphore::new(0), Semaphore::new(0));
    let queue = ctx.queue(0)?;
    let buffer = queue.alloca(&[gate.at(1)], &[done.at(1)], &DEVICE, 64)?;
    queue.dealloca(&[done.at(1), gate.at(2)], &[done.at(2)], &buffer)?;
    ctx.device().poll();
    ensure_eq!(done.query()?, 0, "the payload before the alloca's wait");
    gate.signal(1)?;
    ctx.wait(&done.at(1))?;
    ensure_eq!(done.query()?, 1, "the payload before the dealloca's wait");
    gate.signal(2)?;
    ctx.wait(&done.at(2))
}

fn cycle(ctx: &Context) -> Outcome {
    const SIZE: u64 = 10_000;
    let (step, out) = (Semaphore::new(0), ctx.filled(200, 0)?);
    for round in 0..200 {
        let at = 4 * round;
        let queue = ctx.queue(round as u32)?;
        let buffer = queue.alloca(&[step.at(at)], &[step.at(at + 1)], &DEVICE, SIZE)?;
        queue.fill(&[step.at(at + 1)], &[step.at(at + 2)], &buffer, round as u8)?;
        let last = buffer.subspan(SIZE - 1, 1)?;
        queue.copy(&[step.at(at + 2)], &[step.at(at + 3)], &last, &out.subspan(round, 1)?)?;
        queue.dealloca(&[step.at(at + 3)], &[step.at(at + 4)], &buffer)?;
    }
    let expected: Vec<u8> = (0..200).collect();
    same_bytes(&ctx.download_after(&step.at(800), &out)?, &expected, "the last byte of each round's memory")
}

fn pipelined(ctx: &Context) -> Outcome {
    const SIZE: u64 = 4096;
    let mut random = ctx.random();
    let mut ends = Vec::new();
    for chain in 0..8_u8 {
        let step = Semaphore::new(0);
        let mut at = 0;
        let mut outs = Vec::new();
        for round in 0..25_u8 {
            let queue = ctx.queue(random.below(4) as u32)?;
            let value = chain.wrapping_mul(31).wrapping_add(round).max(1);
            let out = ctx.filled(SIZE, 0)?;
            let buffer = queue.alloca(&[step.at(at)], &[step.at(at + 1)], &DEVICE, SIZE)?;
            queue.fill(&[step.at(at + 1)], &[step.at(at + 2)], &buffer, value)?;
            // A barrier in between, so that another chain can run and shows if it has the same memory.
            ctx.queue(random.below(4) as u32)?.barrier(&[step.at(at + 2)], &[step.at(at + 3)])?;
            queue.copy(&[step.at(at + 3)], &[step.at(at + 4)], &buffer, &out)?;
            queue.dealloca(&[step.at(at + 4)], &[step.at(at + 5)], &buffer)?;
            at += 5;
            outs.push((value, out));
        }
        ends.push((step.at(at), outs));
    }
    for (end, outs) in ends {
        ctx.wait(&end)?;
        for (value, out) in outs {
            same_bytes(
                &ctx.download(&out)?,
                &[value; SIZE as usize],
                "the bytes that a chain found in its own memory",
            )?;
        }
    }
    Ok(())
}

fn reuse_spares_work_in_flight(ctx: &Context) -> Outcome {
    const SIZE: u64 = 1 << 16;
    let (gate, old, out) = (Semaphore::new(0), Semaphore::new(0), ctx.filled(SIZE, 0)?);
    let queue = ctx.queue(0)?;
    let first = queue.alloca(&[], &[old.at(1)], &DEVICE, SIZE)?;
    queue.fill(&[old.at(1)], &[old.at(2)], &first, 1_u8)?;
    queue.copy(&[old.at(2), gate.at(1)], &[old.at(3)], &first, &out)?;
    queue.dealloca(&[old.at(3)], &[old.at(4)], &first)?;
    drop(first);
    ctx.wait(&old.at(2))?;
    let mut others = Vec::new();
    for value in 2..10_u8 {
        let done = Semaphore::new(0);
        let buffer = ctx.queue(value.into())?.alloca(&[], &[done.at(1)], &DEVICE, SIZE)?;
        ctx.queue(value.into())?.fill(&[done.at(1)], &[done.at(2)], &buffer, value)?;
        ctx.wait(&done.at(2))?;
        others.push((value, buffer));
    }
    gate.signal(1)?;
    ctx.wait(&old.at(4))?;
    same_bytes(&ctx.download(&out)?, &[1; SIZE as usize], "the bytes copied from the first memory")?;
    for (value, buffer) in others {
        same_bytes(
            &ctx.download(&buffer)?,
            &[value; SIZE as usize],
            "a memory that was allocated meanwhile",
        )?;
    }
    Ok(())
}

fn dealloca_returns_memory(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let (queue, done) = (queue_of(&device, 0)?, Semaphore::new(0));
    let before = device.statistics().device_bytes_used;
    let buffer = queue.alloca(&[], &[done.at(1)], &DEVICE, 1 << 20)?;
    ctx.wait(&done.at(1))?;
    let during = device.statistics().device_bytes_used;
    ensure!(
        during >= before + (1 << 20),
        "{during} bytes in use after an alloca of 1 MiB, {before} before it"
    );
    queue.dealloca(&[done.at(1)], &[done.at(2)], &buffer)?;
    ctx.wait(&done.at(2))?;
    ctx.until("the memory is out of use", || {
        device.poll();
        device.statistics().device_bytes_used == before
    })?;
    drop(buffer);
    ensure_eq!(device.statistics().device_bytes_used, before, "bytes in use after the last handle");
    Ok(())
}

fn counts_until_the_dealloca(ctx: &Context) -> Outcome {
    for fails in [false, true] {
        let device = ctx.open()?;
        let (queue, gate, done) = (queue_of(&device, 0)?, Semaphore::new(0), Semaphore::new(0));
        let buffer = queue.alloca(&[], &[done.at(1)], &DEVICE, 1 << 20)?;
        ctx.wait(&done.at(1))?;
        let during = device.statistics().device_bytes_used;
        queue.dealloca(&[gate.at(1)], &[done.at(2)], &buffer)?;
        device.drain(ctx.deadline())?;
        ensure_eq!(device.statistics().device_bytes_used, during, "bytes in use before the dealloca's wait");
        if fails {
            gate.fail(Error::aborted("on purpose"));
            ctx.wait_for_failure(&done.at(2))?;
            device.drain(ctx.deadline())?;
            ensure_eq!(device.statistics().device_bytes_used, during, "bytes in use after a failed dealloca");
        } else {
            gate.signal(1)?;
            ctx.wait(&done.at(2))?;
            ctx.until("the memory is out of use", || device.statistics().device_bytes_used < during)?;
        }
    }
    Ok(())
}

fn failed_dealloca_keeps_memory(ctx: &Context) -> Outcome {
    let (step, broken, done) = (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
    let queue = ctx.queue(0)?;
    let buffer = queue.alloca(&[], &[step.at(1)], &DEVICE, 4096)?;
    queue.fill(&[step.at(1)], &[step.at(2)], &buffer, 3_u8)?;
    ctx.wait(&step.at(2))?;
    queue.dealloca(&[broken.at(1)], &[done.at(1)], &buffer)?;
    broken.fail(Error::aborted("on purpose"));
    ensure_eq!(ctx.wait_for_failure(&done.at(1))?.code(), Code::Aborted, "the failure's code");
    let taken = Semaphore::new(0);
    let other = queue.alloca(&[], &[taken.at(1)], &DEVICE, 4096)?;
    queue.fill(&[taken.at(1)], &[taken.at(2)], &other, 4_u8)?;
    ctx.wait(&taken.at(2))?;
    same_bytes(&ctx.download(&buffer)?, &[3; 4096], "the memory that was not released")
}

fn failed_alloca_fails_signals(ctx: &Context) -> Outcome {
    let (broken, done) = (Semaphore::new(0), Semaphore::new(0));
    let queue = ctx.queue(0)?;
    let buffer = queue.alloca(&[broken.at(1)], &[done.at(1)], &DEVICE, 4096)?;
    let used = Semaphore::new(0);
    queue.fill(&[done.at(1)], &[used.at(1)], &buffer, 1_u8)?;
    broken.fail(Error::data_loss("on purpose"));
    ensure_eq!(ctx.wait_for_failure(&done.at(1))?.code(), Code::DataLoss, "the alloca's failure");
    ensure_eq!(ctx.wait_for_failure(&used.at(1))?.code(), Code::DataLoss, "the failure of its use");
    drop(buffer);
    contents_are_ordered(ctx)
}

fn dropped_without_dealloca(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let queue = queue_of(&device, 0)?;
    let before = device.statistics().device_bytes_used;
    for _ in 0..100 {
        let done = Semaphore::new(0);
        let buffer = queue.alloca(&[], &[done.at(1)], &DEVICE, 1 << 17)?;
        queue.fill(&[done.at(1)], &[done.at(2)], &buffer.subspan(0, 64)?, 1_u8)?;
        drop(buffer);
        ctx.wait(&done.at(2))?;
    }
    ctx.until("no memory is in use", || {
        device.poll();
        device.statistics().device_bytes_used == before
    })
}

fn dealloca_of_an_allocation(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let before = device.statistics().device_bytes_used;
    let (buffer, done) = (device.allocate_device(1 << 20)?, Semaphore::new(0));
    queue_of(&device, 0)?.dealloca(&[], &[done.at(1)], &buffer)?;
    ctx.wait(&done.at(1))?;
    ctx.until("the memory is out of use", || {
        device.poll();
        device.statistics().device_bytes_used == before
    })
}

fn refused_after_the_dealloca(ctx: &Context) -> Outcome {
    let device = ctx.device();
    let (queue, other) = (ctx.queue(0)?, ctx.filled(64, 1)?);
    let mut recorder = device.record_with_slots(1)?;
    recorder.fill(BufferRef::slot(0, 0, 64), 1_u8)?;
    let commands = recorder.finish()?;
    for allocated in [false, true] {
        let step = Semaphore::new(u64::from(allocated));
        let buffer = match allocated {
            true => device.allocate(&BufferParams::host(), 64)?,
            false => queue.alloca(&[], &[step.at(1)], &BufferParams::host(), 64)?,
        };
        queue.fill(&[step.at(1)], &[step.at(2)], &buffer, 1_u8)?;
        queue.dealloca(&[step.at(2)], &[step.at(3)], &buffer)?;
        ctx.wait(&step.at(3))?;
        let part = buffer.subspan(16, 4)?;
        let mut recorder = device.record()?;
        for (what, result) in [
            ("a fill", queue.fill(&[], &[step.at(4)], &part, 1_u8)),
            ("an update", queue.update(&[], &[step.at(4)], &[1; 64], &buffer)),
            ("a copy from it", queue.copy(&[], &[step.at(4)], &buffer, &other)),
            ("a copy to it", queue.copy(&[], &[step.at(4)], &other, &buffer)),
            ("a download", queue.download(&[], &buffer).map(drop)),
            ("another dealloca", queue.dealloca(&[], &[step.at(4)], &buffer)),
            ("a recorded fill", recorder.fill(&part, 1_u8)),
            ("a slot", queue.execute(&[], &[step.at(4)], &commands, [buffer.clone()])),
            ("a mapping", buffer.map().map(drop)),
        ] {
            let error = refused(result, Code::FailedPrecondition, &format!("{what} after the dealloca"))?;
            names(&error, "deallocated")?;
        }
        ensure_eq!(step.query()?, 3, "the semaphore of the refused calls");
    }
    Ok(())
}

fn released_on_another_queue(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let before = device.statistics().device_bytes_used;
    let (step, queues) = (Semaphore::new(0), device.limits().queues);
    for index in 0..2 * queues {
        let at = 3 * u64::from(index);
        let (queue, other) = (queue_of(&device, index)?, queue_of(&device, index + 1)?);
        let buffer = queue.alloca(&[step.at(at)], &[step.at(at + 1)], &DEVICE, 1 << 16)?;
        queue.fill(&[step.at(at + 1)], &[step.at(at + 2)], &buffer, index as u8)?;
        let download = other.download(&[step.at(at + 2)], &buffer)?;
        let bytes = download.wait(ctx.deadline())?;
        same_bytes(&bytes, &[index as u8; 1 << 16], &format!("the bytes that queue {index} wrote"))?;
        other.dealloca(&[step.at(at + 2)], &[step.at(at + 3)], &buffer)?;
    }
    ctx.wait(&step.at(6 * u64::from(queues)))?;
    ctx.until("the memory is out of use", || {
        device.poll();
        device.statistics().device_bytes_used == before
    })
}

fn dealloca_of_a_part_refused(ctx: &Context) -> Outcome {
    let (queue, done) = (ctx.queue(0)?, Semaphore::new(0));
    let buffer = queue.alloca(&[], &[done.at(1)], &DEVICE, 64)?;
    ctx.wait(&done.at(1))?;
    for (offset, length) in [(0, 32), (32, 32), (64, 0)] {
        let part = buffer.subspan(offset, length)?;
        refused(
            queue.dealloca(&[], &[done.at(2)], &part),
            Code::InvalidArgument,
            &format!("a dealloca of {length} bytes at {offset} of 64"),
        )?;
    }
    queue.dealloca(&[], &[done.at(2)], &buffer)?;
    ctx.wait(&done.at(2))
}

fn too_large_is_exhausted(ctx: &Context) -> Outcome {
    let (queue, done) = (ctx.queue(0)?, Semaphore::new(0));
    for size in [1 << 50, u64::MAX] {
        let error = refused(
            queue.alloca(&[], &[done.at(1)], &DEVICE, size),
            Code::ResourceExhausted,
            &format!("an alloca of {size} bytes"),
        )?;
        names(&error, &size.to_string())?;
    }
    ensure_eq!(done.query()?, 0, "the semaphore of refused allocas");
    contents_are_ordered(ctx)
}

fn alignment(ctx: &Context) -> Outcome {
    let (queue, done) = (ctx.queue(0)?, Semaphore::new(0));
    for alignment in [1, 64, 4096, 1 << 16] {
        let buffer = queue.alloca(&[], &[], &DEVICE.with_min_alignment(alignment), 100)?;
        let address = buffer.device_address();
        ensure!(address % alignment == 0, "{address:#x} is no multiple of {alignment}");
    }
    refused(
        queue.alloca(&[], &[done.at(1)], &DEVICE.with_min_alignment(24), 100),
        Code::InvalidArgument,
        "an alignment of 24",
    )?;
    ensure_eq!(done.query()?, 0, "the semaphore of a refused alloca");
    Ok(())
}
