// SPDX-License-Identifier: MIT OR Apache-2.0
//! One item of a stream.

use std::ffi::c_void;
use std::sync::Arc;

use windlass_hip_sys::bindings::{hipError_t, hipStream_t};

use crate::engine::{Choose, Step};
use crate::packet::{self, Begun, Fill, GoingDispatch, Transfer};

use super::allocation;
use super::code::Code;
use super::defects;
use super::device::Device;
use super::event::Mark;
use super::failure::Failure;
use super::launch::{Launch, Launched};
use super::machine::Machine;
use super::stream::Stream;

/// What a stream can be asked to do.
pub(crate) enum Work {
    /// Nothing: the item only orders others.
    Nothing,
    /// Notes when the stream got here, and what failed on the way.
    Stamp(Arc<Mark>),
    Launch(Box<Launch>),
    Transfer(Transfer),
    Fill(Fill),
    /// Frees the allocation that starts at the address, on behalf of a call.
    Free(u64, Arc<str>),
    HostFunction(HostFunction),
}

/// A function of the client's that a stream calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostFunction {
    pub(crate) call: HostCall,
    pub(crate) data: *mut c_void,
}

/// The two forms of host functions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HostCall {
    /// hipLaunchHostFunc.
    Plain(unsafe extern "C" fn(*mut c_void)),
    /// hipStreamAddCallback, with the stream as the client knows it.
    WithStatus(unsafe extern "C" fn(hipStream_t, hipError_t, *mut c_void), u64),
}

// SAFETY: the pointer is the client's own datum, handed back to the client's own function and not looked at. HIP says
// that the function is called on a thread of the runtime's, so the client vouches for this.
unsafe impl Send for HostFunction {}
// SAFETY: a reference to it gives nothing but copies of it.
unsafe impl Sync for HostFunction {}

impl Work {
    /// Does it. Blocks for as long as it takes.
    pub(crate) fn run(self, machine: &Machine, device: &Device, stream: &Stream) -> Result<(), Failure> {
        let failure = device.failure();
        if let Self::HostFunction(function) = self {
            function.call(failure.map_or(Code::SUCCESS, |failure| failure.code));
            return Ok(());
        }
        if failure.is_some() {
            return Ok(());
        }
        match self {
            Self::Nothing | Self::HostFunction(_) => Ok(()),
            Self::Stamp(mark) => {
                mark.reach(stream, machine.clock.now());
                Ok(())
            }
            Self::Launch(launch) => launch.run(machine, device),
            Self::Transfer(transfer) => Ok(transfer.run(&machine.memory)?),
            Self::Fill(fill) => {
                defects::check_fill(machine.hip, &fill)?;
                Ok(fill.run(&machine.memory)?)
            }
            Self::Free(address, by) => {
                allocation::release(machine, address, by);
                Ok(())
            }
        }
    }
}

/// Work in a queue, with the stream that it is for.
pub(crate) struct Queued {
    pub(crate) machine: Arc<Machine>,
    pub(crate) stream: Arc<Stream>,
    /// The device that does it, where it is not the stream's.
    pub(crate) device: Option<usize>,
    pub(crate) work: Work,
}

/// Work that has begun and goes on step by step.
struct Going {
    machine: Arc<Machine>,
    stream: Arc<Stream>,
    device: usize,
    rest: Rest,
}

/// What is left to do of work that has begun.
pub(crate) enum Rest {
    Dispatch(Box<GoingDispatch>, Launched),
    /// The second half of a copy.
    Copy(Transfer),
}

impl Queued {
    fn device(&self) -> usize {
        self.device.unwrap_or(self.stream.device)
    }
}

impl packet::Packet for Queued {
    fn is_host_function(&self) -> bool {
        matches!(self.work, Work::HostFunction(_))
    }

    fn run(self: Box<Self>) {
        let device = self.device();
        self.machine.run(device, &self.stream, self.work);
    }

    fn begin(self: Box<Self>, choices: &mut dyn Choose) -> Begun {
        let device = self.device();
        if let Work::HostFunction(function) = self.work {
            let Self { machine, stream, .. } = *self;
            return Begun::HostFunction(Box::new(Calling { machine, stream, device, function }));
        }
        let Self { machine, stream, work, .. } = *self;
        match machine.begin(device, &stream, work, choices) {
            Some(rest) => Begun::Going(Box::new(Going { machine, stream, device, rest })),
            None => Begun::Ended,
        }
    }
}

impl packet::Going for Going {
    fn step(&mut self, choices: &mut dyn Choose) -> Step {
        let stepped = match &mut self.rest {
            Rest::Dispatch(dispatch, by) => dispatch.step(choices).map_err(|trouble| by.failure(trouble)),
            Rest::Copy(transfer) => {
                transfer.run(&self.machine.memory).map(|()| Step::Done).map_err(Failure::from)
            }
        };
        stepped.unwrap_or_else(|failure| {
            self.machine.fail(self.device, &self.stream, failure);
            Step::Done
        })
    }
}

/// A host function that a schedule has called.
struct Calling {
    machine: Arc<Machine>,
    stream: Arc<Stream>,
    device: usize,
    function: HostFunction,
}

impl packet::HostFunction for Calling {
    fn call(&mut self) {
        self.machine.run(self.device, &self.stream, Work::HostFunction(self.function));
    }

    fn give_up(&mut self, reason: String) {
        self.machine.fail(self.device, &self.stream, Failure::new(Code::OUT_OF_MEMORY, reason));
    }
}

impl Work {
    /// Does what is one step, and begins what is more. The rest, if something is left.
    pub(crate) fn begin(
        self,
        machine: &Machine,
        device: &Device,
        stream: &Stream,
        choices: &mut dyn Choose,
    ) -> Result<Option<Rest>, Failure> {
        match self {
            Self::Launch(launch) if device.failure().is_none() => {
                let by = launch.by();
                let dispatch = launch.begin(machine, device, choices)?;
                Ok(Some(Rest::Dispatch(Box::new(dispatch), by)))
            }
            // Others may see half of a copy.
            Self::Transfer(mut transfer)
                if device.failure().is_none() && transfer.places() > 0 && choices.choose(2) == 0 =>
            {
                let rest = transfer.cut(choices.choose(transfer.places()));
                transfer.run(&machine.memory)?;
                Ok(Some(Rest::Copy(rest)))
            }
            work => work.run(machine, device, stream).map(|()| None),
        }
    }
}

impl HostFunction {
    fn call(self, status: Code) {
        match self.call {
            // As in CUDA, a plain host function is not called once its device has failed.
            HostCall::Plain(_) if status != Code::SUCCESS => {}
            // SAFETY: the client gave function and datum for this call.
            HostCall::Plain(function) => unsafe { function(self.data) },
            // SAFETY: as above.
            HostCall::WithStatus(function, stream) => unsafe {
                function(stream as hipStream_t, hipError_t(status.0), self.data);
            },
        }
    }
}
