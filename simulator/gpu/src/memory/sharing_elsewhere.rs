// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that processes share, on systems where there are none.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::file::File;

/// The kind of object in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Memory of a device.
    Memory,
    /// The words of an event.
    Event,
    /// A pool, known by its name alone.
    Pool,
}

/// A file that other processes may open.
pub struct SharedFile {
    /// The file.
    pub file: Arc<File>,
    /// Its bytes.
    pub size: u64,
}

impl std::fmt::Debug for SharedFile {
    fn fmt(&self, _f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self.file {}
    }
}

/// The way to a file of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket {
    /// The process that has the file.
    pub process: u32,
    /// Its bytes.
    pub size: u64,
    /// The byte that the handle stands for.
    pub offset: u64,
    /// The device in that process.
    pub device: u32,
}

/// The bytes of HIP's handles.
pub const TICKET: usize = 64;
/// Bytes of a file of words.
pub const WORDS: u64 = 4096;

fn none<T>() -> Result<T, String> {
    Err("processes share no memory of simulated GPUs on this system".to_owned())
}

/// Not here.
pub fn start_of(_process: u32) -> Option<u64> {
    None
}

impl SharedFile {
    /// Not here.
    pub fn new(_content: Content, _size: u64) -> Result<Self, String> {
        none()
    }

    /// Not here.
    pub fn open(_content: Content, _ticket: &Ticket) -> Result<Self, String> {
        none()
    }

    /// Not here.
    pub fn from_descriptor(_content: Content, _descriptor: i32) -> Result<Self, String> {
        none()
    }

    /// Not here.
    pub fn descriptor(&self) -> Result<i32, String> {
        match *self.file {}
    }

    /// Not here.
    pub fn ticket(&self, _size: u64, _offset: u64, _device: usize) -> Ticket {
        match *self.file {}
    }

    /// Not here.
    pub fn write(&self, _at: u64, _bytes: &[u8]) -> Result<(), String> {
        match *self.file {}
    }
}

impl Ticket {
    /// The bytes of a handle.
    pub fn to_bytes(self) -> [u8; TICKET] {
        [0; TICKET]
    }

    /// `None` for bytes that are no ticket.
    pub fn from_bytes(_bytes: &[u8; TICKET]) -> Option<Self> {
        None
    }
}

#[derive(Debug)]
pub struct SharedWords {
    /// The file of the words.
    pub file: SharedFile,
}

impl SharedWords {
    /// Not here.
    pub fn new(file: SharedFile) -> Result<Self, String> {
        match *file.file {}
    }

    /// Not here.
    pub fn word(&self, _index: usize) -> &AtomicU64 {
        match *self.file.file {}
    }
}
