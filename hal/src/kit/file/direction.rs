// SPDX-License-Identifier: MIT OR Apache-2.0
//! The direction of a transfer.

/// The direction in which the bytes go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// From the file to the buffer.
    Read,
    /// From the buffer to the file.
    Write,
}
