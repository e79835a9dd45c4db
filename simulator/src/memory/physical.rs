// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory without addresses, which can be mapped to reserved addresses, several times at once.
//!
//! It is a part of a file without a name. The bytes behind reserved addresses lie in one row, as the addresses do. So an
//! access may cross from one mapping to the next.

use std::sync::{Arc, PoisonError};

use super::{Memory, MemoryError};

#[cfg(target_os = "linux")]
pub(super) use rustix::fd::OwnedFd as File;
/// There are no such files.
#[cfg(not(target_os = "linux"))]
pub(super) enum File {}

/// The file of a memory, made when it is first needed.
#[derive(Default)]
pub(super) struct Store {
    file: Option<Arc<File>>,
    /// Where the next memory begins. No place of the file is used twice, because a hole in it takes nothing.
    next: u64,
}

/// Memory without addresses. Fresh memory is zero. It is freed with this object and its last mapping.
pub(crate) struct Physical {
    pub(super) file: Arc<File>,
    pub(super) offset: u64,
    pub(crate) size: u64,
}

impl Memory {
    /// Whether there is memory without addresses on this system.
    pub(crate) const HAS_PHYSICAL: bool = cfg!(target_os = "linux");

    /// Makes memory without addresses. `size` is a multiple of a page.
    ///
    /// # Errors
    /// [`MemoryError::Reservation`] if the system makes no such file.
    pub(crate) fn physical(&self, size: u64) -> Result<Physical, MemoryError> {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = |reason| MemoryError::Reservation { reason };
        let end = store.next.checked_add(size).filter(|end| i64::try_from(*end).is_ok());
        let end = end.ok_or_else(|| failed(format!("{size} bytes are more than a file has")))?;
        let file = match &store.file {
            Some(file) => file.clone(),
            None => Arc::new(make().map_err(failed)?),
        };
        grow(&file, end).map_err(failed)?;
        let offset = std::mem::replace(&mut store.next, end);
        store.file = Some(file.clone());
        Ok(Physical { file, offset, size })
    }
}

impl Drop for Physical {
    fn drop(&mut self) {
        punch(&self.file, self.offset, self.size);
    }
}

#[cfg(target_os = "linux")]
fn make() -> Result<File, String> {
    let made = rustix::fs::memfd_create("windlass-memory", rustix::fs::MemfdFlags::CLOEXEC);
    made.map_err(|error| format!("no file for virtual memory: {error}"))
}

#[cfg(target_os = "linux")]
fn grow(file: &File, size: u64) -> Result<(), String> {
    rustix::fs::ftruncate(file, size).map_err(|error| format!("{size} bytes of virtual memory: {error}"))
}

#[cfg(target_os = "linux")]
fn punch(file: &File, offset: u64, size: u64) {
    use rustix::fs::FallocateFlags as Flags;
    if let Err(error) = rustix::fs::fallocate(file, Flags::PUNCH_HOLE | Flags::KEEP_SIZE, offset, size) {
        tracing::warn!(target: "windlass::sim", %error, size, "virtual memory was not returned to the system");
    }
}

#[cfg(not(target_os = "linux"))]
fn make() -> Result<File, String> {
    Err("there is no virtual memory on this system".to_owned())
}

#[cfg(not(target_os = "linux"))]
fn grow(file: &File, _size: u64) -> Result<(), String> {
    match *file {}
}

#[cfg(not(target_os = "linux"))]
fn punch(file: &File, _offset: u64, _size: u64) {
    match *file {}
}
