// SPDX-License-Identifier: MIT OR Apache-2.0
//! Host memory as the memory of a device, for drivers whose work runs in this process.
//!
//! Two operations without an edge between them may access the same bytes at the same time. The result is old or new
//! bytes, and no undefined behaviour. The memory is a slice of one-byte atomics, and all accesses are atomic, here and
//! through a [`Mapping`](crate::Mapping).
//!
//! A [`HostHeap`] gives [slabs](crate::pool::SlabSource) within a budget. A [`HostBuffer`] is such a slab. [`fill`],
//! [`update`] and [`copy`] are the transfers over ranges of them.

mod budget;
mod buffer;
mod growable;
mod heap;
mod import;
mod memory;
pub(crate) mod shared_bytes;
mod transfer;

pub use buffer::{HostBuffer, bytes_of};
pub use growable::HostSpace;
pub use heap::HostHeap;
pub use import::HostImport;
pub use memory::HostMemory;
pub use transfer::{copy, fill, update};
