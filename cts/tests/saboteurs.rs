// SPDX-License-Identifier: MIT OR Apache-2.0
//! The suite can fail: a driver that breaks one contract is caught by the case that states it.
//!
//! Each saboteur is the null driver behind a wrapper that changes one thing on its way through.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use windlass_cts::{Options, Verdict, cases, run_cases};
use windlass_hal::{
    BindingTable, BufferParams, CommandList, Deadline, DeviceInfo, Error, Feature, Lack, Limits,
    Notifications, Operation, Point, QueueAffinity, Registry, Result, Semaphore, Statistics, Uri, driver,
    edge::Domain,
};

/// What a submission is turned into.
type Submit = fn(&Device, QueueAffinity, &[Point], &[Point], Operation) -> Result<()>;

/// One broken contract.
#[derive(Clone, Copy)]
struct Sabotage {
    submit: Submit,
    /// Whether closing reaches the driver.
    closes: bool,
    lacks: Option<Feature>,
}

const NONE: Sabotage = Sabotage { submit: faithfully, closes: true, lacks: None };

struct Driver(Sabotage);

struct Device {
    raw: Arc<dyn driver::Device>,
    info: DeviceInfo,
    sabotage: Sabotage,
    /// What a saboteur keeps from one submission to the next.
    kept: Mutex<Vec<Operation>>,
    table: Mutex<Option<BindingTable>>,
    last: Mutex<(Semaphore, u64)>,
}

impl driver::Driver for Driver {
    fn scheme(&self) -> &str {
        "null"
    }
    fn description(&self) -> String {
        "a saboteur".to_owned()
    }
    fn enumerate(&self) -> Result<Vec<DeviceInfo>> {
        windlass_null::NullDriver.enumerate()
    }
    fn open(&self, uri: &Uri) -> Result<Arc<dyn driver::Device>> {
        let raw = windlass_null::NullDriver.open(uri)?;
        let mut info = raw.info().clone();
        info.lacks.extend(self.0.lacks.map(|feature| Lack::new(feature, "a lie")));
        Ok(Arc::new(Device {
            raw,
            info,
            sabotage: self.0,
            kept: Mutex::default(),
            table: Mutex::default(),
            last: Mutex::default(),
        }))
    }
}

impl driver::Device for Device {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }
    fn limits(&self) -> &Limits {
        self.raw.limits()
    }
    fn domain(&self) -> Domain {
        self.raw.domain()
    }
    fn allocate(&self, params: &BufferParams, size: u64) -> Result<Arc<dyn driver::Buffer>> {
        self.raw.allocate(params, size)
    }
    fn reserve(
        &self,
        affinity: QueueAffinity,
        params: &BufferParams,
        size: u64,
    ) -> Result<Arc<dyn driver::Buffer>> {
        self.raw.reserve(affinity, params, size)
    }
    unsafe fn load_executable(&self, code: &[u8]) -> Result<Arc<dyn driver::Executable>> {
        // SAFETY: the caller's promise, passed on.
        unsafe { self.raw.load_executable(code) }
    }
    fn prepare(&self, list: CommandList) -> Result<Arc<dyn driver::CommandBuffer>> {
        self.raw.prepare(list)
    }
    fn submit(
        &self,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        operation: Operation,
    ) -> Result<()> {
        (self.sabotage.submit)(self, affinity, waits, signals, operation)
    }
    fn poll(&self) {
        self.raw.poll();
    }
    fn drain(&self, deadline: Deadline) -> Result<()> {
        self.raw.drain(deadline)
    }
    fn close(&self) {
        if self.sabotage.closes {
            self.raw.close();
        }
    }
    fn trim(&self) {
        self.raw.trim();
    }
    fn statistics(&self) -> Statistics {
        self.raw.statistics()
    }
}

fn faithfully(
    device: &Device,
    affinity: QueueAffinity,
    waits: &[Point],
    signals: &[Point],
    operation: Operation,
) -> Result<()> {
    device.raw.submit(affinity, waits, signals, operation)
}

