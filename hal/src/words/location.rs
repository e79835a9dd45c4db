// SPDX-License-Identifier: MIT OR Apache-2.0
//! The place of memory as other libraries of the process name it.

/// The device on which another library of this process finds an allocation. Arrays that libraries exchange name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Location {
    /// Memory of the process: device addresses are its pointers.
    Host,
    /// The own memory of a GPU, by HIP's number for it.
    Rocm(i32),
    /// Memory of the process that HIP has pinned.
    RocmHost,
}
