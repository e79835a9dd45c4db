// SPDX-License-Identifier: MIT OR Apache-2.0
//! `postfix://`: a machine that runs kernels in postfix notation. It is an example of a Windlass driver outside of
//! Windlass's repository.
//!
//! It is small and was written from scratch. It has its own address space, in which every access of a kernel is
//! checked. It has one stream with device edges, which one thread runs. Its [code format](program) is not one of any
//! GPU.
//!
//! | file | contents |
//! |---|---|
//! | `driver.rs` | opens a device for a URI, and lists the features that it lacks |
//! | `device.rs` | the device's methods |
//! | `allocator.rs`, `buffer.rs` | the address space with its lookup of addresses, and one slab of it |
//! | `queues.rs`, `submit.rs` | the device's queues, and how an operation enters the stream |
//! | `stream.rs`, `queue.rs` | the stream, and the operations as it runs them |
//! | `command_buffer.rs` | recorded lists |
//! | `executable.rs`, `program.rs` | kernels, read from text |
//! | `dispatch.rs`, `words.rs` | kernels as they run |
//! | `tests/cts.rs`, `tests/kernels/` | the conformance suite in one line, and its kernels in this driver's form |

mod allocator;
mod buffer;
mod command_buffer;
mod device;
mod dispatch;
mod driver;
mod executable;
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
