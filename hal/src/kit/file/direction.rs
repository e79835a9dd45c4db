// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which way the bytes of a transfer go.

/// Which way the bytes go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// From the file to the buffer.
    Read,
    /// From the buffer to the file.
    Write,
}
