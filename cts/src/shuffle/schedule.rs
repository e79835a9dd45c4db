// SPDX-License-Identifier: MIT OR Apache-2.0
//! The schedule: what is held back, and which of it goes next.

use std::{collections::HashMap, sync::Arc};

use windlass_hal::{Operation, Point, Points, Probe, QueueAffinity, edge::Domain};

use super::completion::Completion;
use crate::random::Random;

/// A submission that is held back.
pub(super) struct Held {
    pub(super) id: u64,
    pub(super) affinity: QueueAffinity,
    pub(super) waits: Points,
    pub(super) signals: Points,
    pub(super) operation: Operation,
    turn: Turn,
}

/// When something goes among all that is held back: the least first, where one goes at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn {
    /// Behind all others.
    laggard: bool,
    rank: u64,
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
    /// Go on when the work in flight has ended.
    Settle,
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
    style: Style,
    mood: Mood,
    next_id: u64,
    /// Nothing was handed on since work in flight was waited for.
    settled: bool,
}

/// Of how many submissions the next is chosen where one goes at a time: each choice looks at all of them.
const MOST_LOOKED_AT: usize = 128;

/// What a seed goes in for.
#[derive(Clone, Copy)]
enum Style {
    /// Much is in flight at a time, and much of it has been handed on before its waits are reached.
    Crowd,
    /// Work is handed on once its waits are reached, and the next once it has ended. Submissions whose numbers leave
    /// `rest` when divided by `every` come last. An edge that is missing shows when what should come first comes last,
    /// and whatever the other side needs does not: so each submission comes last with some seed out of few. All others go
    /// in the order of submission (`orderly`), or in any.
    OneByOne { every: u64, rest: u64, orderly: bool },
}

impl Style {
    /// Even seeds go one by one. Two numbers take turns, so that a submission comes last in different company.
    fn of(seed: u64) -> Self {
        let turn = seed / 2;
        let orderly = turn.is_multiple_of(2);
        let every = if orderly { 16 } else { 13 };
        match seed.is_multiple_of(2) {
            true => Self::OneByOne { every, rest: turn / 2 % every, orderly },
            false => Self::Crowd,
        }
    }
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
            style: Style::of(seed),
            mood: Mood::Lazy,
            next_id: 0,
            settled: false,
        }
    }

    /// The number of the next submission, and whether it should be held back at all.
    pub(super) fn arrive(&mut self) -> (u64, bool) {
        let id = self.next_id;
        self.next_id += 1;
        if let Style::OneByOne { .. } = self.style {
            return (id, true);
        }
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
        let turn = match self.style {
            Style::Crowd => Turn { laggard: self.random.below(4) == 0, rank: 0 },
            Style::OneByOne { every, rest, orderly } => {
                let rank = if orderly { id } else { self.random.next_u64() };
                Turn { laggard: id % every == rest, rank }
            }
        };
        self.places.insert(id, self.held.len());
        self.held.push(Held { id, affinity, waits, signals, operation, turn });
    }

    /// The signals of a submission that is handed on are held back.
    pub(super) fn withhold(&mut self, completion: Arc<Completion>) {
        self.withheld.push(completion);
    }

    /// The turn of signals that are held back.
    pub(super) fn turn_of_signals(&mut self) -> Turn {
        let laggard = matches!(self.style, Style::Crowd) && self.random.below(4) == 0;
        Turn { laggard, rank: self.random.next_u64() }
    }

    /// Somebody waits for what submission `id` signals. Whether it is held back in some way.
    pub(super) fn demand(&mut self, id: u64) -> bool {
        let held = self.place_of(id).is_some();
        if held {
            self.demanded.push(id);
        }
        held
    }

    /// Everything that is held back now is asked for.
    pub(super) fn demand_all(&mut self) {
        self.all = true;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty() && self.withheld.is_empty()
    }

    /// The next thing to do; `None` when nobody asks for any. `promised` is the domain of edges that stand for work which
    /// was handed on; `may_settle` says that the client can only wait meanwhile.
    pub(super) fn choose(&mut self, promised: Domain, may_settle: bool) -> Option<Choice> {
        if self.is_empty() {
            (self.budget, self.all) = (0, false);
            self.demanded.clear();
            return None;
        }
        let demanded = self.demanded();
        if demanded.is_none() && !self.all && self.budget == 0 {
            return None;
        }
        if let Style::OneByOne { .. } = self.style {
            if may_settle && !self.all && !std::mem::replace(&mut self.settled, true) {
                return Some(Choice::Settle);
            }
            let place = self.first(promised).or(demanded).unwrap_or_else(|| self.anywhere());
            return Some(self.take(place));
        }
        if may_settle && demanded.is_some() && !self.all && self.random.below(4) == 0 {
            return Some(Choice::Settle);
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

    /// Where submission `id` is held back, if it is.
    fn place_of(&self, id: u64) -> Option<Place> {
        let withheld =
            || self.withheld.iter().position(|completion| completion.id == id).map(Place::Withheld);
        self.places.get(&id).map(|index| Place::Held(*index)).or_else(withheld)
    }

    /// One of the demanded submissions that is still held back in some way.
    fn demanded(&mut self) -> Option<Place> {
        let mut demanded = std::mem::take(&mut self.demanded);
        demanded.retain(|id| self.place_of(*id).is_some());
        // Without a choice no number is drawn: the client may go on already, and draw the next.
        let at = (!demanded.is_empty()).then(|| self.random.below(demanded.len()));
        let place = at.and_then(|at| self.place_of(demanded[at]));
        self.demanded = demanded;
        place
    }

    /// Of what could go, that whose turn it is.
    fn first(&self, promised: Domain) -> Option<Place> {
        let held = self.held.iter().take(MOST_LOOKED_AT).enumerate();
        let ready = held.filter(|(_, held)| is_ready(held, promised));
        let ready = ready.map(|(index, held)| (held.turn, Place::Held(index)));
        let withheld = self.withheld.iter().enumerate();
        let withheld = withheld.map(|(index, completion)| (completion.turn, Place::Withheld(index)));
        ready.chain(withheld).min_by_key(|(turn, _)| *turn).map(|(_, place)| place)
    }

    /// Any that does not lag; rather one whose waits are resolved, but not always.
    fn any(&mut self, promised: Domain) -> Option<Place> {
        let mut fallback = None;
        for _ in 0..8 {
            let place = self.anywhere();
            let (laggard, ready) = match place {
                Place::Withheld(index) => (self.withheld[index].turn.laggard, true),
                Place::Held(index) => (self.held[index].turn.laggard, is_ready(&self.held[index], promised)),
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
                self.settled = false;
                let orderly = matches!(self.style, Style::OneByOne { orderly: true, .. });
                let withhold = !orderly && !held.signals.is_empty() && self.random.below(2) == 0;
                Choice::HandOn { held, withhold, random: self.random.next_u64() }
            }
        }
    }
}

/// Whether each wait is reached, or will be by work that was handed on.
fn is_ready(held: &Held, promised: Domain) -> bool {
    let unresolved =
        |wait: &Point| matches!(wait.semaphore.probe(wait.value, Some(promised)), Probe::Unresolved);
    !held.waits.iter().any(unresolved)
}

/// Where something is held back.
#[derive(Clone, Copy)]
enum Place {
    Held(usize),
    Withheld(usize),
}
