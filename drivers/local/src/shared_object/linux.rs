// SPDX-License-Identifier: MIT OR Apache-2.0
//! `dlopen` of files in memory.

use std::{ffi::c_void, path::Path, ptr::NonNull};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use windlass_hal::{Code, Error, Result};

#[path = "backing.rs"]
mod backing;
#[path = "missing.rs"]
mod missing;
#[path = "scope.rs"]
mod scope;

use crate::shared_object::host_code::Part;
use backing::Backing;

/// Whether this system can load shared objects.
pub(crate) const fn is_available() -> bool {
    cfg!(target_endian = "little")
}

/// Loaded shared objects that see each other's names. Dropping them unloads them.
pub(crate) struct SharedObjects {
    /// The fields drop in this order: the objects, the scope that holds them together, the files.
    parts: Vec<Library>,
    _scope: Option<Library>,
    _files: Vec<Backing>,
}

impl SharedObjects {
    /// Loads the parts and runs their constructors. `NOT_FOUND` names each symbol that neither the parts nor the
    /// process defines.
    ///
    /// # Safety
    /// The parts are for this machine, and the caller vouches for the behaviour of their code.
    pub(crate) unsafe fn load(parts: &[Part<'_>]) -> Result<Self> {
        let mut files = parts.iter().map(|part| Backing::new(&part.bytes)).collect::<Result<Vec<_>>>()?;
        let mut scope = None;
        if files.len() > 1 {
            let paths: Vec<&Path> = files.iter().map(Backing::path).collect();
            let file = Backing::new(&scope::image(&paths)?)?;
            // SAFETY: the scope object holds no code. The caller vouches for the parts that it makes the loader load.
            scope = Some(unsafe { open(file.path(), parts) }?);
            files.push(file);
        }
        let opened = files.iter().take(parts.len()).map(|file| {
            // SAFETY: the caller's promise, passed on.
            unsafe { open(file.path(), parts) }
        });
        Ok(Self { parts: opened.collect::<Result<_>>()?, _scope: scope, _files: files })
    }

    /// The address of a symbol that a part exports.
    pub(crate) fn address(&self, part: usize, name: &str) -> Option<NonNull<c_void>> {
        // SAFETY: nothing is done with the address here.
        let symbol = unsafe { self.parts.get(part)?.get::<*mut c_void>(name) };
        NonNull::new(symbol.ok()?.into_raw())
    }

    /// The address of a symbol of the program or of a library that it was started with. Loaders prefer it to a part's
    /// own.
    pub(crate) fn address_in_process(&self, name: &str) -> Option<NonNull<c_void>> {
        // SAFETY: nothing is done with the address here.
        let symbol = unsafe { Library::this().get::<*mut c_void>(name) };
        NonNull::new(symbol.ok()?.into_raw())
    }
}

/// # Safety
/// As [`SharedObjects::load`].
unsafe fn open(path: &Path, parts: &[Part<'_>]) -> Result<Library> {
    // SAFETY: the caller's promise, passed on.
    let opened = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
    opened.map_err(|error| {
        let refused = || {
            let names: Vec<_> = parts.iter().map(|part| part.name.as_str()).collect();
            let said = text_of(&error);
            let advice = advice(&said);
            let text = format!("the system's loader refuses {}: {said}{advice}", names.join(", "));
            Error::new(Code::FailedPrecondition, text)
        };
        missing::error(parts).unwrap_or_else(refused)
    })
}

/// Advice for a known error of the loader.
fn advice(said: &str) -> &'static str {
    match said.contains("TLS") {
        true => {
            "; compile with -ftls-model=global-dynamic, or keep less in thread-local variables: threads that are there \
             already have little room for more"
        }
        false => "",
    }
}

/// The loader's own error text, without the words of `libloading`.
fn text_of(error: &libloading::Error) -> String {
    use std::error::Error as _;

    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}
