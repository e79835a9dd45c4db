// SPDX-License-Identifier: MIT OR Apache-2.0
//! An opened device of a driver, which takes in all work.

use std::{fmt, sync::Arc};

use crate::{
    driver::{
        RawBuffer, RawChannel, RawCommandBuffer, RawExecutable, RawTimepoint, accounts::Statistics,
        allocator::SlabSource, command_list::CommandList, growable::RawGrowable, operation::OperationRef,
    },
    order::{deadline::Deadline, edge::Domain, point::Point},
    words::{
        buffer_params::BufferParams,
        collective::{ChannelId, ChannelParams},
        error::{Error, Result},
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

/// An opened device.
///
/// # Safety
/// Fronts and drivers rely on [`domain`](Self::domain) and [`limits`](Self::limits), which never change. Two devices
/// have the same domain only if each can execute work with the objects of the other, as a [`Wrapper`](super::Wrapper)
/// and its inner device can. All objects that the methods return carry this domain.
///
/// Safe calls also rely on these duties:
/// - The memory of a buffer stays valid as long as the buffer lives.
/// - An accepted operation keeps its objects, and an import keeps its [`Release`], until the device can no longer touch
///   their memory.
/// - The signals of an operation advance or fail only when its work can no longer touch memory.
#[allow(unsafe_code)]
pub unsafe trait RawDevice: Send + Sync + 'static {
    /// Describes the device.
    fn info(&self) -> &DeviceInfo;

    /// The limits of its queues and its memory.
    fn limits(&self) -> &Limits;

    /// The identity of this opened device. Its buffers and executables carry the same one.
    fn domain(&self) -> Domain;

    /// The device's processors, one node for each of [`Limits::physical_devices`] in their order, and the links between
    /// them.
    fn topology(&self) -> Topology {
        let nodes = (0..self.limits().physical_devices).map(TopologyNode::new).collect();
        Topology::new(nodes, |_, _| TopologyEdge::default().with_peer_access())
    }

    /// The link from one of the device's processors to a node of another device. `None` where this device knows of none:
    /// bytes then move through host memory.
    fn edge_to(&self, _physical_device: u32, _node: &TopologyNode) -> Option<TopologyEdge> {
        None
    }

    /// The facts of one of [`Limits::physical_devices`]. The free memory is that of now.
    fn facts(&self, _physical_device: u32) -> Result<DeviceFacts> {
        Ok(DeviceFacts::default())
    }

    /// Allocates memory that is usable at once. `RESOURCE_EXHAUSTED` names the size and the free bytes.
    fn allocate(&self, params: &BufferParams, size: u64) -> Result<Arc<dyn RawBuffer>>;

    /// Reserves memory for an [`OperationRef::Alloca`]. The address is valid at once. The contents belong to the buffer
    /// when that operation has completed.
    fn reserve(
        &self,
        affinity: QueueAffinity,
        params: &BufferParams,
        size: u64,
    ) -> Result<Arc<dyn RawBuffer>>;

    /// The memory of the device, in which pools place buffers. The returned object need not keep the device open.
    fn memory(&self) -> Arc<dyn SlabSource>;

    /// Makes a buffer of foreign memory. The memory is not empty and is aligned as `params` ask. The buffer keeps
    /// `release` and runs it as [`Release`] says. A driver without this declares the lack of
    /// [`Feature::ImportHost`](crate::Feature::ImportHost) or [`Feature::ImportDevice`](crate::Feature::ImportDevice).
    ///
    /// # Safety
    /// The memory must stay valid until `release` runs. [`import_host_pointer`](crate::Device::import_host_pointer) and
    /// [`import_device_address`](crate::Device::import_device_address) say what the caller vouches for.
    #[allow(unsafe_code)]
    unsafe fn import(
        &self,
        _params: &BufferParams,
        memory: External,
        _release: Release,
    ) -> Result<Arc<dyn RawBuffer>> {
        Err(Error::unimplemented(format!("importing {memory:?}: the driver imports nothing")))
    }

    /// Reserves `capacity` bytes of addresses, rounded up to whole granules, for memory that grows. The front asks only
    /// for memory that the host cannot map. A driver without this declares the lack of
    /// [`Feature::VirtualMemory`](crate::Feature::VirtualMemory).
    fn reserve_growable(&self, _params: &BufferParams, _capacity: u64) -> Result<Arc<dyn RawGrowable>> {
        Err(Error::unimplemented("buffers that grow: the driver reserves no addresses"))
    }

    /// A new name for a channel. A driver without this and [`create_channel`](Self::create_channel) declares the lack of
    /// [`Feature::Collectives`](crate::Feature::Collectives).
    fn channel_id(&self) -> Result<ChannelId> {
        Err(Error::unimplemented("the driver has no channels"))
    }

    /// Makes this device a rank of a channel, without waiting for the other ranks. The rank is below the count.
    fn create_channel(&self, _params: &ChannelParams) -> Result<Arc<dyn RawChannel>> {
        Err(Error::unimplemented("the driver has no channels"))
    }

    /// Loads device code. The front calls this once for the same bytes while a handle of the result lives.
    ///
    /// # Safety
    /// The code can write anywhere that the device can. [`crate::Device::load_executable`] says what the caller vouches
    /// for.
    #[allow(unsafe_code)]
    unsafe fn load_executable(&self, code: &[u8]) -> Result<Arc<dyn RawExecutable>>;

    /// Loads two or more pieces of device code as one executable. The front calls this once for the same pieces in the
    /// same order while a handle of the result lives. A driver without this declares the lack of
    /// [`Feature::Linking`](crate::Feature::Linking).
    ///
    /// # Safety
    /// As for [`load_executable`](Self::load_executable), for all pieces together.
    #[allow(unsafe_code)]
    unsafe fn load_linked(&self, _parts: &[&[u8]]) -> Result<Arc<dyn RawExecutable>> {
        Err(Error::unimplemented("linking: the driver loads one piece of code at a time"))
    }

    /// Whether recorded dispatches keep the ranges that their arguments name. An argument block has addresses and no
    /// lengths, which is enough to run it. A device that must know the bytes that a kernel may use returns `true`, and finds
    /// the ranges in [`DispatchCommand::ranges`](crate::DispatchCommand::ranges). Always the same answer.
    fn wants_argument_ranges(&self) -> bool {
        false
    }

    /// Prepares a recorded list, which may then be submitted any number of times from any thread.
    /// [`CommandList::predecessors`] is the order of the list.
    ///
    /// A dispatch with an indirect count reads the count in each submission anew, when
    /// [`IndirectParameters`](crate::IndirectParameters) says. Where the host must read it, the signals of the
    /// submission still wait for the whole list, and no other work may be ordered behind a part of it.
    ///
    /// # Safety
    /// The list is canonical: a [`Recorder`](crate::Recorder) of this device recorded it, or it was edited within the
    /// ranges, slots and objects of such a recording.
    #[allow(unsafe_code)]
    unsafe fn prepare(&self, list: CommandList) -> Result<Arc<dyn RawCommandBuffer>>;

    /// Notes a place in the order of another library's work, as it is now, for an
    /// [`OperationRef::ImportTimepoint`]. `affinity` names the GPU whose default stream is meant. A driver without this
    /// and [`export_timepoint`](Self::export_timepoint) declares the lack of
    /// [`Feature::ExternalTimepoints`](crate::Feature::ExternalTimepoints).
    ///
    /// # Safety
    /// [`Queue::import_timepoint`](crate::Queue::import_timepoint) says what the caller vouches for.
    #[allow(unsafe_code)]
    unsafe fn import_timepoint(
        &self,
        _affinity: QueueAffinity,
        _timepoint: ExternalTimepoint,
    ) -> Result<Arc<dyn RawTimepoint>> {
        Err(Error::unimplemented("the driver imports no timepoints"))
    }

    /// Lets later work of another library's stream wait for points.
    /// [`Queue::export_timepoint`](crate::Queue::export_timepoint) says which points it must take, and that a failure
    /// must not hold the stream.
    ///
    /// # Safety
    /// As for [`Queue::export_timepoint`](crate::Queue::export_timepoint).
    #[allow(unsafe_code)]
    unsafe fn export_timepoint(
        &self,
        _affinity: QueueAffinity,
        _waits: &[Point],
        _stream: ExternalStream,
        _flags: ExportFlags,
    ) -> Result<()> {
        Err(Error::unimplemented("the driver exports no timepoints"))
    }

    /// Enqueues an operation. It starts when all waits are reached. When it has completed, all signals are reached.
    ///
    /// An error means that the operation was not accepted and the signals are untouched. A failure after acceptance
    /// fails the signal list instead, when the work can no longer touch memory. A kind of operation that the driver
    /// does not know is `UNIMPLEMENTED` with the [`OperationRef::name`].
    ///
    /// The operation and its lists are borrowed. A driver keeps clones of the objects that the work needs.
    ///
    /// # Safety
    /// The operation is canonical, as the front makes it. Its objects belong to this device. Its ranges are in bounds.
    /// Its bindings satisfy the slots of the command buffer. Its arguments are in the layout of the kernel. Drivers do
    /// not check this again, so an operation that breaks it may touch any memory.
    #[allow(unsafe_code)]
    unsafe fn submit(
        &self,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        operation: OperationRef<'_>,
    ) -> Result<()>;

    /// Retires finished work, unless another thread is doing so.
    fn poll(&self);

    /// Waits until all issued work has retired. `DEADLINE_EXCEEDED` when the deadline passes.
    fn drain(&self, deadline: Deadline) -> Result<()>;

    /// Fails operations that were not issued with `CANCELLED`, and refuses new ones. Does not wait. Issued operations
    /// continue and keep the objects alive that they use.
    fn close(&self);

    /// Returns unused memory to the system.
    fn trim(&self);

    /// The present use of memory.
    fn statistics(&self) -> Statistics;

    /// Prepares to tell the [`Witness`](crate::witness::Witness) of each submission when its work ran. The front calls it
    /// once before each [`profiling_end`](Self::profiling_end). It may wait up to a second for an idle moment of the device.
    /// A driver needs it only to compare the clock of a device with that of the host. An error means that there are no
    /// times of the device; the profile goes on.
    fn profiling_begin(&self, _options: &ProfileOptions) -> Result<()> {
        Ok(())
    }

    /// Ends what [`profiling_begin`](Self::profiling_begin) prepared.
    fn profiling_end(&self) {}
}

impl fmt::Debug for dyn RawDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.info())
    }
}
