// SPDX-License-Identifier: MIT OR Apache-2.0
//! Global variables of executables.

use std::{ffi::c_char, mem::MaybeUninit, ptr::NonNull};

use facade::{Error, QueueAffinity};

use crate::{
    boundary::{fallible, infallible},
    buffer::windlass_buffer_t,
    error::windlass_error_t,
    executable::windlass_executable_t,
    handle::used,
    memory::{Growing, give, text, write_struct},
};

/// A global variable of an executable. The name belongs to the executable's handle.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_global_info_t {
    /// sizeof this struct, set by the caller: windlass_global_info_init does so.
    pub struct_size: usize,
    /// The name for lookups.
    pub name: *const c_char,
    /// The size in bytes, as the code says.
    pub size: u64,
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_global_info_t {
    const NAME: &'static str = "windlass_global_info_t";
}

/// The number of global variables that can be looked up; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_executable_global_count(
    executable: Option<NonNull<windlass_executable_t>>,
) -> usize {
    infallible(0, || Ok(used(executable)?.globals().len()))
}

/// A global variable by number, from 0. OUT_OF_RANGE if there are fewer. The name is valid until the executable's last
/// reference is released.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_executable_global_info(
    executable: Option<NonNull<windlass_executable_t>>,
    index: usize,
    info: *mut windlass_global_info_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let executable = used(executable)?;
        let globals = executable.globals();
        let (Some(of), Some(name)) = (globals.get(index), executable.global_names().get(index)) else {
            let count = globals.len();
            return Err(Error::out_of_range(format!("variable {index} of an executable that has {count}")));
        };
        let value = windlass_global_info_t {
            struct_size: size_of::<windlass_global_info_t>(),
            name: name.as_ptr(),
            size: of.size,
        };
        // SAFETY: the contract in the header covers that of `write_struct`.
        unsafe { write_struct(info, &value) }
    })
}

/// The memory of a global variable, as a buffer that keeps the executable loaded. NOT_FOUND lists the existing
/// variables. Each GPU of a device has a copy of its own: `affinity` is 0, or on a device of several GPUs the queues
/// of one. The caller owns the buffer.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_executable_global(
    executable: Option<NonNull<windlass_executable_t>>,
    name: *const c_char,
    affinity: u64,
    buffer: Option<&mut MaybeUninit<Option<NonNull<windlass_buffer_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(buffer, || {
            // SAFETY: the contract in the header covers that of `text`.
            let name = unsafe { text("name", name) }?;
            used(executable)?.global_on(name, QueueAffinity::from_bits(affinity))
        })
    })
}
