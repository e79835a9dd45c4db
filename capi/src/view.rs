// SPDX-License-Identifier: MIT OR Apache-2.0
//! The description of an operation or of a command for C, with the objects that it leads to.

use std::{
    ffi::{CStr, CString},
    ptr,
    sync::Arc,
};

use facade::{
    Buffer, Command, CommandList, DispatchCommand, Error, Operation, PatchedBlock, Point, Points,
    QueueAffinity, RecordedRange, Result, WorkgroupCountRef, driver, host_memory,
};

use crate::{
    backing::{Backing, Code},
    memory::{c_string, list_pointer},
    operation_info::{
        WINDLASS_OPERATION_ALLOCA, WINDLASS_OPERATION_BARRIER, WINDLASS_OPERATION_COLLECTIVE,
        WINDLASS_OPERATION_COPY, WINDLASS_OPERATION_DEALLOCA, WINDLASS_OPERATION_DEBUG_GROUP,
        WINDLASS_OPERATION_DISPATCH, WINDLASS_OPERATION_EVENT, WINDLASS_OPERATION_EXECUTE,
        WINDLASS_OPERATION_FILL, WINDLASS_OPERATION_HOST_CALL, WINDLASS_OPERATION_IMPORT_TIMEPOINT,
        WINDLASS_OPERATION_OTHER, WINDLASS_OPERATION_READ, WINDLASS_OPERATION_UPDATE,
        WINDLASS_OPERATION_WRITE, windlass_operation_info_t, windlass_operation_kind_t,
        windlass_operation_point_t, windlass_operation_range_t,
    },
    pattern,
};

/// An operation or a command, as its driver or wrapper sees it.
pub(crate) struct View {
    kind: windlass_operation_kind_t,
    name: &'static CStr,
    affinity: QueueAffinity,
    pub(crate) waits: Points,
    pub(crate) signals: Points,
    wait_points: Vec<windlass_operation_point_t>,
    signal_points: Vec<windlass_operation_point_t>,
    pub(crate) target: Option<Buffer>,
    pub(crate) source: Option<Buffer>,
    bytes: Vec<u8>,
    file_offset: u64,
    launch: Option<Launch>,
    pub(crate) buffers: Vec<Buffer>,
    ranges: Vec<windlass_operation_range_t>,
    pub(crate) list: Option<Arc<dyn driver::RawCommandBuffer>>,
    predecessors: usize,
}

// SAFETY: the pointers in `ranges` are the driver's, which by the header's contract any thread may use.
unsafe impl Send for View {}

/// The launch of a function.
struct Launch {
    executable: Arc<dyn driver::RawExecutable>,
    function: u32,
    name: CString,
    workgroup_count: [u32; 3],
    count: Option<Buffer>,
    workgroup_size: [u32; 3],
    dynamic_local_memory: u32,
}

impl Launch {
    fn new(executable: &Arc<dyn driver::RawExecutable>, function: u32, count: WorkgroupCountRef<'_>) -> Self {
        let name = executable.functions().get(function as usize).map_or("", |function| &function.name);
        Self {
            name: c_string(name),
            executable: executable.clone(),
            function,
            workgroup_count: match count {
                WorkgroupCountRef::Direct(count) => count,
                _ => [0; 3],
            },
            count: None,
            workgroup_size: [1; 3],
            dynamic_local_memory: 0,
        }
    }
}

impl View {
    fn new(kind: windlass_operation_kind_t, name: &'static CStr) -> Self {
        Self {
            kind,
            name,
            affinity: QueueAffinity::ANY,
            waits: Points::default(),
            signals: Points::default(),
            wait_points: Vec::new(),
            signal_points: Vec::new(),
            target: None,
            source: None,
            bytes: Vec::new(),
            file_offset: 0,
            launch: None,
            buffers: Vec::new(),
            ranges: Vec::new(),
            list: None,
            predecessors: 0,
        }
    }

