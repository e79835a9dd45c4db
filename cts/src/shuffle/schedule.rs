// SPDX-License-Identifier: MIT OR Apache-2.0
//! The schedule: the work that is held back, and the choice of the next.

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

/// The turn of held work among all of it. Where work goes one by one, the least turn goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn {
    /// Whether the work goes after all others.
    laggard: bool,
    rank: u64,
}

/// The next thing to do.
pub(super) enum Choice {
    /// Give a submission to the wrapped device.
    HandOn {
        held: Box<Held>,
        /// Whether to hold its signals back.
        withhold: bool,
        /// A random number for all further choices.
        random: u64,
    },
    /// Release signals that were held back.
    Release(Arc<Completion>),
    /// Go on when the work in flight has ended.
    AwaitEnds,
}

/// The held work, and how long it may be held.
pub(super) struct Schedule {
    pub(super) random: Random,
    /// In no order: a removal moves the last element into the gap.
    held: Vec<Held>,
    places: HashMap<u64, usize>,
    withheld: Vec<Arc<Completion>>,
    /// The submissions that a client waits for.
    demanded: Vec<u64>,
    /// The number of choices to make without a demand.
    budget: usize,
    /// Whether everything is demanded.
    all: bool,
    style: Style,
    mood: Mood,
    next_id: u64,
    /// Whether no work was handed on since the last wait for work in flight.
    awaited: bool,
}

/// The most submissions among which the next is chosen one by one, because each choice looks at all of them.
const MOST_LOOKED_AT: usize = 128;

/// The way in which a seed tries to provoke errors.
#[derive(Clone, Copy)]
enum Style {
    /// Much work is in flight at a time, and much of it was handed on before its waits are reached.
    Crowd,
    /// Work is handed on once its waits are reached and the work before it has ended. Submissions whose numbers leave
    /// `rest` when divided by `every` come last. A missing edge shows when its producer comes last although the
    /// consumer's other inputs do not. So each submission comes last with one of few seeds. All others go in the
    /// order of submission if `orderly`, otherwise in any order.
    OneByOne { every: u64, rest: u64, orderly: bool },
}

impl Style {
    /// Even seeds go one by one. Two divisors alternate, so that the groups of last submissions vary.
    fn from_seed(seed: u64) -> Self {
        let turn = seed / 2;
        let orderly = turn.is_multiple_of(2);
        let every = if orderly { 16 } else { 13 };
        match seed.is_multiple_of(2) {
            true => Self::OneByOne { every, rest: turn / 2 % every, orderly },
            false => Self::Crowd,
        }
    }
}

