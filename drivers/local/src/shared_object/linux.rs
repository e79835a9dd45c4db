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

use crate::executable::Part;
use backing::Backing;

/// Whether native code can be loaded here.
pub(crate) const fn is_available() -> bool {
    cfg!(target_endian = "little")
}

/// Loaded shared objects, which see each other's names. Dropping them unloads them.
pub(crate) struct SharedObjects {
    /// In this order they go: the objects, what holds them together, the files.
    parts: Vec<Library>,
    _scope: Option<Library>,
    _files: Vec<Backing>,
}

impl SharedObjects {
    /// Loads the parts, and runs their constructors. `NOT_FOUND` names each symbol that none of them and nothing else in
    /// the process defines.
    ///
    /// # Safety
    /// The parts are for this machine, and whoever gives them vouches for what their code does.
    pub(crate) unsafe fn load(parts: &[Part<'_>]) -> Result<Self> {
        let mut files = parts.iter().map(|part| Backing::new(&part.bytes)).collect::<Result<Vec<_>>>()?;
        let mut scope = None;
        if files.len() > 1 {
            let paths: Vec<&Path> = files.iter().map(Backing::path).collect();
            let file = Backing::new(&scope::image(&paths)?)?;
            // SAFETY: it holds no code; what it makes the loader load the caller vouches for.
            scope = Some(unsafe { open(file.path(), parts) }?);
            files.push(file);
        }
        let opened = files.iter().take(parts.len()).map(|file| {
            // SAFETY: the caller's promise, passed on.
            unsafe { open(file.path(), parts) }
        });
        Ok(Self { parts: opened.collect::<Result<_>>()?, _scope: scope, _files: files })
    }

    /// Where a part has the symbol that it exports under a name.
    pub(crate) fn address(&self, part: usize, name: &str) -> Option<NonNull<c_void>> {
        // SAFETY: nothing is done with the address here.
        let symbol = unsafe { self.parts.get(part)?.get::<*mut c_void>(name) };
        NonNull::new(symbol.ok()?.into_raw())
    }

    /// What the program and the libraries that it was started with have under a name: loaders prefer it to a part's own.
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

/// What to do about what the loader says, where that is known.
fn advice(said: &str) -> &'static str {
    match said.contains("TLS") {
        true => {
            "; compile with -ftls-model=global-dynamic, or keep less in thread-local variables: threads that are there \
             already have little room for more"
        }
        false => "",
    }
}

/// What the loader says, without what `libloading` says around it.
fn text_of(error: &libloading::Error) -> String {
    use std::error::Error as _;

    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}