/// How one case ends over a saboteur.
fn verdict_of(sabotage: Sabotage, case: &str, timeout: Duration) -> Verdict {
    let mut registry = Registry::new();
    registry.register(Arc::new(Driver(sabotage)));
    let mut options = Options::new("null://");
    options.filters = vec![case.to_owned()];
    options.exact = true;
    options.timeout = timeout;
    let summary = run_cases(&registry, &cases(), &options, &mut std::io::sink()).unwrap();
    assert_eq!(summary.results.len(), 1, "there is no case {case}");
    summary.results[0].verdict.clone()
}

/// The case passes over a faithful wrapper, and fails over the saboteur.
fn catches(case: &str, submit: Submit) {
    catches_sabotage(case, Sabotage { submit, ..NONE });
}

fn catches_sabotage(case: &str, sabotage: Sabotage) {
    let faithful = verdict_of(NONE, case, Duration::from_secs(120));
    assert_eq!(faithful, Verdict::Pass, "{case} over a faithful wrapper");
    // Some saboteurs show by a deadline that passes.
    let verdict = verdict_of(sabotage, case, Duration::from_secs(1));
    assert!(matches!(verdict, Verdict::Fail(_)), "{case} did not catch its saboteur: {verdict:?}");
}

#[test]
fn work_that_ignores_its_waits() {
    let submit: Submit =
        |device, affinity, _, signals, operation| device.raw.submit(affinity, &[], signals, operation);
    for case in [
        "queue.barrier_waits",
        "queue.wait_before_signal",
        "queue.random_graph",
        "host_call.runs_after_its_waits",
        "alloca.waits_for_its_waits",
        "command_buffer.empty",
        "transfer.download_waits",
    ] {
        catches(case, submit);
    }
}

#[test]
fn work_that_ignores_all_but_its_first_wait() {
    let submit: Submit = |device, affinity, waits, signals, operation| {
        device.raw.submit(affinity, &waits[..waits.len().min(1)], signals, operation)
    };
    catches("queue.barrier_waits", submit);
    catches("queue.host_and_device_waits", submit);
    catches("queue.one_semaphore_twice_in_a_list", |device, affinity, waits, signals, operation| {
        device.raw.submit(affinity, &waits[waits.len().saturating_sub(1)..], signals, operation)
    });
}

#[test]
fn signals_that_come_too_early() {
    let submit: Submit = |device, affinity, waits, signals, operation| {
        let mut notifications = Notifications::new();
        signals.iter().for_each(|point| point.semaphore.advance(point.value, &mut notifications));
        notifications.fire();
        device.raw.submit(affinity, waits, &[], operation)
    };
    catches("queue.submission_does_not_block", submit);
    catches("host_call.signals_after_return", submit);
}

#[test]
fn a_forgotten_signal() {
    let submit: Submit = |device, affinity, waits, signals, operation| {
        device.raw.submit(affinity, waits, &signals[..signals.len().min(1)], operation)
    };
    catches("queue.barrier_signals", submit);
    catches("failure.every_signal_fails", submit);
}

#[test]
fn queues_that_run_one_after_the_other() {
    let submit: Submit = |device, affinity, waits, signals, operation| {
        // The semaphore starts at zero, and each submission waits for the value of the one before.
        let mut last = device.last.lock().unwrap();
        let (timeline, value) = last.clone();
        last.1 += 1;
        let waits = [waits, &[timeline.at(value)]].concat();
        let signals = [signals, &[timeline.at(value + 1)]].concat();
        device.raw.submit(affinity, &waits, &signals, operation)
    };
    catches("queue.independent_work_goes_on", submit);
    catches("queue.wait_before_signal", submit);
}

#[test]
fn a_submission_that_blocks() {
    let submit: Submit = |device, affinity, waits, signals, operation| {
        for wait in waits {
            wait.semaphore.wait_blocking(wait.value, Duration::from_secs(3600))?;
        }
        device.raw.submit(affinity, waits, signals, operation)
    };
    catches("queue.submission_does_not_block", submit);
}

#[test]
fn swallowed_failures() {
    let submit: Submit = |device, affinity, waits, signals, operation| {
        let live: Vec<Point> = waits.iter().filter(|wait| wait.semaphore.query().is_ok()).cloned().collect();
        device.raw.submit(affinity, &live, signals, operation)
    };
    catches("failure.of_a_failed_wait", submit);
    catches("failure.dependant_does_not_run", submit);
}

