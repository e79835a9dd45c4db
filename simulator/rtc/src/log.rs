// SPDX-License-Identifier: MIT OR Apache-2.0
//! The target of this crate's messages.

/// hipRTC's calls and compilers.
pub(crate) const TARGET: &str = "windlass::sim";
