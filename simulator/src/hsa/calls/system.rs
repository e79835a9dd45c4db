// SPDX-License-Identifier: MIT OR Apache-2.0
//! The runtime: start and end, attributes, and extensions.

use std::ffi::{c_char, c_void};

use crate::hsa::call::hsa;
use crate::hsa::explain::tell_of_lack;
use crate::hsa::info::Info;
use crate::hsa::runtime;
use crate::hsa::status::Status;

use super::loader_extension;

/// The loader extension, the only one.
const LOADER: u16 = 0x201;

pub unsafe extern "C" fn hsa_init() -> Status {
    if let Err(status) = runtime::init() {
        return status;
    }
    let status = hsa!(hsa_init, |_call| Ok(()));
    if status != Status::SUCCESS {
        // An injected failure: the call must have no effect, so its reference is dropped again.
        let _ = runtime::shut_down().map(|last| last.inspect(|last| last.shut_down()));
    }
    status
}

pub unsafe extern "C" fn hsa_shut_down() -> Status {
    let mut last = None;
    let status = hsa!(hsa_shut_down, |_call| {
        last = runtime::shut_down()?;
        Ok(())
    });
    // The call has ended: under a seed, it has left the stage.
    if let Some(last) = last {
        last.shut_down();
    }
    status
}

pub unsafe extern "C" fn hsa_status_string(status: Status, text: *mut *const c_char) -> Status {
    let (Some(known), false) = (status.text(), text.is_null()) else { return Status::INVALID_ARGUMENT };
    // SAFETY: not null, and the caller guarantees it.
    unsafe { text.write(known.as_ptr()) };
    Status::SUCCESS
}

pub unsafe extern "C" fn hsa_system_get_info(attribute: u32, value: *mut c_void) -> Status {
    hsa!(hsa_system_get_info, |call| {
        let info = match attribute {
            0 | 1 => Info::U16(1),
            2 => Info::U64(call.runtime.now()),
            3 => Info::U64(1_000_000_000),
            4 => Info::U64(u64::MAX),
            // Little-endian, the large machine model.
            5 => Info::U32(0),
            6 => Info::U32(1),
            7 => {
                let mut extensions = vec![0_u8; 128];
                extensions[usize::from(LOADER) / 8] |= 1 << (LOADER % 8);
                Info::Bytes(extensions)
            }
            0x200 => {
                let version = concat!(env!("CARGO_PKG_VERSION"), "-windlass\0");
                // The value is a pointer to the text.
                Info::U64(version.as_ptr() as u64)
            }
            // Virtual memory is supported. Shared virtual memory, waits in hardware, DMA buffers and retried
            // faults are not.
            0x205 => Info::Bool(true),
            0x201..=0x206 => Info::Bool(false),
            0x207 => Info::U16(1),
            0x208 => Info::U16(5),
            _ => return Err(Status::INVALID_ARGUMENT),
        };
        info.put(call, value)
    })
}

pub unsafe extern "C" fn hsa_extension_get_name(extension: u16, name: *mut *const c_char) -> Status {
    hsa!(hsa_extension_get_name, |call| {
        let known = match extension {
            0 => c"HSA_EXTENSION_FINALIZER",
            1 => c"HSA_EXTENSION_IMAGES",
            2 => c"HSA_EXTENSION_PERFORMANCE_COUNTERS",
            3 => c"HSA_EXTENSION_PROFILING_EVENTS",
            0x200 => c"HSA_EXTENSION_AMD_PROFILER",
            LOADER => c"HSA_EXTENSION_AMD_LOADER",
            0x202 => c"HSA_EXTENSION_AMD_AQLPROFILE",
            0x203 => c"HSA_EXTENSION_AMD_PC_SAMPLING",
            _ => return Err(Status::INVALID_ARGUMENT),
        };
        call.put(name, known.as_ptr())
    })
}

pub unsafe extern "C" fn hsa_system_extension_supported(
    extension: u16,
    major: u16,
    minor: u16,
    result: *mut bool,
) -> Status {
    hsa!(hsa_system_extension_supported, |call| {
        call.put(result, extension == LOADER && major == 1 && minor <= 3)
    })
}

pub unsafe extern "C" fn hsa_system_major_extension_supported(
    extension: u16,
    major: u16,
    minor: *mut u16,
    result: *mut bool,
) -> Status {
    hsa!(hsa_system_major_extension_supported, |call| {
        let supported = extension == LOADER && major == 1;
        call.put(minor, if supported { 3 } else { 0 })?;
        call.put(result, supported)
    })
}

pub unsafe extern "C" fn hsa_system_get_extension_table(
    extension: u16,
    major: u16,
    minor: u16,
    table: *mut c_void,
) -> Status {
    hsa!(hsa_system_get_extension_table, |call| {
        if extension != LOADER || major != 1 || minor > 3 {
            return call.refuse(
                Status::INVALID_ARGUMENT,
                &format!("there is no extension {extension:#x} {major}.{minor}"),
            );
        }
        loader_extension::put(call, table, loader_extension::length(minor))
    })
}

pub unsafe extern "C" fn hsa_system_get_major_extension_table(
    extension: u16,
    major: u16,
    length: usize,
    table: *mut c_void,
) -> Status {
    hsa!(hsa_system_get_major_extension_table, |call| {
        if extension != LOADER || major != 1 {
            return call
                .refuse(Status::INVALID_ARGUMENT, &format!("there is no extension {extension:#x} {major}"));
        }
        loader_extension::put(call, table, length)
    })
}

pub unsafe extern "C" fn hsa_amd_enable_logging(_flags: *mut u8, _file: *mut c_void) -> Status {
    // WINDLASS_LOG selects the logged events.
    Status::SUCCESS
}

/// Refuses a function that the simulator lacks, with HSA's status for that.
pub fn refused(name: &'static str, status: Status) -> Status {
    tell_of_lack(name);
    status
}
