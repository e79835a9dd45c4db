// SPDX-License-Identifier: MIT OR Apache-2.0
//! Drivers that the program implements: a table of functions behind a URI scheme.

mod device;
pub(crate) mod executable;
mod link;
pub(crate) mod memory;
mod replay;
mod work;

use std::{
    ffi::{c_char, c_void},
    ptr::NonNull,
    sync::Arc,
};

use facade::{Error, Result};

use crate::{
    answer::windlass_answer_t,
    boundary::fallible,
    buffer::{windlass_buffer_params_t, windlass_memory_type_t},
    callback::UserData,
    error::windlass_error_t,
    memory::{Growing, read_struct, text},
    operation::windlass_operation_t,
    registry,
    uri::windlass_uri_t,
};

use link::Functions;

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
/// The library declares the lack of all features whose function is NULL, and does the rest for each driver: semaphores,
/// waits, the set of pending operations, pools, barriers, allocas, files, host calls, command buffers.
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
/// No function may unwind or jump out: a C++ exception that leaves one is undefined behaviour, as is a long jump.
#[derive(Clone, Copy)]
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
        unsafe extern "C" fn(
            user_data: *mut c_void,
            answer: Option<NonNull<windlass_answer_t>>,
        ) -> Option<NonNull<windlass_error_t>>,
    >,
    /// Opens the device of a URI, describes it to windlass_answer_device, windlass_answer_limits and
    /// windlass_answer_heap, and stores the driver's own object for it. NOT_FOUND if the URI names no device.
    pub open: Option<
        unsafe extern "C" fn(
            user_data: *mut c_void,
            uri: Option<NonNull<windlass_uri_t>>,
            answer: Option<NonNull<windlass_answer_t>>,
            device: *mut *mut c_void,
        ) -> Option<NonNull<windlass_error_t>>,
    >,
    /// Ends a device: its operations are complete, its memory is freed, its code is unloaded. May be NULL.
    pub close: Option<unsafe extern "C" fn(device: *mut c_void)>,
    /// Allocates memory at a multiple of `alignment` bytes. The contents may be anything. RESOURCE_EXHAUSTED says how
    /// much is free.
    pub allocate: Option<
        unsafe extern "C" fn(
            device: *mut c_void,
            memory_type: windlass_memory_type_t,
            size: u64,
            alignment: u64,
            memory: *mut windlass_driver_memory_t,
        ) -> Option<NonNull<windlass_error_t>>,
    >,
    /// Takes memory back that `allocate`, `import_host` or `import_device` gave. Must not block.
    pub free: Option<unsafe extern "C" fn(device: *mut c_void, memory: *mut c_void)>,
    /// Returns memory that the driver keeps unused to the system. May be NULL.
    pub trim: Option<unsafe extern "C" fn(device: *mut c_void)>,
    /// Makes memory of the process accessible for the device, until `free`. The library then gives it back to its owner.
    pub import_host: Option<
        unsafe extern "C" fn(
            device: *mut c_void,
            params: *const windlass_buffer_params_t,
            pointer: *mut c_void,
            size: u64,
            memory: *mut windlass_driver_memory_t,
        ) -> Option<NonNull<windlass_error_t>>,
    >,
    /// As `import_host`, for memory of the same device that another library allocated. INVALID_ARGUMENT if it is none.
    pub import_device: Option<
        unsafe extern "C" fn(
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
        unsafe extern "C" fn(
            device: *mut c_void,
            code: *const c_void,
            size: usize,
            answer: Option<NonNull<windlass_answer_t>>,
            executable: *mut *mut c_void,
        ) -> Option<NonNull<windlass_error_t>>,
    >,
    /// Loads two or more pieces of code as one executable, as `load`. NOT_FOUND names symbols that no piece defines.
    pub load_linked: Option<
        unsafe extern "C" fn(
            device: *mut c_void,
            count: usize,
            codes: *const *const c_void,
            sizes: *const usize,
            answer: Option<NonNull<windlass_answer_t>>,
            executable: *mut *mut c_void,
        ) -> Option<NonNull<windlass_error_t>>,
    >,
    /// Takes an executable back.
    pub unload: Option<unsafe extern "C" fn(device: *mut c_void, executable: *mut c_void)>,
    /// The memory of a variable by number. It belongs to the executable, and `free` does not get it.
    /// FAILED_PRECONDITION if the queues of `affinity` do not share one copy.
    pub global: Option<
        unsafe extern "C" fn(
            device: *mut c_void,
            executable: *mut c_void,
            index: u32,
            affinity: u64,
            memory: *mut windlass_driver_memory_t,
        ) -> Option<NonNull<windlass_error_t>>,
    >,
    /// Describes the kernels, functions and variables of an executable to windlass_answer_symbol.
    pub symbols: Option<
        unsafe extern "C" fn(
            device: *mut c_void,
            executable: *mut c_void,
            affinity: u64,
            answer: Option<NonNull<windlass_answer_t>>,
        ) -> Option<NonNull<windlass_error_t>>,
    >,
    /// Starts a fill, an update, a copy or a dispatch, whose waits are reached, and ends it by
    /// windlass_operation_complete: before this returns, or later on any thread, for which it retains the operation.
    /// Operations may run in any order and at the same time. The commands of a command buffer come one after the other,
    /// each when the one before is complete. An error fails the operation. Called on the thread that reached the last
    /// wait, so long work goes to another thread.
    pub submit: Option<
        unsafe extern "C" fn(
            device: *mut c_void,
            operation: Option<NonNull<windlass_operation_t>>,
        ) -> Option<NonNull<windlass_error_t>>,
    >,
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_driver_t {
    const NAME: &'static str = "windlass_driver_t";
}

/// The names of the functions that a table must have and lacks.
fn check(table: &windlass_driver_t) -> Result<()> {
    let needs = [
        ("open", table.open.is_none(), "every driver needs it"),
        ("allocate", table.allocate.is_none(), "every driver needs it"),
        ("free", table.free.is_none(), "every driver needs it"),
        ("unload", table.load.is_some() && table.unload.is_none(), "`load` needs it"),
        ("submit", table.load.is_some() && table.submit.is_none(), "`load` needs it"),
        ("load", table.load_linked.is_some() && table.load.is_none(), "`load_linked` needs it"),
        ("load", table.global.is_some() && table.load.is_none(), "`global` needs it"),
        ("load", table.symbols.is_some() && table.load.is_none(), "`symbols` needs it"),
    ];
    let missing = needs.iter().filter(|(_, missing, _)| *missing);
    let missing: Vec<_> = missing.map(|(name, _, why)| format!("`{name}` ({why})")).collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(Error::invalid_argument(format!(
            "the windlass_driver_t has NULL in the place of {}",
            missing.join(", ")
        ))),
    }
}

/// Registers a driver for this process: windlass_device_open opens its URIs from now on, and windlass_driver_scheme lists
/// it. The table is copied. `user_data` goes to `devices` and `open`, and must be valid, as the functions must, until
/// the process ends. INVALID_ARGUMENT names the functions that are missing, ALREADY_EXISTS says that the scheme is taken.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_driver_register(
    driver: *const windlass_driver_t,
    user_data: *mut c_void,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `read_struct`.
        let table = unsafe { read_struct(driver) }?;
        check(&table)?;
        // SAFETY: the contract in the header covers that of `text`, for this and the next.
        let scheme = unsafe { text("scheme", table.scheme) }?.to_owned();
        let description = match table.description.is_null() {
            true => "a driver of the program".to_owned(),
            // SAFETY: as above.
            false => unsafe { text("description", table.description) }?.to_owned(),
        };
        registry::register(Arc::new(Functions { scheme, description, table, user_data: UserData(user_data) }))
    })
}
