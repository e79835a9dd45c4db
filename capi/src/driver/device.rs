// SPDX-License-Identifier: MIT OR Apache-2.0
//! A device of a driver of the program, as the HAL sees it.

use std::{any::Any, sync::Arc};

use facade::{
    BufferParams, Command, CommandList, Deadline, DeviceInfo, Error, External, Feature, Lack, Limits,
    MemoryType, OperationRef, Point, QueueAffinity, Release, Result, Statistics, Uri,
    driver::{self, RawBuffer, RawCommandBuffer, RawExecutable},
    edge::Domain,
    file,
    pending::Issue,
    pool::{PoolParams, Reach, SlabSource, Slabs},
};

use super::{
    executable::Executable,
    issue::Submitted,
    link::{Functions, Link},
    memory::{Allocation, Freeing, Memory},
    table::windlass_driver_t,
    work::Work,
};

/// The driver of a scheme.
impl driver::Driver for Functions {
    fn scheme(&self) -> &str {
        &self.scheme
    }

    fn description(&self) -> String {
        self.description.clone()
    }

    fn enumerate(&self) -> Result<Vec<DeviceInfo>> {
        let devices = self.devices()?.devices;
        Ok(devices.into_iter().map(|info| with_lacks(info, &self.table)).collect())
    }

    fn open(&self, uri: &Uri) -> Result<Arc<dyn driver::RawDevice>> {
        let (link, mut answer) = self.open_device(uri)?;
        let info = answer
            .devices
            .pop()
            .ok_or_else(|| self.mistake("`open` succeeded and has not called windlass_answer_device"))?;
        let mut info = with_lacks(info, &self.table);
        info.uri = uri.to_string();
        Ok(Arc::new(Device::new(info, answer.limits(), Arc::new(link))?))
    }
}

/// Adds the lacks of functions that the driver has not got.
fn with_lacks(mut info: DeviceInfo, table: &windlass_driver_t) -> DeviceInfo {
    let no_code = table.load.is_none();
    let lacks = [
        (Feature::ImportHost, table.import_host.is_none(), "import_host"),
        (Feature::ImportDevice, table.import_device.is_none(), "import_device"),
        (Feature::Dispatch, no_code, "load"),
        (Feature::IndirectDispatch, no_code, "load"),
        (Feature::Globals, no_code || table.global.is_none(), "global"),
        (Feature::Linking, no_code || table.load_linked.is_none(), "load_linked"),
        (Feature::Symbols, no_code || table.symbols.is_none(), "symbols"),
    ];
    let mut add = |feature: Feature, reason: String| {
        if !info.lacks.iter().any(|lack| lack.feature == feature) {
            info.lacks.push(Lack::new(feature, reason));
        }
    };
    for (feature, lacking, function) in lacks {
        if lacking {
            add(feature, format!("the driver has no `{function}`"));
        }
    }
    for feature in Feature::ALL.into_iter().filter(|feature| !has_functions(*feature)) {
        add(feature, "the table of a driver in C has no function for it".to_owned());
    }
    info
}

/// Whether a table can have a feature, or the library has it for each driver.
fn has_functions(feature: Feature) -> bool {
    matches!(
        feature,
        Feature::Alloca
            | Feature::CommandBuffers
            | Feature::Dispatch
            | Feature::Files
            | Feature::Globals
            | Feature::HostCalls
            | Feature::ImportDevice
            | Feature::ImportHost
            | Feature::IndirectDispatch
            | Feature::Linking
            | Feature::Symbols
    )
}

/// Whether the library or a table can have an operation done.
fn is_known(operation: &OperationRef<'_>) -> bool {
    matches!(
        operation,
        OperationRef::Barrier
            | OperationRef::Alloca { .. }
            | OperationRef::Dealloca { .. }
            | OperationRef::Fill { .. }
            | OperationRef::Update { .. }
            | OperationRef::Copy { .. }
            | OperationRef::HostCall(_)
            | OperationRef::Dispatch(_)
            | OperationRef::Execute { .. }
    )
}

/// An opened device.
#[derive(Clone)]
struct Device {
    info: DeviceInfo,
    limits: Limits,
    memory: Memory,
    /// The default pools: one for the device's own memory, one for memory that the host may map.
    device: Arc<Slabs>,
    host: Arc<Slabs>,
    work: Arc<Work>,
}

