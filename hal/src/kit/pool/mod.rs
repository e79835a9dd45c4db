// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pools: memory in the order of queues, placed and reused by the same machinery under every driver.
//!
//! # Time is part of the address
//!
//! A queue-ordered buffer has its address as soon as it is asked for, long before the work before it is done. So free
//! memory is not a set of ranges but a set of ranges and moments: a range is free *behind a [`Frontier`]*, the points in
//! the device's streams where its last use ends. A dealloca frees its range when it is enqueued, with that position as
//! the frontier, and the range can be given away at once:
//!
//! - to a buffer of the same queue for nothing, because the stream is in order;
//! - to a buffer of another queue with a device wait for the frontier, which costs an event and no host;
//! - to [`Device::allocate`](crate::Device::allocate), whose memory is used at once, when the frontier has retired.
//!
//! No thread ever parks for memory, and no request does. A request that finds nothing free, and may not grow its pool,
//! fails with `RESOURCE_EXHAUSTED` before anything is submitted: a buffer without an address cannot be recorded, so
//! there is nothing that could be kept pending.
//!
//! # The parts
//!
//! A [`SlabSource`] is the driver: it allocates slabs and says how far its lanes are. A [`Strategy`] places ranges in
//! slabs; it deals in offsets and frontiers, touches no memory and knows no device. [`Slabs`] joins the two: it grows
//! within a budget, counts, and gives slabs back. [`Placed`] is the buffer that comes of it.
//!
//! | strategy | for |
//! |---|---|
//! | [`Tlsf`] | buffers of any size in slabs, in constant time |
//! | [`FixedBlock`] | a known number of buffers of one size |
//! | [`Passthrough`] | an allocation for each buffer: large ones, and those whose bounds a device checks |
//!
//! Free memory that has settled is preferred, then what the same queue used last, then any. Memory in flight is preferred
//! to a new slab unless the pool was made without device waits.
//!
//! # For drivers
//!
//! A driver implements [`SlabSource`] and returns it from [`driver::Device::memory`](crate::driver::Device::memory);
//! it may use [`Slabs`] for its own `allocate` and `reserve` too, as `windlass-hip` does. It then meets pooled buffers in
//! two operations, through [`placed`]:
//!
//! - `Alloca`: wait for [`Placed::birth`] before the signals.
//! - `Dealloca`: wait for it as well, then call [`Placed::release`] with the position of the operation. A driver that
//!   does the work when it is issued releases with the empty frontier.
//!
//! A buffer that is no pool's makes both a barrier. What a driver needs to know of the memory itself it finds by
//! [`Buffer::backing`](crate::Buffer::backing): its own slab and the offset in it.

mod fixed_block;
mod frontier;
mod handle;
mod params;
mod passthrough;
mod placed;
mod shelf;
mod slabs;
mod statistics;
mod strategy;
mod tlsf;

pub use crate::driver::allocator::{SlabRequest, SlabSource};
pub use fixed_block::FixedBlock;
pub use frontier::Frontier;
pub use handle::Pool;
pub use params::{PoolKind, PoolParams};
pub use passthrough::Passthrough;
pub use placed::{Placed, placed};
pub use slabs::{Acquire, Slabs};
pub use statistics::PoolStatistics;
pub use strategy::{Growth, Place, Reach, Request, Retired, Strategy, Taken};
pub use tlsf::Tlsf;
