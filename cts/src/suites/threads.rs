// SPDX-License-Identifier: MIT OR Apache-2.0
//! Handles used by several threads at once.

use std::sync::{
    Barrier,
    atomic::{AtomicBool, Ordering},
};

use windlass_hal::{Code, Semaphore};

use super::semaphore_thread::on_threads;
use crate::{
    check::{ensure_eq, same_bytes},
    context::{Context, queue_of},
    outcome::{Outcome, Stop},
};

suite! { "threads";
    #[smoke] share_a_queue: "Eight threads submit to one queue, and each gets its own results.";
    share_a_timeline: "Threads extend one timeline in turn, and its order holds.";
    #[smoke] submit_races_signal: "A submission that races with the signal it waits for is neither lost nor early.";
    submit_races_failure: "A submission that races with the failure of its wait fails its signals.";
    submit_races_close: "A submission that races with the closing of the device is refused, done or CANCELLED.";
    allocate_and_free: "Threads that allocate and free at once keep their memory apart.";
    record_at_once [CommandBuffers]: "Threads record, share and submit command buffers at once.";
    wait_at_once: "Threads that wait for one submission by blocking, by a future and by polling all end.";
}

fn share_a_queue(ctx: &Context) -> Outcome {
    let queue = ctx.queue(0)?;
    on_threads(8, |thread| {
        let (buffer, done) = (ctx.device().allocate_device(1024)?, Semaphore::new(0));
        for round in 0..50 {
            let value = (thread * 50 + round) as u32;
            queue.fill(&[done.at(2 * round as u64)], &[done.at(2 * round as u64 + 1)], &buffer, value)?;
            let bytes = queue.download(&[done.at(2 * round as u64 + 1)], &buffer)?.wait(ctx.deadline())?;
            same_bytes(&bytes, &value.to_le_bytes().repeat(256), "a thread's buffer")?;
            queue.barrier(&[], &[done.at(2 * round as u64 + 2)])?;
        }
        Ok(())
    })
}

fn share_a_timeline(ctx: &Context) -> Outcome {
    const LINKS: usize = 400;
    let (cells, step) = (ctx.filled(LINKS as u64 + 1, 0)?, Semaphore::new(0));
    on_threads(4, |thread| {
        let queue = ctx.queue(thread as u32)?;
        for link in (thread..LINKS).step_by(4) {
            let at = link as u64;
            let (from, to) = (cells.subspan(at, 1)?, cells.subspan(at + 1, 1)?);
            queue.copy(&[step.at(at + 1)], &[step.at(at + 2)], &from, &to)?;
        }
        if thread == 0 {
            queue.fill(&[], &[step.at(1)], &cells.subspan(0, 1)?, 0x33_u8)?;
        }
        Ok(())
    })?;
    let bytes = ctx.download_after(&step.at(LINKS as u64 + 1), &cells)?;
    same_bytes(&bytes, &[0x33; LINKS + 1], "the cells")
}

fn submit_races_signal(ctx: &Context) -> Outcome {
    let rounds = 500;
    let (gate, done, start) = (Semaphore::new(0), Semaphore::new(0), Barrier::new(2));
    let buffer = ctx.device().allocate_device(64)?;
    on_threads(2, |thread| {
        for round in 1..=rounds {
            start.wait();
            if thread == 0 {
                ctx.queue(round as u32)?.fill(&[gate.at(round)], &[done.at(round)], &buffer, round as u32)?;
            } else if round % 2 == 0 {
                gate.signal(round)?;
            } else {
                ctx.queue(round as u32 + 1)?.barrier(&[], &[gate.at(round)])?;
            }
            ctx.wait(&done.at(round))?;
        }
        Ok(())
    })?;
    ensure_eq!((gate.waiter_count(), done.waiter_count()), (0, 0), "waiters left behind");
    Ok(())
}

fn submit_races_failure(ctx: &Context) -> Outcome {
    for _ in 0..200 {
        let (gate, done, start) = (Semaphore::new(0), Semaphore::new(0), Barrier::new(2));
        on_threads(2, |thread| {
            start.wait();
            if thread == 0 {
                ctx.queue(0)?.barrier(&[gate.at(1)], &[done.at(1)])?;
            } else {
                gate.fail(windlass_hal::Error::data_loss("on purpose"));
            }
            Ok(())
        })?;
        ensure_eq!(ctx.wait_for_failure(&done.at(1))?.code(), Code::DataLoss, "the failure's code");
    }
    Ok(())
}

