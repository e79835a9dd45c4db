// SPDX-License-Identifier: MIT OR Apache-2.0
//! The observed outcome of a program on a device, and its differences from the prediction.

use std::fmt;

use windlass_hal::{Code, Error, Result};

use super::{
    BufferKind, ClientStep, Operation, Program, Submission,
    fate::{Causes, End, Fate, Fates, has},
    model::{Byte, Effect, Prediction},
    order::{Illegal, Order},
};

/// The outcome of a run.
#[derive(Debug, Default)]
pub(super) struct Observed {
    /// The end of each operation, by its number.
    pub(super) ends: Vec<Result<()>>,
    /// Whether each host call was called, by the operation's number.
    pub(super) called: Vec<bool>,
    /// The end of each wait of the host, by its step.
    pub(super) waits: Vec<(usize, Result<()>)>,
    /// The bytes that each read of the host found, by its step.
    pub(super) reads: Vec<(usize, Vec<u8>)>,
    /// The last status of each semaphore.
    pub(super) semaphores: Vec<Result<u64>>,
    /// The bytes of each buffer and file in the end, if they can be read.
    pub(super) memory: Vec<Option<Vec<u8>>>,
    /// Whether the device was lost. It then failed everything at once, and in-flight work may have written at any
    /// time.
    pub(super) lost: bool,
}

/// A difference between a device and the model, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Discrepancy {
    /// The observed and the expected behaviour.
    pub message: String,
    /// Whether the device cannot run another program, because work of this program is still in flight.
    pub stuck: bool,
}

impl Discrepancy {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), stuck: false }
    }

    pub(super) fn stuck(message: impl Into<String>) -> Self {
        Self { message: message.into(), stuck: true }
    }
}

impl fmt::Display for Discrepancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The model's statement about a program before it runs.
#[derive(Clone, Debug)]
pub(super) struct Expectation<'a> {
    pub(super) program: &'a Program,
    pub(super) order: Order,
    pub(super) fates: Fates,
}

impl<'a> Expectation<'a> {
    /// The prediction. An `unreliable` device may fail anything.
    pub(super) fn new(program: &'a Program, unreliable: bool) -> Result<Self, Illegal> {
        let order = program.order()?;
        if let Some((first, second)) = program.races(&order).first() {
            return Err(format!("nothing orders step {first} and step {second}"));
        }
        if let Some(step) = program.races_within().next() {
            return Err(format!("the command buffer of step {step} lacks a barrier"));
        }
        let fates = program.fates(&order, unreliable);
        Ok(Self { program, order, fates })
    }

    /// The first difference between a device's behaviour and the prediction.
    pub(super) fn compare(&self, observed: &Observed) -> Result<(), Discrepancy> {
        for (index, submission) in self.program.submissions() {
            let number = submission.number as usize;
            let what = format!("operation {number} ({})", name(&submission.operation));
            let fate = &self.fates.steps[index];
            check_end(&what, fate, fate.may_fail(), fate.must_fail(), &observed.ends[number])?;
            self.check_called(&what, fate, &submission.operation, observed.called[number])?;
            self.check_waits(&what, submission, observed)?;
        }
        for (index, result) in &observed.waits {
            let fate = &self.fates.steps[*index];
            check_end(&format!("the wait of step {index}"), fate, fate.may_skip, fate.must_skip, result)?;
        }
        for (index, (end, seen)) in self.fates.semaphores.iter().zip(&observed.semaphores).enumerate() {
            check_semaphore(index, end, seen)?;
        }
        if observed.lost {
            return Ok(());
        }
        let effect = |number: u32| self.effect(number, observed);
        let prediction = self.program.predict(&self.order.sequence, effect, |_| {});
        compare_bytes(&prediction, observed)
    }

    /// Whether a buffer's memory is certain to exist in the end. A dealloca that failed may have freed it, unless what it
    /// waits for had to fail.
    pub(super) fn survives(&self, buffer: usize, ends: &[Result<()>]) -> bool {
        let of = |wanted: fn(u32) -> Operation| {
            let wanted = wanted(buffer as u32);
            self.program.submissions().find(|(_, submission)| submission.operation == wanted)
        };
        let ended_well = |submission: &Submission| ends[submission.number as usize].is_ok();
        self.program.buffers[buffer].kind != BufferKind::Transient
            || (of(Operation::Alloca).is_some_and(|(_, alloca)| ended_well(alloca))
                && of(Operation::Dealloca).is_none_or(|(index, dealloca)| {
                    !ended_well(dealloca) && self.fates.steps[index].must_skip
                }))
    }

    /// The effect of an operation on memory, as far as the observation shows it.
    fn effect(&self, number: u32, observed: &Observed) -> Effect {
        let Some((index, submission)) = self.program.submission(number) else { return Effect::None };
        let ended_well = observed.ends[number as usize].is_ok();
        match submission.operation {
            Operation::HostCall { .. } if observed.called[number as usize] => Effect::Whole,
            Operation::HostCall { .. } => Effect::None,
            _ if ended_well => Effect::Whole,
            _ if self.fates.steps[index].must_skip => Effect::None,
            _ => Effect::Undefined,
        }
    }

