// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs of failure: its receivers, its time, and its error.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use windlass_hal::{Error, Operation, Point, Result, Semaphore};

use super::sabotage::{Inner, Only, Sabotage, Submission, Submit, fail, lock, reach, signal_all, when_ended};

saboteurs! {
    swallows_failures: "A wait that fails counts as reached.", Submit(swallow),
        ["failure.of_pending_work", "program.failures", "program.failures_in_parallel"];
    swallows_failures_of_barriers: "Barriers take a failed wait for a reached one.", Only("queue_barrier", swallow),
        [
            "fence.fails_every_semaphore", "operation.fails_barrier", "failure.of_a_failed_wait",
            "failure.through_a_pending_chain",
        ];
    swallows_failures_of_allocas: "Allocas take a failed wait for a reached one.", Only("queue_alloca", swallow),
        ["alloca.failed_alloca_fails_signals", "operation.fails_alloca"];
    swallows_failures_of_deallocas: "Deallocas take a failed wait for a reached one.",
        Only("queue_dealloca", swallow), ["operation.fails_dealloca"];
    swallows_failures_of_fills: "Fills take a failed wait for a reached one.", Only("queue_fill", swallow),
        ["operation.fails_fill", "failure.independent_work_is_spared"];
    swallows_failures_of_updates: "Updates take a failed wait for a reached one.", Only("queue_update", swallow),
        ["operation.fails_update", "failure.through_every_operation"];
    swallows_failures_of_copies: "Copies take a failed wait for a reached one.", Only("queue_copy", swallow),
        ["operation.fails_copy"];
    swallows_failures_of_reads: "Reads take a failed wait for a reached one.", Only("queue_read", swallow),
        ["operation.fails_read"];
    swallows_failures_of_writes: "Writes take a failed wait for a reached one.", Only("queue_write", swallow),
        ["operation.fails_write"];
    swallows_failures_of_host_calls: "Host calls take a failed wait for a reached one.",
        Only("queue_host_call", swallow), ["operation.fails_host_call", "failure.across_queues_and_host"];
    swallows_failures_of_dispatches: "Dispatches take a failed wait for a reached one.",
        Only("queue_dispatch", swallow), ["operation.fails_dispatch"];
    swallows_failures_of_executions: "Command buffers take a failed wait for a reached one.",
        Only("queue_execute", swallow),
        [
            "command_buffer.failure_skips_commands", "operation.fails_execute",
            "command_buffer_indirect.failure_skips_commands",
        ];
    swallows_its_own_failure: "Work that fails reaches its signals.",
        Submit(|inner, s| s.pass_then(inner, |_, signals| reach(signals))),
        ["host_call.error_fails_signals", "command_buffer_indirect.beyond_the_limits"];
    forgets_to_fail: "Work that fails neither reaches nor fails its signals.",
        Submit(|inner, s| s.pass_then(inner, |result, signals| if result.is_ok() { reach(signals) })),
        ["failure.of_pending_work", "threads.submit_races_failure"];
    fails_the_first_signal: "A failure reaches only the first signal of a list.", Submit(fail_the_first),
        ["host_call.error_fails_signals", "failure.every_signal_fails"];
    fails_the_last_signal: "A failure reaches only the last signal of a list.", Submit(fail_the_last),
        ["host_call.error_fails_signals", "failure.every_signal_fails"];
    fails_under_another_code: "A failure arrives as INTERNAL.",
        Submit(|inner, s| s.pass_then(inner, |result, signals| {
            signal_all(signals, result.map_err(|error| Error::internal(error.to_string())));
        })), ["failure.of_a_failed_wait"];
    fails_without_a_message: "A failure arrives with its code and without its message.",
        Submit(|inner, s| s.pass_then(inner, |result, signals| {
            signal_all(signals, result.map_err(|error| Error::new(error.code(), "failed")));
        })), ["failure.of_a_failed_wait"];
    fails_when_all_is_known: "A failed wait fails the signals only once every other wait is reached or failed.", Submit(fail_late),
        ["failure.one_of_many_waits", "failure.first_of_two_wins"];
    fails_backwards: "A failure reaches the semaphores that the work waited for.", Submit(fail_backwards),
        ["failure.does_not_travel_backwards"];
    fails_what_was_reached: "A wait for a value that was reached before its semaphore failed counts as failed.",
        Submit(fail_what_was_reached), [
            "semaphore.reached_stays_reached", "fence.passed_points_are_spared",
            "failure.reached_waits_are_spared",
        ];
    runs_what_failed: "Work whose wait has failed runs, and then fails.", Submit(run_what_failed),
        ["host_call.not_run_after_failure", "failure.dependant_does_not_run"];
    fails_for_ever: "After one failure all later work fails.", FailsForEver::default(),
        ["failure.device_stays_usable"];
    refuses_after_a_failure: "After one failure every submission is refused.", RefusesAfterFailure::default(),
        ["failure.device_stays_usable"];
    signals_what_it_refuses: "A submission that is refused reaches its signals.",
        Submit(|inner, s| {
            let signals = s.signals;
            s.to(inner).inspect_err(|_| reach(signals))
        }), ["lifetime.close_refuses_new_work"];
    fails_what_it_refuses: "A submission that is refused fails its signals.",
        Submit(|inner, s| {
            let signals = s.signals;
            s.to(inner).inspect_err(|error| fail(signals, error))
        }), ["lifetime.close_refuses_new_work"];
}

