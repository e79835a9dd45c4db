// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions of the host in the order of a queue.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, AtomicUsize, Ordering},
    mpsc,
};

use windlass_hal::{Code, Completion, Error, HostCallFlags, Semaphore};

use crate::{
    check::{ensure, ensure_eq, names, refused, same_bytes},
    context::Context,
    outcome::{Outcome, Stop},
};

const NONE: HostCallFlags = HostCallFlags::NONE;

suite! { "host_call";
    runs_without_waits [HostCalls]: "A host call without waits runs and reaches its signals.";
    #[smoke] runs_after_its_waits [HostCalls]: "A host call does not run before its waits are reached.";
    signals_after_return [HostCalls]: "The signals of a host call are reached after it has returned.";
    sees_device_writes [HostCalls]: "A host call sees the writes of the work before it through a mapping.";
    device_sees_its_writes [HostCalls]: "Work after a host call reads the call's writes through a mapping.";
    #[smoke] error_fails_signals [HostCalls]: "A host call that returns an error fails every signal with it.";
    panic_fails_signals [HostCalls]: "A host call that panics fails its signals with ABORTED and the panic's text.";
    deferred_completion [HostCalls]: "A deferred call reaches its signals when its completion succeeds.";
    deferred_failure [HostCalls]: "A completion that ends with an error fails the signals.";
    dropped_completion_fails [HostCalls]: "A completion that is dropped fails the signals with ABORTED.";
    defer_once [HostCalls]: "The signal list can be taken over once, and not by a non-blocking call.";
    non_blocking_signals_early [HostCalls]: "A non-blocking call's signals do not wait for its return.";
    may_block_on_another [HostCalls]: "A host call may block on a host call that was submitted later.";
    runs_elsewhere [HostCalls]:
        "A host call runs neither on the thread that submits it nor on the one that signals its wait.";
    blocks_nobody [HostCalls]: "Independent work goes on while a host call blocks.";
    may_submit [HostCalls]: "A host call may submit work and wait for it.";
    not_run_after_failure [HostCalls]: "A host call whose wait fails is dropped and never runs.";
    all_run_once [HostCalls]: "Each of five hundred host calls runs exactly once.";
}

fn runs_without_waits(ctx: &Context) -> Outcome {
    let (ran, done) = (Arc::new(AtomicBool::new(false)), Semaphore::new(0));
    let flag = ran.clone();
    ctx.queue(0)?.host_call(&[], &[done.at(1)], NONE, move |_| {
        flag.store(true, Ordering::Release);
        Ok(())
    })?;
    ctx.wait(&done.at(1))?;
    ensure!(ran.load(Ordering::Acquire), "the signal was reached and the call had not run");
    Ok(())
}

