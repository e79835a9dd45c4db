// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions that MLIR's `gpu-to-llvm` lowering calls, over the HAL: `libwindlass_mgpu.so`, which takes the place of
//! MLIR's own ROCm runtime. `docs/mlir.md` shows how to use it. This page gives the reasons for its design.
//!
//! # A stream is a queue and a timeline
//!
//! Each operation of a stream waits for the point before it and signals the next one. An event is such a point. Only
//! calls that synchronize, load code, or take or return host memory wait for the device.
//!
//! # Handles are numbers
//!
//! A stream, an event, a module and a function are numbers that this library looks up, and that it never uses twice. So
//! a destroyed handle, or a number that never was a handle, gives an error message and no crash.
//!
//! # A failure ends the process
//!
//! The functions return nothing or a pointer, and generated code does not check the pointer. If the program went on, it
//! would print numbers that no kernel computed. So a failure is told on standard error, and the process ends:
//! `failure.rs`. This includes a kernel that fails long after its launch: an observer of the stream's timeline reports
//! that failure.
//!
//! # Unsafe code
//!
//! The callers' memory is read in `launch.rs`, `transfer.rs`, `module.rs` and `host_memory.rs`, under the contract that
//! MLIR's own runtime has: pointers are valid, and memory of asynchronous copies stays valid until the stream has
//! passed them.
#![allow(clippy::missing_safety_doc, reason = "the contract is MLIR's, and the same for every function")]
#![allow(clippy::too_many_arguments, reason = "the signatures are MLIR's")]

mod boundary;
pub mod device;
mod failure;
mod handles;
mod stream;

mod memory;
mod returned;

pub mod event;
pub mod host_memory;
pub mod launch;
pub mod module;
pub mod order;
pub mod storage;
pub mod transfer;
