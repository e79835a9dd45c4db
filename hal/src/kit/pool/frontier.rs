// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frontiers: the points in the streams of a device behind which memory is free.

use std::fmt;

use smallvec::SmallVec;

use crate::words::queue_affinity::QueueAffinity;

/// For each lane (an in-order stream of one device) the last epoch that has to retire. The empty frontier is already
/// behind everybody.
///
/// Released memory carries the frontier of its last use. Two ranges that are joined carry both.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Frontier {
    /// Ascending lanes, each once.
    epochs: SmallVec<[(u32, u64); 2]>,
}

impl Frontier {
    /// Nothing to wait for.
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

    /// Waits for one point more.
    pub fn add(&mut self, lane: u32, epoch: u64) {
        match self.epochs.binary_search_by_key(&lane, |(lane, _)| *lane) {
            Ok(index) => self.epochs[index].1 = self.epochs[index].1.max(epoch),
            Err(index) => self.epochs.insert(index, (lane, epoch)),
        }
    }

    /// Waits for what `other` waits for, too.
    pub fn merge(&mut self, other: &Self) {
        for (lane, epoch) in other.iter() {
            self.add(lane, epoch);
        }
    }

    /// Whether whoever is behind this frontier is behind `other`.
    pub fn covers(&self, other: &Self) -> bool {
        other.iter().all(|(lane, epoch)| self.iter().any(|(own, reached)| own == lane && reached >= epoch))
    }

    /// Forgets what has retired; whether nothing is left.
    pub fn settle(&mut self, retired: impl Fn(u32, u64) -> bool) -> bool {
        self.epochs.retain(|(lane, epoch)| !retired(*lane, *epoch));
        self.is_empty()
    }

    /// The only lane there is, if there is one.
    pub fn only_lane(&self) -> Option<u32> {
        match self.epochs[..] {
            [(lane, _)] => Some(lane),
            _ => None,
        }
    }

    /// Whether both name the same lanes.
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
