// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs of lifetimes: closing, draining, waiters, polling.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Waker},
};

use windlass_hal::{Buffer, Code, Deadline, Error, Operation, Point, Result, WaitPolicy, wait_all};

use crate::pass::Pass;

use super::{
    sabotage::{Inner, Sabotage, Submission, Submit, lock, signal_all},
    transfer::whole,
};

saboteurs! {
    never_closes: "Closing a device does nothing.", Closes(|_| {}),
        [
            "lifetime.close_cancels_pending", "lifetime.close_refuses_new_work",
            "threads.submit_races_close", "command_buffer_indirect.closed_in_between",
        ];
    closes_after_the_work: "Closing a device waits for running work.", Closes(|inner| {
        let _ = inner.drain(Deadline::NEVER);
        inner.close();
    }), ["lifetime.close_does_not_wait", "file.closed_in_the_midst"];
    closes_under_another_code: "Work that closing cancels fails with ABORTED.",
        Submit(|inner, s| s.pass_then(inner, |result, signals| {
            signal_all(signals, result.map_err(|error| match error.code() {
                Code::Cancelled => Error::aborted(error.to_string()),
                _ => error,
            }));
        })), ["lifetime.close_cancels_pending", "lifetime.close_twice", "lifetime.drop_cancels_pending"];
    accepts_after_closing: "A closed device accepts work and forgets it.", AcceptsClosed::default(),
        ["lifetime.close_refuses_new_work", "lifetime.issued_work_survives_drop", "lifetime.many_devices"];
    forgets_what_is_pending: "Closing a device leaves pending work neither reached nor failed.",
        Submit(|inner, s| s.pass_then(inner, |result, signals| match result {
            Err(error) if error.code() == Code::Cancelled => {}
            result => signal_all(signals, result),
        })), ["lifetime.close_cancels_pending", "lifetime.drop_with_everything_in_flight"];
    drains_at_once: "A drain returns while work is running.", Drains(|_, _| Ok(())),
        ["lifetime.drain_has_a_deadline", "file.drain_waits_for_files"];
    drains_without_a_deadline: "A drain ignores its deadline.",
        Drains(|inner, _| inner.drain(Deadline::NEVER)), ["lifetime.drain_has_a_deadline"];
    drains_in_vain: "A drain always reports that its deadline has passed.",
        Drains(|inner, deadline| inner.drain(deadline).and(Err(Error::deadline_exceeded("on purpose")))),
        ["lifetime.drains_in_host_calls", "lifetime.drain_leaves_pending_work"];
    drains_what_is_pending: "A drain waits for work whose waits are not reached.", DrainsAll::default(),
        ["operation.waits_barrier", "lifetime.drain_leaves_pending_work"];
    leaks_waiters: "Each wait of a list leaves a waiter in its semaphore.", Submit(leak_waiters),
        ["failure.leaves_no_waiters"];
    polls_for_ever: "Polling a device blocks while work is pending.", PollsForEver::default(),
        ["queue.barrier_waits"];
    trims_memory_in_use: "Trimming a device overwrites memory that is in use.", TrimsAll::default(),
        ["lifetime.poll_and_trim_are_harmless"];
    reports_when_called: "The signals of finished work are reached only when a client calls the device again.",
        ReportsWhenCalled::default(),
        [
            "future.under_block_on", "future.polled_once_and_left", "future.moves_between_threads",
            "semaphore.policies_wait",
        ];
}

struct Closes(fn(&Inner));

impl Sabotage for Closes {
    fn close(&self, inner: &Inner) {
        (self.0)(inner);
    }
}

#[derive(Default)]
struct AcceptsClosed(AtomicBool);

impl Sabotage for AcceptsClosed {
    fn close(&self, inner: &Inner) {
        self.0.store(true, Ordering::Release);
        inner.close();
    }

    fn submit(&self, inner: &Inner, s: Submission<'_>) -> Result<()> {
        if self.0.load(Ordering::Acquire) { Ok(()) } else { s.to(inner) }
    }
}

struct Drains(fn(&Inner, Deadline) -> Result<()>);

impl Sabotage for Drains {
    fn drain(&self, inner: &Inner, deadline: Deadline) -> Result<()> {
        (self.0)(inner, deadline)
    }
}

/// Remembers every signal of accepted work.
#[derive(Default)]
struct DrainsAll(Mutex<Vec<Point>>);

impl Sabotage for DrainsAll {
    fn submit(&self, inner: &Inner, s: Submission<'_>) -> Result<()> {
        lock(&self.0).extend_from_slice(s.signals);
        s.to(inner)
    }

    fn drain(&self, inner: &Inner, deadline: Deadline) -> Result<()> {
        let promised = lock(&self.0).clone();
        wait_all(&promised, deadline, WaitPolicy::default())?;
        inner.drain(deadline)
    }
}

fn leak_waiters(inner: &Inner, s: Submission<'_>) -> Result<()> {
    for wait in s.waits {
        let mut future = Box::pin(wait.semaphore.wait(wait.value));
        let _ = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        std::mem::forget(future);
    }
    s.to(inner)
}

#[derive(Default)]
struct PollsForEver(DrainsAll);

impl Sabotage for PollsForEver {
    fn submit(&self, inner: &Inner, s: Submission<'_>) -> Result<()> {
        self.0.submit(inner, s)
    }

    fn poll(&self, inner: &Inner) {
        let _ = self.0.drain(inner, Deadline::NEVER);
    }
}

#[derive(Default)]
struct TrimsAll(Mutex<Option<Buffer>>);

impl Sabotage for TrimsAll {
    fn submit(&self, inner: &Inner, s: Submission<'_>) -> Result<()> {
        if let Operation::Fill { target, .. } = &s.operation {
            *lock(&self.0) = Some(whole(target));
        }
        s.to(inner)
    }

    fn trim(&self, inner: &Inner) {
        if let Some(target) = lock(&self.0).take() {
            let _ = inner.pass(
                windlass_hal::QueueAffinity::ANY,
                &[],
                &[],
                Operation::Fill { target, pattern: 0xcd_u8.into() },
            );
        }
        inner.trim();
    }
}

/// Holds the signals of finished work back until a client calls the device.
#[derive(Default)]
struct ReportsWhenCalled(Arc<Mutex<Vec<Report>>>);

type Report = Box<dyn FnOnce() + Send>;

impl ReportsWhenCalled {
    fn report(&self) {
        let finished = std::mem::take(&mut *lock(&self.0));
        finished.into_iter().for_each(|report| report());
    }
}

impl Sabotage for ReportsWhenCalled {
    fn submit(&self, inner: &Inner, s: Submission<'_>) -> Result<()> {
        self.report();
        let unreported = self.0.clone();
        s.pass_then(inner, move |result, signals| {
            let signals = signals.to_vec();
            lock(&unreported).push(Box::new(move || signal_all(&signals, result)));
        })
    }

    fn poll(&self, inner: &Inner) {
        inner.poll();
        self.report();
    }

    fn drain(&self, inner: &Inner, deadline: Deadline) -> Result<()> {
        inner.drain(deadline)?;
        self.report();
        Ok(())
    }
}
