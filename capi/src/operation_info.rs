// SPDX-License-Identifier: MIT OR Apache-2.0
//! The description of an operation of a queue, or of a command of a command buffer.

use std::ffi::{c_char, c_void};

use crate::memory::Growing;

/// The kind of an operation or of a command: one of WINDLASS_OPERATION_*. Later versions may add kinds.
pub type windlass_operation_kind_t = u32;

/// A kind that this version of the interface has no number for. Its `name` tells more.
pub const WINDLASS_OPERATION_OTHER: windlass_operation_kind_t = 0;
/// Nothing but the order. As a command, all commands before it complete before any command behind it starts.
pub const WINDLASS_OPERATION_BARRIER: windlass_operation_kind_t = 1;
/// `target` gets its memory.
pub const WINDLASS_OPERATION_ALLOCA: windlass_operation_kind_t = 2;
/// The memory of `target` goes.
pub const WINDLASS_OPERATION_DEALLOCA: windlass_operation_kind_t = 3;
/// `bytes`, a pattern of 1, 2 or 4, are repeated over `target`.
pub const WINDLASS_OPERATION_FILL: windlass_operation_kind_t = 4;
/// `bytes` go to `target`.
pub const WINDLASS_OPERATION_UPDATE: windlass_operation_kind_t = 5;
/// `source` goes to `target`. The two do not overlap.
pub const WINDLASS_OPERATION_COPY: windlass_operation_kind_t = 6;
/// A file's bytes from `file_offset` on go to `target`.
pub const WINDLASS_OPERATION_READ: windlass_operation_kind_t = 7;
/// `source` goes to a file, from `file_offset` on.
pub const WINDLASS_OPERATION_WRITE: windlass_operation_kind_t = 8;
/// A call of a function of the host.
pub const WINDLASS_OPERATION_HOST_CALL: windlass_operation_kind_t = 9;
/// A launch of a function.
pub const WINDLASS_OPERATION_DISPATCH: windlass_operation_kind_t = 10;
/// A command buffer. windlass_operation_commands tells its commands.
pub const WINDLASS_OPERATION_EXECUTE: windlass_operation_kind_t = 11;
/// A command that signals, resets or awaits an event.
pub const WINDLASS_OPERATION_EVENT: windlass_operation_kind_t = 12;
/// A command that opens or closes a debug group.
pub const WINDLASS_OPERATION_DEBUG_GROUP: windlass_operation_kind_t = 13;
/// Waits for work of another library: windlass_queue_import_timepoint.
pub const WINDLASS_OPERATION_IMPORT_TIMEPOINT: windlass_operation_kind_t = 14;
/// A group of collective operations: windlass_queue_collective, windlass_recorder_collective.
pub const WINDLASS_OPERATION_COLLECTIVE: windlass_operation_kind_t = 15;

/// A value of a semaphore as a tracer names it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_operation_point_t {
    /// The semaphore's windlass_semaphore_id.
    pub semaphore: u64,
    /// The value.
    pub value: u64,
}

/// A range of a buffer. All zeros stand for none.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_operation_range_t {
    /// The object of a driver in C, as its `allocate`, `import_host`, `import_device` or `global` gave it. NULL for
    /// memory of the library's own drivers.
    pub memory: *mut c_void,
    /// The offset of the range in the driver's memory, in bytes.
    pub offset: u64,
    /// The length in bytes.
    pub length: u64,
    /// The address of the first byte for device code.
    pub device_address: u64,
    /// The first byte for the host, where a driver in C gave a pointer; NULL otherwise.
    pub host_pointer: *mut c_void,
}

/// An operation or a command. The kind tells which fields mean something; the others are zero. All pointers lead to
/// memory of the operation: they are valid until it is completed or forwarded, and at least until the function of the
/// driver or wrapper returns if that function does neither.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_operation_info_t {
    /// sizeof this struct, set by the caller: windlass_operation_info_init does so.
    pub struct_size: usize,
    /// The kind.
    pub kind: windlass_operation_kind_t,
    /// For a dispatch: the function's number in its executable.
    pub function: u32,
    /// The name of the kind, such as "queue_fill" or, for a command, "command_fill". Valid forever.
    pub name: *const c_char,
    /// The queues that may run it, bit n for queue n.
    pub queue_affinity: u64,
    /// The number of waits. A driver gets an operation when they are reached, and has none.
    pub wait_count: usize,
    /// The waits. windlass_operation_wait gives the semaphores.
    pub waits: *const windlass_operation_point_t,
    /// The number of signals. The library signals for a driver, which has none.
    pub signal_count: usize,
    /// The signals. windlass_operation_signal gives the semaphores.
    pub signals: *const windlass_operation_point_t,
    /// The range that is read.
    pub source: windlass_operation_range_t,
    /// The range that is written.
    pub target: windlass_operation_range_t,
    /// For a fill the pattern, for an update the bytes, for a dispatch the block of arguments in the function's layout
    /// with all addresses in it.
    pub bytes: *const c_void,
    /// The number of `bytes`.
    pub byte_count: usize,
    /// The offset in the file.
    pub file_offset: u64,
    /// For a dispatch: the name of the function.
    pub function_name: *const c_char,
    /// For a dispatch: the object of a driver in C, as its `load` gave it. NULL for code of the library's own drivers.
    pub executable: *mut c_void,
    /// For a dispatch: workgroups in x, y, z. Zeros if they are in `count`, which only a wrapper sees.
    pub workgroup_count: [u32; 3],
    /// For a dispatch: work-items of a workgroup in x, y, z.
    pub workgroup_size: [u32; 3],
    /// For a dispatch: bytes of local memory in addition to the function's own.
    pub dynamic_local_memory: u32,
    /// Zero.
    pub reserved: u32,
    /// For a dispatch: the range that holds the number of workgroups.
    pub count: windlass_operation_range_t,
    /// For a dispatch the number of buffers that the arguments may point to; for a command buffer that of its bindings.
    pub buffer_count: usize,
    /// These buffers.
    pub buffers: *const windlass_operation_range_t,
    /// For a command buffer: the number of its commands.
    pub command_count: usize,
    /// For a command: so many commands from the beginning of the list must be complete before it starts. The numbers never
    /// fall, and say the same as all barriers and events of the list.
    pub predecessor_count: usize,
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_operation_info_t {
    const NAME: &'static str = "windlass_operation_info_t";
}
