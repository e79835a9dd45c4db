// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where slabs come from: the driver's side of pools.

use std::sync::Arc;

use crate::{
    driver::{self, accounts::Accounts},
    words::{buffer_params::BufferParams, error::Result},
};

/// A slab that a pool needs.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SlabRequest {
    /// Bytes.
    pub size: u64,
    /// What kind of memory. The alignment is the pool's business: a slab has the device's own,
    /// [`Limits::allocation_alignment`](crate::Limits::allocation_alignment).
    pub params: BufferParams,
}

impl SlabRequest {
    /// A slab.
    pub fn new(params: BufferParams, size: u64) -> Self {
        Self { size, params }
    }
}

/// A device as its pools see it: memory in large pieces, and how far its lanes are.
///
/// A driver whose work is done when it is issued has no lanes: its deaths are empty [`Frontier`](super::Frontier)s, and
/// [`has_retired`](Self::has_retired) is never asked.
pub trait SlabSource: Send + Sync + 'static {
    /// Allocates a slab. The address is a multiple of the device's allocation alignment. `RESOURCE_EXHAUSTED` says what
    /// is free. A slab goes back when it is dropped, on whatever thread that happens; where freeing waits for the
    /// device, another thread must do it, and on a lost device nobody.
    ///
    /// Called by submissions too, and with the lock under which the pool grows: it must neither wait for work nor run
    /// wakers, which retiring does.
    fn allocate_slab(&self, request: &SlabRequest) -> Result<Arc<dyn driver::Buffer>>;

    /// Whether everything up to `epoch` of `lane` has retired. Lanes are numbered as queues are. Called with a lock of the
    /// pool held: it must neither block nor call back.
    fn has_retired(&self, lane: u32, epoch: u64) -> bool;

    /// Retires what has finished, if nobody else is doing so.
    fn poll(&self);

    /// The error of a device that is lost, whose memory is neither reused nor given back.
    fn usable(&self) -> Result<()>;

    /// Where the use of memory is counted.
    fn accounts(&self) -> &Accounts;
}
