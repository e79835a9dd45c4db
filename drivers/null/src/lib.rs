// SPDX-License-Identifier: MIT OR Apache-2.0
//! The null driver: `null://`, and the skeleton to copy for your own Windlass driver.
//!
//! It is a correct driver without kernels. Semaphores, transfers over host memory, command buffers, host calls and
//! files work, and the conformance suite checks them. The device declares beforehand that it runs no kernels.
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
//! # Writing your own driver
//!
//! Copy this crate. It has every method of the traits that a driver needs, each with its contract in one sentence,
//! including the methods that return `UNIMPLEMENTED` here. Channels, timepoints and memory that grows have traits of
//! their own. `cargo test --test cts` passes, so you start from a conforming driver and keep it so.
//! `docs/driver-authors.md` in Windlass's repository explains, command by command, how to get from the copy to the
//! first passing suite. It goes on to memory, queues with device edges, command buffers and executables.
//! `examples/out-of-tree-driver` is a driver outside the repository's workspace.
//!
//! A driver implements the traits of [`windlass_hal::driver`] and nothing else. The front structs check ranges, usage
//! and ownership before they call a driver, and `windlass_hal` implements the hard parts: semaphores, the pending set,
//! pools, host calls. A driver lists missing features in [`DeviceInfo::lacks`](windlass_hal::DeviceInfo::lacks). The
//! suite skips their cases with your reason, and fails a case that meets an undeclared `UNIMPLEMENTED`.
//!
//! Four rules hold throughout:
//!
//! 1. No method waits for other work, except `drain`.
//! 2. An error from `submit` means that nothing was accepted. A later failure fails the signal list, but only when the
//!    work can no longer touch memory.
//! 3. Semaphores are advanced while the driver holds no lock: collect the waiters in
//!    [`Notifications`](windlass_hal::Notifications), and fire them after the lock is released.
//! 4. In-flight work keeps alive everything that it uses.
//!
//! | file | contents |
//! |---|---|
//! | `driver.rs` | opens a device for a URI |
//! | `device.rs` | the device's methods, each with its contract |
//! | `queues.rs`, `submit.rs` | the device's queues; issuing operations |
//! | `queue.rs` | the operations as they run |
//! | `command_buffer.rs` | recorded lists |
//! | `allocator.rs`, `buffer.rs` | memory in large pieces; one piece |
//! | `executable.rs` | device code: the contracts, and the error of a driver without it |
//! | `tests/cts.rs` | the conformance suite, in one call |

mod allocator;
mod buffer;
mod command_buffer;
mod device;
mod driver;
mod executable;
mod queue;
mod queues;
mod submit;

use std::sync::Arc;

use windlass_hal::Registry;

pub use driver::NullDriver;

/// Adds `null://` to a registry.
pub fn register(registry: &mut Registry) {
    registry.register(Arc::new(NullDriver));
}
