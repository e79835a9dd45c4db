// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of a block.

use crate::exec::machine::core::Flow;

/// The end of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    /// The step at which it ended.
    pub(crate) index: usize,
    /// The reason.
    pub(crate) end: End,
}

/// The reason why a block ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The interpreter executes the step.
    Stay,
    /// Another block may begin at the step.
    Limit,
    /// The step was executed, with this answer.
    Executed(Flow),
}