impl Device {
    fn new(info: DeviceInfo, limits: Limits, link: Arc<Link>) -> Result<Self> {
        let alignment = limits.allocation_alignment;
        let pool = |kind| {
            let params = PoolParams::passthrough().with_memory(kind);
            Slabs::new(params, alignment).map(Arc::new)
        };
        let domain = Domain::unique();
        Ok(Self {
            info,
            memory: Memory { domain, link: link.clone(), accounts: Arc::default(), alignment },
            device: pool(BufferParams::device())?,
            host: pool(BufferParams::host())?,
            work: Work::new(link, limits.clone()),
            limits,
        })
    }
}

// SAFETY: the domain and the limits are set when the device is opened, and never change. All objects of the device carry
// this domain. A buffer owns its memory. An operation keeps its objects until the driver completes it, and settles its
// signals after that. The author of the driver vouches for the rest, by the header's contract.
unsafe impl driver::RawDevice for Device {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn domain(&self) -> Domain {
        self.memory.domain
    }

    fn allocate(&self, params: &BufferParams, size: u64) -> Result<Arc<dyn RawBuffer>> {
        let host = params.memory_type.contains(MemoryType::HOST_VISIBLE);
        let slabs = if host { &self.host } else { &self.device };
        Ok(slabs.acquire(&self.memory(), size, params.min_alignment, Reach::Now)?.memory()?)
    }

    fn reserve(
        &self,
        _affinity: QueueAffinity,
        params: &BufferParams,
        size: u64,
    ) -> Result<Arc<dyn RawBuffer>> {
        self.allocate(params, size)
    }

    fn memory(&self) -> Arc<dyn SlabSource> {
        Arc::new(self.memory.clone())
    }

    unsafe fn import(
        &self,
        params: &BufferParams,
        memory: External,
        release: Release,
    ) -> Result<Arc<dyn RawBuffer>> {
        let given = self.memory.link.import(params, memory)?;
        Ok(Arc::new(Allocation::new(&self.memory, given, memory.size(), Freeing::Import(Some(release)))))
    }

    unsafe fn load_executable(&self, code: &[u8]) -> Result<Arc<dyn RawExecutable>> {
        Ok(Arc::new(Executable::load(self.memory.clone(), &[code])?))
    }

    unsafe fn load_linked(&self, parts: &[&[u8]]) -> Result<Arc<dyn RawExecutable>> {
        Ok(Arc::new(Executable::load(self.memory.clone(), parts)?))
    }

    unsafe fn prepare(&self, list: CommandList) -> Result<Arc<dyn RawCommandBuffer>> {
        match list.commands().find(|command| !is_known_command(command)) {
            None => Ok(Arc::new(CommandBuffer { domain: self.memory.domain, list })),
            Some(command) => Err(Error::unimplemented(format!("{} runs no {command:?}", self.info.name))),
        }
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
            operation if !is_known(&operation) => {
                Err(Error::unimplemented(format!("{} has no {}", self.info.name, operation.name())))
            }
            operation => {
                let work = Submitted { affinity, operation: operation.into_owned() };
                self.work.pending().submit(&self.work, waits, signals, work.into())
            }
        }
    }

    /// The driver completes its work by itself.
    fn poll(&self) {}

    fn drain(&self, deadline: Deadline) -> Result<()> {
        self.work.drain(deadline)
    }

    fn close(&self) {
        let error = Error::cancelled(format!("{} was closed", self.info.uri));
        self.work.pending().close(&self.work, error);
    }

    fn trim(&self) {
        self.device.trim(&self.memory);
        self.host.trim(&self.memory);
        self.memory.link.trim();
    }

    fn statistics(&self) -> Statistics {
        self.memory.accounts.statistics()
    }
}

/// Whether a table can have a command done.
fn is_known_command(command: &Command<'_>) -> bool {
    matches!(
        command,
        Command::Barrier
            | Command::Fill { .. }
            | Command::Update { .. }
            | Command::Copy { .. }
            | Command::Dispatch(_)
            | Command::SignalEvent { .. }
            | Command::ResetEvent { .. }
            | Command::WaitEvents { .. }
            | Command::BeginDebugGroup(_)
            | Command::EndDebugGroup
    )
}

/// A recorded list, whose commands go to the driver one after the other.
struct CommandBuffer {
    domain: Domain,
    list: CommandList,
}

// SAFETY: `list` is the list that is replayed, and never changes.
unsafe impl RawCommandBuffer for CommandBuffer {
    fn domain(&self) -> Domain {
        self.domain
    }

    fn list(&self) -> &CommandList {
        &self.list
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
