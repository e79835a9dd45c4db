// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interface of a streaming decoder.

use crate::error::Error;

/// The result of one call of a decoder.
pub(super) struct DecodeStep {
    /// Input bytes used.
    pub(super) consumed: usize,
    /// Whether the stream is over.
    pub(super) ended: bool,
}

/// A streaming decoder.
pub(super) trait Decoder: Send {
    /// Appends to `out` within its capacity. At most about a megabyte of the output lies behind the `wanted` bytes,
    /// since no reader may ask for it.
    fn step(&mut self, input: &[u8], out: &mut Vec<u8>, wanted: usize) -> Result<DecodeStep, String>;
}

/// Why the end of a stream was not found.
pub(crate) enum Unmeasured {
    /// The reader's error.
    Unreadable(Error),
    /// The fault of the stream.
    Broken(String),
}
