// SPDX-License-Identifier: MIT OR Apache-2.0
//! A dispatch that runs by steps: the choices that it asks for, and the outcome of a step.

/// Decides what happens next where several things may.
pub(crate) trait Choose {
    /// One of `options`, from 0 on. There is at least one.
    fn choose(&mut self, options: usize) -> usize;

    /// Is told what a step did, in numbers that tell it from others.
    fn happened(&mut self, step: &[u64]);
}

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Something ran.
    Progress,
    /// Something ran that may be waiting.
    Spun,
    /// Nothing is left to run.
    Done,
}
