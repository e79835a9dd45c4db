// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lifetimes of handles, submissions and devices.

use std::{
    sync::{Arc, Barrier, mpsc},
    time::Duration,
};

use windlass_hal::{BufferParams, Code, Deadline, Error, Feature, HostCallContext, HostCallFlags, Semaphore};

use crate::{
    check::{ensure, ensure_eq, refused, same_bytes},
    context::{Context, queue_of},
    outcome::{Outcome, Stop},
};

suite! { "lifetime";
    #[smoke] close_cancels_pending: "Closing a device fails pending work with CANCELLED.";
    close_refuses_new_work: "A closed device refuses submissions and leaves their signals alone.";
    close_does_not_wait [HostCalls]: "Closing or dropping a device returns while its work is running.";
    close_twice: "Closing a device again does nothing.";
    drop_cancels_pending: "Dropping the last handle of a device fails pending work with CANCELLED.";
    queue_keeps_device_open: "A queue keeps its device open.";
    issued_work_survives_drop: "Issued work reaches its signals after the last handle is dropped.";
    submission_keeps_buffers: "A submission keeps its buffers alive until it has run.";
    mapping_outlives_device: "A mapping stays readable after buffer and device are dropped.";
    completed_work_releases_buffers: "Work that has ended keeps no buffer alive.";
    failed_work_releases_buffers: "Work that failed before it ran keeps no buffer alive.";
    #[smoke] drop_with_everything_in_flight: "After dropping everything with work in every state, each signal is reached or failed.";
    drain_waits_for_issued_work: "After a drain all issued work has reached its signals.";
    drain_leaves_pending_work: "A drain does not wait for work whose waits are not reached.";
    drains_in_host_calls [HostCalls]: "Host calls that drain their device at the same time all return.";
    drain_has_a_deadline: "A drain whose deadline passes while a host call runs is DEADLINE_EXCEEDED.";
    many_devices: "A device can be opened and dropped fifty times with work in it.";
    poll_and_trim_are_harmless: "Polling and trimming at any time change no result.";
}

fn close_cancels_pending(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let (gate, done) = (Semaphore::new(0), Semaphore::new(0));
    let buffer = device.allocate_device(64)?;
    queue_of(&device, 0)?.fill(&[gate.at(1)], &[done.at(1)], &buffer, 1_u8)?;
    queue_of(&device, 1)?.barrier(&[done.at(1)], &[done.at(2)])?;
    device.close();
    ensure_eq!(ctx.wait_for_failure(&done.at(1))?.code(), Code::Cancelled, "the failure's code");
    ctx.until("no waiter is left", || gate.waiter_count() == 0)
}

fn close_refuses_new_work(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let (queue, buffer, done) = (queue_of(&device, 0)?, device.allocate_device(64)?, Semaphore::new(0));
    device.close();
    for result in [queue.barrier(&[], &[done.at(1)]), queue.fill(&[], &[done.at(1)], &buffer, 1_u8)] {
        refused(result, Code::Cancelled, "work for a closed device")?;
    }
    ensure_eq!(done.query()?, 0, "the semaphore of refused work");
    Ok(())
}

fn close_does_not_wait(ctx: &Context) -> Outcome {
    for explicitly in [true, false] {
        let device = ctx.open()?;
        let (go, wait_for_go) = mpsc::channel::<()>();
        let (started, done) = (Semaphore::new(0), Semaphore::new(0));
        let begun = started.clone();
        queue_of(&device, 0)?.host_call(&[], &[done.at(1)], HostCallFlags::NONE, move |_| {
            begun.signal(1)?;
            wait_for_go.recv().map_err(|_| Error::cancelled("the case has ended"))
        })?;
        ctx.wait(&started.at(1))?;
        if explicitly {
            device.close();
        }
        drop(device);
        ensure_eq!(done.query()?, 0, "the payload while the call runs");
        go.send(()).unwrap_or_default();
        ctx.wait(&done.at(1))?;
    }
    Ok(())
}

fn close_twice(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let (gate, done) = (Semaphore::new(0), Semaphore::new(0));
    queue_of(&device, 0)?.barrier(&[gate.at(1)], &[done.at(1)])?;
    device.close();
    device.close();
    drop(device);
    ensure_eq!(ctx.wait_for_failure(&done.at(1))?.code(), Code::Cancelled, "the failure's code");
    Ok(())
}

fn drop_cancels_pending(ctx: &Context) -> Outcome {
    let (gate, done) = (Semaphore::new(0), Semaphore::new(0));
    let device = ctx.open()?;
    let queue = queue_of(&device, 0)?;
    queue.barrier(&[gate.at(1)], &[done.at(1)])?;
    drop(device);
    ensure_eq!(done.query()?, 0, "the semaphore while the queue holds the device");
    drop(queue);
    ensure_eq!(ctx.wait_for_failure(&done.at(1))?.code(), Code::Cancelled, "the failure's code");
    Ok(())
}

