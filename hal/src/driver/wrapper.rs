// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wrappers: devices over devices.

use std::sync::Arc;

use crate::{
    driver::{
        RawBuffer, RawChannel, RawCommandBuffer, RawDevice, RawExecutable, RawTimepoint,
        accounts::Statistics, allocator::SlabSource, command_list::CommandList, growable::RawGrowable,
        operation::OperationRef,
    },
    order::{deadline::Deadline, edge::Domain, point::Point},
    words::{
        buffer_params::BufferParams,
        collective::{ChannelId, ChannelParams},
        error::Result,
        external::{External, Release},
        external_timepoint::{ExportFlags, ExternalStream, ExternalTimepoint},
        facts::DeviceFacts,
        info::DeviceInfo,
        limits::Limits,
        profile::ProfileOptions,
        queue_affinity::QueueAffinity,
        topology::{Topology, TopologyEdge, TopologyNode},
    },
};

/// Declares the trait and implements [`RawDevice`] for its implementors from one list, so that neither half can lack a
/// method. The methods under `vouched_for` are `unsafe`.
macro_rules! wrapper {
    (
        passed_on { $($(#[$about:meta])* fn $name:ident(&self $(, $argument:ident: $type:ty)*) $(-> $result:ty)?;)* }
        vouched_for { $($(#[$danger:meta])* fn $call:ident(&self $(, $given:ident: $of:ty)*) -> $made:ty;)* }
    ) => {
        /// A device over another device: a tracer, a recorder, a scheduler. Methods that it does not override forward
        /// to the inner device. So a wrapper that watches work has two methods, [`inner`](Self::inner) and `submit`.
        /// The contract of each method is that of the same method of [`RawDevice`].
        ///
        /// # Safety
        /// As for [`RawDevice`]. A wrapper that overrides only `submit`, and passes each operation on unchanged,
        /// fulfils it. A wrapper that returns objects of its own vouches for them.
        #[allow(unsafe_code)]
        pub unsafe trait Wrapper: Send + Sync + 'static {
            /// The inner device.
            fn inner(&self) -> &dyn RawDevice;

            $($(#[$about])* fn $name(&self $(, $argument: $type)*) $(-> $result)? {
                self.inner().$name($($argument),*)
            })*

            $($(#[$danger])*
            ///
            /// # Safety
            /// As for the same method of [`RawDevice`].
            #[allow(unsafe_code)]
            unsafe fn $call(&self $(, $given: $of)*) -> $made {
                // SAFETY: the caller vouches as for the inner call.
                unsafe { self.inner().$call($($given),*) }
            })*
        }

        // SAFETY: the implementor of `Wrapper` vouches for the same contract.
        #[allow(unsafe_code)]
        unsafe impl<W: Wrapper> RawDevice for W {
            $(fn $name(&self $(, $argument: $type)*) $(-> $result)? {
                Wrapper::$name(self $(, $argument)*)
            })*

            $(#[allow(unsafe_code)]
            unsafe fn $call(&self $(, $given: $of)*) -> $made {
                // SAFETY: the caller vouches as for the inner call.
                unsafe { Wrapper::$call(self $(, $given)*) }
            })*
        }
    };
}

wrapper! {
    passed_on {
        /// Describes the device.
        fn info(&self) -> &DeviceInfo;
        /// The limits of its queues and its memory.
        fn limits(&self) -> &Limits;
        /// The identity that buffers and executables carry. It is that of the inner device as long as objects pass
        /// through.
        fn domain(&self) -> Domain;
        /// The device's processors, and the links between them.
        fn topology(&self) -> Topology;
        /// The link from one of the device's processors to a node of another device.
        fn edge_to(&self, physical_device: u32, node: &TopologyNode) -> Option<TopologyEdge>;
        /// The facts of one of the device's processors.
        fn facts(&self, physical_device: u32) -> Result<DeviceFacts>;
        /// Reserves addresses for memory that grows.
        fn reserve_growable(&self, params: &BufferParams, capacity: u64) -> Result<Arc<dyn RawGrowable>>;
        /// Allocates memory that is usable at once.
        fn allocate(&self, params: &BufferParams, size: u64) -> Result<Arc<dyn RawBuffer>>;
        /// Reserves memory for an alloca.
        fn reserve(&self, affinity: QueueAffinity, params: &BufferParams, size: u64) -> Result<Arc<dyn RawBuffer>>;
        /// Whether recorded dispatches keep the ranges of their arguments.
        fn wants_argument_ranges(&self) -> bool;
        /// The memory of the device.
        fn memory(&self) -> Arc<dyn SlabSource>;
        /// A new name for a channel.
        fn channel_id(&self) -> Result<ChannelId>;
        /// Makes the device a rank of a channel.
        fn create_channel(&self, params: &ChannelParams) -> Result<Arc<dyn RawChannel>>;
        /// Retires finished work.
        fn poll(&self);
        /// Waits until all issued work has retired.
        fn drain(&self, deadline: Deadline) -> Result<()>;
        /// Fails operations that were not issued.
        fn close(&self);
        /// Returns unused memory to the system.
        fn trim(&self);
        /// The present use of memory.
        fn statistics(&self) -> Statistics;
        /// Prepares times of the device for a profile.
        fn profiling_begin(&self, options: &ProfileOptions) -> Result<()>;
        /// Ends these preparations.
        fn profiling_end(&self);
    }
    vouched_for {
        /// Makes a buffer of foreign memory.
        fn import(&self, params: &BufferParams, memory: External, release: Release) -> Result<Arc<dyn RawBuffer>>;
        /// Loads device code.
        fn load_executable(&self, code: &[u8]) -> Result<Arc<dyn RawExecutable>>;
        /// Loads several pieces of device code as one executable.
        fn load_linked(&self, parts: &[&[u8]]) -> Result<Arc<dyn RawExecutable>>;
        /// Prepares a recorded list.
        fn prepare(&self, list: CommandList) -> Result<Arc<dyn RawCommandBuffer>>;
        /// Notes a place in the order of another library's work.
        fn import_timepoint(
            &self,
            affinity: QueueAffinity,
            timepoint: ExternalTimepoint
        ) -> Result<Arc<dyn RawTimepoint>>;
        /// Lets later work of another library's stream wait for points.
        fn export_timepoint(
            &self,
            affinity: QueueAffinity,
            waits: &[Point],
            stream: ExternalStream,
            flags: ExportFlags
        ) -> Result<()>;
        /// Enqueues an operation.
        fn submit(
            &self,
            affinity: QueueAffinity,
            waits: &[Point],
            signals: &[Point],
            operation: OperationRef<'_>
        ) -> Result<()>;
    }
}
