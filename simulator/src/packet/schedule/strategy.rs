// SPDX-License-Identifier: MIT OR Apache-2.0
//! The strategy of a seed: how much runs at a scheduling point, and which stream's turn it is.
//!
//! Uniform choice alone rarely finds defects that need one stream to be far behind or far ahead. So a seed
//! first draws a strategy: work runs when a thread waits for it, at once, or both in turns; streams take
//! turns by chance, or by priorities that change now and then.

use std::collections::BTreeMap;

use crate::engine::Choose;

/// The strategy of one run.
#[derive(Debug, Default)]
pub(crate) struct Strategy {
    character: Option<Character>,
    /// Of the streams that were chosen among, where priorities decide.
    priorities: BTreeMap<u64, u64>,
    /// Scheduling points in a row where a step could have run and none did.
    passed: u32,
}

#[derive(Clone, Copy, Debug)]
struct Character {
    eagerness: Eagerness,
    by_priority: bool,
}

#[derive(Clone, Copy, Debug)]
enum Eagerness {
    /// Work runs when a thread waits for it.
    Lazy,
    /// Work runs at once.
    Eager,
    Mixed,
}

/// The most points that pass without a step, so that a client which polls by any call sees an end.
const PATIENCE: u32 = 1000;
/// A budget without a limit.
pub(crate) const ALL: usize = usize::MAX;
/// Priorities are drawn below this; a stream that spins has none.
const PRIORITIES: usize = 1 << 16;

impl Strategy {
    fn character(&mut self, choices: &mut dyn Choose) -> Character {
        *self.character.get_or_insert_with(|| Character {
            eagerness: match choices.choose(4) {
                0 => Eagerness::Lazy,
                1 => Eagerness::Eager,
                _ => Eagerness::Mixed,
            },
            by_priority: choices.choose(2) == 1,
        })
    }

    /// The number of steps to run at a point where a step can run. `asks` is set if the client asks whether
    /// work is done.
    pub(crate) fn budget(&mut self, choices: &mut dyn Choose, asks: bool) -> usize {
        let budget = match self.character(choices).eagerness {
            // A client that only polls must see an end some time.
            Eagerness::Lazy if asks => [0, 1, 8, ALL][choices.choose(4)],
            Eagerness::Lazy => 0,
            Eagerness::Eager => ALL,
            Eagerness::Mixed => match choices.choose(8) {
                0..=3 => 0,
                4 => 1,
                5 => 2,
                6 => 3 + choices.choose(16),
                _ => ALL,
            },
        };
        if budget > 0 || self.passed >= PATIENCE {
            self.passed = 0;
            budget.max(1)
        } else {
            self.passed += 1;
            0
        }
    }

    /// The stream whose turn it is.
    pub(crate) fn pick(&mut self, choices: &mut dyn Choose, streams: &[u64]) -> u64 {
        if streams.len() < 2 {
            return streams.first().copied().unwrap_or_default();
        }
        if !self.character(choices).by_priority {
            return streams[choices.choose(streams.len())];
        }
        let mut best = (0, streams[0]);
        for stream in streams {
            let priority =
                *self.priorities.entry(*stream).or_insert_with(|| 1 + choices.choose(PRIORITIES) as u64);
            if priority > best.0 {
                best = (priority, *stream);
            }
        }
        if choices.choose(24) == 0 {
            self.priorities.insert(best.1, 1 + choices.choose(PRIORITIES) as u64);
        }
        best.1
    }

    /// Puts a stream that may be waiting for another behind all others.
    pub(crate) fn demote(&mut self, stream: u64) {
        // The others keep their order; two streams that wait for each other's kernels take turns.
        let lowest = self.priorities.values().copied().min().unwrap_or(1);
        if lowest == 0 {
            self.priorities.values_mut().for_each(|priority| *priority += 1);
        }
        if let Some(priority) = self.priorities.get_mut(&stream) {
            *priority = 0;
        }
    }

    /// Forgets a stream that is gone.
    pub(crate) fn forget(&mut self, stream: u64) {
        self.priorities.remove(&stream);
    }
}
