// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real kernels on the engine, against plain Rust.

mod basics;
mod gpu;