/// The pace of work while no client waits. It changes now and then, so that one seed tries long and short queues.
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
            style: Style::from_seed(seed),
            mood: Mood::Lazy,
            next_id: 0,
            awaited: false,
        }
    }

    /// Numbers a submission. Returns also whether to hold it back at all.
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

    /// Holds back the signals of a submission that was handed on.
    pub(super) fn withhold(&mut self, completion: Arc<Completion>) {
        self.withheld.push(completion);
    }

    /// Draws the turn of signals that are held back.
    pub(super) fn turn_of_signals(&mut self) -> Turn {
        let laggard = matches!(self.style, Style::Crowd) && self.random.below(4) == 0;
        Turn { laggard, rank: self.random.next_u64() }
    }

    /// Records that a client waits for the signals of submission `id`. Returns whether it is held back in some way.
    pub(super) fn demand(&mut self, id: u64) -> bool {
        let held = self.place_of(id).is_some();
        if held {
            self.demanded.push(id);
        }
        held
    }

    /// Demands everything that is held back now.
    pub(super) fn demand_all(&mut self) {
        self.all = true;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty() && self.withheld.is_empty()
    }

    /// The next thing to do. `None` if no more is requested. `promised` is the domain of edges that stand for work
    /// that was handed on. `may_await` says that the client can only wait meanwhile.
    pub(super) fn choose(&mut self, promised: Domain, may_await: bool) -> Option<Choice> {
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
            if may_await && !self.all && !std::mem::replace(&mut self.awaited, true) {
                return Some(Choice::AwaitEnds);
            }
            let place = self.first(promised).or(demanded).unwrap_or_else(|| self.anywhere());
            return Some(self.take(place));
        }
        if may_await && demanded.is_some() && !self.all && self.random.below(4) == 0 {
            return Some(Choice::AwaitEnds);
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
                        // Only the last submissions are left, and no client demands them.
                        self.budget = 0;
                        return None;
                    }
                },
            },
        };
        Some(self.take(place))
    }

    fn anywhere(&mut self) -> HeldAt {
        let index = self.random.below(self.held.len() + self.withheld.len());
        match index.checked_sub(self.held.len()) {
            None => HeldAt::Held(index),
            Some(index) => HeldAt::Withheld(index),
        }
    }

    /// The place at which submission `id` is held back, if it is.
    fn place_of(&self, id: u64) -> Option<HeldAt> {
        let withheld =
            || self.withheld.iter().position(|completion| completion.id == id).map(HeldAt::Withheld);
        self.places.get(&id).map(|index| HeldAt::Held(*index)).or_else(withheld)
    }

    /// One of the demanded submissions that is still held back in some way.
    fn demanded(&mut self) -> Option<HeldAt> {
        let mut demanded = std::mem::take(&mut self.demanded);
        demanded.retain(|id| self.place_of(*id).is_some());
        // Without a choice no number is drawn, because the client may be running and draw the next one.
        let at = (!demanded.is_empty()).then(|| self.random.below(demanded.len()));
        let place = at.and_then(|at| self.place_of(demanded[at]));
        self.demanded = demanded;
        place
    }

    /// The work with the least turn among the work that could go.
    fn first(&self, promised: Domain) -> Option<HeldAt> {
        let held = self.held.iter().take(MOST_LOOKED_AT).enumerate();
        let ready = held.filter(|(_, held)| is_ready(held, promised));
        let ready = ready.map(|(index, held)| (held.turn, HeldAt::Held(index)));
        let withheld = self.withheld.iter().enumerate();
        let withheld = withheld.map(|(index, completion)| (completion.turn, HeldAt::Withheld(index)));
        ready.chain(withheld).min_by_key(|(turn, _)| *turn).map(|(_, place)| place)
    }

    /// Some work that does not come last, preferably with resolved waits.
    fn any(&mut self, promised: Domain) -> Option<HeldAt> {
        let mut fallback = None;
        for _ in 0..8 {
            let place = self.anywhere();
            let (laggard, ready) = match place {
                HeldAt::Withheld(index) => (self.withheld[index].turn.laggard, true),
                HeldAt::Held(index) => (self.held[index].turn.laggard, is_ready(&self.held[index], promised)),
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

    fn take(&mut self, place: HeldAt) -> Choice {
        match place {
            HeldAt::Withheld(index) => Choice::Release(self.withheld.swap_remove(index)),
            HeldAt::Held(index) => {
                let held = Box::new(self.held.swap_remove(index));
                self.places.remove(&held.id);
                if let Some(moved) = self.held.get(index) {
                    self.places.insert(moved.id, index);
                }
                self.awaited = false;
                let orderly = matches!(self.style, Style::OneByOne { orderly: true, .. });
                let withhold = !orderly && !held.signals.is_empty() && self.random.below(2) == 0;
                Choice::HandOn { held, withhold, random: self.random.next_u64() }
            }
        }
    }
}

/// Whether each wait is reached, or will be reached by work that was handed on.
fn is_ready(held: &Held, promised: Domain) -> bool {
    let unresolved =
        |wait: &Point| matches!(wait.semaphore.probe(wait.value, Some(promised)), Probe::Unresolved);
    !held.waits.iter().any(unresolved)
}

/// A place at which work is held back.
#[derive(Clone, Copy)]
enum HeldAt {
    Held(usize),
    Withheld(usize),
}