/// Points that follow `points`. `signal` reaches or fails each of them by the outcome of the point that it follows.
fn followers(
    points: &[Point],
    signal: impl Fn(&Semaphore, Result<()>) + Send + Clone + 'static,
) -> Vec<Point> {
    let follow = |point: &Point| {
        let (follower, signal) = (Semaphore::new(0), signal.clone());
        let told = follower.clone();
        when_ended(point.clone(), move |result| signal(&told, result));
        follower.at(1)
    };
    points.iter().map(follow).collect()
}

fn swallow(inner: &Inner, s: Submission<'_>) -> Result<()> {
    let waits = followers(s.waits, |follower, _| reach(&[follower.at(1)]));
    Submission { waits: &waits, ..s }.to(inner)
}

fn fail_the_first(inner: &Inner, s: Submission<'_>) -> Result<()> {
    s.pass_then(inner, |result, signals| match result {
        Ok(()) => reach(signals),
        Err(error) => fail(&signals[..signals.len().min(1)], &error),
    })
}

fn fail_the_last(inner: &Inner, s: Submission<'_>) -> Result<()> {
    s.pass_then(inner, |result, signals| match result {
        Ok(()) => reach(signals),
        Err(error) => fail(&signals[signals.len().saturating_sub(1)..], &error),
    })
}

fn fail_late(inner: &Inner, s: Submission<'_>) -> Result<()> {
    let state = Arc::new(Mutex::new((s.waits.len(), Ok(()))));
    let all = Semaphore::new(if s.waits.is_empty() { 1 } else { 0 });
    for wait in s.waits {
        let (state, all) = (state.clone(), all.clone());
        when_ended(wait.clone(), move |result| {
            let mut state = lock(&state);
            state.0 -= 1;
            state.1 = state.1.clone().and(result);
            let last = (state.0 == 0).then(|| state.1.clone());
            drop(state);
            last.into_iter().for_each(|result| signal_all(&[all.at(1)], result));
        });
    }
    Submission { waits: &[all.at(1)], ..s }.to(inner)
}

fn fail_backwards(inner: &Inner, s: Submission<'_>) -> Result<()> {
    let waits = s.waits.to_vec();
    s.pass_then(inner, move |result, signals| {
        if let Err(error) = &result {
            fail(&waits, error);
        }
        signal_all(signals, result);
    })
}

fn fail_what_was_reached(inner: &Inner, s: Submission<'_>) -> Result<()> {
    match s.waits.iter().find_map(|wait| wait.semaphore.query().err()) {
        Some(error) => {
            fail(s.signals, &error);
            Ok(())
        }
        None => s.to(inner),
    }
}

fn run_what_failed(inner: &Inner, s: Submission<'_>) -> Result<()> {
    s.hold(inner, |inner, result, mut held| match result {
        Ok(()) => held.run(inner),
        Err(error) => {
            let signals = std::mem::take(&mut held.signals);
            held.run(inner);
            fail(&signals, &error);
        }
    })
}

/// Remembers the first failure.
#[derive(Default)]
struct FailsForEver(Arc<Mutex<Option<Error>>>);

impl Sabotage for FailsForEver {
    fn submit(&self, inner: &Inner, s: Submission<'_>) -> Result<()> {
        if let Some(error) = lock(&self.0).clone() {
            fail(s.signals, &error);
            return Ok(());
        }
        let first = self.0.clone();
        s.pass_then(inner, move |result, signals| {
            if let Err(error) = &result {
                lock(&first).get_or_insert(error.clone());
            }
            signal_all(signals, result);
        })
    }
}

/// Remembers whether any work failed.
#[derive(Default)]
struct RefusesAfterFailure(Arc<AtomicBool>);

impl Sabotage for RefusesAfterFailure {
    fn submit(&self, inner: &Inner, s: Submission<'_>) -> Result<()> {
        if self.0.load(Ordering::Acquire) && !matches!(s.operation, Operation::Barrier) {
            return Err(Error::failed_precondition("something has failed on this device"));
        }
        let failed = self.0.clone();
        s.pass_then(inner, move |result, signals| {
            failed.fetch_or(result.is_err(), Ordering::AcqRel);
            signal_all(signals, result);
        })
    }
}