fn submit_races_close(ctx: &Context) -> Outcome {
    for _ in 0..20 {
        let device = ctx.open()?;
        let (gate, start) = (Semaphore::new(0), Barrier::new(4));
        let closed = AtomicBool::new(false);
        on_threads(4, |thread| {
            let queue = queue_of(&device, thread as u32)?;
            start.wait();
            if thread == 0 {
                device.close();
                closed.store(true, Ordering::Release);
                return Ok(());
            }
            let mut accepted = Vec::new();
            for _ in 0..50 {
                let done = Semaphore::new(0);
                match queue.barrier(&[gate.at(1)], &[done.at(1)]) {
                    Ok(()) => accepted.push(done),
                    Err(error) if error.code() == Code::Cancelled => {}
                    Err(error) => return Err(error.into()),
                }
            }
            for done in accepted {
                let error = ctx.wait_for_failure(&done.at(1))?;
                ensure_eq!(error.code(), Code::Cancelled, "the failure of accepted work");
            }
            Ok(())
        })?;
        ensure_eq!(gate.waiter_count(), 0, "waiters left behind");
    }
    Ok(())
}

fn allocate_and_free(ctx: &Context) -> Outcome {
    on_threads(6, |thread| {
        let queue = ctx.queue(thread as u32)?;
        let mut random = crate::Random::new(ctx.random().next_u64() ^ thread as u64);
        for _ in 0..50 {
            let size = 64 + random.below(2000) as u64;
            let (buffer, done) = (ctx.device().allocate_device(size)?, Semaphore::new(0));
            queue.fill(&[], &[done.at(1)], &buffer, thread as u8)?;
            let bytes = queue.download(&[done.at(1)], &buffer)?.wait(ctx.deadline())?;
            same_bytes(&bytes, &vec![thread as u8; size as usize], "a thread's buffer")?;
        }
        Ok(())
    })
}

fn record_at_once(ctx: &Context) -> Outcome {
    let mut shared = ctx.device().record_with_slots(1)?;
    shared.fill(windlass_hal::BufferRef::slot(0, 0, 64), 0x11_u8)?;
    let shared = shared.finish()?;
    on_threads(6, |thread| {
        let queue = ctx.queue(thread as u32)?;
        for round in 0..20_u8 {
            let (buffer, step) = (ctx.device().allocate_device(128)?, Semaphore::new(0));
            let mut own = ctx.device().record()?;
            own.fill(&buffer.subspan(64, 64)?, round)?;
            let own = own.finish()?;
            queue.execute(&[], &[step.at(1)], &shared, [buffer.clone()])?;
            queue.execute(&[step.at(1)], &[step.at(2)], &own, [])?;
            let bytes = queue.download(&[step.at(2)], &buffer)?.wait(ctx.deadline())?;
            let mut expected = vec![0x11; 64];
            expected.resize(128, round);
            same_bytes(&bytes, &expected, "a thread's buffer")?;
        }
        Ok(())
    })
}

fn wait_at_once(ctx: &Context) -> Outcome {
    let buffer = ctx.device().allocate_device(4096)?;
    for round in 1..=20_u64 {
        let (gate, done) = (Semaphore::new(0), Semaphore::new(0));
        ctx.queue(round as u32)?.fill(&[gate.at(1)], &[done.at(1)], &buffer, round as u8)?;
        on_threads(5, |thread| match thread {
            0 => Ok(gate.signal(1)?),
            1 => ctx.wait(&done.at(1)),
            2 => Ok(pollster::block_on(done.wait(1))?),
            3 => ctx.until("the query gives 1", || done.query().is_ok_and(|value| value == 1)),
            _ => loop {
                ctx.device().poll();
                match done.wait_blocking(1, windlass_hal::Deadline::now()) {
                    Ok(()) => return Ok(()),
                    Err(error) if error.code() != Code::DeadlineExceeded => return Err(error.into()),
                    Err(_) if ctx.deadline().passed() => return Err(Stop::fail("polling never ended")),
                    Err(_) => std::thread::yield_now(),
                }
            },
        })?;
    }
    Ok(())
}
