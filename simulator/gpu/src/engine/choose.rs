// SPDX-License-Identifier: MIT OR Apache-2.0
//! A dispatch that runs by steps: its choices, and the outcome of a step.

/// The source of choices.
pub trait Choose {
    /// One of `options`, from 0 on. There is at least one.
    fn choose(&mut self, options: usize) -> usize;

    /// Notes a step, as numbers that distinguish it from others.
    fn happened(&mut self, step: &[u64]);
}

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOutcome {
    /// Something ran.
    Progress,
    /// A step ran that may only be waiting.
    Spun,
    /// Nothing is left to run.
    Done,
}
