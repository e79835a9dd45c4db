// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows of completions: how long after the end of a kernel of one millisecond the host's wait returns, and how much of
//! a CPU the wait takes, under each wait policy.

use std::time::{Duration, Instant};

use crate::{Deadline, Feature, Semaphore, WaitPolicy};

use super::load::{Load, Timeline};
use crate::command::bench::{
    baton, cpus,
    floor::{Hip, Wait},
    row::{Prepared, Row},
    shape::Shape,
    stop::{Stop, Work},
    subject::{Floor, Subject, partly},
    target::Target,
};

/// The time of the kernel.
const KERNEL: Duration = Duration::from_millis(1);

/// One dispatch.
const SHAPE: Shape = Shape::direct(2, 1);

/// The schemes of devices whose kernels may take a known time.
const SCHEMES: &[&str] = &["hip-null", "hip"];

/// How the host waits, with the bare wait of HIP that it is compared with.
type Waiter = (&'static str, fn(&Semaphore, u64) -> crate::Result<()>, Wait);

const WAITERS: [Waiter; 4] = [
    ("hot", |done, value| done.wait_blocking_with(value, Deadline::NEVER, WaitPolicy::Spin), Wait::Polling),
    ("default", |done, value| done.wait_blocking(value, Deadline::NEVER), Wait::Blocking),
    (
        "sleeping",
        |done, value| done.wait_blocking_with(value, Deadline::NEVER, WaitPolicy::Block),
        Wait::Blocking,
    ),
    ("future", |done, value| baton::block_on(done.wait(value)), Wait::Blocking),
];

pub(super) fn add(rows: &mut Vec<Row>) {
    for (name, measure, unit) in
        [("completion", beyond_the_kernel as Measure, "ns"), ("completion/cpu", of_the_processor, "CPU ns")]
    {
        for waiter in WAITERS {
            let name = format!("{name} kernel=1ms waiter={}", waiter.0);
            let row = Row::new(name, (1, "wait"), move |target| prepare(target, waiter, measure));
            rows.push(
                row.needs(&[Feature::CommandBuffers, Feature::Dispatch]).schemes(SCHEMES).unit(unit).long(),
            );
        }
    }
}

/// Measures a round.
type Measure = fn(&mut dyn FnMut() -> Work) -> Work<Duration>;

/// The time of a round minus the kernel's.
fn beyond_the_kernel(round: &mut dyn FnMut() -> Work) -> Work<Duration> {
    let start = Instant::now();
    round()?;
    Ok(start.elapsed().saturating_sub(KERNEL))
}

/// The time of all CPUs that this process uses in a round, the driver's threads included.
fn of_the_processor(round: &mut dyn FnMut() -> Work) -> Work<Duration> {
    let start = cpus::process_time()?;
    round()?;
    Ok(cpus::process_time()?.saturating_sub(start))
}

fn prepare(target: &Target, (_, wait, bare): Waiter, measure: Measure) -> Work<Prepared> {
    let hip = known(target)?;
    let load = Load::new(target, SHAPE)?;
    let commands = load.record()?;
    let mut timeline = Timeline::default();
    let round = move || -> Work {
        let value = timeline.next();
        load.queue.execute(&[], &[timeline.semaphore.at(value)], &commands, load.table())?;
        Ok(wait(&timeline.semaphore, value)?)
    };
    let floor = hip.waited(SHAPE, bare)?;
    let floor = Floor::new(bare.calls(), 1, measured(measure, floor));
    Ok(Prepared::Timed(measured(measure, round), Some(floor)))
}

fn measured(measure: Measure, mut round: impl FnMut() -> Work + 'static) -> Subject {
    partly(move || measure(&mut round))
}

/// The bare HIP of a device whose kernels take one millisecond. A kernel of a GPU takes no time that is known in
/// advance.
fn known(target: &Target) -> Work<&Hip> {
    let lacks = |reason: &str| {
        Stop::Lacks(format!(
            "{reason}; the row needs kernels that take a known time, one millisecond: hip-null://?kernel=1ms, or \
             NULL_HIP_KERNEL=1ms with the library of benches/null_hip"
        ))
    };
    let hip = target.hip.as_ref().ok_or_else(|| lacks("bare calls are for devices of one GPU"))?;
    if target.runs_kernels {
        return Err(lacks("a kernel of this device takes as long as its GPU needs"));
    }
    let mut round = hip.waited(SHAPE, Wait::Polling)?;
    round()?;
    let mut least = Duration::MAX;
    for _ in 0..3 {
        let start = Instant::now();
        round()?;
        least = least.min(start.elapsed());
    }
    match least >= KERNEL && least < 2 * KERNEL {
        true => Ok(hip),
        false => Err(lacks(&format!("a launch of this device is complete after {least:?}"))),
    }
}
