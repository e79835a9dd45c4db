// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of a stream that is decoded in part.

use super::decoder::Decoder;
use super::input::Input;
use super::output::Output;
use crate::error::Error;

/// How far a stream is decoded.
#[derive(Default)]
pub(super) struct DecodeProgress {
    pub(super) decoder: Option<Box<dyn Decoder>>,
    /// Whether the stream was restarted with memory for the declared size, because enough output had proven that size.
    pub(super) believed: bool,
    pub(super) input: Input,
    /// Input bytes used.
    pub(super) consumed: usize,
    pub(super) out: Output,
    pub(super) ended: bool,
    pub(super) failed: Option<Error>,
}

impl DecodeProgress {
    /// Whether the stream has ended or failed.
    pub(super) fn is_over(&self) -> bool {
        self.ended || self.failed.is_some()
    }
}
