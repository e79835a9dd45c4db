// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code objects: readers, executables, symbols.

use std::ffi::{c_char, c_int, c_void};
use std::io;

use crate::hsa::abi::{
    Agent, CodeObjectReader, Executable, ExecutableSymbol, LoadedCodeObject, OnAgentSymbol, OnSymbol,
};
use crate::hsa::call::{Call, hsa};
use crate::hsa::info::Info;
use crate::hsa::status::{Outcome, Status};

use super::{each, text};

pub unsafe extern "C" fn hsa_code_object_reader_create_from_memory(
    code: *const c_void,
    size: usize,
    reader: *mut CodeObjectReader,
) -> Status {
    hsa!(hsa_code_object_reader_create_from_memory, |call| {
        if code.is_null() || size == 0 || reader.is_null() {
            return Err(Status::INVALID_ARGUMENT);
        }
        let count = u32::try_from(size).map_err(|_| Status::OUT_OF_RESOURCES)?;
        let bytes: Vec<u8> = call.list(code.cast(), count)?;
        call.put(reader, call.runtime.loader.read(bytes)?)
    })
}

pub unsafe extern "C" fn hsa_code_object_reader_create_from_file(
    file: c_int,
    reader: *mut CodeObjectReader,
) -> Status {
    hsa!(hsa_code_object_reader_create_from_file, |call| {
        if reader.is_null() {
            return Err(Status::INVALID_ARGUMENT);
        }
        let bytes = read_file(call, file, 0, None)?;
        call.put(reader, call.runtime.loader.read(bytes)?)
    })
}

/// Bytes of a file that the client has open, from an offset on. The position of the client's file stays.
pub(super) fn read_file(call: &Call, file: c_int, offset: u64, size: Option<usize>) -> Outcome<Vec<u8>> {
    match read_open_file(file, offset, size) {
        Ok(bytes) if size.is_none_or(|size| size == bytes.len()) && !bytes.is_empty() => Ok(bytes),
        Ok(_) => call.refuse(Status::INVALID_FILE, "the file ends before the code object does"),
        Err(error) => call.refuse(Status::INVALID_FILE, &format!("the file cannot be read: {error}")),
    }
}

#[cfg(unix)]
fn read_open_file(file: c_int, offset: u64, size: Option<usize>) -> io::Result<Vec<u8>> {
    use std::os::fd::FromRawFd as _;
    use std::os::unix::fs::FileExt as _;

    // SAFETY: the descriptor is a number to the system, which refuses a closed one.
    let own = unsafe { libc::fcntl(file, libc::F_DUPFD_CLOEXEC, 0) };
    if own < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a new descriptor that no other code has.
    let file = unsafe { std::fs::File::from_raw_fd(own) };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let rest = usize::try_from(metadata.len().saturating_sub(offset)).unwrap_or(usize::MAX);
    let mut bytes = vec![0; size.unwrap_or(rest).min(rest)];
    file.read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}

#[cfg(not(unix))]
fn read_open_file(_file: c_int, _offset: u64, _size: Option<usize>) -> io::Result<Vec<u8>> {
    Err(io::ErrorKind::Unsupported.into())
}

pub unsafe extern "C" fn hsa_code_object_reader_destroy(reader: CodeObjectReader) -> Status {
    hsa!(hsa_code_object_reader_destroy, |call| call.runtime.loader.destroy_reader(reader))
}

pub unsafe extern "C" fn hsa_executable_create(
    profile: u32,
    state: u32,
    _options: *const c_char,
    executable: *mut Executable,
) -> Status {
    hsa!(hsa_executable_create, |call| {
        if profile > 1 || state > 1 || executable.is_null() {
            return Err(Status::INVALID_ARGUMENT);
        }
        call.put(executable, call.runtime.loader.create(state == 1)?)
    })
}

pub unsafe extern "C" fn hsa_executable_create_alt(
    profile: u32,
    rounding: u32,
    _options: *const c_char,
    executable: *mut Executable,
) -> Status {
    hsa!(hsa_executable_create_alt, |call| {
        if profile > 1 || rounding > 2 || executable.is_null() {
            return Err(Status::INVALID_ARGUMENT);
        }
        call.put(executable, call.runtime.loader.create(false)?)
    })
}

pub unsafe extern "C" fn hsa_executable_destroy(executable: Executable) -> Status {
    hsa!(hsa_executable_destroy, |call| call.runtime.loader.destroy(executable))
}

pub unsafe extern "C" fn hsa_executable_load_agent_code_object(
    executable: Executable,
    agent: Agent,
    reader: CodeObjectReader,
    _options: *const c_char,
    loaded: *mut LoadedCodeObject,
) -> Status {
    hsa!(hsa_executable_load_agent_code_object, |call| {
        let gpu = call.runtime.gpu(agent)?;
        call.runtime.loader.load(executable, gpu, reader, call.describe())?;
        if loaded.is_null() {
            Ok(())
        } else {
            call.put(loaded, LoadedCodeObject { handle: executable.handle })
        }
    })
}

pub unsafe extern "C" fn hsa_executable_freeze(executable: Executable, _options: *const c_char) -> Status {
    hsa!(hsa_executable_freeze, |call| call.runtime.loader.executable(executable)?.freeze())
}

