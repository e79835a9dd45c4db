// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs of host calls.

use std::sync::Mutex;

use windlass_hal::{Error, HostCall, HostCallFlags, HostCalls, Operation, Point, Points, Result, Semaphore};

use crate::pass::Pass;

use super::sabotage::{Inner, Only, Sabotage, Submission, fail, lock, reach, signal_all};

const HOST_CALL: &str = "queue_host_call";

saboteurs! {
    forgets_host_calls: "Host calls are never called, and their signals are reached.",
        Only(HOST_CALL, |inner, s| Submission { operation: Operation::Barrier, ..s }.to(inner)),
        ["host_call.runs_without_waits", "operation.keeps_host_call"];
    forgets_every_tenth_host_call: "One in ten host calls is never called.", ForgetsSome::default(),
        ["host_call.all_run_once"];
    calls_on_the_callers_thread: "A host call that need not wait runs inside the submission.",
        Only(HOST_CALL, call_inside), ["host_call.runs_elsewhere"];
    calls_on_the_signallers_thread: "A host call runs on the thread that reaches its last wait.",
        Only(HOST_CALL, call_where_reached), ["host_call.runs_elsewhere"];
    calls_before_its_waits: "A host call runs at once; its signals wait.", Only(HOST_CALL, call_early),
        ["host_call.runs_after_its_waits", "host_call.sees_device_writes"];
    calls_after_a_failure: "A host call whose wait has failed is called.", Only(HOST_CALL, call_failed),
        ["host_call.not_run_after_failure"];
    calls_one_at_a_time: "A host call waits for the one before it to return.", OneAtATime::default(),
        ["host_call.may_block_on_another", "host_call.blocks_nobody"];
    host_calls_signal_first: "The signals of a host call are reached when it is called.",
        Only(HOST_CALL, |inner, s| {
            inner.pass(s.affinity, s.waits, s.signals, Operation::Barrier)?;
            Submission { signals: &[], ..s }.to(inner)
        }), ["host_call.signals_after_return", "host_call.may_submit", "host_call.deferred_completion"];
    host_calls_never_signal_early: "A non-blocking host call's signals wait for its return.",
        Only(HOST_CALL, |inner, mut s| {
            if let Operation::HostCall(call) = s.operation {
                let blocking = HostCall::new(HostCallFlags::NONE, move |context| call.call(context));
                s.operation = Operation::HostCall(blocking);
            }
            s.to(inner)
        }), ["host_call.defer_once", "host_call.non_blocking_signals_early"];
    host_call_errors_are_lost: "The error of a host call is lost, and its signals are reached.",
        Only(HOST_CALL, |inner, s| s.pass_then(inner, |_, signals| reach(signals))),
        ["host_call.error_fails_signals", "host_call.panic_fails_signals"];
    host_call_errors_are_unknown: "The error of a host call arrives as UNKNOWN.",
        Only(HOST_CALL, |inner, s| s.pass_then(inner, |result, signals| {
            signal_all(signals, result.map_err(|error| Error::unknown(error.to_string())));
        })),
        ["host_call.error_fails_signals", "host_call.deferred_failure", "host_call.dropped_completion_fails"];
}

/// Runs a call on this thread and reaches or fails the signals.
fn run(call: HostCall, signals: &[Point]) {
    call.run(Points::from(signals));
}

fn call_inside(inner: &Inner, s: Submission<'_>) -> Result<()> {
    let waits = s.waits.iter().all(|wait| wait.semaphore.query().is_ok_and(|payload| payload >= wait.value));
    match s.operation {
        Operation::HostCall(call) if waits => {
            run(call, s.signals);
            Ok(())
        }
        operation => Submission { operation, ..s }.to(inner),
    }
}

fn call_where_reached(inner: &Inner, s: Submission<'_>) -> Result<()> {
    s.hold(inner, |_, result, held| match (held.operation, result) {
        (Operation::HostCall(call), Ok(())) => run(call, &held.signals),
        (_, result) => signal_all(&held.signals, result),
    })
}

fn call_early(inner: &Inner, s: Submission<'_>) -> Result<()> {
    let called = Semaphore::new(0).at(1);
    let waits = [s.waits, std::slice::from_ref(&called)].concat();
    inner.pass(s.affinity, &waits, s.signals, Operation::Barrier)?;
    Submission { waits: &[], signals: &[called], ..s }.to(inner)
}

fn call_failed(inner: &Inner, s: Submission<'_>) -> Result<()> {
    s.hold(inner, |inner, result, held| match (held.operation, result) {
        (Operation::HostCall(call), Err(error)) => {
            HostCalls::default().spawn(call, Points::default());
            fail(&held.signals, &error);
        }
        (operation, _) => super::sabotage::Held { operation, ..held }.run(inner),
    })
}

#[derive(Default)]
struct ForgetsSome(Mutex<u32>);

impl Sabotage for ForgetsSome {
    fn submit(&self, inner: &Inner, mut s: Submission<'_>) -> Result<()> {
        if s.operation.name() == HOST_CALL {
            let mut calls = lock(&self.0);
            *calls += 1;
            if calls.is_multiple_of(10) {
                s.operation = Operation::Barrier;
            }
        }
        s.to(inner)
    }
}

#[derive(Default)]
struct OneAtATime(Mutex<Option<Point>>);

impl Sabotage for OneAtATime {
    fn submit(&self, inner: &Inner, s: Submission<'_>) -> Result<()> {
        if s.operation.name() != HOST_CALL {
            return s.to(inner);
        }
        let returned = Semaphore::new(0).at(1);
        let before = lock(&self.0).replace(returned.clone());
        let waits: Vec<_> = s.waits.iter().cloned().chain(before).collect();
        let signals: Vec<_> = s.signals.iter().cloned().chain([returned]).collect();
        Submission { waits: &waits, signals: &signals, ..s }.to(inner)
    }
}
