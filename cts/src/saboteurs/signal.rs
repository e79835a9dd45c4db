// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs of signal lists.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use windlass_hal::{Error, Operation, Point, Result};

use crate::pass::Pass;

use super::sabotage::{Inner, Only, Sabotage, Submission, Submit, lock, reach, signal_all};

saboteurs! {
    signals_at_once: "Signals are reached when the work is submitted.", Submit(signal_at_once),
        ["queue.barrier_waits", "queue.submission_does_not_block"];
    signals_with_its_waits: "Signals are reached with the waits, before the work is done.",
        Submit(signal_with_waits), ["host_call.signals_after_return"];
    signals_too_far: "A signal raises its semaphore one value too far.",
        Submit(signal_too_far),
        [
            "semaphore.fence_waits_for_all", "queue.barrier_signals", "operation.signals_barrier",
            "lifetime.drain_waits_for_issued_work", "threads.wait_at_once",
            "semaphore_thread.racing_signals_take_maximum",
            "semaphore_observer.hears_queue_signals",
        ];
    signals_too_low: "A signal stops one value short.", Submit(signal_too_low),
        ["queue.barrier_signals", "semaphore_observer.hears_promised_signals"];
    forgets_a_signal: "Only the first point of a signal list is signalled.", Submit(forget),
        ["queue.barrier_signals"];
    forgets_the_first_signal: "The first point of a signal list is forgotten.",
        Submit(|inner, s| Submission { signals: &s.signals[s.signals.len().min(1)..], ..s }.to(inner)),
        ["queue.barrier_signals"];
    forgets_a_signal_of_barriers: "Barriers reach only the first of their signals.",
        Only("queue_barrier", forget),
        [
            "semaphore.device_signal_takes_maximum", "queue.many_waits_and_signals",
            "operation.signals_barrier",
        ];
    forgets_a_signal_of_allocas: "Allocas reach only the first of their signals.", Only("queue_alloca", forget),
        ["operation.signals_alloca"];
    forgets_a_signal_of_deallocas: "Deallocas reach only the first of their signals.",
        Only("queue_dealloca", forget), ["operation.signals_dealloca"];
    forgets_a_signal_of_fills: "Fills reach only the first of their signals.", Only("queue_fill", forget),
        ["fence.as_a_signal_list", "operation.signals_fill"];
    forgets_a_signal_of_updates: "Updates reach only the first of their signals.", Only("queue_update", forget),
        ["operation.signals_update"];
    forgets_a_signal_of_copies: "Copies reach only the first of their signals.", Only("queue_copy", forget),
        ["operation.signals_copy"];
    forgets_a_signal_of_reads: "Reads reach only the first of their signals.", Only("queue_read", forget),
        ["operation.signals_read"];
    forgets_a_signal_of_writes: "Writes reach only the first of their signals.", Only("queue_write", forget),
        ["operation.signals_write"];
    forgets_a_signal_of_host_calls: "Host calls reach only the first of their signals.",
        Only("queue_host_call", forget), ["operation.signals_host_call"];
    forgets_a_signal_of_dispatches: "Dispatches reach only the first of their signals.",
        Only("queue_dispatch", forget), ["operation.signals_dispatch"];
    forgets_a_signal_of_executions: "Command buffers reach only the first of their signals.",
        Only("queue_execute", forget), ["operation.signals_execute"];
    forgets_empty_work: "Empty work reaches no signal.",
        Only("queue_barrier", |inner, s| Submission { signals: &[], ..s }.to(inner)),
        [
            "driver.semaphores_order_across_devices", "queue.smaller_value_is_reached",
            "queue.host_waits_for_any_of_host_and_device", "queue.long_pending_chain",
            "file.empty_read_signals",
        ];
    signals_who_waits_alone: "A signal without a waiter at the end of the work is forgotten.",
        Submit(|inner, s| s.pass_then(inner, signal_who_waits)),
        ["semaphore.late_signal_after_timeout", "future.outlives_the_semaphore"];
    lags_with_a_signal: "The first of several signals is reached some operations late.", Lagging::default(),
        ["queue.ends_follow_causes"];
    busy_while_it_signals: "Work that is submitted while the device signals is refused.", Busy::default(),
        ["future.wakers_called_without_locks"];
    drops_work: "Work is accepted, signalled, and never done.",
        Submit(|inner, s| Submission { operation: Operation::Barrier, ..s }.to(inner)),
        ["transfer.fill_pattern_4", "host_call.runs_without_waits"];
}

fn signal_at_once(inner: &Inner, s: Submission<'_>) -> Result<()> {
    reach(s.signals);
    Submission { signals: &[], ..s }.to(inner)
}

fn signal_with_waits(inner: &Inner, s: Submission<'_>) -> Result<()> {
    inner.pass(s.affinity, s.waits, s.signals, Operation::Barrier)?;
    Submission { signals: &[], ..s }.to(inner)
}

fn signal_too_far(inner: &Inner, s: Submission<'_>) -> Result<()> {
    let signals: Vec<_> = s.signals.iter().map(|signal| signal.semaphore.at(signal.value + 1)).collect();
    Submission { signals: &signals, ..s }.to(inner)
}

fn signal_too_low(inner: &Inner, s: Submission<'_>) -> Result<()> {
    let low = |signal: &Point| signal.semaphore.at(signal.value.saturating_sub(1));
    let signals: Vec<_> = s.signals.iter().map(low).collect();
    Submission { signals: &signals, ..s }.to(inner)
}

fn signal_who_waits(result: Result<()>, signals: &[Point]) {
    let waited_for: Vec<_> =
        signals.iter().filter(|signal| signal.semaphore.waiter_count() > 0).cloned().collect();
    signal_all(if result.is_ok() { &waited_for } else { signals }, result);
}

/// Counts the threads that are signalling.
#[derive(Default)]
struct Busy(Arc<AtomicUsize>);

impl Sabotage for Busy {
    fn submit(&self, inner: &Inner, s: Submission<'_>) -> Result<()> {
        if self.0.load(Ordering::Acquire) > 0 {
            return Err(Error::unavailable("the device is signalling"));
        }
        let signalling = self.0.clone();
        s.pass_then(inner, move |result, signals| {
            signalling.fetch_add(1, Ordering::AcqRel);
            signal_all(signals, result);
            signalling.fetch_sub(1, Ordering::AcqRel);
        })
    }
}

/// The signals that are held back. Those of the last operations are never reached.
#[derive(Default)]
struct Lagging(Arc<Mutex<VecDeque<Point>>>);

impl Sabotage for Lagging {
    fn submit(&self, inner: &Inner, s: Submission<'_>) -> Result<()> {
        const LAG: usize = 4;
        let [first, _, ..] = s.signals else { return s.to(inner) };
        let (held, first) = (self.0.clone(), first.clone());
        s.pass_then(inner, move |result, signals| {
            signal_all(&signals[1..], result);
            let late = {
                let mut held = lock(&held);
                held.push_back(first);
                if held.len() > LAG { held.pop_front() } else { None }
            };
            reach(late.as_slice());
        })
    }
}

fn forget(inner: &Inner, s: Submission<'_>) -> Result<()> {
    Submission { signals: &s.signals[..s.signals.len().min(1)], ..s }.to(inner)
}
