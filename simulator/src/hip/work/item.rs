// SPDX-License-Identifier: MIT OR Apache-2.0
//! One item of work of a stream.

use std::sync::Arc;

use super::host_function::HostFunction;
use super::launch::{GoingLaunch, Launch};
use super::word::MemoryWord;
use crate::engine::Choose;
use crate::hip::hardware::allocation;
use crate::hip::hardware::device::Device;
use crate::hip::hardware::machine::Machine;
use crate::hip::objects::event::Mark;
use crate::hip::objects::pool::Pool;
use crate::hip::objects::stream::Stream;
use crate::hip::words::code::Code;
use crate::hip::words::defects;
use crate::hip::words::failure::Failure;
use crate::packet::{Fill, Transfer};

/// Work of a stream.
pub(crate) enum Work {
    /// Nothing: the item only orders others.
    Nothing,
    /// Notes when the stream reached this item, and the first failure before it.
    Stamp(Arc<Mark>),
    Launch(Box<Launch>),
    Transfer(Transfer),
    Fill(Fill),
    /// Frees the allocation that starts at the address, on behalf of a call.
    Free(u64, Arc<str>),
    /// Gives memory back to its pool, on behalf of a call: the address, and the number of the free.
    Return(Arc<Pool>, u64, u64, Arc<str>),
    HostFunction(HostFunction),
    /// Writes a word of memory.
    Write(MemoryWord, u64),
    /// Work of a layer above.
    Errand(Box<dyn Errand>),
}

/// Work of a layer above, of one step.
pub(crate) trait Errand: Send {
    /// Does it. A device that has failed skips it.
    fn run(self: Box<Self>, machine: &Machine) -> Result<(), Failure>;
}

/// The rest of work that has begun.
pub(crate) enum Rest {
    Dispatch(Box<GoingLaunch>),
    /// The second half of a copy.
    Copy(Transfer),
}

impl Work {
    /// Runs the work to its end, on the calling thread. A device that has failed skips all but host functions.
    pub(crate) fn run(self, machine: &Machine, device: &Device, stream: &Stream) -> Result<(), Failure> {
        let failure = device.failure();
        if let Self::HostFunction(function) = self {
            function.call(failure.map_or(Code::SUCCESS, |failure| failure.code));
            return Ok(());
        }
        if failure.is_some() {
            if let Self::Stamp(mark) = self {
                mark.skip();
            }
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
            Self::Write(word, value) => Ok(word.store(machine, value)?),
            Self::Errand(errand) => errand.run(machine),
            Self::Return(pool, base, ticket, by) => {
                allocation::reach_free(machine, &pool, base, ticket, by);
                Ok(())
            }
            Self::Free(address, by) => {
                allocation::release(machine, address, by);
                Ok(())
            }
        }
    }

    /// Begins the work. Work of a single step runs to its end; otherwise the rest is returned.
    pub(crate) fn begin(
        self,
        machine: &Machine,
        device: &Device,
        stream: &Stream,
        choices: &mut dyn Choose,
    ) -> Result<Option<Rest>, Failure> {
        match self {
            Self::Launch(launch) if device.failure().is_none() => {
                Ok(Some(Rest::Dispatch(Box::new(launch.begin(machine, device, choices)?))))
            }
            // Other streams may see half of a copy.
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
