// SPDX-License-Identifier: MIT OR Apache-2.0
//! The extension that loads code objects (`hsa_ven_amd_loader`), whose functions clients get as a table.

use std::ffi::{c_int, c_void};

use crate::hsa::abi::{CodeObjectReader, Executable, LoadedCodeObject};
use crate::hsa::call::{Call, hsa};
use crate::hsa::status::{Outcome, Status};

use super::code::read_file;

/// The functions, in the order of `hsa_ven_amd_loader_1_03_pfn_t`.
fn functions() -> [*const c_void; 7] {
    [
        query_host_address as *const c_void,
        query_segment_descriptors as *const c_void,
        query_executable as *const c_void,
        iterate_loaded_code_objects as *const c_void,
        loaded_code_object_get_info as *const c_void,
        reader_create_from_file_with_offset_size as *const c_void,
        iterate_executables as *const c_void,
    ]
}

/// Bytes of the table of a minor version.
pub(super) fn length(minor: u16) -> usize {
    let functions = match minor {
        0 => 3,
        1 => 5,
        2 => 6,
        _ => 7,
    };
    functions * size_of::<*const c_void>()
}

/// Writes as much of the table as fits.
pub(super) fn put(call: &Call, table: *mut c_void, length: usize) -> Outcome<()> {
    let table: *mut *const c_void = table.cast();
    let fit = length / size_of::<*const c_void>();
    for (index, function) in functions().into_iter().enumerate().take(fit) {
        call.put(table.wrapping_add(index), function)?;
    }
    Ok(())
}

unsafe extern "C" fn query_host_address(device: *const c_void, host: *mut *const c_void) -> Status {
    hsa!(hsa_ven_amd_loader_query_host_address, |call| {
        let address = call.runtime.memory.host_address(device as u64).ok_or(Status::INVALID_ARGUMENT)?;
        call.put(host, address as *const c_void)
    })
}

unsafe extern "C" fn query_segment_descriptors(_descriptors: *mut c_void, count: *mut usize) -> Status {
    // The descriptors are for debuggers; there are none.
    hsa!(hsa_ven_amd_loader_query_segment_descriptors, |call| call.put(count, 0))
}

unsafe extern "C" fn query_executable(_device: *const c_void, _executable: *mut Executable) -> Status {
    hsa!(hsa_ven_amd_loader_query_executable, |call| {
        call.refuse(Status::INVALID_ARGUMENT, "the simulated GPU cannot look up the executable of an address")
    })
}

unsafe extern "C" fn iterate_loaded_code_objects(
    executable: Executable,
    _callback: *const c_void,
    _data: *mut c_void,
) -> Status {
    hsa!(hsa_ven_amd_loader_executable_iterate_loaded_code_objects, |call| {
        // Loaded code objects are for profilers; there are none.
        call.runtime.loader.executable(executable).map(drop)
    })
}

unsafe extern "C" fn loaded_code_object_get_info(
    _object: LoadedCodeObject,
    _attribute: u32,
    _value: *mut c_void,
) -> Status {
    hsa!(hsa_ven_amd_loader_loaded_code_object_get_info, |call| {
        call.refuse(Status::INVALID_CODE_OBJECT, "the simulated GPU has no handles of loaded code objects")
    })
}

unsafe extern "C" fn reader_create_from_file_with_offset_size(
    file: c_int,
    offset: usize,
    size: usize,
    reader: *mut CodeObjectReader,
) -> Status {
    hsa!(hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size, |call| {
        if reader.is_null() {
            return Err(Status::INVALID_ARGUMENT);
        }
        let bytes = read_file(call, file, offset as u64, Some(size))?;
        call.put(reader, call.runtime.loader.read(bytes)?)
    })
}

unsafe extern "C" fn iterate_executables(_callback: *const c_void, _data: *mut c_void) -> Status {
    hsa!(hsa_ven_amd_loader_iterate_executables, |call| {
        call.refuse(Status::ERROR, "the simulated GPU does not list executables")
    })
}
