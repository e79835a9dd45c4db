// SPDX-License-Identifier: MIT OR Apache-2.0
//! The library, and the two things that every call needs: its errors, and its handles.

use std::{
    ffi::{CStr, CString},
    path::Path,
    ptr::{self, NonNull},
    sync::OnceLock,
};

use windlass_hal::{Code, Error, Result};

use crate::bindings::*;

static LIBRARY: OnceLock<Library> = OnceLock::new();

/// Loads the library once.
pub(crate) fn load(path: &Path) -> std::result::Result<(), libloading::Error> {
    // SAFETY: the library is the one of this package.
    let library = unsafe { Library::new(path) }?;
    LIBRARY.get_or_init(|| library);
    Ok(())
}

pub(crate) fn api() -> &'static Library {
    LIBRARY.get().expect("main loads the library first")
}

/// The result of a call that returns an error object, which this releases.
pub(crate) fn check(error: *mut windlass_error_t) -> Result<()> {
    if error.is_null() {
        return Ok(());
    }
    let failure = error_of(error);
    // SAFETY: the caller owns the error of a failed call.
    unsafe { api().windlass_error_release(error) };
    Err(failure)
}

/// An error of the library's as one of the HAL's.
pub(crate) fn error_of(error: *mut windlass_error_t) -> Error {
    // SAFETY: an error is valid until it is released, and its message as long.
    let (code, message) =
        unsafe { (api().windlass_error_code(error), text(api().windlass_error_message(error))) };
    let code = Code::from_number(code).unwrap_or(Code::Unknown);
    let message = message.strip_prefix(&format!("{}: ", code.name())).unwrap_or(&message);
    Error::new(code, message)
}

/// A string of the library's.
pub(crate) fn text(string: *const std::ffi::c_char) -> String {
    if string.is_null() {
        return String::new();
    }
    // SAFETY: strings of the library end with a NUL, and live as long as their object.
    unsafe { CStr::from_ptr(string) }.to_string_lossy().into_owned()
}

pub(crate) fn c_string(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::invalid_argument(format!("`{text}` has a NUL")))
}

/// A reference to an object of the library.
pub(crate) struct Handle<T> {
    pointer: NonNull<T>,
    release: unsafe fn(*mut T),
}

// SAFETY: by the header, any function may be called with any object from any thread.
unsafe impl<T> Send for Handle<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Handle<T> {}

impl<T> Handle<T> {
    /// Takes over the reference that a call writes to its out parameter.
    pub(crate) fn from(
        release: unsafe fn(*mut T),
        make: impl FnOnce(*mut *mut T) -> *mut windlass_error_t,
    ) -> Result<Self> {
        let mut pointer = ptr::null_mut();
        check(make(&mut pointer))?;
        let pointer =
            NonNull::new(pointer).ok_or_else(|| Error::internal("a handle of NULL without an error"))?;
        Ok(Self { pointer, release })
    }

    pub(crate) fn get(&self) -> *mut T {
        self.pointer.as_ptr()
    }
}

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        // SAFETY: this owns one reference.
        unsafe { (self.release)(self.pointer.as_ptr()) };
    }
}

macro_rules! release {
    ($($name:ident: $type:ident => $function:ident,)*) => {
        $(pub(crate) unsafe fn $name(object: *mut $type) {
            // SAFETY: the caller owns a reference.
            unsafe { api().$function(object) };
        })*
    };
}

release! {
    device: windlass_device_t => windlass_device_release,
    queue: windlass_queue_t => windlass_queue_release,
    buffer: windlass_buffer_t => windlass_buffer_release,
    channel: windlass_channel_t => windlass_channel_release,
    growable: windlass_growable_t => windlass_growable_release,
    topology: windlass_topology_t => windlass_topology_release,
    executable: windlass_executable_t => windlass_executable_release,
    function: windlass_function_t => windlass_function_release,
    semaphore: windlass_semaphore_t => windlass_semaphore_release,
    observation: windlass_observation_t => windlass_observation_release,
    recorder: windlass_recorder_t => windlass_recorder_release,
    command_buffer: windlass_command_buffer_t => windlass_command_buffer_release,
    symbol_list: windlass_symbol_list_t => windlass_symbol_list_release,
}

/// A struct with its size, and zeros otherwise, as the header's functions make it.
macro_rules! sized {
    ($type:ident) => {
        $type { struct_size: size_of::<$type>(), ..$type::default() }
    };
}
pub(crate) use sized;
