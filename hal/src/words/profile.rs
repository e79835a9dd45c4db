// SPDX-License-Identifier: MIT OR Apache-2.0
//! The records of a profile, and the receiver of them.
//!
//! All times are nanoseconds of one clock of the host, `CLOCK_MONOTONIC` on Linux. Times of the device are mapped to it.

use std::{fmt, sync::Arc};

use smallvec::SmallVec;

use crate::words::{buffer_params::MemoryType, error::Error, queue_affinity::QueueAffinity};

/// The extent of a profile. Records of operations and of host calls are always taken.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProfileOptions {
    /// Times of the device for each operation, where the driver has them. The default is `true`.
    pub device_times: bool,
    /// A record for each command and debug group of a submitted command buffer, with times of the device where the driver
    /// has them. This costs time for each command. The default is `false`.
    pub commands: bool,
    /// Records of memory. The default is `true`.
    pub memory: bool,
}

impl Default for ProfileOptions {
    fn default() -> Self {
        Self { device_times: true, commands: false, memory: true }
    }
}

impl ProfileOptions {
    /// With or without times of the device.
    #[must_use]
    pub fn with_device_times(self, device_times: bool) -> Self {
        Self { device_times, ..self }
    }

    /// With or without records of commands.
    #[must_use]
    pub fn with_commands(self, commands: bool) -> Self {
        Self { commands, ..self }
    }

    /// With or without records of memory.
    #[must_use]
    pub fn with_memory(self, memory: bool) -> Self {
        Self { memory, ..self }
    }
}

/// The device that a profile is of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProfiledDevice {
    /// The URI of the device.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// Whether it is simulated: its times are not those of a GPU.
    pub simulated: bool,
    /// The number of its queues.
    pub queues: u32,
}

impl ProfiledDevice {
    pub(crate) fn new(uri: &str, name: &str, simulated: bool, queues: u32) -> Self {
        Self { uri: uri.to_owned(), name: name.to_owned(), simulated, queues }
    }
}

/// The receiver of a profile. See [`Device::profiling_begin`](crate::Device::profiling_begin).
pub trait ProfileSink: Send + Sync {
    /// Takes records. A call runs on a thread that retires work, or in a call that flushes or ends the profile. Calls for
    /// one profile do not overlap, and no lock is held. The call may use the device, but it cannot flush or end the
    /// profile. A panic is logged, and the profile goes on.
    fn records(&self, chunk: ProfileChunk);
}

/// Records in the order in which they were completed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProfileChunk {
    /// The device.
    pub device: Arc<ProfiledDevice>,
    /// The records.
    pub records: Vec<ProfileRecord>,
    /// The records that were lost since the chunk before, because the sink was slower than the work.
    pub dropped: u64,
}

/// One record of a profile.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ProfileRecord {
    /// An operation of a queue: once, when it has retired, or at the end of the profile if it is in flight then.
    Operation(Box<OperationRecord>),
    /// A command of a command buffer, or a debug group in it. These records come before that of their operation.
    Command(CommandRecord),
    /// A host call that ran, when it has returned. Its operation has a record of its own, which comes earlier if the call
    /// settles its signals before it returns.
    HostCall(HostCallRecord),
    /// A change of memory.
    Memory(MemoryRecord),
}

/// A span of time in nanoseconds. See the clock of [`ProfileRecord`]s in [`OperationRecord::submitted`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "drivers make it")]
pub struct TimeSpan {
    /// The first moment.
    pub begun: u64,
    /// The last moment.
    pub ended: u64,
}

/// A value of a semaphore, in a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProfilePoint {
    /// [`Semaphore::id`](crate::Semaphore::id).
    pub semaphore: u64,
    /// The value.
    pub value: u64,
}

impl ProfilePoint {
    pub(crate) fn new(semaphore: u64, value: u64) -> Self {
        Self { semaphore, value }
    }
}

/// A text that is short as a rule, and then needs no heap.
#[derive(Clone, Default)]
pub(crate) struct ShortText(SmallVec<[u8; 32]>);

impl ShortText {
    pub(crate) fn new(text: &str) -> Self {
        Self(SmallVec::from_slice(text.as_bytes()))
    }

    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Debug for ShortText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

/// The points of a record. Two of them need no heap.
pub(crate) type ProfilePoints = SmallVec<[ProfilePoint; 2]>;

/// An operation of a queue, from its submission to its end.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OperationRecord {
    /// A number that grows in the order of submission.
    pub submission: u64,
    /// The name as IREE spells it, such as `queue_fill`.
    pub operation: &'static str,
    /// The queues that it might run on.
    pub affinity: QueueAffinity,
    /// The queue that the driver chose, if it told.
    pub queue: Option<u32>,
    /// The number of the GPU within the device, if the driver told.
    pub gpu: Option<u32>,
    /// Workgroups in x, y, z of a dispatch. `None` where the device reads the number.
    pub workgroup_count: Option<[u32; 3]>,
    /// Work-items of a workgroup in x, y, z of a dispatch.
    pub workgroup_size: Option<[u32; 3]>,
    /// The bytes of a transfer, an alloca or a dealloca.
    pub bytes: Option<u64>,
    /// The number of commands of an executed command buffer.
    pub commands: Option<u32>,
    /// When it was submitted, in nanoseconds of a clock of the host: `CLOCK_MONOTONIC` on Linux.
    pub submitted: u64,
    /// When its waits let it go and the driver took it over. `None` if it failed before.
    pub issued: Option<u64>,
    /// When its signals were settled. `None` if it was in flight when the profile ended.
    pub retired: Option<u64>,
    /// When it ran on the device. Spans of one device have an error of less than a microsecond against each other. `None`
    /// if the driver told no times.
    pub device: Option<TimeSpan>,
    /// The error with which its signals failed.
    pub failure: Option<Error>,
    pub(crate) function: Option<ShortText>,
    pub(crate) waits: ProfilePoints,
    pub(crate) signals: ProfilePoints,
}

