// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shelves: free items of equal worth that differ only in the end of their last use. For fixed blocks and whole slabs.

use std::collections::VecDeque;

use super::{
    frontier::{Frontier, is_of},
    strategy::{Rank, Reach, Retired},
};
use crate::words::queue_affinity::QueueAffinity;

/// Items by the lane that used them last, so that taking one looks at each lane once and at no item twice.
#[derive(Debug)]
pub(crate) struct Shelf<T> {
    /// Items that no work uses. The newest is on top.
    settled: Vec<T>,
    /// Items by lane, in ascending order of epochs.
    lanes: Vec<(u32, VecDeque<(u64, T)>)>,
    /// Items that several lanes used.
    mixed: VecDeque<(Frontier, T)>,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self { settled: Vec::new(), lanes: Vec::new(), mixed: VecDeque::new() }
    }
}

impl<T> Shelf<T> {
    pub(crate) fn is_empty(&self) -> bool {
        self.settled.is_empty() && self.mixed.is_empty() && self.lanes.iter().all(|(_, lane)| lane.is_empty())
    }

    pub(crate) fn put(&mut self, item: T, death: Frontier) {
        let Some((lane, epoch)) = death.iter().next() else { return self.settled.push(item) };
        if death.only_lane().is_none() {
            return self.mixed.push_back((death, item));
        }
        let index = self.lanes.iter().position(|(known, _)| *known == lane).unwrap_or_else(|| {
            self.lanes.push((lane, VecDeque::new()));
            self.lanes.len() - 1
        });
        let waiting = &mut self.lanes[index].1;
        // Several threads release at once, so the epochs arrive in nearly ascending order.
        let place = waiting.partition_point(|(before, _)| *before <= epoch);
        waiting.insert(place, (epoch, item));
    }

    /// The rank of the best item for a request.
    pub(crate) fn best(&mut self, reach: Reach, retired: Retired<'_>) -> Option<Rank> {
        self.shelve_settled(retired);
        if !self.settled.is_empty() {
            return Some(Rank::Settled);
        }
        let lanes = self.lanes.iter().filter(|(_, waiting)| !waiting.is_empty());
        let lanes = lanes.filter_map(|(lane, _)| reach.rank(&Frontier::at(*lane, 0)));
        lanes.chain(self.mixed.front().and_then(|(death, _)| reach.rank(death))).min()
    }

    /// Takes the best item for a request, with the frontier that must retire before its use.
    pub(crate) fn take(&mut self, reach: Reach, retired: Retired<'_>) -> Option<(T, Frontier)> {
        match self.best(reach, retired)? {
            Rank::Settled => self.settled.pop().map(|item| (item, Frontier::new())),
            Rank::SameLane => {
                let (Reach::Ordered(queues) | Reach::Unwaited(queues)) = reach else { return None };
                self.of_lane(queues)
            }
            Rank::Wait => self.oldest(),
        }
    }

    /// Takes the newest item of a queue. The order of the queue makes a wait unnecessary.
    fn of_lane(&mut self, queues: QueueAffinity) -> Option<(T, Frontier)> {
        let (lane, waiting) =
            self.lanes.iter_mut().find(|(lane, waiting)| !waiting.is_empty() && is_of(*lane, queues))?;
        waiting.pop_back().map(|(epoch, item)| (item, Frontier::at(*lane, epoch)))
    }

    /// Takes the item with the shortest wait to be expected.
    fn oldest(&mut self) -> Option<(T, Frontier)> {
        let longest = self.lanes.iter_mut().max_by_key(|(_, waiting)| waiting.len());
        if let Some((lane, waiting)) = longest
            && let Some((epoch, item)) = waiting.pop_front()
        {
            return Some((item, Frontier::at(*lane, epoch)));
        }
        self.mixed.pop_front().map(|(death, item)| (item, death))
    }

    /// Takes all items that no work uses.
    pub(crate) fn take_settled(&mut self, retired: Retired<'_>) -> Vec<T> {
        self.shelve_settled(retired);
        std::mem::take(&mut self.settled)
    }

    /// Takes the newest item that no work uses.
    pub(crate) fn take_one_settled(&mut self, retired: Retired<'_>) -> Option<T> {
        self.shelve_settled(retired);
        self.settled.pop()
    }

    fn shelve_settled(&mut self, retired: Retired<'_>) {
        for (lane, waiting) in &mut self.lanes {
            while waiting.front().is_some_and(|(epoch, _)| retired(*lane, *epoch)) {
                self.settled.extend(waiting.pop_front().map(|(_, item)| item));
            }
        }
        for _ in 0..self.mixed.len() {
            let Some((mut death, item)) = self.mixed.pop_front() else { return };
            match death.remove_retired(retired) {
                true => self.settled.push(item),
                false if death.only_lane().is_some() => self.put(item, death),
                false => self.mixed.push_back((death, item)),
            }
        }
    }
}
