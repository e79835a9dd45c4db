// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a placement strategy is asked and what it answers. Strategies deal in offsets: they touch no memory and know
//! no device.

use std::fmt;

use super::frontier::{Frontier, is_of};
use crate::words::queue_affinity::QueueAffinity;

/// Which free memory a request can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// What nothing uses any more.
    Now,
    /// Anything: the new use is ordered behind the last one on the device, by the order of one of these queues or by a
    /// device wait.
    Ordered(QueueAffinity),
    /// What nothing uses any more, or was last used on the one queue that the new use is for.
    Unwaited(QueueAffinity),
}

/// How gladly a request takes free memory: the smaller the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    Settled,
    SameLane,
    Wait,
}

impl Reach {
    /// What memory with this frontier, without what has retired, is worth; `None` if it cannot be used.
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

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Bytes.
    pub size: u64,
    /// A power of two that the address is a multiple of.
    pub alignment: u64,
    /// Which free memory will do.
    pub reach: Reach,
}

/// A range of a slab that is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The slab, as [`Strategy::add`] was told it.
    pub slab: u32,
    /// Where the range begins in the slab, in bytes. The address there is aligned as asked.
    pub offset: u64,
    /// Bytes that the range takes up: those that were asked for and those lost to rounding.
    pub held: u64,
    /// The strategy's own name for the range.
    pub block: u32,
}

/// A place, and what has to retire before its memory is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Where.
    pub place: Place,
    /// The last use, as far as it has not retired. Empty unless the request's [`Reach`] allows otherwise.
    pub death: Frontier,
}

/// The sizes of a new slab in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// Less would not hold the request.
    pub least: u64,
    /// What is best where there is enough.
    pub best: u64,
}

/// Whether everything up to an epoch of a lane has retired.
pub type Retired<'a> = &'a dyn Fn(u32, u64) -> bool;

/// A way to place ranges in slabs, which others allocate. No call of it blocks, and none but [`take_thoroughly`],
/// [`add`] and [`reclaim`] takes longer the more there is in the pool.
///
/// [`take_thoroughly`]: Self::take_thoroughly
/// [`add`]: Self::add
/// [`reclaim`]: Self::reclaim
pub trait Strategy: fmt::Debug + Send {
    /// Adds a slab of `size` bytes at `base`, under a number that no other slab has.
    fn add(&mut self, slab: u32, base: u64, size: u64);

    /// Finds room at little cost: room may be there although it is not found.
    fn take(&mut self, request: &Request, retired: Retired<'_>) -> Option<Taken>;

    /// Finds room if there is any. Asked where the alternative is a new slab, or to fail.
    fn take_thoroughly(&mut self, request: &Request, retired: Retired<'_>) -> Option<Taken>;

    /// Frees a range, which may be used again behind `death`.
    fn put(&mut self, place: Place, death: Frontier, retired: Retired<'_>);

    /// How large a slab to add for a request; `None` where none may be.
    fn growth(&self, request: &Request) -> Option<Growth>;

    /// Takes out slabs that hold no range and that nothing uses any more, as long as more than `keep` bytes of slabs are
    /// free as a whole.
    fn reclaim(&mut self, keep: u64, retired: Retired<'_>) -> Vec<u32>;

    /// Bytes of the slabs that hold no range.
    fn idle(&self) -> u64;
}
