// SPDX-License-Identifier: MIT OR Apache-2.0
//! The schedule: what is held back, and which of it goes next.

use std::{collections::HashMap, sync::Arc};

use windlass_hal::{Operation, Points, Probe, QueueAffinity, edge::Domain};

use super::completion::Completion;
use crate::random::Random;

/// A submission that is held back.
pub(super) struct Held {
    pub(super) id: u64,
    pub(super) affinity: QueueAffinity,
    pub(super) waits: Points,
    pub(super) signals: Points,
    pub(super) operation: Operation,
    /// Handed on last.
    laggard: bool,
}

/// The next thing to do.
pub(super) enum Choice {
    /// Give a submission to the wrapped device.
    HandOn {
        held: Box<Held>,
        /// Hold its signals back.
        withhold: bool,
        /// For whatever else there is to choose.
        random: u64,
    },
    /// Let signals go that were held back.
    Release(Arc<Completion>),
}

/// What is held back, and how long that may go on.
pub(super) struct Schedule {
    pub(super) random: Random,
    /// In no order: taking one out moves the last into its place.
    held: Vec<Held>,
    places: HashMap<u64, usize>,
    withheld: Vec<Arc<Completion>>,
    /// Submissions that somebody waits for.
    demanded: Vec<u64>,
    /// How many things to do although nobody asks.
    budget: usize,
    /// Everything is asked for.
    all: bool,
    mood: Mood,
    next_id: u64,
}

/// How fast work goes by while nobody waits. Changes now and then, so that one seed tries long and short queues.
#[derive(Clone, Copy)]
enum Mood {
    Lazy,
    Even,
    Eager,
}

impl Schedule {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            held: Vec::new(),
            places: HashMap::new(),
            withheld: Vec::new(),
            demanded: Vec::new(),
            budget: 0,
            all: false,
            mood: Mood::Lazy,
            next_id: 0,
        }
    }

    /// The number of the next submission, and whether it should be held back at all.
    pub(super) fn arrive(&mut self) -> (u64, bool) {
        let id = self.next_id;
        self.next_id += 1;
        if self.random.below(16) == 0 {
            self.mood = [Mood::Lazy, Mood::Even, Mood::Eager][self.random.below(3)];
        }
        self.budget += match self.mood {
            Mood::Lazy => 0,
            Mood::Even => self.random.below(3),
            Mood::Eager => 1 + self.random.below(3),
        };
        (id, self.random.below(8) != 0)
    }

    /// Holds a submission back.
    pub(super) fn hold(
        &mut self,
        id: u64,
        affinity: QueueAffinity,
        waits: Points,
        signals: Points,
        operation: Operation,
    ) {
        let laggard = self.random.below(4) == 0;
        self.places.insert(id, self.held.len());
        self.held.push(Held { id, affinity, waits, signals, operation, laggard });
    }

    /// The signals of a submission that is handed on are held back.
    pub(super) fn withhold(&mut self, completion: Arc<Completion>) {
        self.withheld.push(completion);
    }

    /// Whether new signals should lag behind all others.
    pub(super) fn laggard(&mut self) -> bool {
        self.random.below(4) == 0
    }

    /// Somebody waits for what submission `id` signals.
    pub(super) fn demand(&mut self, id: u64) {
        self.demanded.push(id);
    }

    /// Everything that is held back now is asked for.
    pub(super) fn demand_all(&mut self) {
        self.all = true;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty() && self.withheld.is_empty()
    }

    /// The next thing to do; `None` when nobody asks for any. `promised` is the domain of edges that stand for work which
    /// was handed on.
    pub(super) fn choose(&mut self, promised: Domain) -> Option<Choice> {
        if self.is_empty() {
            (self.budget, self.all) = (0, false);
            self.demanded.clear();
            return None;
        }
        let demanded = self.demanded();
        if demanded.is_none() && !self.all && self.budget == 0 {
            return None;
        }
        self.budget = self.budget.saturating_sub(1);
        let place = match demanded {
            Some(place) if self.random.below(2) == 0 => place,
            demanded => match self.any(promised) {
                Some(place) => place,
                None => match demanded {
                    Some(place) => place,
                    None if self.all => self.anywhere(),
                    None => {
                        // Only what lags is left, and nobody asks for it.
                        self.budget = 0;
                        return None;
                    }
                },
            },
        };
        Some(self.take(place))
    }

    fn anywhere(&mut self) -> Place {
        let index = self.random.below(self.held.len() + self.withheld.len());
        match index.checked_sub(self.held.len()) {
            None => Place::Held(index),
            Some(index) => Place::Withheld(index),
        }
    }

    /// One of the demanded submissions that is still held back in some way.
    fn demanded(&mut self) -> Option<Place> {
        while !self.demanded.is_empty() {
            let at = self.random.below(self.demanded.len());
            let id = self.demanded[at];
            if let Some(index) = self.places.get(&id) {
                return Some(Place::Held(*index));
            }
            if let Some(index) = self.withheld.iter().position(|completion| completion.id == id) {
                return Some(Place::Withheld(index));
            }
            self.demanded.swap_remove(at);
        }
        None
    }

    /// Any that does not lag; rather one whose waits are resolved, but not always.
    fn any(&mut self, promised: Domain) -> Option<Place> {
        let mut fallback = None;
        for _ in 0..8 {
            let place = self.anywhere();
            let (laggard, ready) = match place {
                Place::Withheld(index) => (self.withheld[index].laggard, true),
                Place::Held(index) => {
                    let held = &self.held[index];
                    (
                        held.laggard,
                        held.waits.iter().all(|wait| {
                            !matches!(wait.semaphore.probe(wait.value, Some(promised)), Probe::Unresolved)
                        }),
                    )
                }
            };
            if laggard {
                continue;
            }
            if ready || self.random.below(8) == 0 {
                return Some(place);
            }
            fallback = Some(place);
        }
        fallback
    }

    fn take(&mut self, place: Place) -> Choice {
        match place {
            Place::Withheld(index) => Choice::Release(self.withheld.swap_remove(index)),
            Place::Held(index) => {
                let held = Box::new(self.held.swap_remove(index));
                self.places.remove(&held.id);
                if let Some(moved) = self.held.get(index) {
                    self.places.insert(moved.id, index);
                }
                let withhold = !held.signals.is_empty() && self.random.below(2) == 0;
                Choice::HandOn { held, withhold, random: self.random.next_u64() }
            }
        }
    }
}

/// Where something is held back.
#[derive(Clone, Copy)]
enum Place {
    Held(usize),
    Withheld(usize),
}