    /// An operation of a queue.
    pub(crate) fn of_operation(operation: &Operation, affinity: QueueAffinity) -> Self {
        let (kind, name) = match operation {
            Operation::Barrier => (WINDLASS_OPERATION_BARRIER, c"queue_barrier"),
            Operation::Alloca { .. } => (WINDLASS_OPERATION_ALLOCA, c"queue_alloca"),
            Operation::Dealloca { .. } => (WINDLASS_OPERATION_DEALLOCA, c"queue_dealloca"),
            Operation::Fill { .. } => (WINDLASS_OPERATION_FILL, c"queue_fill"),
            Operation::Update { .. } => (WINDLASS_OPERATION_UPDATE, c"queue_update"),
            Operation::Copy { .. } => (WINDLASS_OPERATION_COPY, c"queue_copy"),
            Operation::Read { .. } => (WINDLASS_OPERATION_READ, c"queue_read"),
            Operation::Write { .. } => (WINDLASS_OPERATION_WRITE, c"queue_write"),
            Operation::HostCall(_) => (WINDLASS_OPERATION_HOST_CALL, c"queue_host_call"),
            Operation::Dispatch(_) => (WINDLASS_OPERATION_DISPATCH, c"queue_dispatch"),
            Operation::Execute { .. } => (WINDLASS_OPERATION_EXECUTE, c"queue_execute"),
            Operation::ImportTimepoint { .. } => {
                (WINDLASS_OPERATION_IMPORT_TIMEPOINT, c"queue_import_timepoint")
            }
            Operation::Collective { .. } => (WINDLASS_OPERATION_COLLECTIVE, c"queue_collective"),
            _ => (WINDLASS_OPERATION_OTHER, c"queue_other"),
        };
        let mut view = Self::new(kind, name);
        view.affinity = affinity;
        match operation {
            Operation::Alloca { buffer } | Operation::Dealloca { buffer } => {
                view.target = Some(buffer.clone())
            }
            Operation::Fill { target, pattern } => {
                view.target = Some(target.clone());
                view.bytes = pattern.bytes().to_vec();
            }
            Operation::Update { source, target } => {
                view.target = Some(target.clone());
                view.bytes = source.to_vec();
            }
            Operation::Copy { source, target } => {
                (view.source, view.target) = (Some(source.clone()), Some(target.clone()));
            }
            Operation::Read { file_offset, target, .. } => {
                (view.file_offset, view.target) = (*file_offset, Some(target.clone()));
            }
            Operation::Write { file_offset, source, .. } => {
                (view.file_offset, view.source) = (*file_offset, Some(source.clone()));
            }
            Operation::Dispatch(dispatch) => {
                let count = dispatch.workgroup_count.as_ref();
                let mut launch = Launch::new(&dispatch.executable, dispatch.function, count);
                launch.count = count.buffer(&[]);
                launch.workgroup_size = dispatch.workgroup_size;
                launch.dynamic_local_memory = dispatch.dynamic_local_memory;
                view.launch = Some(launch);
                view.bytes = dispatch.arguments.clone();
                view.hold(dispatch.resources.clone());
            }
            Operation::Execute { command_buffer, bindings } => {
                view.list = Some(command_buffer.clone());
                view.hold(bindings.to_vec());
            }
            _ => {}
        }
        view
    }

    /// A command of a list, with the bindings of a submission.
    pub(crate) fn of_command(command: &Command<'_>, bindings: &[Buffer], list: &CommandList) -> Result<Self> {
        let range = |range: &RecordedRange<'_>| range.resolve(bindings).map(Some);
        Ok(match command {
            Command::Barrier => Self::new(WINDLASS_OPERATION_BARRIER, c"command_barrier"),
            Command::Fill { target, pattern } => {
                let view = Self::new(WINDLASS_OPERATION_FILL, c"command_fill");
                Self { target: range(target)?, bytes: pattern.bytes().to_vec(), ..view }
            }
            Command::Update { source, target, .. } => {
                let view = Self::new(WINDLASS_OPERATION_UPDATE, c"command_update");
                Self { target: range(target)?, bytes: source.to_vec(), ..view }
            }
            Command::Copy { source, target } => {
                let view = Self::new(WINDLASS_OPERATION_COPY, c"command_copy");
                Self { source: range(source)?, target: range(target)?, ..view }
            }
            Command::Dispatch(dispatch) => Self::of_launch(dispatch, bindings, list),
            Command::SignalEvent { .. } => Self::new(WINDLASS_OPERATION_EVENT, c"command_signal_event"),
            Command::ResetEvent { .. } => Self::new(WINDLASS_OPERATION_EVENT, c"command_reset_event"),
            Command::WaitEvents { .. } => Self::new(WINDLASS_OPERATION_EVENT, c"command_wait_events"),
            Command::BeginDebugGroup(_) => {
                Self::new(WINDLASS_OPERATION_DEBUG_GROUP, c"command_begin_debug_group")
            }
            Command::EndDebugGroup => Self::new(WINDLASS_OPERATION_DEBUG_GROUP, c"command_end_debug_group"),
            Command::Collective { .. } => Self::new(WINDLASS_OPERATION_COLLECTIVE, c"command_collective"),
            _ => Self::new(WINDLASS_OPERATION_OTHER, c"command_other"),
        })
    }

    fn of_launch(dispatch: &DispatchCommand<'_>, bindings: &[Buffer], list: &CommandList) -> Self {
        let mut view = Self::new(WINDLASS_OPERATION_DISPATCH, c"command_dispatch");
        let mut launch = Launch::new(dispatch.executable(), dispatch.function(), dispatch.workgroup_count);
        launch.count = dispatch.workgroup_count.buffer(bindings);
        launch.workgroup_size = dispatch.workgroup_size;
        launch.dynamic_local_memory = dispatch.dynamic_local_memory;
        view.launch = Some(launch);
        let mut block = PatchedBlock::default();
        block.bind(bindings.iter().map(Buffer::device_address));
        view.bytes = block.fill(dispatch.arguments, dispatch.patches).to_vec();
        view.hold(list.buffers().iter().chain(bindings).cloned().collect());
        view
    }