fn queue_keeps_device_open(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let (queue, buffer) = (queue_of(&device, 0)?, device.allocate(&BufferParams::host(), 64)?);
    drop(device);
    let done = Semaphore::new(0);
    queue.fill(&[], &[done.at(1)], &buffer, 6_u8)?;
    ctx.wait(&done.at(1))?;
    same_bytes(&buffer.map()?.to_vec(), &[6; 64], "the buffer")
}

fn issued_work_survives_drop(ctx: &Context) -> Outcome {
    for _ in 0..20 {
        let device = ctx.open()?;
        let (target, done) = (device.allocate(&BufferParams::host(), 1 << 16)?, Semaphore::new(0));
        let mapping = target.map()?;
        let queue = queue_of(&device, 0)?;
        // Work without waits is issued when the call returns.
        queue.fill(&[], &[done.at(1)], &target, 0x5a_u8)?;
        drop((queue, target, device));
        ctx.wait(&done.at(1))?;
        same_bytes(&mapping.to_vec(), &[0x5a; 1 << 16], "the mapping")?;
    }
    Ok(())
}

fn submission_keeps_buffers(ctx: &Context) -> Outcome {
    let (gate, step, target) = (Semaphore::new(0), Semaphore::new(0), ctx.filled(4096, 0)?);
    let queue = ctx.queue(0)?;
    let source = ctx.device().allocate_device(4096)?;
    queue.fill(&[gate.at(1)], &[step.at(1)], &source, 7_u8)?;
    queue.copy(&[step.at(1)], &[step.at(2)], &source, &target)?;
    drop(source);
    // The memory of the dropped handle would be free for these buffers, if it were freed.
    let others: Vec<_> = (0..16).map(|_| ctx.filled(4096, 9)).collect::<Outcome<_>>()?;
    gate.signal(1)?;
    same_bytes(&ctx.download_after(&step.at(2), &target)?, &[7; 4096], "the target")?;
    others.iter().try_for_each(|other| same_bytes(&ctx.download(other)?, &[9; 4096], "another buffer"))
}

fn mapping_outlives_device(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let buffer = device.allocate(&BufferParams::host(), 64)?;
    let mapping = buffer.map()?;
    drop((buffer, device));
    mapping.write(0, &[8; 64])?;
    same_bytes(&mapping.to_vec(), &[8; 64], "the mapping")
}

fn completed_work_releases_buffers(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let before = device.statistics().device_bytes_used;
    let done = Semaphore::new(0);
    for value in 1..=50 {
        let (a, b) = (device.allocate_device(1 << 16)?, device.allocate_device(1 << 16)?);
        let filled = Semaphore::new(0);
        queue_of(&device, 0)?.fill(&[], &[filled.at(1)], &a, 1_u8)?;
        queue_of(&device, 1)?.copy(&[filled.at(1)], &[done.at(value)], &a, &b)?;
        ctx.wait(&done.at(value))?;
    }
    ctx.until("no buffer is in use", || {
        device.poll();
        device.statistics().device_bytes_used == before
    })
}

fn failed_work_releases_buffers(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let before = device.statistics().device_bytes_used;
    for _ in 0..50 {
        let (broken, done) = (Semaphore::new(0), Semaphore::new(0));
        let buffer = device.allocate_device(1 << 16)?;
        queue_of(&device, 0)?.fill(&[broken.at(1)], &[done.at(1)], &buffer, 1_u8)?;
        drop(buffer);
        broken.fail(Error::aborted("on purpose"));
        ctx.wait_for_failure(&done.at(1))?;
    }
    ctx.until("no buffer is in use", || {
        device.poll();
        device.statistics().device_bytes_used == before
    })
}

fn drop_with_everything_in_flight(ctx: &Context) -> Outcome {
    for round in 0..10 {
        let device = ctx.open()?;
        let (gate, broken) = (Semaphore::new(0), Semaphore::new(0));
        let mut ends = Vec::new();
        for index in 0..100 {
            let (queue, done, after) = (queue_of(&device, index)?, Semaphore::new(0), Semaphore::new(0));
            let buffer = device.allocate_device(4096)?;
            let wait = match (index + round) % 4 {
                0 => vec![],
                1 => vec![gate.at(1)],
                2 => vec![broken.at(1)],
                _ => vec![broken.at(1), gate.at(1)],
            };
            queue.fill(&wait, &[done.at(1)], &buffer, 1_u8)?;
            // A separate semaphore, so that the failure of a cancelled barrier does not overtake issued work.
            queue.barrier(&[done.at(1)], &[after.at(1)])?;
            ends.push((wait.is_empty(), done, after));
        }
        match round % 3 {
            0 => broken.fail(Error::aborted("on purpose")),
            1 => gate.signal(1)?,
            _ => {}
        }
        drop(device);
        for (free, done, after) in ends {
            match done.wait_blocking(1, ctx.deadline()) {
                Err(error) if error.code() == Code::DeadlineExceeded => return Err(error.into()),
                Err(error) if free => return Err(Stop::fail(format!("issued work failed: {error:?}"))),
                _ => {}
            }
            if let Err(error) = after.wait_blocking(1, ctx.deadline()) {
                ensure!(error.code() != Code::DeadlineExceeded, "the second signal never ended: {error:?}");
            }
        }
        let waiters = gate.waiter_count() + broken.waiter_count();
        ensure!(waiters == 0, "{waiters} waiters of a dropped device are left");
    }
    Ok(())
}

