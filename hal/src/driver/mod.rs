// SPDX-License-Identifier: MIT OR Apache-2.0
//! The driver interface: the traits that a driver implements, and the canonical work that it receives.
//!
//! The third of five layers. It imports `words` and `order`.
//!
//! The front validates, and a driver obeys. All arguments of the methods here are canonical: ranges are in bounds, the
//! usage is allowed, and the objects belong to the driver's own device. All traits are object-safe, and no method
//! depends on a cargo feature. Work has one entry, [`RawDevice::submit`], so a [`Wrapper`] such as a tracer or a recorder
//! has one method to write.
//!
//! Drivers do not check again. So [`RawDevice::submit`] and [`RawDevice::prepare`] are `unsafe`: a caller that hands over
//! work without the front vouches for it.
//!
//! No method may wait for other work, except [`RawDevice::drain`]. This crate calls all methods with none of its locks
//! held.

pub(crate) mod accounts;
pub(crate) mod allocator;
pub(crate) mod binding_table;
mod buffer;
pub(crate) mod buffer_ref;
mod channel;
pub(crate) mod collective;
pub(crate) mod command;
mod command_buffer;
pub(crate) mod command_list;
mod device;
#[allow(clippy::module_inception, reason = "one file for each trait, named like it")]
mod driver;
mod executable;
mod external_timepoint;
pub(crate) mod growable;
pub(crate) mod host_call;
pub(crate) mod operation;
pub(crate) mod range;
pub(crate) mod recorded_range;
pub(crate) mod storage;
pub(crate) mod workgroup_count;
mod wrapper;

pub use buffer::{HostPointer, RawBuffer};
pub use channel::RawChannel;
pub use command_buffer::RawCommandBuffer;
pub use device::RawDevice;
pub use driver::Driver;
pub use executable::RawExecutable;
pub use external_timepoint::RawTimepoint;
pub use growable::RawGrowable;
pub use wrapper::Wrapper;