    /// Adds the lists of a submission.
    pub(crate) fn ordered(mut self, waits: &[Point], signals: &[Point]) -> Self {
        let name = |point: &Point| windlass_operation_point_t {
            semaphore: point.semaphore.id(),
            value: point.value,
        };
        (self.waits, self.signals) = (waits.into(), signals.into());
        self.wait_points = waits.iter().map(name).collect();
        self.signal_points = signals.iter().map(name).collect();
        self
    }

    /// Sets the number of commands that a command is ordered behind.
    pub(crate) fn behind(self, predecessors: usize) -> Self {
        Self { predecessors, ..self }
    }

    /// Sets the queues of a command.
    pub(crate) fn on(self, affinity: QueueAffinity) -> Self {
        Self { affinity, ..self }
    }

    fn hold(&mut self, buffers: Vec<Buffer>) {
        self.ranges = buffers.iter().map(range_for_c).collect();
        self.buffers = buffers;
    }

    /// Replaces a count in memory by its numbers.
    pub(crate) fn launching(mut self, count: [u32; 3]) -> Self {
        if let Some(launch) = &mut self.launch {
            (launch.workgroup_count, launch.count) = (count, None);
        }
        self
    }

    pub(crate) fn range(&self, name: &str, range: &Option<Buffer>) -> Result<Buffer> {
        range.clone().ok_or_else(|| {
            Error::not_found(format!("a {} has no range `{name}`", self.name.to_string_lossy()))
        })
    }

    pub(crate) fn for_c(&self) -> windlass_operation_info_t {
        let range = |range: &Option<Buffer>| range.as_ref().map_or(NO_RANGE, range_for_c);
        let (wait_count, waits) = listed(&self.wait_points);
        let (signal_count, signals) = listed(&self.signal_points);
        let (byte_count, bytes) = listed(&self.bytes);
        let (buffer_count, buffers) = listed(&self.ranges);
        let launch = self.launch.as_ref();
        windlass_operation_info_t {
            struct_size: size_of::<windlass_operation_info_t>(),
            kind: self.kind,
            function: launch.map_or(0, |launch| launch.function),
            name: self.name.as_ptr(),
            queue_affinity: self.affinity.bits(),
            wait_count,
            waits,
            signal_count,
            signals,
            source: range(&self.source),
            target: range(&self.target),
            bytes: bytes.cast(),
            byte_count,
            file_offset: self.file_offset,
            function_name: launch.map_or(ptr::null(), |launch| launch.name.as_ptr()),
            executable: launch.map_or(ptr::null_mut(), |launch| Code::of(launch.executable.as_ref())),
            workgroup_count: launch.map_or([0; 3], |launch| launch.workgroup_count),
            workgroup_size: launch.map_or([0; 3], |launch| launch.workgroup_size),
            dynamic_local_memory: launch.map_or(0, |launch| launch.dynamic_local_memory),
            reserved: 0,
            count: launch.map_or(NO_RANGE, |launch| range(&launch.count)),
            buffer_count,
            buffers,
            command_count: self.list.as_ref().map_or(0, |list| list.list().commands().len()),
            predecessor_count: self.predecessors,
        }
    }

    /// Does a transfer through the host pointers of a driver's memory.
    pub(crate) fn transfer_on_host(&self) -> Result<()> {
        let on_host = |range: &Option<Buffer>| Backing::on_host(&self.range("of bytes", range)?);
        match self.kind {
            WINDLASS_OPERATION_FILL => {
                // SAFETY: the bytes are the view's.
                let pattern = unsafe { pattern::pattern_of(self.bytes.as_ptr().cast(), self.bytes.len()) }?;
                host_memory::fill(&on_host(&self.target)?, pattern)
            }
            WINDLASS_OPERATION_UPDATE => host_memory::update(&self.bytes, &on_host(&self.target)?),
            WINDLASS_OPERATION_COPY => host_memory::copy(&on_host(&self.source)?, &on_host(&self.target)?),
            _ => Err(Error::unimplemented(format!(
                "{} is no transfer that the host can do in the place of the driver",
                self.name.to_string_lossy()
            ))),
        }
    }
}

const NO_RANGE: windlass_operation_range_t = windlass_operation_range_t {
    memory: ptr::null_mut(),
    offset: 0,
    length: 0,
    device_address: 0,
    host_pointer: ptr::null_mut(),
};

fn range_for_c(range: &Buffer) -> windlass_operation_range_t {
    let own = Backing::of(range);
    windlass_operation_range_t {
        memory: own.map_or(ptr::null_mut(), |(own, _)| own.memory()),
        offset: range.backing().1,
        length: range.len(),
        device_address: range.device_address(),
        host_pointer: own.map_or(ptr::null_mut(), |(own, offset)| own.host_at(offset)),
    }
}

/// The length of a list, and its pointer for C.
fn listed<T>(items: &[T]) -> (usize, *const T) {
    (items.len(), list_pointer(items))
}
