// SPDX-License-Identifier: MIT OR Apache-2.0
//! Observers, which hear every advance of a semaphore and its failure.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use windlass_hal::{Code, Error, Observer, Semaphore};

use super::semaphore_thread::on_threads;
use crate::{
    check::{ensure, ensure_eq},
    context::Context,
    outcome::Outcome,
};

suite! { "semaphore_observer";
    #[smoke] hears_host_signals: "An observer hears each payload that host signals reach, once and in order.";
    #[smoke] hears_queue_signals: "An observer hears a queue's signal though nobody polls or waits.";
    hears_promised_signals: "An observer that comes after a submission hears its signal.";
    hears_failure_last: "An observer hears the payload before a failure, then the failure, and nothing behind it.";
    hears_earlier_failure: "An observer of a semaphore that has failed hears the failure at once, and no payload.";
    begins_at_present_payload: "An observer hears no payload that was reached before it came.";
    dropped_hears_nothing: "A dropped observation ends: its observer is released and hears nothing more.";
    each_observer_hears: "Each of several observers hears of an advance, and the end of one leaves the others.";
    may_signal_within_call: "An observer may signal its own semaphore and another one.";
    racing_signals_grow: "Of signals that race, an observer hears growing payloads, one call at a time, and the greatest at last.";
}

/// Remembers its calls.
#[derive(Default)]
struct Ear {
    heard: Mutex<Vec<Result<u64, Code>>>,
}

impl Ear {
    fn hear(&self, news: Result<u64, Code>) {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).push(news);
    }

    fn heard(&self) -> Vec<Result<u64, Code>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Observer for Ear {
    fn advanced(&self, payload: u64) {
        self.hear(Ok(payload));
    }

    fn failed(&self, error: &Error) {
        self.hear(Err(error.code()));
    }
}

/// Hands each payload on to another semaphore, so that a case can wait without a call into the device.
struct Relay {
    ear: Ear,
    to: Semaphore,
}

impl Relay {
    fn new() -> Arc<Self> {
        Arc::new(Self { ear: Ear::default(), to: Semaphore::new(0) })
    }
}

impl Observer for Relay {
    fn advanced(&self, payload: u64) {
        self.ear.advanced(payload);
        let _ = self.to.signal(payload);
    }

    fn failed(&self, error: &Error) {
        self.ear.failed(error);
        self.to.fail(error.clone());
    }
}

fn hears_host_signals(_: &Context) -> Outcome {
    let (semaphore, ear) = (Semaphore::new(3), Arc::new(Ear::default()));
    let observation = semaphore.observe(ear.clone());
    for value in [4, 4, 9, 2, Semaphore::MAX_VALUE] {
        semaphore.signal(value)?;
    }
    ensure_eq!(ear.heard(), [Ok(4), Ok(9), Ok(Semaphore::MAX_VALUE)], "the payloads that the observer heard");
    drop(observation);
    Ok(())
}

fn hears_queue_signals(ctx: &Context) -> Outcome {
    let (semaphore, relay) = (Semaphore::new(0), Relay::new());
    let _observation = semaphore.observe(relay.clone());
    let buffer = ctx.device().allocate_device(4096)?;
    ctx.queue(0)?.fill(&[], &[semaphore.at(2)], &buffer, 7_u8)?;
    ctx.wait(&relay.to.at(2))?;
    ensure_eq!(relay.ear.heard(), [Ok(2)], "the payloads that the observer heard");
    Ok(())
}

fn hears_promised_signals(ctx: &Context) -> Outcome {
    let (gate, semaphore, relay) = (Semaphore::new(0), Semaphore::new(0), Relay::new());
    let buffer = ctx.device().allocate_device(4096)?;
    ctx.queue(0)?.fill(&[gate.at(1)], &[semaphore.at(1)], &buffer, 1_u8)?;
    ctx.queue(0)?.fill(&[semaphore.at(1)], &[semaphore.at(2)], &buffer, 2_u8)?;
    let _observation = semaphore.observe(relay.clone());
    gate.signal(1)?;
    ctx.wait(&relay.to.at(2))?;
    ensure_eq!(relay.ear.heard().last(), Some(&Ok(2)), "the last payload that the observer heard");
    Ok(())
}

