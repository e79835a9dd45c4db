// SPDX-License-Identifier: MIT OR Apache-2.0
//! `shuffle://?seed=N&over=URI`: any device, with every freedom used that the laws leave a driver.
//!
//! Two submissions without an edge between them may run in either order, on one queue too, and so may two commands of a
//! command buffer without a barrier between them. Most devices run them in the order of submission all the same, and a
//! program that forgot an edge works until it meets the first device that does not. This driver is that device. It wraps
//! another one and
//!
//! - holds submissions back, and hands them on in an order of its own;
//! - hands some on before their waits are reached, and leaves the waiting to the wrapped device;
//! - holds signals back although the work is done, so that whoever looks early sees nothing;
//! - permutes the commands between two barriers of a command buffer;
//! - writes over memory when it is allocated and before it is released in the order of a queue, so that who uses it
//!   outside of its time sees that;
//! - picks the queue itself where a submission leaves the choice.
//!
//! Odd seeds keep much in flight at a time. Even seeds hand one piece of work on after the other, each when the one before
//! has ended, and let some submissions come last: no order of a device's own hides what they look for, so that what they
//! find depends on nothing but the seed.
//!
//! A correct program cannot tell the difference. A program with a missing edge gives a wrong result with some seed.
//!
//! # Which choices, and when
//!
//! Every choice comes from the seed. Choices are made when something is submitted, and when somebody waits: a blocking
//! wait or a future that registers with a semaphore demands what was promised there, and the device goes on until that is
//! handed on. What nobody waits for in this way (a host call whose effect is awaited by other means, a loop around
//! [`Semaphore::query`](windlass_hal::Semaphore::query)) is handed on when nothing was submitted or demanded for
//! `patience` milliseconds (50 unless the URI says otherwise), by a thread of the device's own. Hence nothing hangs, and a
//! client that calls from one thread and waits for semaphores gets the same choices again from the same seed, whatever the
//! wrapped device's threads do meanwhile. Each choice is logged, at debug level under the target `windlass::shuffle`.
//!
//! # Building one
//!
//! [`Driver`] opens URIs over the drivers of a registry; [`Device::new`] wraps an opened device.

mod command_buffer;
mod completion;
mod device;
mod driver;
mod idle;
mod poison;
mod promise;
mod schedule;
mod settle;

pub use device::Device;
pub use driver::Driver;
