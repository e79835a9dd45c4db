// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device. The traits of `windlass_hal::driver` state the contract of each method.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use windlass_hal::{
    Accounts, BufferParams, ChannelId, ChannelParams, CommandList, Deadline, DeviceFacts, DeviceInfo, Error,
    ExportFlags, External, ExternalStream, ExternalTimepoint, Limits, MemoryType, OperationRef, Point,
    QueueAffinity, Release, Result, Statistics, Topology, driver,
    edge::Domain,
    file,
    pool::{PoolParams, Reach, SlabSource, Slabs},
};

use crate::{
    api::{self, Handle, api, c_string, check},
    bindings::*,
    buffer::Allocation,
    channel::Channel,
    command_buffer::CommandBuffer,
    executable::Executable,
    external_timepoint::{self, Timepoint},
    growable::Grown,
    info,
    memory::Memory,
    submission::{Submissions, Submitted},
    topology,
};

/// A device of the library.
#[derive(Clone)]
pub(crate) struct Device {
    info: DeviceInfo,
    limits: Limits,
    domain: Domain,
    handle: Arc<Handle<windlass_device_t>>,
    accounts: Arc<Accounts>,
    /// The default pools: one for the device's own memory, one for memory that the host may map.
    device: Arc<Slabs>,
    host: Arc<Slabs>,
    submissions: Arc<Submissions>,
    has_channels: Arc<AtomicBool>,
}

impl Device {
    pub(crate) fn open_inner(uri: &str) -> Result<Handle<windlass_device_t>> {
        let uri = c_string(uri)?;
        // SAFETY: a string and a local.
        Handle::from(api::device, |device| unsafe { api().windlass_device_open(uri.as_ptr(), device) })
    }

    pub(crate) fn open(uri: String, over: &str) -> Result<Self> {
        let handle = Arc::new(Self::open_inner(over)?);
        let mut info = info::of(&handle)?;
        info.uri = uri;
        let limits = info::limits(&handle)?;
        let domain = Domain::unique();
        let pool = |kind| {
            let params = PoolParams::passthrough().with_memory(kind);
            Slabs::new(params, limits.allocation_alignment).map(Arc::new)
        };
        Ok(Self {
            info,
            domain,
            accounts: Arc::default(),
            device: pool(BufferParams::device())?,
            host: pool(BufferParams::host())?,
            submissions: Submissions::new(domain, handle.clone()),
            handle,
            limits,
            has_channels: Arc::default(),
        })
    }
}

impl Device {
    fn slabs(&self) -> Memory {
        Memory { domain: self.domain, device: self.handle.clone(), accounts: self.accounts.clone() }
    }
}

// SAFETY: the domain and the limits are set when the device is opened, and never change. All objects of the device carry
// this domain. A buffer owns its memory. An operation keeps its objects until the library has done it, and settles its
// signals after that.
unsafe impl driver::RawDevice for Device {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn domain(&self) -> Domain {
        self.domain
    }

    fn topology(&self) -> Topology {
        topology::of(&self.handle).unwrap_or_default()
    }

    fn facts(&self, physical_device: u32) -> Result<DeviceFacts> {
        topology::facts(&self.handle, physical_device)
    }

    fn reserve_growable(&self, params: &BufferParams, capacity: u64) -> Result<Arc<dyn driver::RawGrowable>> {
        let accounts = self.accounts.clone();
        Ok(Arc::new(Grown::reserve(self.domain, &self.handle, accounts, params, capacity)?))
    }

    fn allocate(&self, params: &BufferParams, size: u64) -> Result<Arc<dyn driver::RawBuffer>> {
        let host = params.memory_type.contains(MemoryType::HOST_VISIBLE);
        let slabs = if host { &self.host } else { &self.device };
        Ok(slabs.acquire(&self.memory(), size, params.min_alignment, Reach::Now)?.memory()?)
    }

