// SPDX-License-Identifier: MIT OR Apache-2.0
//! Work as a packet of a queue. A failure, or a panic of the simulator, becomes one of the stream or of its device.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::host_function::HostFunction;
use super::item::{Rest, Work};
use crate::engine::{Choose, StepOutcome};
use crate::hip::hardware::machine::Machine;
use crate::hip::objects::stream::Stream;
use crate::hip::words::code::Code;
use crate::hip::words::failure::Failure;
use crate::packet::{self, Begun};

/// Work in a queue.
pub(crate) struct Queued {
    site: Site,
    work: Work,
}

impl Queued {
    /// Work of a stream. `device` names another device than the stream's to do it.
    pub(crate) fn new(
        machine: &Arc<Machine>,
        stream: &Arc<Stream>,
        device: Option<usize>,
        work: Work,
    ) -> Box<Self> {
        let device = device.unwrap_or(stream.device);
        Box::new(Self { site: Site { machine: machine.clone(), stream: stream.clone(), device }, work })
    }
}

/// A stream, and the device that does its work.
struct Site {
    machine: Arc<Machine>,
    stream: Arc<Stream>,
    device: usize,
}

impl Site {
    fn run(&self, work: Work) {
        let Some(device) = self.machine.devices.get(self.device) else { return };
        // A defect of the simulator must fail the device, or its streams would wait forever.
        let done = catch_unwind(AssertUnwindSafe(|| work.run(&self.machine, device, &self.stream)));
        if let Err(failure) = done.unwrap_or_else(|_| Err(Failure::defect())) {
            self.fail(failure);
        }
    }

    /// Begins work. The rest, if the work has more than one step.
    fn begin(&self, work: Work, choices: &mut dyn Choose) -> Option<Rest> {
        let device = self.machine.devices.get(self.device)?;
        let begun =
            catch_unwind(AssertUnwindSafe(|| work.begin(&self.machine, device, &self.stream, choices)));
        begun.unwrap_or_else(|_| Err(Failure::defect())).unwrap_or_else(|failure| {
            self.fail(failure);
            None
        })
    }

    fn fail(&self, failure: Failure) {
        if let Some(device) = self.machine.devices.get(self.device) {
            self.machine.fail(device, &self.stream, failure);
        }
    }
}

impl packet::Packet for Queued {
    fn is_host_function(&self) -> bool {
        matches!(self.work, Work::HostFunction(_))
    }

    fn run(self: Box<Self>) {
        self.site.run(self.work);
    }

    fn begin(self: Box<Self>, choices: &mut dyn Choose) -> Begun {
        let Self { site, work } = *self;
        if let Work::HostFunction(function) = work {
            return Begun::HostFunction(Box::new(Calling { site, function }));
        }
        match site.begin(work, choices) {
            Some(rest) => Begun::Going(Box::new(Going { site, rest })),
            None => Begun::Ended,
        }
    }
}

/// Work that has begun and goes on step by step.
struct Going {
    site: Site,
    rest: Rest,
}

impl packet::Going for Going {
    fn step(&mut self, choices: &mut dyn Choose) -> StepOutcome {
        let stepped = match &mut self.rest {
            Rest::Dispatch(launch) => launch.step(choices),
            Rest::Copy(transfer) => {
                transfer.run(&self.site.machine.memory).map(|()| StepOutcome::Done).map_err(Failure::from)
            }
        };
        stepped.unwrap_or_else(|failure| {
            self.site.fail(failure);
            StepOutcome::Done
        })
    }
}

/// A host function that a schedule has called.
struct Calling {
    site: Site,
    function: HostFunction,
}

impl packet::HostFunction for Calling {
    fn call(&mut self) {
        self.site.run(Work::HostFunction(self.function));
    }

    fn give_up(&mut self, reason: String) {
        self.site.fail(Failure::new(Code::OUT_OF_MEMORY, reason));
    }
}