fn hears_failure_last(_: &Context) -> Outcome {
    let (semaphore, ear) = (Semaphore::new(0), Arc::new(Ear::default()));
    let _observation = semaphore.observe(ear.clone());
    semaphore.signal(1)?;
    semaphore.fail(Error::data_loss("on purpose"));
    semaphore.fail(Error::aborted("again"));
    semaphore.signal(5)?;
    ensure_eq!(ear.heard(), [Ok(1), Err(Code::DataLoss)], "the news that the observer heard");
    Ok(())
}

fn hears_earlier_failure(_: &Context) -> Outcome {
    let (semaphore, ear) = (Semaphore::new(0), Arc::new(Ear::default()));
    semaphore.signal(1)?;
    semaphore.fail(Error::data_loss("on purpose"));
    let _observation = semaphore.observe(ear.clone());
    ensure_eq!(ear.heard(), [Err(Code::DataLoss)], "the news that the observer heard");
    Ok(())
}

fn begins_at_present_payload(_: &Context) -> Outcome {
    let (semaphore, ear) = (Semaphore::new(0), Arc::new(Ear::default()));
    semaphore.signal(6)?;
    let _observation = semaphore.observe(ear.clone());
    semaphore.signal(5)?;
    ensure_eq!(ear.heard(), [], "the news before an advance");
    semaphore.signal(7)?;
    ensure_eq!(ear.heard(), [Ok(7)], "the news after it");
    Ok(())
}

fn dropped_hears_nothing(_: &Context) -> Outcome {
    let (semaphore, ear) = (Semaphore::new(0), Arc::new(Ear::default()));
    let observation = semaphore.observe(ear.clone());
    semaphore.signal(1)?;
    drop(observation);
    semaphore.signal(2)?;
    semaphore.fail(Error::aborted("on purpose"));
    ensure_eq!(ear.heard(), [Ok(1)], "the news that the observer heard");
    ensure_eq!(Arc::strong_count(&ear), 1, "the owners of the observer");
    Ok(())
}

fn each_observer_hears(_: &Context) -> Outcome {
    let semaphore = Semaphore::new(0);
    let ears = [(); 3].map(|()| Arc::new(Ear::default()));
    let mut observations: Vec<_> = ears.iter().map(|ear| semaphore.observe(ear.clone())).collect();
    semaphore.signal(1)?;
    drop(observations.remove(0));
    semaphore.signal(2)?;
    ensure_eq!(ears[0].heard(), [Ok(1)], "the news of the one that ended");
    for ear in &ears[1..] {
        ensure_eq!(ear.heard(), [Ok(1), Ok(2)], "the news of those that stayed");
    }
    Ok(())
}

fn may_signal_within_call(_: &Context) -> Outcome {
    /// Raises its semaphore up to ten, and another one with it.
    struct Climber {
        own: Semaphore,
        other: Semaphore,
        ear: Ear,
    }
    impl Observer for Climber {
        fn advanced(&self, payload: u64) {
            self.ear.advanced(payload);
            let _ = self.other.signal(payload);
            if payload < 10 {
                let _ = self.own.signal(payload + 1);
            }
        }
        fn failed(&self, error: &Error) {
            self.ear.failed(error);
        }
    }
    let [own, other] = [(); 2].map(|()| Semaphore::new(0));
    let climber = Arc::new(Climber { own: own.clone(), other: other.clone(), ear: Ear::default() });
    let observation = own.observe(climber.clone());
    own.signal(1)?;
    ensure_eq!(climber.ear.heard(), (1..=10).map(Ok).collect::<Vec<_>>(), "the payloads that it heard");
    ensure_eq!(other.query()?, 10, "the payload of the other semaphore");
    drop(observation);
    let weak: Weak<Climber> = Arc::downgrade(&climber);
    drop(climber);
    ensure!(weak.upgrade().is_none(), "the observer is kept after its observation");
    Ok(())
}

fn racing_signals_grow(_: &Context) -> Outcome {
    const THREADS: u64 = 4;
    const SIGNALS: u64 = 200;
    let (semaphore, ear) = (Semaphore::new(0), Arc::new(Ear::default()));
    let _observation = semaphore.observe(ear.clone());
    on_threads(THREADS as usize, |thread| {
        for step in 0..SIGNALS {
            semaphore.signal(step * THREADS + thread as u64 + 1)?;
        }
        Ok(())
    })?;
    let heard = ear.heard();
    ensure!(
        heard.is_sorted_by(|a, b| matches!((a, b), (Ok(a), Ok(b)) if a < b)),
        "the payloads do not grow: {heard:?}"
    );
    ensure_eq!(heard.last(), Some(&Ok(SIGNALS * THREADS)), "the last payload");
    Ok(())
}
