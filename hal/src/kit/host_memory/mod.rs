// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host's memory as a device's: for drivers whose work runs in this process.
//!
//! Two operations without an edge between them may run at the same time on the same bytes. A program that does so gets old
//! or new bytes, and no undefined behaviour: the memory is a slice of atomics of one byte, and every access, here and through
//! a [`Mapping`](crate::Mapping), is one of them.
//!
//! A [`HostHeap`] gives [slabs](crate::pool::SlabSource) within a budget, a [`HostBuffer`] is one, and [`fill`], [`update`]
//! and [`copy`] are the transfers over ranges of them.

mod buffer;
mod heap;
mod import;
mod memory;
pub(crate) mod shared_bytes;
mod transfer;

pub use buffer::{HostBuffer, bytes_of};
pub use heap::HostHeap;
pub use import::HostImport;
pub use memory::HostMemory;
pub use transfer::{copy, fill, update};
