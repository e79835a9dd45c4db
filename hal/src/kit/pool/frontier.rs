// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frontiers: the points in the streams of a device at which memory becomes free.

use std::fmt;

use smallvec::SmallVec;

use crate::words::queue_affinity::QueueAffinity;

/// For each lane (an in-order stream of one device) the last epoch that must retire. All work is behind the empty
/// frontier.
///
/// Released memory carries the frontier of its last use. Two ranges that are joined carry the frontiers of both.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Frontier {
    /// In ascending order of lanes, each lane once.
    epochs: SmallVec<[(u32, u64); 2]>,
}

impl Frontier {
    /// The empty frontier.
    pub fn new() -> Self {
        Self::default()
    }

    /// One point in one lane.
    pub fn at(lane: u32, epoch: u64) -> Self {
        Self { epochs: smallvec::smallvec![(lane, epoch)] }
    }

    /// Whether there is nothing to wait for.
    pub fn is_empty(&self) -> bool {
        self.epochs.is_empty()
    }

    /// Each lane with its epoch.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> {
        self.epochs.iter().copied()
    }

    /// Adds a point.
    pub fn add(&mut self, lane: u32, epoch: u64) {
        match self.epochs.binary_search_by_key(&lane, |(lane, _)| *lane) {
            Ok(index) => self.epochs[index].1 = self.epochs[index].1.max(epoch),
            Err(index) => self.epochs.insert(index, (lane, epoch)),
        }
    }

    /// Adds all points of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (lane, epoch) in other.iter() {
            self.add(lane, epoch);
        }
    }

    /// Whether work behind this frontier is also behind `other`.
    pub fn covers(&self, other: &Self) -> bool {
        other.iter().all(|(lane, epoch)| self.iter().any(|(own, reached)| own == lane && reached >= epoch))
    }

    /// Removes the points that have retired. Returns whether none is left.
    pub fn remove_retired(&mut self, retired: impl Fn(u32, u64) -> bool) -> bool {
        self.epochs.retain(|(lane, epoch)| !retired(*lane, *epoch));
        self.is_empty()
    }

    /// The lane, if there is exactly one.
    pub fn only_lane(&self) -> Option<u32> {
        match self.epochs[..] {
            [(lane, _)] => Some(lane),
            _ => None,
        }
    }

    /// Whether both have the same lanes.
    pub(crate) fn same_lanes(&self, other: &Self) -> bool {
        self.iter().map(|(lane, _)| lane).eq(other.iter().map(|(lane, _)| lane))
    }
}

/// Whether a lane is one of the queues of an affinity.
pub(crate) fn is_of(lane: u32, affinity: QueueAffinity) -> bool {
    lane < u64::BITS && affinity.bits() >> lane & 1 == 1
}

impl fmt::Debug for Frontier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Frontier")?;
        f.debug_map().entries(self.iter()).finish()
    }
}
