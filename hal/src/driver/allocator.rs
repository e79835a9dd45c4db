// SPDX-License-Identifier: MIT OR Apache-2.0
//! The driver's allocator, as pools see it: a source of slabs.

use std::sync::Arc;

use crate::{
    driver::{self, accounts::Accounts},
    words::{buffer_params::BufferParams, error::Result},
};

/// A request for a slab.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SlabRequest {
    /// The size in bytes.
    pub size: u64,
    /// The kind of memory. The alignment in it does not count: a slab is aligned to
    /// [`Limits::allocation_alignment`](crate::Limits::allocation_alignment), and the pool does the rest.
    pub params: BufferParams,
}

impl SlabRequest {
    /// A request for `size` bytes.
    pub fn new(params: BufferParams, size: u64) -> Self {
        Self { size, params }
    }
}

/// A device as its pools see it: memory in large pieces, and the progress of its lanes.
///
/// A driver whose work is done when it is issued has no lanes. It releases memory with empty
/// [`Frontier`](crate::pool::Frontier)s, and [`has_retired`](Self::has_retired) is never called.
pub trait SlabSource: Send + Sync + 'static {
    /// Allocates a slab. The address is a multiple of the device's allocation alignment. `RESOURCE_EXHAUSTED` says how
    /// much is free.
    ///
    /// Dropping the slab frees it, on any thread. Where freeing waits for the device, the driver must free on another
    /// thread. The memory of a lost device must not be freed.
    ///
    /// Submissions call this too, and the pool holds the lock under which it grows. So it must neither wait for work
    /// nor run wakers; retiring work runs wakers.
    fn allocate_slab(&self, request: &SlabRequest) -> Result<Arc<dyn driver::RawBuffer>>;

    /// Whether all work up to `epoch` of `lane` has retired. Lanes have the numbers of queues. Called with a lock of
    /// the pool held: it must neither block nor call the pool.
    fn has_retired(&self, lane: u32, epoch: u64) -> bool;

    /// Retires finished work, unless another thread is doing so.
    fn poll(&self);

    /// The error of a lost device. Its memory is neither reused nor freed.
    fn usable(&self) -> Result<()>;

    /// The accounts that count the use of memory.
    fn accounts(&self) -> &Accounts;
}
