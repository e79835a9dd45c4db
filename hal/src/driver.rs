// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a driver implements.
//!
//! The front structs validate; a driver obeys. Whatever reaches a method here is canonical: ranges in bounds,
//! usage allowed, objects of the driver's own device. All traits are object-safe, no method hides behind a
//! feature, and an operation has one way in, [`Device::submit`], so that a [`Wrapper`] (a tracer, a recorder, a
//! scheduler of its own) needs one method.
//!
//! Because drivers believe, whoever hands them work without the front vouches for it: [`Device::submit`] and
//! [`Device::prepare`] are `unsafe`.
//!
//! No method may wait for other work, but for [`Device::drain`]. None is called with a lock of this crate held.

use std::{any::Any, fmt, ptr::NonNull, sync::Arc};

pub use crate::wrapper::Wrapper;

use crate::{
    allocator::Statistics,
    buffer::BufferParams,
    command_list::CommandList,
    edge::Domain,
    error::{Error, Result},
    executable::{FunctionInfo, GlobalInfo},
    import::{External, Release},
    info::{DeviceInfo, Limits},
    operation::{Operation, QueueAffinity},
    pool::SlabSource,
    semaphore::Point,
    symbol::SymbolInfo,
    uri::Uri,
    wait::Deadline,
};

/// A way to devices: one URI scheme.
pub trait Driver: Send + Sync {
    /// The scheme of this driver's URIs, such as `hip`.
    fn scheme(&self) -> &str;

    /// What the driver is, in a few words.
    fn description(&self) -> String;

    /// The devices that can be opened now. `UNAVAILABLE` with the reason where the driver's library or hardware
    /// is missing; an empty list where it is there and has no device.
    fn enumerate(&self) -> Result<Vec<DeviceInfo>>;

    /// Opens the device that a URI of this scheme names. Unknown parameters are `INVALID_ARGUMENT`.
    fn open(&self, uri: &Uri) -> Result<Arc<dyn Device>>;
}

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

/// A pointer that the host may use. See [`Buffer::host_pointer`].
#[derive(Clone, Copy, Debug)]
pub struct HostPointer(NonNull<u8>);

#[allow(unsafe_code)]
impl HostPointer {
    /// Vouches for a pointer.
    ///
    /// # Safety
    /// It must be valid for reads and writes of [`Buffer::size`] bytes while the buffer lives, and nobody may hold
    /// a Rust reference to these bytes.
    pub unsafe fn new(pointer: NonNull<u8>) -> Self {
        Self(pointer)
    }

    pub(crate) fn as_non_null(self) -> NonNull<u8> {
        self.0
    }
}

/// An allocation.
///
/// # Safety
/// Fronts and drivers believe what this says: [`size`](Self::size), [`device_address`](Self::device_address) and
/// [`host_pointer`](Self::host_pointer) must be those of one allocation that lives as long as the object, and must never
/// change. A wrapper that forwards them must keep what it wraps.
#[allow(unsafe_code)]
pub unsafe trait Buffer: Any + Send + Sync {
    /// The device it belongs to.
    fn domain(&self) -> Domain;

    /// Bytes.
    fn size(&self) -> u64;

    /// The address that device code sees; it never changes.
    fn device_address(&self) -> u64;

    /// Where the host sees it, if it does.
    fn host_pointer(&self) -> Option<HostPointer>;

    /// For the driver, to find its own type again.
    fn as_any(&self) -> &dyn Any;
}

/// Loaded device code.
pub trait Executable: Any + Send + Sync {
    /// The device it belongs to.
    fn domain(&self) -> Domain;

    /// What it offers, in the order of its own numbering.
    fn functions(&self) -> &[FunctionInfo];

    /// The global variables that can be looked up.
    fn globals(&self) -> &[GlobalInfo] {
        &[]
    }

    /// The memory of one of [`globals`](Self::globals), by number, as kernels on the queues of `affinity` see it. The
    /// buffer keeps the executable loaded. `FAILED_PRECONDITION` where these queues do not share one copy.
    fn global(self: Arc<Self>, index: u32, affinity: QueueAffinity) -> Result<Arc<dyn Buffer>> {
        let _ = (index, affinity);
        Err(Error::unimplemented("looking up a global variable: the driver offers none"))
    }

    /// Its kernels, functions and variables, as the queues of `affinity` see them. `FAILED_PRECONDITION` where these do not
    /// share one copy. A driver that cannot tell declares it, [`Feature::Symbols`](crate::Feature::Symbols).
    fn symbols(&self, _affinity: QueueAffinity) -> Result<Vec<SymbolInfo>> {
        Err(Error::unimplemented("symbols: the driver does not know what the code names"))
    }

    /// For the driver, to find its own type again.
    fn as_any(&self) -> &dyn Any;
}

/// A prepared command list.
pub trait CommandBuffer: Any + Send + Sync {
    /// The device it belongs to.
    fn domain(&self) -> Domain;

    /// What was recorded.
    fn list(&self) -> &CommandList;

    /// For the driver, to find its own type again.
    fn as_any(&self) -> &dyn Any;
}

impl fmt::Debug for dyn Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.info())
    }
}
