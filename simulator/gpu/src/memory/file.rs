// SPDX-License-Identifier: MIT OR Apache-2.0
//! A file without a name, whose parts are memory without addresses. Linux has such files.

use std::sync::Arc;

#[cfg(target_os = "linux")]
pub(super) use rustix::fd::OwnedFd as File;
/// There are no such files.
#[cfg(not(target_os = "linux"))]
pub(super) enum File {}

/// The file of a memory, made when it is first needed.
#[derive(Default)]
pub(super) struct Store {
    pub(super) file: Option<Arc<File>>,
    /// Where the next memory begins. No place of the file is used twice, because a hole in it takes nothing.
    pub(super) next: u64,
}

#[cfg(target_os = "linux")]
pub(super) fn make() -> Result<File, String> {
    let made = rustix::fs::memfd_create("windlass-memory", rustix::fs::MemfdFlags::CLOEXEC);
    made.map_err(|error| format!("no file for virtual memory: {error}"))
}

#[cfg(target_os = "linux")]
pub(super) fn grow(file: &File, size: u64) -> Result<(), String> {
    rustix::fs::ftruncate(file, size).map_err(|error| format!("{size} bytes of virtual memory: {error}"))
}

#[cfg(target_os = "linux")]
pub(super) fn punch(file: &File, offset: u64, size: u64) {
    use rustix::fs::FallocateFlags as Flags;
    if let Err(error) = rustix::fs::fallocate(file, Flags::PUNCH_HOLE | Flags::KEEP_SIZE, offset, size) {
        tracing::warn!(target: "windlass::sim", %error, size, "virtual memory was not returned to the system");
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn make() -> Result<File, String> {
    Err("there is no virtual memory on this system".to_owned())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn grow(file: &File, _size: u64) -> Result<(), String> {
    match *file {}
}

#[cfg(not(target_os = "linux"))]
pub(super) fn punch(file: &File, _offset: u64, _size: u64) {
    match *file {}
}
