// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interface of placement strategies. They work on offsets, touch no memory and know no device.

use std::fmt;

use super::frontier::{Frontier, is_of};
use crate::words::queue_affinity::QueueAffinity;

/// The free memory that a request can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Memory that no work uses.
    Now,
    /// Any memory: the device orders the new use behind the last one, by the order of one of these queues or by a
    /// device wait.
    Ordered(QueueAffinity),
    /// Memory that no work uses, or that was last used on the one queue of the new use.
    Unwaited(QueueAffinity),
}

/// The preference of a request for free memory. Smaller is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    Settled,
    SameLane,
    Wait,
}

impl Reach {
    /// The rank of memory with this frontier, from which retired points were removed. `None` if the request cannot use
    /// it.
    pub(crate) fn rank(self, death: &Frontier) -> Option<Rank> {
        if death.is_empty() {
            return Some(Rank::Settled);
        }
        match (self, death.only_lane()) {
            (Self::Now, _) => None,
            (Self::Ordered(queues), Some(lane)) if is_of(lane, queues) => Some(Rank::SameLane),
            (Self::Ordered(_), _) => Some(Rank::Wait),
            (Self::Unwaited(queue), Some(lane))
                if queue == QueueAffinity::queue(lane) && lane < u64::BITS =>
            {
                Some(Rank::SameLane)
            }
            (Self::Unwaited(_), _) => None,
        }
    }
}

/// A request for a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Bytes.
    pub size: u64,
    /// The address is a multiple of this power of two.
    pub alignment: u64,
    /// The free memory that the request can use.
    pub reach: Reach,
}

/// A range of a slab that is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of the slab, from [`Strategy::add`].
    pub slab: u32,
    /// The offset of the range in the slab, in bytes. The address there is aligned as requested.
    pub offset: u64,
    /// The bytes that the range occupies: those requested, and those lost to rounding.
    pub held: u64,
    /// The strategy's own name of the range.
    pub block: u32,
}

/// A range, and the frontier that must retire before its memory is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The range.
    pub place: Place,
    /// The last use, without retired points. Empty unless the [`Reach`] of the request allows otherwise.
    pub death: Frontier,
}

/// The possible sizes of a new slab in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// The least size that holds the request.
    pub least: u64,
    /// The best size where there is enough memory.
    pub best: u64,
}

/// Tells whether all work up to an epoch of a lane has retired.
pub type Retired<'a> = &'a dyn Fn(u32, u64) -> bool;

/// A strategy that places ranges in slabs. It does not allocate the slabs. No method blocks. All methods except
/// [`take_thoroughly`](Self::take_thoroughly), [`add`](Self::add) and [`reclaim`](Self::reclaim) take constant time,
/// however much the pool holds.
pub trait Strategy: fmt::Debug + Send {
    /// Adds a slab of `size` bytes at `base`, under a number that no other slab has.
    fn add(&mut self, slab: u32, base: u64, size: u64);

    /// Finds room quickly. It may miss room that exists.
    fn take(&mut self, request: &Request, retired: Retired<'_>) -> Option<Taken>;

    /// Finds room if there is any. Called where the alternative is a new slab or a failure.
    fn take_thoroughly(&mut self, request: &Request, retired: Retired<'_>) -> Option<Taken>;

    /// Frees a range. Work behind `death` may reuse it.
    fn put(&mut self, place: Place, death: Frontier, retired: Retired<'_>);

    /// The size of a slab to add for a request; `None` where the strategy cannot grow.
    fn growth(&self, request: &Request) -> Option<Growth>;

    /// Takes out unused slabs without a range, while more than `keep` bytes of slabs are idle. Returns their numbers.
    fn reclaim(&mut self, keep: u64, retired: Retired<'_>) -> Vec<u32>;

    /// The bytes of slabs without a range.
    fn idle(&self) -> u64;
}
