// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cliques: what all members of a communicator share. They find the common round of their operations here.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::round::Round;
use super::standing::Standing;

/// The key by which operations of members are matched: those of the same key belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Match {
    /// All ranks, each with its next collective operation.
    All,
    /// The next send from one rank to another, and the next receive of that one from the first.
    Sent { from: usize, to: usize },
    /// As `Sent`, for the receiver.
    Received { from: usize, to: usize },
}

/// The members of one communicator.
#[derive(Debug)]
pub(crate) struct Clique {
    pub(crate) ranks: usize,
    members: Vec<Weak<Standing>>,
    rounds: Mutex<Rounds>,
    splits: Mutex<Splits>,
}

#[derive(Debug, Default)]
struct Rounds {
    /// The operations of each rank so far: its index for collective ones, and a pair of ranks for others.
    counts: BTreeMap<(usize, Match), u64>,
    /// Rounds that not every rank has taken, with the number of those that have. The packets of the ranks keep them.
    open: BTreeMap<(Match, u64), (Weak<Round>, usize)>,
}

#[derive(Debug, Default)]
struct Splits {
    /// The splits of each rank so far.
    counts: Vec<u64>,
    /// The number of each split that not every rank has taken, and the number of those that have.
    open: BTreeMap<u64, (Arc<dyn Any + Send + Sync>, usize)>,
}

impl Clique {
    pub(super) fn new(members: Vec<Weak<Standing>>) -> Arc<Self> {
        let ranks = members.len();
        let splits = Splits { counts: vec![0; ranks], ..Splits::default() };
        Arc::new(Self { ranks, members, rounds: Mutex::default(), splits: Mutex::new(splits) })
    }

    /// The members in the order of their ranks.
    pub(super) fn members(&self) -> &[Weak<Standing>] {
        &self.members
    }

    /// The round of a rank's next operation, and the rank's slot in it.
    pub(crate) fn next_round(&self, rank: usize, of: Match) -> (Arc<Round>, usize) {
        let mut rounds = lock(&self.rounds);
        let count = rounds.counts.entry((rank, of)).or_default();
        let number = *count;
        *count += 1;
        let (key, slots, slot) = match of {
            Match::All => (Match::All, self.ranks, rank),
            Match::Sent { from, to } => (Match::Sent { from, to }, 2, 0),
            Match::Received { from, to } => (Match::Sent { from, to }, 2, 1),
        };
        let (known, taken) = rounds.open.entry((key, number)).or_default();
        // A round is gone if the ranks that took it have dropped their packets. It never ends then.
        let round = known.upgrade().unwrap_or_else(|| Arc::new(Round::new(slots)));
        *known = Arc::downgrade(&round);
        *taken += 1;
        if *taken == slots {
            rounds.open.remove(&(key, number));
        }
        (round, slot)
    }

    /// The common object of a rank's next split, which the first rank makes.
    pub(crate) fn next_split<T: Any + Send + Sync>(
        &self,
        rank: usize,
        make: impl FnOnce() -> Arc<T>,
    ) -> Option<Arc<T>> {
        let mut splits = lock(&self.splits);
        let count = splits.counts.get_mut(rank)?;
        let number = *count;
        *count += 1;
        let (common, taken) = splits.open.entry(number).or_insert_with(|| (make(), 0));
        *taken += 1;
        let (common, complete) = (common.clone(), *taken == self.ranks);
        if complete {
            splits.open.remove(&number);
        }
        common.downcast().ok()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
