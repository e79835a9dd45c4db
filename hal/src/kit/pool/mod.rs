// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pools: queue-ordered memory. The same machinery places and reuses it for all drivers.
//!
//! # Time is part of the address
//!
//! A queue-ordered buffer has its address at once, long before the work in front of it is done. So a free range has a
//! position in time: it is free *behind a [`Frontier`]*, the points in the device's streams where its last use ends. A
//! dealloca frees its range when it is enqueued, with its position as the frontier. The range can then be given away at
//! once:
//!
//! - to a buffer of the same queue at no cost, because the stream is in order;
//! - to a buffer of another queue with a device wait for the frontier, which costs an event and does not involve the
//!   host;
//! - to [`Device::allocate`](crate::Device::allocate), whose memory is used at once, when the frontier has retired.
//!
//! No thread and no request ever waits for memory. A request fails with `RESOURCE_EXHAUSTED`, before anything is
//! submitted, if it finds no free range and its pool may not grow. It could not stay pending, because a buffer without
//! an address cannot be recorded.
//!
//! # The parts
//!
//! A [`SlabSource`] is the driver: it allocates slabs and knows the progress of its lanes. A [`Strategy`] places ranges
//! in slabs. It works on offsets and frontiers, touches no memory and knows no device. [`Slabs`] joins the two: it
//! grows within a budget, counts, and returns slabs. [`Placed`] is the resulting buffer.
//!
//! | strategy | for |
//! |---|---|
//! | [`Tlsf`] | buffers of any size in slabs, in constant time |
//! | [`FixedBlock`] | a known number of buffers of one size |
//! | [`Passthrough`] | an allocation for each buffer: large ones, and those whose bounds a device checks |
//!
//! A request prefers settled memory, whose last use has retired. Next it prefers memory that the same queue used last,
//! then memory in flight on other queues. It prefers memory in flight to a new slab, unless the pool was made without
//! device waits.
//!
//! # For drivers
//!
//! A driver implements [`SlabSource`] and returns it from [`driver::RawDevice::memory`](crate::driver::RawDevice::memory). It
//! may use [`Slabs`] for its own `allocate` and `reserve` too, as `windlass-hip` does. It then meets pooled buffers in
//! two operations, through [`placed`]:
//!
//! - `Alloca`: wait for [`Placed::birth`] before the signals.
//! - `Dealloca`: wait for it as well, then call [`Placed::release`] with the position of the operation. A driver that
//!   does the work when it is issued releases with the empty frontier.
//!
//! For a buffer without a pool both are barriers. [`Buffer::backing`](crate::Buffer::backing) gives a driver its own
//! slab and the offset in it.

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
