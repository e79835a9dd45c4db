// SPDX-License-Identifier: MIT OR Apache-2.0
//! The recorder: a device over another one.

mod describe;
mod device;
pub(crate) mod driver;
mod log;
mod mapped;
mod names;
mod objects;
mod session;
mod task;
mod tee;
