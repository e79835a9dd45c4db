// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of a driver's functions.

use std::{
    ffi::{c_char, c_void},
    ptr::NonNull,
};

use crate::{
    answer::windlass_answer_t,
    buffer::{windlass_buffer_params_t, windlass_memory_type_t},
    error::windlass_error_t,
    memory::Growing,
    operation::windlass_operation_t,
    uri::windlass_uri_t,
};

/// Memory of a driver's device. The library makes it zero before it asks.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct windlass_driver_memory_t {
    /// The driver's own object, which `free` gets and which ranges of operations have. It may be NULL.
    pub memory: *mut c_void,
    /// The address for device code. It is not 0, never changes, and is a multiple of `allocation_alignment`.
    pub device_address: u64,
    /// The first byte for the host, valid until `free`; NULL if the host cannot reach the memory. Memory with
    /// WINDLASS_MEMORY_TYPE_HOST_VISIBLE needs one.
    pub host_pointer: *mut c_void,
    /// Zero.
    pub reserved: u64,
}

/// The functions of a driver. windlass_driver_init makes a table without any; set those that the driver has.
///
/// Required are `scheme`, `open`, `allocate` and `free`; such a driver has host memory without kernels, and the library
/// does its transfers. `submit` is required for memory that the host cannot reach. `load` needs `unload` and `submit`.
/// The library declares the lack of each feature whose function is NULL or that has none here, and does the rest for each
/// driver: semaphores, waits, the set of pending operations, pools, barriers, allocas, files, host calls, command buffers.
///
/// Threads. Any function may be called on any thread, several at once, also with the same objects, and from inside
/// windlass_operation_complete. None may wait for other work of the device. `allocate` and `free` may be called with a
/// lock of the library held: they must call no function of the library but windlass_error_create.
///
/// Errors. NULL is success. An error passes to the library: return windlass_error_create(...), or retain an error of
/// another owner. After an error the library ignores the out parameters. UNIMPLEMENTED is for features that the device
/// declares to lack.
///
/// Ownership. Arguments are borrowed until the function returns; answers are copied. The driver owns its objects until
/// `free`, `unload` and `close` take them back, which happens once for each, when no work uses them.
///
/// An exception that leaves a function with a result counts as an ABORTED error.
#[derive(Clone, Copy)]
#[allow(clippy::type_complexity, reason = "the header shows each function in its place")]
#[repr(C)]
pub struct windlass_driver_t {
    /// sizeof this struct, set by the caller: windlass_driver_init does so.
    pub struct_size: usize,
    /// The scheme of the driver's URIs: letters, digits and "-", as in "my-gpu".
    pub scheme: *const c_char,
    /// A description in a few words; NULL for none.
    pub description: *const c_char,
    /// Describes each device that can be opened now to windlass_answer_device. UNAVAILABLE if the hardware or a library
    /// is missing. NULL lists none.
    pub devices: Option<
        unsafe extern "C-unwind" fn(
            user_data: *mut c_void,
            answer: Option<NonNull<windlass_answer_t>>,
        ) -> Option<NonNull<windlass_error_t>>,
    >,
    /// Opens the device of a URI, describes it to windlass_answer_device, windlass_answer_limits and
    /// windlass_answer_heap, and stores the driver's own object for it. NOT_FOUND if the URI names no device.
    pub open: Option<
        unsafe extern "C-unwind" fn(
            user_data: *mut c_void,
            uri: Option<NonNull<windlass_uri_t>>,
            answer: Option<NonNull<windlass_answer_t>>,
            device: *mut *mut c_void,
        ) -> Option<NonNull<windlass_error_t>>,
    >,
    /// Ends a device: its operations are complete, its memory is freed, its code is unloaded. May be NULL.
    pub close: Option<unsafe extern "C-unwind" fn(device: *mut c_void)>,
    /// Allocates memory at a multiple of `alignment` bytes. The contents may be anything. RESOURCE_EXHAUSTED says how
    /// much is free.
    pub allocate: Option<
        unsafe extern "C-unwind" fn(
            device: *mut c_void,
            memory_type: windlass_memory_type_t,
            size: u64,
            alignment: u64,
            memory: *mut windlass_driver_memory_t,
        ) -> Option<NonNull<windlass_error_t>>,
    >,
    /// Takes memory back that `allocate`, `import_host` or `import_device` gave. Must not block.
    pub free: Option<unsafe extern "C-unwind" fn(device: *mut c_void, memory: *mut c_void)>,
    /// Returns memory that the driver keeps unused to the system. May be NULL.
    pub trim: Option<unsafe extern "C-unwind" fn(device: *mut c_void)>,
    /// Makes memory of the process accessible for the device, until `free`. The library then gives it back to its owner.
    pub import_host: Option<
        unsafe extern "C-unwind" fn(
            device: *mut c_void,
            params: *const windlass_buffer_params_t,
            pointer: *mut c_void,
            size: u64,
            memory: *mut windlass_driver_memory_t,
        ) -> Option<NonNull<windlass_error_t>>,
    >,
    /// As `import_host`, for memory of the same device that another library allocated. INVALID_ARGUMENT if it is none.
    pub import_device: Option<
        unsafe extern "C-unwind" fn(
            device: *mut c_void,
            params: *const windlass_buffer_params_t,
            address: u64,
            size: u64,
            memory: *mut windlass_driver_memory_t,
        ) -> Option<NonNull<windlass_error_t>>,
    >,
    /// Loads code, describes its functions and variables to windlass_answer_function and windlass_answer_global, and
    /// stores the driver's own object for it. The bytes may be hostile: INVALID_ARGUMENT if they are no code, NOT_FOUND
    /// if they are for another device.
    pub load: Option<
        unsafe extern "C-unwind" fn(
            device: *mut c_void,
            code: *const c_void,
            size: usize,
            answer: Option<NonNull<windlass_answer_t>>,
            executable: *mut *mut c_void,
        ) -> Option<NonNull<windlass_error_t>>,
    >,
    /// Loads two or more pieces of code as one executable, as `load`. NOT_FOUND names symbols that no piece defines.
    pub load_linked: Option<
        unsafe extern "C-unwind" fn(
            device: *mut c_void,
            count: usize,
            codes: *const *const c_void,
            sizes: *const usize,
            answer: Option<NonNull<windlass_answer_t>>,
            executable: *mut *mut c_void,
        ) -> Option<NonNull<windlass_error_t>>,
    >,
    /// Takes an executable back.
    pub unload: Option<unsafe extern "C-unwind" fn(device: *mut c_void, executable: *mut c_void)>,
    /// The memory of a variable by number. It belongs to the executable, and `free` does not get it.
    /// FAILED_PRECONDITION if the queues of `affinity` do not share one copy.
    pub global: Option<
        unsafe extern "C-unwind" fn(
            device: *mut c_void,
            executable: *mut c_void,
            index: u32,
            affinity: u64,
            memory: *mut windlass_driver_memory_t,
        ) -> Option<NonNull<windlass_error_t>>,
    >,
    /// Describes the kernels, functions and variables of an executable to windlass_answer_symbol.
    pub symbols: Option<
        unsafe extern "C-unwind" fn(
            device: *mut c_void,
            executable: *mut c_void,
            affinity: u64,
            answer: Option<NonNull<windlass_answer_t>>,
        ) -> Option<NonNull<windlass_error_t>>,
    >,
    /// Starts a fill, an update, a copy or a dispatch, whose waits are reached, and ends it by
    /// windlass_operation_complete: before this returns, or later on any thread, for which it retains the operation.
    /// Operations may run in any order and at the same time. Without `execute`, the commands of a command buffer come one
    /// after the other, each when the one before is complete. An error fails the operation. Called on the thread that reached the last
    /// wait, so long work goes to another thread.
    pub submit: Option<
        unsafe extern "C-unwind" fn(
            device: *mut c_void,
            operation: Option<NonNull<windlass_operation_t>>,
        ) -> Option<NonNull<windlass_error_t>>,
    >,
    /// Starts a command buffer as one operation, and ends it as `submit` does: windlass_operation_commands tells its
    /// commands, of which `predecessor_count` is the order. For devices that take lists. NULL gives the commands to
    /// `submit`, one after the other; so does the library in any case for a list with a number of workgroups in memory.
    pub execute: Option<
        unsafe extern "C-unwind" fn(
            device: *mut c_void,
            operation: Option<NonNull<windlass_operation_t>>,
        ) -> Option<NonNull<windlass_error_t>>,
    >,
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_driver_t {
    const NAME: &'static str = "windlass_driver_t";
}