pub unsafe extern "C" fn hsa_executable_get_info(
    executable: Executable,
    attribute: u32,
    value: *mut c_void,
) -> Status {
    hsa!(hsa_executable_get_info, |call| {
        let executable = call.runtime.loader.executable(executable)?;
        let info = match attribute {
            // The full profile, and rounding to nearest.
            1 => 1,
            2 => u32::from(executable.is_frozen()),
            3 => 2,
            _ => return Err(Status::INVALID_ARGUMENT),
        };
        Info::U32(info).put(call, value)
    })
}

pub unsafe extern "C" fn hsa_executable_validate(executable: Executable, result: *mut u32) -> Status {
    hsa!(hsa_executable_validate, |call| validate(call, executable, result))
}

pub unsafe extern "C" fn hsa_executable_validate_alt(
    executable: Executable,
    _options: *const c_char,
    result: *mut u32,
) -> Status {
    hsa!(hsa_executable_validate_alt, |call| validate(call, executable, result))
}

fn validate(call: &Call, executable: Executable, result: *mut u32) -> Outcome<()> {
    call.runtime.loader.executable(executable)?;
    // Loading checks everything.
    call.put(result, 0)
}

pub unsafe extern "C" fn hsa_executable_global_variable_define(
    executable: Executable,
    name: *const c_char,
    address: *mut c_void,
) -> Status {
    hsa!(hsa_executable_global_variable_define, |call| define(call, executable, None, name, address))
}

pub unsafe extern "C" fn hsa_executable_agent_global_variable_define(
    executable: Executable,
    agent: Agent,
    name: *const c_char,
    address: *mut c_void,
) -> Status {
    hsa!(hsa_executable_agent_global_variable_define, |call| define(
        call,
        executable,
        Some(agent),
        name,
        address
    ))
}

pub unsafe extern "C" fn hsa_executable_readonly_variable_define(
    executable: Executable,
    agent: Agent,
    name: *const c_char,
    address: *mut c_void,
) -> Status {
    hsa!(hsa_executable_readonly_variable_define, |call| define(call, executable, Some(agent), name, address))
}

fn define(
    call: &Call,
    executable: Executable,
    agent: Option<Agent>,
    name: *const c_char,
    address: *mut c_void,
) -> Outcome<()> {
    let executable = call.runtime.loader.executable(executable)?;
    let gpu = agent.map(|agent| call.runtime.gpu(agent)).transpose()?;
    executable.define(gpu, &text(call, name)?, address as u64)
}

pub unsafe extern "C" fn hsa_executable_get_symbol(
    executable: Executable,
    _module: *const c_char,
    name: *const c_char,
    agent: Agent,
    _convention: i32,
    symbol: *mut ExecutableSymbol,
) -> Status {
    hsa!(hsa_executable_get_symbol, |call| find(call, executable, name, Some(agent), symbol))
}

pub unsafe extern "C" fn hsa_executable_get_symbol_by_name(
    executable: Executable,
    name: *const c_char,
    agent: *const Agent,
    symbol: *mut ExecutableSymbol,
) -> Status {
    hsa!(hsa_executable_get_symbol_by_name, |call| {
        let agent = if agent.is_null() { None } else { Some(call.read(agent)?) };
        find(call, executable, name, agent, symbol)
    })
}

fn find(
    call: &Call,
    executable: Executable,
    name: *const c_char,
    agent: Option<Agent>,
    symbol: *mut ExecutableSymbol,
) -> Outcome<()> {
    let executable = call.runtime.loader.executable(executable)?;
    let gpu = agent.map(|agent| call.runtime.gpu(agent)).transpose()?;
    call.put(symbol, executable.find(gpu, &text(call, name)?)?)
}

pub unsafe extern "C" fn hsa_executable_symbol_get_info(
    symbol: ExecutableSymbol,
    attribute: u32,
    value: *mut c_void,
) -> Status {
    hsa!(hsa_executable_symbol_get_info, |call| {
        call.runtime.loader.symbol(symbol)?.info(attribute)?.put(call, value)
    })
}

pub unsafe extern "C" fn hsa_executable_iterate_symbols(
    executable: Executable,
    callback: Option<OnSymbol>,
    data: *mut c_void,
) -> Status {
    hsa!(hsa_executable_iterate_symbols, |call| {
        let callback = callback.ok_or(Status::INVALID_ARGUMENT)?;
        let symbols = call.runtime.loader.executable(executable)?.symbols(None);
        // SAFETY: the caller gave function and data for these calls.
        each(call, symbols, |symbol| unsafe { callback(executable, symbol, data) })
    })
}

pub unsafe extern "C" fn hsa_executable_iterate_agent_symbols(
    executable: Executable,
    agent: Agent,
    callback: Option<OnAgentSymbol>,
    data: *mut c_void,
) -> Status {
    hsa!(hsa_executable_iterate_agent_symbols, |call| {
        let callback = callback.ok_or(Status::INVALID_ARGUMENT)?;
        let gpu = call.runtime.gpu(agent)?;
        let symbols = call.runtime.loader.executable(executable)?.symbols(Some(gpu));
        // SAFETY: the caller gave function and data for these calls.
        each(call, symbols, |symbol| unsafe { callback(executable, agent, symbol, data) })
    })
}

pub unsafe extern "C" fn hsa_executable_iterate_program_symbols(
    executable: Executable,
    callback: Option<OnSymbol>,
    _data: *mut c_void,
) -> Status {
    hsa!(hsa_executable_iterate_program_symbols, |call| {
        callback.ok_or(Status::INVALID_ARGUMENT)?;
        // Every symbol is an agent's, so there is none to report.
        call.runtime.loader.executable(executable).map(drop)
    })
}
