// SPDX-License-Identifier: MIT OR Apache-2.0
//! `postfix://`: a machine that runs kernels in postfix notation. It is an example of a Windlass driver outside of
//! Windlass's repository.
//!
//! It is small, and no copy of another driver. It has its own address space, in which every access of a kernel is
//! checked. It has one stream with device edges, which one thread runs. Its [form of code](program) is one that no
//! GPU knows.
//!
//! | file | what is in it |
//! |---|---|
//! | `driver.rs` | URI to device, and what the device lacks |
//! | `device.rs` | the device's methods |
//! | `allocator.rs`, `buffer.rs` | the address space with its lookup of addresses, and one slab of it |
//! | `queues.rs`, `submit.rs` | the device's queues, and the way of an operation onto the stream |
//! | `stream.rs`, `queue.rs` | the stream, and the operations as it runs them |
//! | `command_buffer.rs` | recorded lists |
//! | `executable.rs`, `program.rs` | kernels, read from text |
//! | `machine.rs`, `words.rs` | kernels as they run |
//! | `tests/cts.rs`, `tests/kernels/` | the conformance suite in one line, and its kernels in this driver's form |

mod allocator;
mod buffer;
mod command_buffer;
mod device;
mod driver;
mod executable;
mod machine;
pub mod program;
mod queue;
mod queues;
mod stream;
mod submit;
mod words;

use std::sync::Arc;

use windlass_hal::Registry;

pub use driver::PostfixDriver;

/// The name of this form of code in `DeviceInfo::executable_formats`.
pub const FORMAT: &str = "postfix";

/// Adds `postfix://` to a registry.
pub fn register(registry: &mut Registry) {
    registry.register(Arc::new(PostfixDriver));
}
