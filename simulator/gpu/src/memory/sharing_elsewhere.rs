// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that processes share, on systems where there are none.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::file::File;

/// See the file for Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    Memory,
    Event,
    Pool,
}

pub struct SharedFile {
    pub file: Arc<File>,
    pub size: u64,
}

impl std::fmt::Debug for SharedFile {
    fn fmt(&self, _f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self.file {}
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket {
    pub process: u32,
    pub size: u64,
    pub offset: u64,
    pub device: u32,
}

pub const TICKET: usize = 64;
pub const WORDS: u64 = 4096;

fn none<T>() -> Result<T, String> {
    Err("processes share no memory of simulated GPUs on this system".to_owned())
}

pub fn start_of(_process: u32) -> Option<u64> {
    None
}

impl SharedFile {
    pub fn new(_content: Content, _size: u64) -> Result<Self, String> {
        none()
    }

    pub fn open(_content: Content, _ticket: &Ticket) -> Result<Self, String> {
        none()
    }

    pub fn from_descriptor(_content: Content, _descriptor: i32) -> Result<Self, String> {
        none()
    }

    pub fn descriptor(&self) -> Result<i32, String> {
        match *self.file {}
    }

    pub fn ticket(&self, _size: u64, _offset: u64, _device: usize) -> Ticket {
        match *self.file {}
    }

    pub fn write(&self, _at: u64, _bytes: &[u8]) -> Result<(), String> {
        match *self.file {}
    }
}

impl Ticket {
    pub fn to_bytes(self) -> [u8; TICKET] {
        [0; TICKET]
    }

    pub fn from_bytes(_bytes: &[u8; TICKET]) -> Option<Self> {
        None
    }
}

#[derive(Debug)]
pub struct SharedWords {
    pub file: SharedFile,
}

impl SharedWords {
    pub fn new(file: SharedFile) -> Result<Self, String> {
        match *file.file {}
    }

    pub fn word(&self, _index: usize) -> &AtomicU64 {
        match *self.file.file {}
    }
}
