// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recordings of a device's work: `record://` writes them.

mod format;
mod ranges;
mod recorder;

pub use recorder::driver::Driver;
