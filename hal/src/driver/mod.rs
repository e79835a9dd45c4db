// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a driver implements.
//!
//! The front structs validate; a driver obeys. Whatever reaches a method here is canonical: ranges in bounds,
//! usage allowed, objects of the driver's own device. All traits are object-safe, no method hides behind a
//! feature, and an operation has one way in, [`Device::submit`], so that a [`Wrapper`] (a tracer, a recorder, a
//! scheduler of its own) needs one method.
//!
//! Because drivers believe, whoever hands them work without the front vouches for it: [`Device::submit`] and
//! [`Device::prepare`] are `unsafe`.
//!
//! No method may wait for other work, but for [`Device::drain`]. None is called with a lock of this crate held.

pub(crate) mod accounts;
pub(crate) mod allocator;
pub(crate) mod binding_table;
mod buffer;
pub(crate) mod buffer_ref;
pub(crate) mod command;
mod command_buffer;
pub(crate) mod command_list;
mod device;
#[allow(clippy::module_inception, reason = "one file for each trait, named like it")]
mod driver;
mod executable;
pub(crate) mod host_call;
pub(crate) mod operation;
pub(crate) mod range;
pub(crate) mod storage;
pub(crate) mod workgroup_count;
mod wrapper;

pub use buffer::{Buffer, HostPointer};
pub use command_buffer::CommandBuffer;
pub use device::Device;
pub use driver::Driver;
pub use executable::Executable;
pub use wrapper::Wrapper;
