// SPDX-License-Identifier: MIT OR Apache-2.0
//! An opened device: where a driver is handed all its work.

use std::{fmt, sync::Arc};

use crate::{
    driver::{
        Buffer, CommandBuffer, Executable, accounts::Statistics, allocator::SlabSource,
        command_list::CommandList, operation::Operation,
    },
    order::{deadline::Deadline, edge::Domain, point::Point},
    words::{
        buffer_params::BufferParams,
        error::{Error, Result},
        external::{External, Release},
        info::DeviceInfo,
        limits::Limits,
        queue_affinity::QueueAffinity,
    },
};

/// An opened device.
pub trait Device: Send + Sync + 'static {
    /// What the device is.
    fn info(&self) -> &DeviceInfo;

    /// What its queues and memory can take.
    fn limits(&self) -> &Limits;

    /// The identity of this opened device. Its buffers and executables carry the same.
    fn domain(&self) -> Domain;

    /// Allocates memory that is usable at once. `RESOURCE_EXHAUSTED` names the size and what is free.
    fn allocate(&self, params: &BufferParams, size: u64) -> Result<Arc<dyn Buffer>>;

    /// Reserves memory for an [`Operation::Alloca`]: the address is valid at once, the contents belong to the
    /// buffer once that operation has completed.
    fn reserve(&self, affinity: QueueAffinity, params: &BufferParams, size: u64) -> Result<Arc<dyn Buffer>>;

    /// The device's memory, for pools to place buffers in. The object need not keep the device open.
    fn memory(&self) -> Arc<dyn SlabSource>;

    /// Makes memory that somebody else allocated a buffer: never empty, aligned as `params` ask. The buffer keeps
    /// `release`, and runs it as [`Release`] says. A driver that cannot declares it,
    /// [`Feature::ImportHost`](crate::Feature::ImportHost) and [`Feature::ImportDevice`](crate::Feature::ImportDevice).
    ///
    /// # Safety
    /// The memory is there until `release` is run. The caller vouches for it, as
    /// [`import_host_pointer`](crate::Device::import_host_pointer) and
    /// [`import_device_address`](crate::Device::import_device_address) say.
    #[allow(unsafe_code)]
    unsafe fn import(
        &self,
        _params: &BufferParams,
        memory: External,
        _release: Release,
    ) -> Result<Arc<dyn Buffer>> {
        Err(Error::unimplemented(format!("importing {memory:?}: the driver imports nothing")))
    }

    /// Loads device code. The front asks once for the same bytes, as long as a handle of the result lives.
    ///
    /// # Safety
    /// The code can write anywhere that the device can. The caller vouches for it, as
    /// [`crate::Device::load_executable`] says.
    #[allow(unsafe_code)]
    unsafe fn load_executable(&self, code: &[u8]) -> Result<Arc<dyn Executable>>;

    /// Loads several pieces of device code as one executable: two at least. The front asks once for the same pieces in the
    /// same order, as long as a handle of the result lives. A driver that cannot declares it,
    /// [`Feature::Linking`](crate::Feature::Linking).
    ///
    /// # Safety
    /// As [`load_executable`](Self::load_executable), for all pieces together.
    #[allow(unsafe_code)]
    unsafe fn load_linked(&self, _parts: &[&[u8]]) -> Result<Arc<dyn Executable>> {
        Err(Error::unimplemented("linking: the driver loads one piece of code at a time"))
    }

    /// Prepares a recorded list for submission, any number of times and from any thread. Its order is what
    /// [`CommandList::predecessors`] says. A dispatch with an indirect count reads it as
    /// [`IndirectParameters`](crate::IndirectParameters) says, in every submission anew; where that takes the host, the
    /// submission's signals wait for all of it, and nobody may be ordered behind a part.
    ///
    /// # Safety
    /// The list is canonical: recorded by a [`Recorder`](crate::Recorder) of this device, or edited within the ranges,
    /// slots and objects that one vouched for.
    #[allow(unsafe_code)]
    unsafe fn prepare(&self, list: CommandList) -> Result<Arc<dyn CommandBuffer>>;

    /// Enqueues an operation: it starts once every wait is reached, and completing it reaches every signal.
    ///
    /// An error means that nothing was accepted and the signals are untouched. Whatever fails after acceptance
    /// fails the signal list instead, once the work can no longer touch memory. An operation of a kind that the
    /// driver does not know is `UNIMPLEMENTED` by [`Operation::name`].
    ///
    /// # Safety
    /// The operation is canonical, as the front makes it: its objects are of this device, its ranges in bounds, its
    /// bindings as long as the command buffer's slots need, its arguments in the kernel's layout. Drivers do not check
    /// again, so anything else may touch any memory.
    #[allow(unsafe_code)]
    unsafe fn submit(
        &self,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        operation: Operation,
    ) -> Result<()>;

    /// Retires what has finished, if nobody else is doing so.
    fn poll(&self);

    /// Waits until everything that was issued has retired. `DEADLINE_EXCEEDED` otherwise.
    fn drain(&self, deadline: Deadline) -> Result<()>;

    /// Fails what was not issued with `CANCELLED`, and refuses new work. Does not wait. What was issued goes on
    /// and keeps what it needs alive.
    fn close(&self);

    /// Gives memory that nobody uses back to the system.
    fn trim(&self);

    /// What the device's memory is used for.
    fn statistics(&self) -> Statistics;
}

impl fmt::Debug for dyn Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.info())
    }
}
