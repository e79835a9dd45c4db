// SPDX-License-Identifier: MIT OR Apache-2.0
//! Gatherings: the ranks that make communicators together. A new communicator is a gathering of one color.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_hip_sys::rccl::ncclResult_t;

use super::member::{Clique, Member, Seat, Trouble};

/// The ranks that make communicators together.
#[derive(Debug)]
pub(crate) struct Gathering {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Those that have come, by their ranks.
    come: Vec<Option<Comer>>,
    failed: Option<Trouble>,
}

/// A rank that has come.
#[derive(Clone, Debug)]
pub(crate) struct Comer {
    /// Comers of one color make one communicator.
    pub(crate) color: i32,
    /// The order within the new communicator.
    pub(crate) key: i32,
    /// None for a rank that joins no new communicator.
    pub(crate) member: Option<Arc<Member>>,
}

impl Gathering {
    pub(crate) fn new(ranks: usize) -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(State { come: vec![None; ranks], failed: None }) })
    }

    /// Adds a rank. The last one gives all of them their seats.
    ///
    /// # Errors
    /// The number of ranks differs, the rank has come before, or two ranks have one device. All others get that trouble
    /// too.
    pub(crate) fn join(self: &Arc<Self>, ranks: usize, rank: usize, comer: Comer) -> Result<(), Trouble> {
        let mut state = self.lock();
        if let Some(trouble) = &state.failed {
            return Err(trouble.clone());
        }
        let expected = state.come.len();
        let wrong = if expected != ranks {
            Some(format!("rank {rank} asks for {ranks} ranks, and earlier ones for {expected}"))
        } else if state.come.get(rank).is_none_or(Option::is_some) {
            Some(format!("rank {rank} of {ranks} has joined already"))
        } else {
            None
        };
        if let Some(words) = wrong {
            let trouble = Trouble::new(ncclResult_t::ncclInternalError, words);
            state.fail(&trouble);
            return Err(trouble);
        }
        if let Some(member) = &comer.member {
            member.wait_for(self);
        }
        if let Some(place) = state.come.get_mut(rank) {
            *place = Some(comer);
        }
        if state.come.iter().all(Option::is_some) { state.seat_all() } else { Ok(()) }
    }

    /// Tells all ranks, those that have come and those that will, that no communicator comes of it.
    pub(crate) fn fail(&self, trouble: &Trouble) {
        self.lock().fail(trouble);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn fail(&mut self, trouble: &Trouble) {
        for comer in self.come.iter().flatten() {
            comer.member.iter().for_each(|member| member.note(trouble.clone()));
        }
        self.failed.get_or_insert_with(|| trouble.clone());
    }

    fn seat_all(&mut self) -> Result<(), Trouble> {
        let mut colors: BTreeMap<i32, Vec<(i32, usize, Arc<Member>)>> = BTreeMap::new();
        for (rank, comer) in self.come.iter().flatten().enumerate() {
            if let Some(member) = &comer.member {
                colors.entry(comer.color).or_default().push((comer.key, rank, member.clone()));
            }
        }
        for members in colors.values_mut() {
            members.sort_by_key(|(key, rank, _)| (*key, *rank));
            let mut devices = BTreeMap::new();
            for (rank, (_, _, member)) in members.iter().enumerate() {
                if let Some(other) = devices.insert(member.device, rank) {
                    let words = format!(
                        "ranks {other} and {rank} both have device {}; each rank needs a device of its own",
                        member.device
                    );
                    let trouble = Trouble::new(ncclResult_t::ncclInvalidUsage, words);
                    self.fail(&trouble);
                    return Err(trouble);
                }
            }
        }
        for members in colors.into_values() {
            let clique = Clique::new(members.len());
            clique.set_members(members.iter().map(|(.., member)| Arc::downgrade(member)).collect());
            for (rank, (_, _, member)) in members.into_iter().enumerate() {
                member.take_seat(Seat { clique: clique.clone(), rank });
            }
        }
        self.come.clear();
        Ok(())
    }
}
