// SPDX-License-Identifier: MIT OR Apache-2.0
//! `shuffle://?seed=N&over=URI`: wraps any device, and uses every freedom of order that the laws allow.
//!
//! Two submissions without an edge between them may run in either order, even on one queue. So may two commands of a
//! command buffer without a barrier between them. Most devices run them in the order of submission, so a program that
//! forgot an edge works until it runs on a device that does not. This driver is such a device. It wraps another one and
//!
//! - holds submissions back, and hands them on in an order of its own;
//! - hands some on before their waits are reached, so that the wrapped device waits;
//! - holds signals back after the work is done, so that a program that reads too early finds nothing;
//! - permutes the commands between two barriers of a command buffer;
//! - overwrites memory after its alloca and before its dealloca, so that uses outside of this time show;
//! - picks the queue if a submission leaves the choice.
//!
//! Odd seeds keep much work in flight. Even seeds hand on one submission after the other, each when the one before it
//! has ended, and let some submissions come last. In this way no order of the wrapped device hides an error, and the
//! findings of even seeds depend only on the seed.
//!
//! A correct program cannot tell the difference. A program with a missing edge gives a wrong result with some seed.
//!
//! # Which choices, and when
//!
//! Every choice comes from the seed. Choices are made when a client submits and when it waits. A blocking wait, or a
//! future that registers with a semaphore, demands the submission behind the awaited value, and the device goes on
//! until that submission is handed on. Work without such a demand goes on when nothing was submitted or demanded for
//! `patience` milliseconds (50 by default). A thread of the device does this. Examples are a host call whose effect
//! is awaited by other means, and a loop around [`Semaphore::query`](windlass_hal::Semaphore::query).
//!
//! Hence nothing hangs. A client that calls from one thread and waits for semaphores gets the same choices from the
//! same seed, regardless of the wrapped device's threads. Each choice is logged at debug level under the target
//! `windlass::shuffle`.
//!
//! # Constructing a shuffled device
//!
//! [`Driver`] opens URIs over the drivers of a registry; [`Device::new`] wraps an opened device.

mod command_buffer;
mod completion;
mod device;
mod driver;
mod ending;
mod idle;
mod poison;
mod promise;
mod schedule;

pub use device::Device;
pub use driver::Driver;
