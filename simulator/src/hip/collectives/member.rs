// SPDX-License-Identifier: MIT OR Apache-2.0
//! Members: one rank's side of a communicator.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use windlass_hip_sys::rccl::{ncclDataType_t, ncclResult_t};

use super::clique::Clique;
use super::gathering::Gathering;
use super::operation::Factor;
use super::standing::{Standing, Trouble};

/// One rank's side of a communicator.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) standing: Arc<Standing>,
    /// Whether its calls wait.
    pub(crate) blocking: bool,
    /// Its place, once all ranks have come.
    seat: OnceLock<Seat>,
    finalized: AtomicBool,
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

impl Deref for Member {
    type Target = Standing;

    fn deref(&self) -> &Standing {
        &self.standing
    }
}

impl Member {
    pub(crate) fn new(device: usize, blocking: bool) -> Arc<Self> {
        Arc::new(Self {
            standing: Arc::new(Standing::new(device)),
            blocking,
            seat: OnceLock::new(),
            finalized: AtomicBool::new(false),
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
        self.seat.get().is_some() || self.trouble().is_some()
    }

    /// Ends the waits of its streams, and tells the other ranks.
    pub(crate) fn abort(&self) {
        self.set_aborted();
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
