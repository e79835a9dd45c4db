// SPDX-License-Identifier: MIT OR Apache-2.0
//! The files from which the system's loader reads objects.

use std::{
    fs::File,
    io::Write,
    os::fd::{AsRawFd, OwnedFd},
    path::{Path, PathBuf},
};

use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use windlass_hal::{Error, Result};

/// `RTLD_NOLOAD` of Linux: returns a handle only for a library that is already loaded.
const RTLD_NOLOAD: i32 = 4;
/// The number of file descriptors to try before giving up on a path that the loader does not know.
const TRIES: usize = 256;

/// A file with the bytes of one object. While the file lives, its path names no other object to the loader.
pub(super) struct Backing {
    path: PathBuf,
    _keep: Keep,
}

/// The owner of the path: open descriptors, or a temporary file.
enum Keep {
    Memory { _file: File, _passed_over: Vec<OwnedFd> },
    Disk { _file: tempfile::TempPath },
}

impl Backing {
    /// Puts the bytes into memory, or into a temporary file if the system has no memory files or no `/proc`.
    pub(super) fn new(bytes: &[u8]) -> Result<Self> {
        Self::in_memory(bytes).map_or_else(|| Self::on_disk(bytes), Ok)
    }

    fn in_memory(bytes: &[u8]) -> Option<Self> {
        let file = memfd_create("windlass-kernels", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).ok()?;
        let mut file = File::from(file);
        file.write_all(bytes).ok()?;
        // Sealing keeps other code from shortening the file under the loader. An unsealed file is no worse than a
        // file on disk.
        let _ = fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE);
        // The loader knows libraries by path. Other code may have loaded from a memory file of this number and closed
        // it.
        let mut passed_over = Vec::new();
        for _ in 0..TRIES {
            let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
            if !path.exists() {
                return None;
            }
            if !is_known(&path) {
                return Some(Self { path, _keep: Keep::Memory { _file: file, _passed_over: passed_over } });
            }
            let next = file.try_clone().ok()?;
            passed_over.push(std::mem::replace(&mut file, next).into());
        }
        None
    }

    fn on_disk(bytes: &[u8]) -> Result<Self> {
        let failed = |error: std::io::Error| {
            Error::resource_exhausted(format!(
                "no place to load {} bytes of code from: {error}; mount /proc, or make room in {}",
                bytes.len(),
                std::env::temp_dir().display()
            ))
        };
        let mut file =
            tempfile::Builder::new().prefix("windlass-").suffix(".so").tempfile().map_err(failed)?;
        file.write_all(bytes).map_err(failed)?;
        let file = file.into_temp_path();
        Ok(Self { path: file.to_path_buf(), _keep: Keep::Disk { _file: file } })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Whether the loader has a library by this path.
fn is_known(path: &Path) -> bool {
    // SAFETY: the call loads nothing, and a library that is already loaded has run its constructors.
    unsafe { Library::open(Some(path), RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD) }.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_hold_the_bytes_at_paths_of_their_own() {
        for make in [
            |bytes: &[u8]| Backing::in_memory(bytes).unwrap(),
            |bytes: &[u8]| Backing::on_disk(bytes).unwrap(),
        ] {
            let (first, second) = (make(b"first"), make(b"second"));
            assert_eq!(std::fs::read(first.path()).unwrap(), b"first");
            assert_eq!(std::fs::read(second.path()).unwrap(), b"second");
            assert_ne!(first.path(), second.path());
        }
    }

    /// Other code may load from a memory file and close it. The next file then has the same descriptor number.
    #[test]
    fn a_path_that_the_loader_knows_is_passed_over() {
        let object = if cfg!(target_arch = "x86_64") {
            &include_bytes!("../../tests/native/provider.x86_64.so")[..]
        } else {
            include_bytes!("../../tests/native/provider.aarch64.so")
        };
        let first = Backing::in_memory(object).unwrap();
        let path = first.path().to_owned();
        // SAFETY: the object has two symbols and no constructors.
        let library = unsafe { Library::open(Some(&path), RTLD_LAZY | RTLD_LOCAL) }.unwrap();
        drop(first);
        let second = Backing::in_memory(object).unwrap();
        assert!(is_known(&path) && !is_known(second.path()));
        assert_ne!(second.path(), path);
        drop(library);
    }

    #[test]
    fn a_temporary_file_goes_with_its_object() {
        let path = Backing::on_disk(b"bytes").unwrap().path().to_owned();
        assert!(!path.exists());
    }
}
