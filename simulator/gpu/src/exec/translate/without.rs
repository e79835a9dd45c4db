// SPDX-License-Identifier: MIT OR Apache-2.0
//! No blocks, where there is no translator.

use super::Left;
use crate::exec::machine::core::Core;
use crate::exec::machine::step::Step;

/// No blocks.
pub(crate) struct Blocks;

impl Blocks {
    /// For a region of any size.
    pub(crate) fn new(_: usize, _: u32) -> Self {
        Self
    }

    /// Runs nothing.
    pub(crate) fn enter(&self, _: &mut Core<'_>, _: &[Step], _: usize, _: bool, _: u32) -> Option<Left> {
        None
    }

    /// Whether a block begins at a step: none does.
    #[cfg(test)]
    pub(crate) fn begins_at(&self, _: usize) -> bool {
        false
    }
}