impl OperationRecord {
    pub(crate) fn new(operation: &'static str, affinity: QueueAffinity, submitted: u64) -> Self {
        Self {
            submission: 0,
            operation,
            affinity,
            queue: None,
            gpu: None,
            workgroup_count: None,
            workgroup_size: None,
            bytes: None,
            commands: None,
            submitted,
            issued: None,
            retired: None,
            device: None,
            failure: None,
            function: None,
            waits: ProfilePoints::new(),
            signals: ProfilePoints::new(),
        }
    }

    /// The name of the function of a dispatch.
    pub fn function(&self) -> Option<&str> {
        self.function.as_ref().map(ShortText::as_str)
    }

    /// The wait list.
    pub fn waits(&self) -> &[ProfilePoint] {
        &self.waits
    }

    /// The signal list.
    pub fn signals(&self) -> &[ProfilePoint] {
        &self.signals
    }
}

/// The kind of a [`CommandRecord`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CommandKind {
    /// A fill.
    Fill,
    /// An update.
    Update,
    /// A copy.
    Copy,
    /// A dispatch.
    Dispatch,
    /// A group of collective operations.
    Collective,
    /// A debug group.
    Group,
}

impl CommandKind {
    /// The name: `fill`, `update`, `copy`, `dispatch`, `collective` or `group`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fill => "fill",
            Self::Update => "update",
            Self::Copy => "copy",
            Self::Dispatch => "dispatch",
            Self::Collective => "collective",
            Self::Group => "group",
        }
    }
}

/// A command of a submitted command buffer, or a debug group in it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CommandRecord {
    /// [`OperationRecord::submission`] of the submission that executes it.
    pub submission: u64,
    /// The number of the command in the list that ran. For a group, the number of the command that opens it.
    pub index: u32,
    /// The kind.
    pub kind: CommandKind,
    /// The `index` of the innermost group around it.
    pub group: Option<u32>,
    /// The name of a function, or the label of a group.
    pub name: Option<Arc<str>>,
    /// The colour of a group: red, green, blue, alpha.
    pub color: Option<[u8; 4]>,
    /// Workgroups in x, y, z of a dispatch. `None` where the device reads the number.
    pub workgroup_count: Option<[u32; 3]>,
    /// Work-items of a workgroup in x, y, z of a dispatch.
    pub workgroup_size: Option<[u32; 3]>,
    /// The bytes of a transfer.
    pub bytes: Option<u64>,
    /// When it ran on the device; for a group, from its first command to its last. `None` if the driver told no times.
    pub device: Option<TimeSpan>,
}

impl CommandRecord {
    pub(crate) fn new(index: u32, kind: CommandKind, group: Option<u32>) -> Self {
        Self {
            submission: 0,
            index,
            kind,
            group,
            name: None,
            color: None,
            workgroup_count: None,
            workgroup_size: None,
            bytes: None,
            device: None,
        }
    }
}

/// A host call that ran.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HostCallRecord {
    /// [`OperationRecord::submission`] of its operation.
    pub submission: u64,
    /// A number of the thread that ran it, which no other thread of the process has or had.
    pub thread: u64,
    /// From the call to its return, or to the end of its operation or of the profile if that comes first. Of a call that
    /// hands its signal list to others, only the time until it returned.
    pub time: TimeSpan,
    /// The error that it returned, or `ABORTED` for a panic.
    pub failure: Option<Error>,
}

impl HostCallRecord {
    pub(crate) fn new(submission: u64, thread: u64, time: TimeSpan, failure: Option<Error>) -> Self {
        Self { submission, thread, time, failure }
    }
}

/// The kind of a [`MemoryRecord`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MemoryEvent {
    /// A buffer received memory: an allocation, or the reservation for an alloca.
    Allocate,
    /// A buffer gave memory back: its last handle and use have gone, or its dealloca has released it.
    Free,
    /// The device took memory from the system, such as a slab of a pool.
    Reserve,
    /// The device gave memory back to the system.
    Unreserve,
    /// A buffer was made of foreign memory.
    Import,
    /// Foreign memory went back to its owner.
    Release,
}

impl MemoryEvent {
    /// The name: `allocate`, `free`, `reserve`, `unreserve`, `import` or `release`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allocate => "allocate",
            Self::Free => "free",
            Self::Reserve => "reserve",
            Self::Unreserve => "unreserve",
            Self::Import => "import",
            Self::Release => "release",
        }
    }
}

/// A change of the device's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryRecord {
    /// The kind.
    pub event: MemoryEvent,
    /// The number of bytes.
    pub bytes: u64,
    /// The type of the memory.
    pub memory_type: MemoryType,
    /// When it happened, in nanoseconds of the clock of [`OperationRecord::submitted`].
    pub at: u64,
}

impl MemoryRecord {
    pub(crate) fn new(event: MemoryEvent, bytes: u64, memory_type: MemoryType, at: u64) -> Self {
        Self { event, bytes, memory_type, at }
    }
}
