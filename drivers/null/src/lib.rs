// SPDX-License-Identifier: MIT OR Apache-2.0
//! The null driver: `null://`, and the skeleton to copy for a Windlass driver of your own.
//!
//! It is a correct driver for everything that costs nothing to have. Semaphores, edges, transfers over host
//! memory, command buffers, host calls and files work, and the conformance suite holds it to them. It runs no
//! kernels, and says so beforehand.
//!
//! ```
//! use windlass_hal::{Registry, Semaphore};
//! let mut registry = Registry::new();
//! windlass_null::register(&mut registry);
//! let device = registry.open("null://")?;
//! let buffer = device.allocate_device(16)?;
//! let filled = Semaphore::new(0);
//! device.queue(0)?.fill(&[], &[filled.at(1)], &buffer, 7_u32)?;
//! let bytes = pollster::block_on(device.queue(0)?.download(&[filled.at(1)], &buffer)?)?;
//! assert_eq!(bytes[..4], [7, 0, 0, 0]);
//! # Ok::<(), windlass_hal::Error>(())
//! ```
//!
//! # Writing a driver of your own
//!
//! Copy this crate. Each method that a driver owes stands here with its contract in one sentence, those that this device
//! answers with `UNIMPLEMENTED` too, and `cargo test --test cts` passes: you start from a conforming driver and keep it so.
//! `docs/driver-authors.md` in Windlass's repository leads from the copy to the first passing suite, command by command, and
//! on to memory, queues with device edges, command buffers and executables; `examples/out-of-tree-driver` is a driver that has
//! gone that way.
//!
//! A driver implements the traits of [`windlass_hal::driver`] and nothing else. The front structs have checked
//! ranges, usage and ownership before a driver is called, and `windlass_hal` owns what is hard: semaphores, the
//! pending set, pools, host calls. What a driver cannot do yet it lists in
//! [`DeviceInfo::lacks`](windlass_hal::DeviceInfo::lacks): the suite skips those cases with your reason, and fails a case
//! that meets an undeclared `UNIMPLEMENTED`.
//!
//! Four rules hold throughout. No method waits for other work, except `drain`. An error from `submit` means that
//! nothing was accepted; whatever fails later fails the signal list, and only once the work can no longer touch
//! memory. Semaphores are advanced with no lock of yours held: collect into
//! [`Notifications`](windlass_hal::Notifications) and fire it last. What is in flight keeps alive what it uses.
//!
//! | file | what is in it |
//! |---|---|
//! | `driver.rs` | URI to device |
//! | `device.rs` | the device's methods, each with its contract |
//! | `queue.rs` | issuing operations, draining |
//! | `command_buffer.rs` | recorded lists |
//! | `allocator.rs`, `buffer.rs` | memory in large pieces, and one of them |
//! | `executable.rs` | device code: what it would owe, and the error of a driver without |
//! | `tests/cts.rs` | the conformance suite, in one line |

mod allocator;
mod buffer;
mod command_buffer;
mod device;
mod driver;
mod executable;
mod queue;

use std::sync::Arc;

use windlass_hal::Registry;

pub use driver::NullDriver;

/// Adds `null://` to a registry.
pub fn register(registry: &mut Registry) {
    registry.register(Arc::new(NullDriver));
}