    /// An operation that succeeded must not have waited for one that failed.
    fn check_waits(
        &self,
        what: &str,
        submission: &Submission,
        observed: &Observed,
    ) -> Result<(), Discrepancy> {
        if observed.ends[submission.number as usize].is_err() {
            return Ok(());
        }
        for wait in &submission.waits {
            let signaller = self.program.signaller(*wait).map(|step| &self.program.steps[step]);
            if let Some(ClientStep::Submit(signaller)) = signaller
                && observed.ends[signaller.number as usize].is_err()
            {
                return Err(Discrepancy::new(format!(
                    "{what} ended well, and operation {}, which it waits for, failed",
                    signaller.number
                )));
            }
        }
        Ok(())
    }

    fn check_called(
        &self,
        what: &str,
        fate: &Fate,
        operation: &Operation,
        called: bool,
    ) -> Result<(), Discrepancy> {
        let is_call = matches!(operation, Operation::HostCall { .. });
        if is_call && !called && !fate.may_skip && !fate.unreliable {
            return Err(Discrepancy::new(format!(
                "{what} was not called, and nothing that it waits for fails"
            )));
        }
        if called && fate.must_skip {
            return Err(Discrepancy::new(format!("{what} was called although a wait of it fails")));
        }
        Ok(())
    }
}

fn name(operation: &Operation) -> &'static str {
    match operation {
        Operation::Barrier => "barrier",
        Operation::Alloca(_) => "alloca",
        Operation::Dealloca(_) => "dealloca",
        Operation::Work(work) if work.is_dispatch() => "dispatch",
        Operation::Work(_) => "transfer",
        Operation::Read { .. } => "read",
        Operation::Write { .. } => "write",
        Operation::HostCall { .. } => "host call",
        Operation::Execute { .. } => "execute",
        Operation::Collective { .. } => "collective",
    }
}

fn check_end(
    what: &str,
    fate: &Fate,
    may_fail: bool,
    must_fail: bool,
    end: &Result<()>,
) -> Result<(), Discrepancy> {
    match end {
        Ok(()) if must_fail => Err(Discrepancy::new(format!("{what} ended well and had to fail"))),
        Err(error) if !may_fail => Err(Discrepancy::new(format!("{what} had to end well: {error}"))),
        Err(error) => check_cause(what, fate.causes, error),
        Ok(()) => Ok(()),
    }
}

fn check_cause(what: &str, causes: Causes, error: &Error) -> Result<(), Discrepancy> {
    let cause = cause_of(error);
    match has(causes, cause) && (cause.is_none() || error.code() == Code::Aborted) {
        true => Ok(()),
        false => Err(Discrepancy::new(format!("{what} failed with another failure than it had to: {error}"))),
    }
}

fn check_semaphore(index: usize, end: &End, seen: &Result<u64>) -> Result<(), Discrepancy> {
    let what = format!("semaphore {index}");
    match (end, seen) {
        (End::Payload(expected) | End::Either(expected, _), Ok(payload)) if payload == expected => Ok(()),
        (End::Failed(causes) | End::Either(_, causes), Err(error)) => check_cause(&what, *causes, error),
        _ => Err(Discrepancy::new(format!("{what} ended as {seen:?}; expected {end:?}"))),
    }
}

/// The error of an injected failure.
pub(super) fn injected(cause: u8) -> Error {
    Error::aborted(format!("injected failure {cause}."))
}

fn cause_of(error: &Error) -> Option<u8> {
    let text = error.to_string();
    let (_, behind) = text.split_once("injected failure ")?;
    behind.split_once('.')?.0.parse().ok()
}

fn compare_bytes(prediction: &Prediction, observed: &Observed) -> Result<(), Discrepancy> {
    for ((index, expected), (_, seen)) in prediction.reads.iter().zip(&observed.reads) {
        same(&format!("the read of step {index}"), expected, seen)?;
    }
    for (index, (expected, seen)) in prediction.memory.iter().zip(&observed.memory).enumerate() {
        if let Some(seen) = seen {
            same(&format!("buffer {index} in the end"), expected, seen)?;
        }
    }
    Ok(())
}

fn same(what: &str, expected: &[Byte], seen: &[u8]) -> Result<(), Discrepancy> {
    let differs = |(expected, seen): (&Byte, &u8)| expected.is_some_and(|expected| expected != *seen);
    match expected.iter().zip(seen).position(differs) {
        None => Ok(()),
        Some(at) => {
            let count = expected.iter().zip(seen).filter(|pair| differs(*pair)).count();
            let (expected, seen) = (expected[at].unwrap_or_default(), seen[at]);
            Err(Discrepancy::new(format!(
                "{what}: byte {at} is {seen:#04x} instead of {expected:#04x}; {count} bytes differ"
            )))
        }
    }
}
