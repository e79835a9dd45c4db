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
//! A driver implements the traits of [`windlass_hal::driver`] and nothing else. The front structs have checked
//! ranges, usage and ownership before a driver is called, and `windlass_hal` owns what is hard: semaphores, the
//! pending set, host calls. Neither this crate nor the suite is linked into yours at run time.
//!
//! 1. **Copy this crate**, rename it, and change the scheme in `driver.rs`. `cargo test --test cts` passes: you
//!    start from a conforming driver and keep it so.
//! 2. **Say what is there.** [`Driver::enumerate`](windlass_hal::driver::Driver::enumerate) lists devices, or
//!    says in one `UNAVAILABLE` what is missing and how to mend it. Read each URI parameter through
//!    [`Uri::reader`](windlass_hal::Uri::reader) and end with `finish`: an unknown key is an error.
//! 3. **Say what is lacking.** List in [`DeviceInfo::lacks`](windlass_hal::DeviceInfo::lacks) what does not work
//!    yet. The suite skips those cases with your reason, and fails a case that meets an undeclared
//!    `UNIMPLEMENTED`. The list shrinks as the driver grows.
//! 4. **Memory**: [`HostHeap`](windlass_hal::host_memory::HostHeap) gives slabs of the host's memory; yours is a
//!    [`SlabSource`](windlass_hal::pool::SlabSource) of the device's. [`windlass_hal::pool`] places buffers in slabs, reuses what was
//!    released and keeps the accounts. An address never changes, and fresh memory may hold anything. `allocate` may be
//!    slow. `reserve` gives an address at once and must not wait for other work.
//! 5. **Queues**: `queue.rs`. [`PendingSet::submit`](windlass_hal::pending::PendingSet::submit) calls `issue` when
//!    every wait is reached. As long as the work runs on the host, that is all. A driver for hardware returns its
//!    [`Domain`](windlass_hal::edge::Domain) from `domain_for`; `issue` then gets the
//!    [`Edge`](windlass_hal::edge::Edge)s that the stream must wait for, enqueues, attaches an edge of its own to
//!    every signal with [`Semaphore::attach_edge`](windlass_hal::Semaphore::attach_edge), and advances the
//!    semaphores when the work has retired.
//! 6. **Command buffers**: `command_buffer.rs`. Build in `prepare` what does not depend on the table, and patch a
//!    copy for each submission: one recording may be in flight many times. A driver that runs the list in order has
//!    nothing to do for barriers and events. One that does not starts a command when as many from the beginning of the
//!    list have completed as [`CommandList::predecessors`](windlass_hal::CommandList::predecessors) says.
//! 7. **Executables**: fill [`FunctionInfo`](windlass_hal::FunctionInfo) from what the code says of itself. The
//!    front packs arguments after it, so that `issue` finds a finished block in
//!    [`Dispatch::arguments`](windlass_hal::Dispatch::arguments). Then strike the lack. If the code is not AMD's, name its
//!    form in [`DeviceInfo::executable_formats`](windlass_hal::DeviceInfo::executable_formats) and give the suite its
//!    kernels in it (`windlass_cts::Kernels`). The same bytes reach `load_executable` once while a handle lives: the
//!    front remembers them.
//! 8. **Indirect dispatch, globals, linking and symbols**, or declare
//!    [`Feature::IndirectDispatch`](windlass_hal::Feature::IndirectDispatch),
//!    [`Feature::Globals`](windlass_hal::Feature::Globals), [`Feature::Linking`](windlass_hal::Feature::Linking) and
//!    [`Feature::Symbols`](windlass_hal::Feature::Symbols) as lacks. A
//!    [`WorkgroupCount::Indirect`](windlass_hal::WorkgroupCount::Indirect) is twelve bytes to read: all static ones
//!    before any command of a list starts, a dynamic one when the commands before it are done. A zero launches nothing,
//!    [`Limits::check_workgroups`](windlass_hal::Limits::check_workgroups) judges the rest, and its error fails the
//!    signals. A global is a buffer over the variable's memory, which keeps the executable alive. `load_linked` is given two
//!    pieces of code or more, and its errors name what is missing.
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