fn drain_waits_for_issued_work(ctx: &Context) -> Outcome {
    let done = Semaphore::new(0);
    let buffer = ctx.device().allocate_device(1 << 16)?;
    for value in 1..=50 {
        ctx.queue(value as u32)?.fill(&[done.at(value - 1)], &[done.at(value)], &buffer, value as u8)?;
    }
    ctx.wait(&done.at(1))?;
    // The chain is on one device, so once its head is issued, the rest is too.
    ctx.until("the chain is issued", || done.query().is_ok_and(|value| value >= 1))?;
    let alone = Semaphore::new(0);
    ctx.queue(0)?.fill(&[], &[alone.at(1)], &buffer, 0_u8)?;
    ctx.device().drain(ctx.deadline())?;
    ensure_eq!(alone.query()?, 1, "the payload after the drain");
    Ok(())
}

fn drain_leaves_pending_work(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let (gate, done) = (Semaphore::new(0), Semaphore::new(0));
    queue_of(&device, 0)?.barrier(&[gate.at(1)], &[done.at(1)])?;
    device.drain(ctx.deadline())?;
    ensure_eq!(done.query()?, 0, "the payload of pending work after the drain");
    gate.signal(1)?;
    ctx.wait(&done.at(1))
}

fn drains_in_host_calls(ctx: &Context) -> Outcome {
    const CALLS: u32 = 3;
    let device = ctx.open()?;
    let (done, all) = (Semaphore::new(0), Arc::new(Barrier::new(CALLS as usize)));
    let ends: Vec<_> = (0..CALLS).map(|_| Semaphore::new(0).at(1)).collect();
    for (index, end) in (0..).zip(&ends) {
        let (drained, all, deadline) = (device.clone(), all.clone(), ctx.deadline());
        let call = move |_: &mut HostCallContext| {
            all.wait();
            drained.drain(deadline)
        };
        queue_of(&device, index)?.host_call(&[], std::slice::from_ref(end), HostCallFlags::NONE, call)?;
    }
    queue_of(&device, 0)?.barrier(&ends, &[done.at(1)])?;
    ctx.wait(&done.at(1))
}

fn drain_has_a_deadline(ctx: &Context) -> Outcome {
    ctx.require(Feature::HostCalls)?;
    let device = ctx.open()?;
    let (go, wait_for_go) = mpsc::channel::<()>();
    let done = Semaphore::new(0);
    queue_of(&device, 0)?.host_call(&[], &[done.at(1)], HostCallFlags::NONE, move |_| {
        wait_for_go.recv().map_err(|_| Error::cancelled("the case has ended"))
    })?;
    let drained = device.drain(Deadline::after(Duration::from_millis(5)));
    refused(drained, Code::DeadlineExceeded, "a drain while a host call runs")?;
    go.send(()).unwrap_or_default();
    device.drain(ctx.deadline())?;
    ensure_eq!(done.query()?, 1, "the payload after the drain");
    Ok(())
}

fn many_devices(ctx: &Context) -> Outcome {
    for round in 0..50_u8 {
        let device = ctx.open()?;
        let (buffer, done) = (device.allocate_device(4096)?, Semaphore::new(0));
        let queue = queue_of(&device, round.into())?;
        queue.fill(&[], &[done.at(1)], &buffer, round)?;
        if round % 2 == 0 {
            let bytes = queue.download(&[done.at(1)], &buffer)?.wait(ctx.deadline())?;
            same_bytes(&bytes, &[round; 4096], "the buffer")?;
        }
    }
    Ok(())
}

fn poll_and_trim_are_harmless(ctx: &Context) -> Outcome {
    let (step, buffer) = (Semaphore::new(0), ctx.filled(4096, 0)?);
    for value in 1..=100 {
        ctx.queue(value as u32)?.fill(&[step.at(value - 1)], &[step.at(value)], &buffer, value as u8)?;
        ctx.device().poll();
        if value % 10 == 0 {
            ctx.device().trim();
        }
    }
    same_bytes(&ctx.download_after(&step.at(100), &buffer)?, &[100; 4096], "the buffer")
}
