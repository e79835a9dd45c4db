// SPDX-License-Identifier: MIT OR Apache-2.0
//! `postfix://`: a machine that runs kernels in postfix notation, as an example of a Windlass driver that lives outside of
//! Windlass.
//!
//! It is small, and it is no copy of another driver. It has an address space of its own, in which every access of a kernel
//! is checked; a stream, worked off by one thread, with device edges; and a [form of code](program) that no GPU knows.
//!
//! | file | what is in it |
//! |---|---|
//! | `driver.rs` | URI to device, and what the device lacks |
//! | `device.rs` | the device's methods |
//! | `allocator.rs` | the address space: slabs, buffers, the lookup of an address |
//! | `queue.rs`, `stream.rs` | how an operation gets onto the stream, and what happens to it there |
//! | `command_buffer.rs` | recorded lists |
//! | `executable.rs`, `program.rs` | kernels, read from text |
//! | `machine.rs`, `words.rs` | kernels as they run |
//! | `tests/cts.rs`, `tests/kernels/` | the conformance suite in one line, and its kernels in this driver's form |

mod allocator;
mod command_buffer;
mod device;
mod driver;
mod executable;
mod machine;
pub mod program;
mod queue;
mod stream;
mod words;

use std::sync::Arc;

use windlass_hal::Registry;

pub use driver::PostfixDriver;

/// The name of this form of code, as `DeviceInfo::executable_formats` has it.
pub const FORMAT: &str = "postfix";

/// Adds `postfix://` to a registry.
pub fn register(registry: &mut Registry) {
    registry.register(Arc::new(PostfixDriver));
}
