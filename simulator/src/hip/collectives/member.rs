// SPDX-License-Identifier: MIT OR Apache-2.0
//! Members: one rank's side of a communicator; and cliques, which all members of a communicator share.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use windlass_hip_sys::rccl::{ncclDataType_t, ncclResult_t};

use super::gathering::Gathering;
use super::round::Round;

/// The reason why a communicator cannot be used, and the result that its calls have from then on.
#[derive(Clone, Debug)]
pub(crate) struct Trouble {
    pub(crate) result: ncclResult_t,
    pub(crate) words: String,
}

impl Trouble {
    pub(crate) fn new(result: ncclResult_t, words: impl Into<String>) -> Self {
        Self { result, words: words.into() }
    }
}

/// The factor of a rank in a scaled sum.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Factor {
    /// Its bytes.
    Given([u8; 8]),
    /// The address of memory that is read when the operation runs.
    At(u64),
}

/// One rank's side of a communicator.
#[derive(Debug)]
pub(crate) struct Member {
    /// The index of its device.
    pub(crate) device: usize,
    /// Whether its calls wait.
    pub(crate) blocking: bool,
    /// Its place, once all ranks have come.
    seat: OnceLock<Seat>,
    aborted: AtomicBool,
    finalized: AtomicBool,
    /// The first trouble.
    trouble: OnceLock<Trouble>,
    /// The factors that clients made, with the type of the elements. Those that were destroyed are gone.
    factors: Mutex<Vec<Option<(ncclDataType_t, Factor)>>>,
    /// The ranks that it waits for, until it has a seat.
    gathering: Mutex<Weak<Gathering>>,
}

/// The place of a member.
#[derive(Clone, Debug)]
pub(crate) struct Seat {
    pub(crate) clique: Arc<Clique>,
    pub(crate) rank: usize,
}

impl Member {
    pub(crate) fn new(device: usize, blocking: bool) -> Arc<Self> {
        Arc::new(Self {
            device,
            blocking,
            seat: OnceLock::new(),
            aborted: AtomicBool::new(false),
            finalized: AtomicBool::new(false),
            trouble: OnceLock::new(),
            factors: Mutex::default(),
            gathering: Mutex::default(),
        })
    }

    pub(crate) fn seat(&self) -> Option<&Seat> {
        self.seat.get()
    }

    pub(super) fn take_seat(&self, seat: Seat) {
        let _ = self.seat.set(seat);
    }

    pub(super) fn wait_for(&self, gathering: &Arc<Gathering>) {
        *lock(&self.gathering) = Arc::downgrade(gathering);
    }

    /// Whether all ranks have come, or never will.
    pub(crate) fn is_settled(&self) -> bool {
        self.seat.get().is_some() || self.trouble.get().is_some()
    }

    pub(crate) fn trouble(&self) -> Option<&Trouble> {
        self.trouble.get()
    }

    /// Notes a trouble, unless there is one.
    pub(crate) fn note(&self, trouble: Trouble) {
        let _ = self.trouble.set(trouble);
    }

    pub(crate) fn is_aborted(&self) -> bool {
        // Ordered against the state of rounds: see `Round`.
        self.aborted.load(Ordering::SeqCst)
    }

    /// Ends the waits of its streams, and tells the other ranks.
    pub(crate) fn abort(&self) {
        self.aborted.store(true, Ordering::SeqCst);
        let gathering = lock(&self.gathering).upgrade();
        let Some(seat) = self.seat() else {
            if let Some(gathering) = gathering {
                gathering.fail(&Trouble::new(
                    ncclResult_t::ncclRemoteError,
                    "another rank aborted while the communicator was made",
                ));
            }
            return;
        };
        let words = format!("rank {} of {} aborted the communicator", seat.rank, seat.clique.ranks);
        for (rank, member) in seat.clique.members().iter().enumerate() {
            if let Some(member) = member.upgrade().filter(|_| rank != seat.rank) {
                member.note(Trouble::new(ncclResult_t::ncclRemoteError, words.clone()));
            }
        }
    }

    /// Takes no more operations. False if it took none before.
    pub(crate) fn finalize(&self) -> bool {
        !self.finalized.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn is_finalized(&self) -> bool {
        self.finalized.load(Ordering::Relaxed)
    }

    /// Keeps a factor, and gives its number.
    pub(crate) fn add_factor(&self, element: ncclDataType_t, factor: Factor) -> usize {
        let mut factors = lock(&self.factors);
        let free = factors.iter().position(Option::is_none).unwrap_or_else(|| {
            factors.push(None);
            factors.len() - 1
        });
        if let Some(slot) = factors.get_mut(free) {
            *slot = Some((element, factor));
        }
        free
    }

    pub(crate) fn factor(&self, number: usize) -> Option<(ncclDataType_t, Factor)> {
        lock(&self.factors).get(number).copied().flatten()
    }

    /// Removes a factor. Whether there was one.
    pub(crate) fn remove_factor(&self, number: usize) -> bool {
        lock(&self.factors).get_mut(number).and_then(Option::take).is_some()
    }
}

/// What an operation of a member is matched by: those of the same key belong together.
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
    members: OnceLock<Vec<Weak<Member>>>,
    rounds: Mutex<Rounds>,
}

#[derive(Debug, Default)]
struct Rounds {
    /// The operations of each rank so far: its index for collective ones, and a pair of ranks for others.
    counts: BTreeMap<(usize, Match), u64>,
    /// Rounds that not every rank has taken, with the number of those that have. The packets of the ranks keep them.
    open: BTreeMap<(Match, u64), (Weak<Round>, usize)>,
    splits: Vec<u64>,
    gatherings: BTreeMap<u64, (Arc<Gathering>, usize)>,
}

impl Clique {
    pub(super) fn new(ranks: usize) -> Arc<Self> {
        let rounds = Rounds { splits: vec![0; ranks], ..Rounds::default() };
        Arc::new(Self { ranks, members: OnceLock::new(), rounds: Mutex::new(rounds) })
    }

    pub(super) fn set_members(&self, members: Vec<Weak<Member>>) {
        let _ = self.members.set(members);
    }

    fn members(&self) -> &[Weak<Member>] {
        self.members.get().map_or(&[], Vec::as_slice)
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

    /// The gathering of a rank's next split.
    pub(crate) fn next_split(&self, rank: usize) -> Arc<Gathering> {
        let mut rounds = lock(&self.rounds);
        let number = rounds.splits.get_mut(rank).map_or(0, |count| {
            *count += 1;
            *count - 1
        });
        let made = || (Gathering::new(self.ranks), 0);
        let (gathering, taken) = rounds.gatherings.entry(number).or_insert_with(made);
        *taken += 1;
        let (gathering, complete) = (gathering.clone(), *taken == self.ranks);
        if complete {
            rounds.gatherings.remove(&number);
        }
        gathering
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
