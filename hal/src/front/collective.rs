// SPDX-License-Identifier: MIT OR Apache-2.0
//! Groups of collective operations, on a queue and in a command buffer.

use crate::{
    driver::{buffer_ref::BufferRef, collective::Collective, operation::OperationRef},
    front::{
        channel::Channel,
        check::{check_device, check_multiple},
        group,
        queue::Queue,
        recorder::Recorder,
    },
    order::point::Point,
    words::error::{Error, Result},
};

impl Queue {
    /// Carries out a group of collective operations: they start together when the waits are reached, and when all of them
    /// have completed on this rank, the signals are reached. Each other rank of the channel submits a group that fits.
    ///
    /// Operations of one group must not write memory that another one of it reads or writes. A group without elements is a
    /// barrier, on every rank, because all ranks state the same number of elements.
    ///
    /// `INVALID_ARGUMENT` for a rank that the channel does not have, lengths that do not fit each other or the elements,
    /// a channel whose queues are none of this queue, and sends to the own rank that the group does not receive.
    /// A reduction needs elements of a number type with a sign or without: `Sint32`, and not `Int32`. `UNIMPLEMENTED` for
    /// a reduction of a type that the device cannot reduce; HIP's devices reduce no integers of 16 bits.
    ///
    /// Where another rank fails, leaves or does not come in time, the signals fail with `ABORTED`, and so do those of all
    /// later groups of the channel. The device stays usable. The contents of the targets are undefined then.
    pub fn collective(
        &self,
        waits: &[Point],
        signals: &[Point],
        channel: &Channel,
        operations: &[Collective],
    ) -> Result<()> {
        let device = self.device().open.raw.as_ref();
        if channel.raw.domain() != device.domain() {
            return Err(group::of_another_device());
        }
        if channel.raw.affinity().bits() & self.affinity().bits() == 0 {
            return Err(Error::invalid_argument(format!(
                "the channel runs on the queues {:#x}, and this queue stands for {:#x}: use a queue that the channel has",
                channel.raw.affinity().bits(),
                self.affinity().bits()
            )));
        }
        let operations = group::canonical(operations, channel.raw.as_ref(), |buffer, usage, size, what| {
            check_device(buffer, device, what)?;
            buffer.require(usage, what)?;
            check_multiple(buffer.device_address(), size, what)
        })?;
        if operations.is_empty() {
            return self.barrier(waits, signals);
        }
        let allowed = Queue::new(self.device().clone(), self.affinity().intersection(channel.raw.affinity()));
        let operation = OperationRef::Collective { channel: &channel.raw, operations: &operations };
        allowed.submit(waits, signals, operation)
    }
}

impl Recorder {
    /// Carries out a group of collective operations, as [`Queue::collective`] does. Its ranges may be slots. The groups of a
    /// command buffer start in recorded order, also without a barrier between them. A group without elements records
    /// nothing.
    ///
    /// Each submission of the command buffer submits its groups, and all ranks submit the groups of a channel in the same
    /// order. [`Queue::execute`] runs the command buffer on queues that the channels of all its groups have. So a command
    /// buffer has groups of one rank of a channel, and two ranks of one device have command buffers of their own.
    ///
    /// The errors are those of [`Queue::collective`]; where HIP's devices do not know a reduction,
    /// [`finish`](Self::finish) says so. A group that fails fails the submission. Commands behind the group may have run
    /// then, on undefined contents of its targets.
    pub fn collective(&mut self, channel: &Channel, operations: &[Collective<BufferRef>]) -> Result<()> {
        self.record_group(&channel.raw, operations)
    }
}
