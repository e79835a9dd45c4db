// SPDX-License-Identifier: MIT OR Apache-2.0
//! Between C and Rust: each call enters here, reads and writes the client's memory, and returns a status.

pub(crate) mod call;
mod client;
mod no_gpu;
pub(crate) mod target;
