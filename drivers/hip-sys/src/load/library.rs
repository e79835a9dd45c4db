// SPDX-License-Identifier: MIT OR Apache-2.0
//! A shared library of this process that is never closed.

use std::ffi::{CStr, OsStr, c_void};
use std::path::PathBuf;

#[cfg(unix)]
use libloading::os::unix as os;
#[cfg(windows)]
use libloading::os::windows as os;

/// Whether a library may be loaded, or must be in the process already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    Load,
    OnlyIfLoaded,
}

/// A library that is never closed.
pub(crate) struct Library(core::mem::ManuallyDrop<os::Library>);

impl Library {
    /// Opens the library `name`: a path if it contains a separator, otherwise a name for the system's search.
    ///
    /// # Errors
    ///
    /// The system's message.
    ///
    /// # Safety
    ///
    /// The library's initialisers must be sound to run.
    pub(crate) unsafe fn open(name: &OsStr, opening: Opening) -> Result<Self, String> {
        // SAFETY: the caller vouches for the library.
        let library = unsafe { open(name, opening) };
        library.map(|library| Self(core::mem::ManuallyDrop::new(library))).map_err(|error| describe(&error))
    }

    /// The address of a symbol; `None` if the symbol is absent or null.
    pub(crate) fn address(&self, name: &CStr) -> Option<*const c_void> {
        // SAFETY: the symbol is used only as an address.
        let symbol = unsafe { self.0.get::<*const c_void>(name.to_bytes_with_nul()) }.ok()?;
        let address = symbol.as_raw_ptr().cast_const();
        (!address.is_null()).then_some(address)
    }
}

/// The system's message, which libloading keeps as the source of its own error.
fn describe(error: &libloading::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => source.to_string(),
        None => error.to_string(),
    }
}

/// # Safety
///
/// The library's initialisers must be sound to run.
#[cfg(unix)]
unsafe fn open(name: &OsStr, opening: Opening) -> Result<os::Library, libloading::Error> {
    let flags = match opening {
        Opening::Load => libc::RTLD_NOW | libc::RTLD_LOCAL,
        Opening::OnlyIfLoaded => libc::RTLD_NOW | libc::RTLD_LOCAL | libc::RTLD_NOLOAD,
    };
    // SAFETY: the caller vouches for the library.
    unsafe { os::Library::open(Some(name), flags) }
}

/// # Safety
///
/// The library's initialisers must be sound to run.
#[cfg(windows)]
unsafe fn open(name: &OsStr, opening: Opening) -> Result<os::Library, libloading::Error> {
    match opening {
        // SAFETY: the caller vouches for the library.
        Opening::Load => unsafe { os::Library::new(name) },
        Opening::OnlyIfLoaded => os::Library::open_already_loaded(name),
    }
}

/// The file with the code at `address`, if the system tells.
#[cfg(unix)]
pub(crate) fn path_of(address: *const c_void) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;

    let mut found = core::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address is valid to ask for; the result goes to a local.
    let known = unsafe { libc::dladdr(address, found.as_mut_ptr()) } != 0;
    // SAFETY: zeroed is a valid Dl_info, and dladdr has written it.
    let found = unsafe { found.assume_init() };
    if !known || found.dli_fname.is_null() {
        return None;
    }
    // SAFETY: dladdr gave a C string that lives as long as its library, which is never closed.
    let name = unsafe { CStr::from_ptr(found.dli_fname) };
    Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}

/// The file with the code at `address`, if the system tells.
#[cfg(windows)]
pub(crate) fn path_of(_address: *const c_void) -> Option<PathBuf> {
    None
}
