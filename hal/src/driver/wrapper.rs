// SPDX-License-Identifier: MIT OR Apache-2.0
//! Devices over devices.

use std::sync::Arc;

use crate::{
    driver::{
        Buffer, CommandBuffer, Device, Executable, accounts::Statistics, allocator::SlabSource,
        command_list::CommandList, operation::Operation,
    },
    order::{deadline::Deadline, edge::Domain, point::Point},
    words::{
        buffer_params::BufferParams,
        error::Result,
        external::{External, Release},
        info::DeviceInfo,
        limits::Limits,
        queue_affinity::QueueAffinity,
    },
};

/// Declares the trait and makes each of its implementors a device: one list, so that neither half lacks a method.
/// What is vouched for is `unsafe`: its caller's promise is passed on with it.
macro_rules! wrapper {
    (
        passed_on { $($(#[$about:meta])* fn $name:ident(&self $(, $argument:ident: $type:ty)*) $(-> $result:ty)?;)* }
        vouched_for { $($(#[$danger:meta])* fn $call:ident(&self $(, $given:ident: $of:ty)*) -> $made:ty;)* }
    ) => {
        /// A device over another: a tracer, a recorder, a scheduler. What it does not override goes straight through, so
        /// one that watches work has two methods, [`inner`](Self::inner) and `submit`. Each method is what its namesake
        /// of [`Device`] says.
        pub trait Wrapper: Send + Sync + 'static {
            /// The device below.
            fn inner(&self) -> &dyn Device;

            $($(#[$about])* fn $name(&self $(, $argument: $type)*) $(-> $result)? {
                self.inner().$name($($argument),*)
            })*

            $($(#[$danger])*
            ///
            /// # Safety
            /// As its namesake of [`Device`].
            #[allow(unsafe_code)]
            unsafe fn $call(&self $(, $given: $of)*) -> $made {
                // SAFETY: the caller's promise, passed on.
                unsafe { self.inner().$call($($given),*) }
            })*
        }

        impl<W: Wrapper> Device for W {
            $(fn $name(&self $(, $argument: $type)*) $(-> $result)? {
                Wrapper::$name(self $(, $argument)*)
            })*

            $(#[allow(unsafe_code)]
            unsafe fn $call(&self $(, $given: $of)*) -> $made {
                // SAFETY: the caller's promise, passed on.
                unsafe { Wrapper::$call(self $(, $given)*) }
            })*
        }
    };
}

wrapper! {
    passed_on {
        /// What the device is.
        fn info(&self) -> &DeviceInfo;
        /// What its queues and memory can take.
        fn limits(&self) -> &Limits;
        /// The identity that buffers and executables carry: as long as they pass through, that of the device below.
        fn domain(&self) -> Domain;
        /// Allocates memory that is usable at once.
        fn allocate(&self, params: &BufferParams, size: u64) -> Result<Arc<dyn Buffer>>;
        /// Reserves memory for an alloca.
        fn reserve(&self, affinity: QueueAffinity, params: &BufferParams, size: u64) -> Result<Arc<dyn Buffer>>;
        /// The device's memory.
        fn memory(&self) -> Arc<dyn SlabSource>;
        /// Retires what has finished.
        fn poll(&self);
        /// Waits until everything that was issued has retired.
        fn drain(&self, deadline: Deadline) -> Result<()>;
        /// Fails what was not issued.
        fn close(&self);
        /// Gives unused memory back to the system.
        fn trim(&self);
        /// What the memory is used for.
        fn statistics(&self) -> Statistics;
    }
    vouched_for {
        /// Makes memory that somebody else allocated a buffer.
        fn import(&self, params: &BufferParams, memory: External, release: Release) -> Result<Arc<dyn Buffer>>;
        /// Loads device code.
        fn load_executable(&self, code: &[u8]) -> Result<Arc<dyn Executable>>;
        /// Loads several pieces of device code as one executable.
        fn load_linked(&self, parts: &[&[u8]]) -> Result<Arc<dyn Executable>>;
        /// Prepares a recorded list.
        fn prepare(&self, list: CommandList) -> Result<Arc<dyn CommandBuffer>>;
        /// Enqueues an operation.
        fn submit(
            &self,
            affinity: QueueAffinity,
            waits: &[Point],
            signals: &[Point],
            operation: Operation
        ) -> Result<()>;
    }
}