fn runs_after_its_waits(ctx: &Context) -> Outcome {
    let (queue, buffer) = (ctx.queue(0)?, ctx.device().allocate_device(64)?);
    for _ in 0..50 {
        let (host, device, done) = (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
        let (of_host, of_device) = (host.clone(), device.clone());
        queue.host_call(&[host.at(1), device.at(1)], &[done.at(1)], NONE, move |_| {
            match (of_host.query()?, of_device.query()?) {
                (1, 1 | 2) => Ok(()),
                early => Err(Error::internal(format!("called when the payloads were {early:?}"))),
            }
        })?;
        ctx.queue(1)?.fill(&[], &[device.at(1)], &buffer, 1_u8)?;
        // A second call gives the first one time to run if it wrongly does.
        queue.host_call(&[device.at(1)], &[device.at(2)], NONE, |_| Ok(()))?;
        ctx.wait(&device.at(2))?;
        host.signal(1)?;
        ctx.wait(&done.at(1))?;
    }
    Ok(())
}

fn signals_after_return(ctx: &Context) -> Outcome {
    let (go, wait_for_go) = mpsc::channel::<()>();
    let done = Semaphore::new(0);
    let (started, entered) = (Semaphore::new(0), Semaphore::new(0));
    let inside = entered.clone();
    ctx.queue(0)?.host_call(&[], &[done.at(1), started.at(1)], NONE, move |_| {
        inside.signal(1)?;
        wait_for_go.recv().map_err(|_| Error::cancelled("the case has ended"))
    })?;
    ctx.wait(&entered.at(1))?;
    ensure_eq!((done.query()?, started.query()?), (0, 0), "the payloads while the call runs");
    go.send(()).unwrap_or_default();
    ctx.wait(&done.at(1))?;
    ctx.wait(&started.at(1))
}

fn sees_device_writes(ctx: &Context) -> Outcome {
    let (buffer, step) = (ctx.host_buffer(4096)?, Semaphore::new(0));
    for round in 0..50 {
        let mapping = buffer.map()?;
        let value = round as u8 + 1;
        ctx.queue(0)?.fill(&[step.at(2 * round)], &[step.at(2 * round + 1)], &buffer, value)?;
        ctx.queue(1)?.host_call(&[step.at(2 * round + 1)], &[step.at(2 * round + 2)], NONE, move |_| {
            match mapping.to_vec().iter().position(|byte| *byte != value) {
                None => Ok(()),
                Some(at) => Err(Error::data_loss(format!("byte {at} is not {value} in its round"))),
            }
        })?;
    }
    ctx.wait(&step.at(100))
}

fn device_sees_its_writes(ctx: &Context) -> Outcome {
    let (source, target, step) = (ctx.host_buffer(64)?, ctx.filled(64, 0)?, Semaphore::new(0));
    let mapping = source.map()?;
    ctx.queue(0)?.copy(&[step.at(1)], &[step.at(2)], &source, &target)?;
    ctx.queue(0)?.host_call(&[], &[step.at(1)], NONE, move |_| mapping.write(0, &[0x42; 64]))?;
    same_bytes(&ctx.download_after(&step.at(2), &target)?, &[0x42; 64], "the copy of the call's bytes")
}

fn error_fails_signals(ctx: &Context) -> Outcome {
    let (gate, a, b) = (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
    ctx.queue(0)?.host_call(&[gate.at(1)], &[a.at(1), b.at(7)], NONE, |_| {
        Err(Error::permission_denied("denied on purpose"))
    })?;
    gate.signal(1)?;
    for point in [a.at(1), b.at(7)] {
        let error = ctx.wait_for_failure(&point)?;
        ensure_eq!(error.code(), Code::PermissionDenied, "the failure's code");
        names(&error, "denied on purpose")?;
    }
    Ok(())
}

fn panic_fails_signals(ctx: &Context) -> Outcome {
    let done = Semaphore::new(0);
    // `resume_unwind` does not call the hook, which would print this intended panic.
    ctx.queue(0)?.host_call(&[], &[done.at(1)], NONE, |_| {
        std::panic::resume_unwind(Box::new("panicked on purpose"))
    })?;
    let error = ctx.wait_for_failure(&done.at(1))?;
    ensure_eq!(error.code(), Code::Aborted, "the failure's code");
    names(&error, "panicked on purpose")?;
    runs_without_waits(ctx)
}

/// Submits a call that defers, and returns its completion.
fn deferred(ctx: &Context, done: &Semaphore) -> Outcome<Completion> {
    let (sender, receiver) = mpsc::channel();
    ctx.queue(0)?.host_call(&[], &[done.at(1)], NONE, move |call| {
        sender.send(call.defer()?).map_err(|_| Error::cancelled("the case has ended"))
    })?;
    receiver
        .recv_timeout(std::time::Duration::from_secs(30))
        .map_err(|_| Stop::fail("the call did not hand its completion over"))
}

fn deferred_completion(ctx: &Context) -> Outcome {
    let done = Semaphore::new(0);
    let completion = deferred(ctx, &done)?;
    ctx.device().poll();
    ensure_eq!(done.query()?, 0, "the semaphore before the completion ends");
    completion.complete(Ok(()));
    ctx.wait(&done.at(1))
}

fn deferred_failure(ctx: &Context) -> Outcome {
    let done = Semaphore::new(0);
    deferred(ctx, &done)?.complete(Err(Error::data_loss("on purpose")));
    ensure_eq!(ctx.wait_for_failure(&done.at(1))?.code(), Code::DataLoss, "the failure's code");
    Ok(())
}

fn dropped_completion_fails(ctx: &Context) -> Outcome {
    let done = Semaphore::new(0);
    drop(deferred(ctx, &done)?);
    ensure_eq!(ctx.wait_for_failure(&done.at(1))?.code(), Code::Aborted, "the failure's code");
    Ok(())
}

fn defer_once(ctx: &Context) -> Outcome {
    for flags in [NONE, HostCallFlags::NON_BLOCKING] {
        let (done, second) = (Semaphore::new(0), Arc::new(Mutex::new(None)));
        let seen = second.clone();
        let ended = Semaphore::new(0);
        let end = ended.clone();
        ctx.queue(0)?.host_call(&[], &[done.at(1)], flags, move |call| {
            let first = call.defer();
            let again = if flags == NONE { call.defer() } else { first };
            *seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(again.err());
            end.signal(1)
        })?;
        ctx.wait(&ended.at(1))?;
        let error = second.lock().unwrap_or_else(PoisonError::into_inner).take().flatten();
        let code = error.map(|error| error.code());
        ensure_eq!(code, Some(Code::FailedPrecondition), "the refusal of a defer under {flags:?}");
    }
    Ok(())
}

fn non_blocking_signals_early(ctx: &Context) -> Outcome {
    let (go, wait_for_go) = mpsc::channel::<()>();
    let (done, ended) = (Semaphore::new(0), Semaphore::new(0));
    let end = ended.clone();
    ctx.queue(0)?.host_call(&[], &[done.at(1)], HostCallFlags::NON_BLOCKING, move |_| {
        let received = wait_for_go.recv();
        end.signal(1)?;
        received.map_err(|_| Error::cancelled("the case has ended"))
    })?;
    ctx.wait(&done.at(1))?;
    ensure_eq!(ended.query()?, 0, "whether the call has returned");
    go.send(()).unwrap_or_default();
    ctx.wait(&ended.at(1))
}

fn may_block_on_another(ctx: &Context) -> Outcome {
    let done: Vec<_> = (0..9).map(|_| Semaphore::new(0)).collect();
    let deadline = ctx.deadline();
    for index in 0..8 {
        let next = done[index + 1].clone();
        ctx.queue(0)?.host_call(&[], &[done[index].at(1)], NONE, move |_| next.wait_blocking(1, deadline))?;
    }
    ctx.queue(0)?.host_call(&[], &[done[8].at(1)], NONE, |_| Ok(()))?;
    ctx.wait(&done[0].at(1))
}

fn runs_elsewhere(ctx: &Context) -> Outcome {
    let (gate, done) = (Semaphore::new(0), Semaphore::new(0));
    let here = std::thread::current().id();
    let call = move |_: &mut windlass_hal::HostCallContext| {
        let elsewhere = std::thread::current().id() != here;
        if elsewhere { Ok(()) } else { Err(Error::internal("called on the thread that submits and signals")) }
    };
    let queue = ctx.queue(0)?;
    queue.host_call(&[], &[done.at(1)], NONE, call)?;
    queue.host_call(&[gate.at(1)], &[done.at(2)], NONE, call)?;
    gate.signal(1)?;
    ctx.wait(&done.at(1))?;
    ctx.wait(&done.at(2))
}

fn blocks_nobody(ctx: &Context) -> Outcome {
    let (go, wait_for_go) = mpsc::channel::<()>();
    let (blocked, free, buffer) = (Semaphore::new(0), Semaphore::new(0), ctx.filled(64, 0)?);
    ctx.queue(0)?.host_call(&[], &[blocked.at(1)], NONE, move |_| {
        wait_for_go.recv().map_err(|_| Error::cancelled("the case has ended"))
    })?;
    let queue = ctx.queue(0)?;
    queue.fill(&[], &[free.at(1)], &buffer, 1_u8)?;
    queue.host_call(&[free.at(1)], &[free.at(2)], NONE, |_| Ok(()))?;
    same_bytes(&ctx.download_after(&free.at(2), &buffer)?, &[1; 64], "the buffer")?;
    ensure_eq!(blocked.query()?, 0, "the semaphore of the blocked call");
    go.send(()).unwrap_or_default();
    ctx.wait(&blocked.at(1))
}

fn may_submit(ctx: &Context) -> Outcome {
    let (queue, buffer, done) = (ctx.queue(0)?, ctx.filled(64, 0)?, Semaphore::new(0));
    let (inner, target, deadline) = (queue.clone(), buffer.clone(), ctx.deadline());
    queue.host_call(&[], &[done.at(1)], NONE, move |_| {
        let filled = Semaphore::new(0);
        inner.fill(&[], &[filled.at(1)], &target, 5_u8)?;
        filled.wait_blocking(1, deadline)
    })?;
    same_bytes(&ctx.download_after(&done.at(1), &buffer)?, &[5; 64], "the buffer")
}

fn not_run_after_failure(ctx: &Context) -> Outcome {
    let (gate, done, ran) = (Semaphore::new(0), Semaphore::new(0), Arc::new(AtomicBool::new(false)));
    let flag = ran.clone();
    ctx.queue(0)?.host_call(&[gate.at(1)], &[done.at(1)], NONE, move |_| {
        flag.store(true, Ordering::Release);
        Ok(())
    })?;
    gate.fail(Error::aborted("on purpose"));
    ctx.wait_for_failure(&done.at(1))?;
    ctx.until("the call is dropped", || Arc::strong_count(&ran) == 1)?;
    ensure!(!ran.load(Ordering::Acquire), "the call ran although its wait had failed");
    Ok(())
}

fn all_run_once(ctx: &Context) -> Outcome {
    let calls: Arc<Vec<AtomicUsize>> = Arc::new((0..500).map(|_| AtomicUsize::new(0)).collect());
    let (gate, done) = (Semaphore::new(0), Semaphore::new(0));
    let mut ends = windlass_hal::Fence::new();
    for index in 0..500 {
        let calls = calls.clone();
        let end = Semaphore::new(0);
        // Every second call is in a chain, the others are free.
        let waits = if index % 2 == 0 { [gate.at(1)] } else { [done.at(index - 1)] };
        let signals = [end.at(1), done.at(if index % 2 == 0 { 0 } else { index + 1 })];
        ctx.queue(index as u32)?.host_call(&waits, &signals, NONE, move |_| {
            calls[index as usize].fetch_add(1, Ordering::AcqRel);
            Ok(())
        })?;
        ends.insert(end.at(1));
    }
    gate.signal(1)?;
    ends.wait_blocking(ctx.deadline())?;
    for (index, count) in calls.iter().enumerate() {
        ensure_eq!(count.load(Ordering::Acquire), 1, "runs of call {index}");
    }
    refused(
        done.wait_blocking(501, windlass_hal::Deadline::now()),
        Code::DeadlineExceeded,
        "a value never signalled",
    )?;
    Ok(())
}
