// SPDX-License-Identifier: MIT OR Apache-2.0
//! One item of a stream.

use std::ffi::c_void;
use std::sync::Arc;

use windlass_hip_sys::bindings::{hipError_t, hipStream_t};

use crate::engine::{Choose, Step};

use super::allocation;
use super::code::Code;
use super::device::Device;
use super::event::Mark;
use super::failure::Failure;
use super::launch::{Dispatch, Launch};
use super::machine::Machine;
use super::stream::Stream;
use super::transfer::{Fill, Transfer};

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
            Self::Transfer(transfer) => transfer.run(machine),
            Self::Fill(fill) => fill.run(machine),
            Self::Free(address, by) => {
                allocation::release(machine, address, by);
                Ok(())
            }
        }
    }
}

/// Work that has begun and goes on step by step.
pub(crate) enum Going {
    Dispatch(Box<Dispatch>),
    /// The second half of a copy.
    Rest(Transfer),
}

/// What becomes of an item that is not run to its end at once.
pub(crate) enum Begun {
    Ended(Option<Failure>),
    /// Something that goes on step by step.
    Going(Going),
    /// A host function, to be called where it keeps nobody from going on.
    HostFunction(HostFunction),
}

impl Work {
    /// Does what is one step, and begins what is more.
    pub(crate) fn begin(
        self,
        machine: &Machine,
        device: &Device,
        stream: &Stream,
        choices: &mut dyn Choose,
    ) -> Begun {
        match self {
            Self::HostFunction(function) => Begun::HostFunction(function),
            Self::Launch(launch) if device.failure().is_none() => {
                match launch.begin(machine, device, choices) {
                    Ok(dispatch) => Begun::Going(Going::Dispatch(Box::new(dispatch))),
                    Err(failure) => Begun::Ended(Some(failure)),
                }
            }
            // Others may see half of a copy.
            Self::Transfer(mut transfer)
                if device.failure().is_none() && transfer.places() > 0 && choices.choose(2) == 0 =>
            {
                let rest = transfer.cut(choices.choose(transfer.places()));
                match transfer.run(machine) {
                    Ok(()) => Begun::Going(Going::Rest(rest)),
                    Err(failure) => Begun::Ended(Some(failure)),
                }
            }
            work => Begun::Ended(work.run(machine, device, stream).err()),
        }
    }
}

impl Going {
    /// Does one step.
    pub(crate) fn step(&mut self, machine: &Machine, choices: &mut dyn Choose) -> Result<Step, Failure> {
        match self {
            Self::Dispatch(dispatch) => dispatch.step(choices),
            Self::Rest(transfer) => transfer.run(machine).map(|()| Step::Done),
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
