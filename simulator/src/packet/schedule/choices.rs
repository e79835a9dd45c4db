// SPDX-License-Identifier: MIT OR Apache-2.0
//! The source of choices: a generator, or a log that is replayed. All choices and steps go into one hash.

use super::log::{Entry, Recorder, Replay};
use super::report::ScheduleReport;
use crate::engine::Choose;

/// The choices of one simulator.
#[derive(Debug)]
pub(crate) struct Choices {
    pub(crate) seed: u64,
    generator: u64,
    recorder: Option<Recorder>,
    replay: Option<Replay>,
    /// The point where a replay diverged from its log.
    pub(crate) divergence: Option<String>,
    /// The hash of all events so far, in their order.
    pub(crate) hash: u64,
    pub(crate) calls: u64,
    pub(crate) steps: u64,
    pub(crate) picks: u64,
    /// Binary logarithm of the number of ways in which all picks could have gone.
    pub(crate) freedom: f64,
}

impl Choices {
    pub(crate) fn new(seed: u64, recorder: Option<Recorder>, replay: Option<Replay>) -> Self {
        Self {
            seed,
            generator: mix(seed),
            recorder,
            replay,
            divergence: None,
            hash: 0,
            calls: 0,
            steps: 0,
            picks: 0,
            freedom: 0.0,
        }
    }

    /// The report so far.
    pub(crate) fn report(&self) -> ScheduleReport {
        ScheduleReport {
            seed: self.seed,
            hash: self.hash,
            calls: self.calls,
            steps: self.steps,
            choices: self.picks,
            freedom: self.freedom,
            divergence: self.divergence.clone(),
        }
    }

    /// The next event of a replay's log; `None` without a replay or past the end of the log.
    pub(crate) fn expected(&self) -> Option<&Entry> {
        self.replay.as_ref()?.peek()
    }

    /// Notes an event that is not a pick. If a replay expects an event, it is this one.
    pub(crate) fn note(&mut self, entry: &Entry) {
        match entry {
            Entry::Call { thread, function } => {
                self.calls += 1;
                let name = function.bytes().fold(*thread, |hash, byte| mix(hash ^ u64::from(byte)));
                self.happened(&[name]);
            }
            Entry::Back { thread } => self.happened(&[1, *thread]),
            Entry::Ended { function } => self.happened(&[2, *function]),
            Entry::Step | Entry::Pick { .. } => {}
        }
        self.write(entry);
        if let Some(replay) = &mut self.replay {
            replay.advance();
        }
    }

    /// Gives up a replay: the next event differs from the expected one.
    pub(crate) fn diverge(&mut self, instead: &str) {
        if let Some(replay) = self.replay.take() {
            let divergence = replay.divergence(instead);
            tracing::error!(target: "windlass::sim", "{divergence}");
            self.divergence = Some(divergence);
        }
    }

    /// Closes the logs. Later events are not recorded.
    pub(crate) fn close(&mut self) {
        (self.recorder, self.replay) = (None, None);
    }

    fn write(&mut self, entry: &Entry) {
        if let Some(recorder) = &mut self.recorder {
            recorder.write(entry);
        }
    }

    fn draw(&mut self, options: usize) -> usize {
        self.generator = self.generator.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let drawn = u128::from(mix(self.generator)) * options as u128;
        // Below `options`.
        (drawn >> 64) as usize
    }
}

impl Choose for Choices {
    fn choose(&mut self, options: usize) -> usize {
        if options < 2 {
            return 0;
        }
        // The generator advances in a replay too, so that the choices past the end of a log differ from those at its
        // beginning.
        let mut option = self.draw(options);
        match self.expected() {
            Some(Entry::Pick { option: logged, of }) if *of == options => option = *logged,
            Some(_) => self.diverge(&format!("a choice among {options} comes")),
            None => {}
        }
        self.picks += 1;
        self.freedom += (options as f64).log2();
        self.note(&Entry::Pick { option, of: options });
        option
    }

    fn happened(&mut self, step: &[u64]) {
        for word in step {
            self.hash = mix(self.hash ^ *word);
        }
    }
}

/// The last step of SplitMix64: every bit of the result depends on every bit of the number.
pub(crate) fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