#[test]
fn failures_under_another_name() {
    let submit: Submit = |device, affinity, waits, signals, operation| {
        if waits.iter().any(|wait| wait.semaphore.query().is_err()) {
            let error = Error::internal("something went wrong");
            signals.iter().for_each(|signal| signal.semaphore.fail(error.clone()));
            return Ok(());
        }
        device.raw.submit(affinity, waits, signals, operation)
    };
    catches("failure.of_a_failed_wait", submit);
}

#[test]
fn transfers_that_miss_their_range() {
    catches("transfer.fill_pattern_1", |device, affinity, waits, signals, operation| {
        let operation = match operation {
            Operation::Fill { target, pattern } => {
                Operation::Fill { target: target.subspan(0, target.len() - 1)?, pattern }
            }
            other => other,
        };
        device.raw.submit(affinity, waits, signals, operation)
    });
    catches("transfer.update_classes", |device, affinity, waits, signals, operation| {
        let operation = match operation {
            Operation::Update { mut source, target } => {
                if let Some(last) = source.last_mut().filter(|_| target.len() % 4 == 3) {
                    *last ^= 1;
                }
                Operation::Update { source, target }
            }
            other => other,
        };
        device.raw.submit(affinity, waits, signals, operation)
    });
    catches("transfer.copy_classes", |device, affinity, waits, signals, operation| {
        let operation = match operation {
            // As if a copy worked in words: odd ends are lost.
            Operation::Copy { source, target } if source.len() < 600 => Operation::Copy {
                source: source.subspan(0, source.len() & !3)?,
                target: target.subspan(0, target.len() & !3)?,
            },
            other => other,
        };
        device.raw.submit(affinity, waits, signals, operation)
    });
}

#[test]
fn a_replay_with_the_table_of_another_submission() {
    let submit: Submit = |device, affinity, waits, signals, operation| {
        let operation = match operation {
            Operation::Execute { command_buffer, bindings } => {
                let first = device.table.lock().unwrap().get_or_insert(bindings).clone();
                Operation::Execute { command_buffer, bindings: first }
            }
            other => other,
        };
        device.raw.submit(affinity, waits, signals, operation)
    };
    catches("command_buffer.in_flight_at_once", submit);
}

#[test]
fn memory_that_is_released_too_early_or_never() {
    catches("alloca.waits_for_its_waits", |device, affinity, waits, signals, operation| {
        let waits = if matches!(operation, Operation::Dealloca { .. }) { &[] } else { waits };
        device.raw.submit(affinity, waits, signals, operation)
    });
    catches("alloca.dealloca_returns_memory", |device, affinity, waits, signals, operation| {
        let operation = match operation {
            Operation::Dealloca { .. } => Operation::Barrier,
            other => other,
        };
        device.raw.submit(affinity, waits, signals, operation)
    });
    catches("lifetime.completed_work_releases_buffers", |device, affinity, waits, signals, operation| {
        if let Operation::Copy { source, .. } = &operation {
            device.kept.lock().unwrap().push(Operation::Dealloca { buffer: source.clone() });
        }
        device.raw.submit(affinity, waits, signals, operation)
    });
}

#[test]
fn a_device_that_does_not_close() {
    for case in
        ["lifetime.close_cancels_pending", "lifetime.close_refuses_new_work", "lifetime.drop_cancels_pending"]
    {
        catches_sabotage(case, Sabotage { closes: false, ..NONE });
    }
}

#[test]
fn lacks_that_are_not_declared_and_lies_about_lacks() {
    catches("host_call.runs_without_waits", |device, affinity, waits, signals, operation| match operation {
        Operation::HostCall(_) => Err(Error::unimplemented("no host calls here")),
        other => device.raw.submit(affinity, waits, signals, other),
    });
    for lie in [Feature::Alloca, Feature::CommandBuffers, Feature::Files, Feature::HostCalls] {
        catches_sabotage("driver.lacks_are_true", Sabotage { lacks: Some(lie), ..NONE });
    }
}