    fn reserve(
        &self,
        _affinity: QueueAffinity,
        params: &BufferParams,
        size: u64,
    ) -> Result<Arc<dyn driver::RawBuffer>> {
        self.allocate(params, size)
    }

    fn memory(&self) -> Arc<dyn SlabSource> {
        Arc::new(self.slabs())
    }

    unsafe fn import(
        &self,
        params: &BufferParams,
        memory: External,
        release: Release,
    ) -> Result<Arc<dyn driver::RawBuffer>> {
        Ok(Arc::new(Allocation::import(self.domain, &self.handle, params, memory, release)?))
    }

    fn channel_id(&self) -> Result<ChannelId> {
        Channel::name(&self.handle)
    }

    fn create_channel(&self, params: &ChannelParams) -> Result<Arc<dyn driver::RawChannel>> {
        self.has_channels.store(true, Ordering::SeqCst);
        Ok(Arc::new(Channel::create(self.domain, &self.handle, params)?))
    }

    unsafe fn load_executable(&self, code: &[u8]) -> Result<Arc<dyn driver::RawExecutable>> {
        Ok(Arc::new(Executable::load(self.domain, &self.handle, &[code])?))
    }

    unsafe fn load_linked(&self, parts: &[&[u8]]) -> Result<Arc<dyn driver::RawExecutable>> {
        Ok(Arc::new(Executable::load(self.domain, &self.handle, parts)?))
    }

    unsafe fn prepare(&self, list: CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>> {
        Ok(Arc::new(CommandBuffer::new(self.domain, &self.handle, list)?))
    }

    unsafe fn import_timepoint(
        &self,
        affinity: QueueAffinity,
        timepoint: ExternalTimepoint,
    ) -> Result<Arc<dyn driver::RawTimepoint>> {
        Ok(Arc::new(Timepoint::import(self.domain, &self.handle, affinity, timepoint)?))
    }

    unsafe fn export_timepoint(
        &self,
        affinity: QueueAffinity,
        waits: &[Point],
        stream: ExternalStream,
        flags: ExportFlags,
    ) -> Result<()> {
        external_timepoint::export(&self.submissions, &self.handle, affinity, waits, stream, flags)
    }

    unsafe fn submit(
        &self,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        operation: OperationRef<'_>,
    ) -> Result<()> {
        match operation {
            OperationRef::Read { file, file_offset, target } => {
                let (device, points) = (Arc::new(self.clone()), (waits, signals));
                // SAFETY: the front's operation, passed on unchanged.
                unsafe { file::read_through_host(device, affinity, points, file, file_offset, target) }
            }
            OperationRef::Write { source, file, file_offset } => {
                let (device, points) = (Arc::new(self.clone()), (waits, signals));
                // SAFETY: the front's operation, passed on unchanged.
                unsafe { file::write_through_host(device, affinity, points, source, file, file_offset) }
            }
            operation => {
                let work = Submitted { affinity, operation: operation.into_owned() };
                self.submissions.pending().submit(&self.submissions, waits, signals, work.into())
            }
        }
    }

    fn poll(&self) {
        // SAFETY: a handle.
        let _ = check(unsafe { api().windlass_device_poll(self.handle.get()) });
    }

    fn drain(&self, deadline: Deadline) -> Result<()> {
        self.submissions.drain(deadline)
    }

    fn close(&self) {
        let error = Error::cancelled(format!("{} was closed", self.info.uri));
        self.submissions.pending().close(&self.submissions, error);
        if self.has_channels.load(Ordering::SeqCst) {
            // Groups that wait for other ranks are pending in the library.
            // SAFETY: a handle.
            let _ = check(unsafe { api().windlass_device_close(self.handle.get()) });
        }
    }

    fn trim(&self) {
        self.device.trim(&self.slabs());
        self.host.trim(&self.slabs());
        // SAFETY: a handle.
        let _ = check(unsafe { api().windlass_device_trim(self.handle.get()) });
    }

    fn statistics(&self) -> Statistics {
        self.accounts.statistics()
    }
}
