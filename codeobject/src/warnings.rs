// SPDX-License-Identifier: MIT OR Apache-2.0
//! Harmless oddities of a code object.

const MOST: usize = 32;

/// A list of warnings of limited length.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    list: Vec<String>,
    more: usize,
}

impl Warnings {
    /// Adds a warning, unless it repeats the last one or the list is full.
    pub(crate) fn push(&mut self, warning: impl FnOnce() -> String) {
        if self.list.len() >= MOST {
            self.more = self.more.saturating_add(1);
            return;
        }
        let warning = warning();
        if !self.list.contains(&warning) {
            tracing::debug!(target: "windlass::codeobject", %warning, "odd code object");
            self.list.push(warning);
        }
    }

    pub(crate) fn into_list(mut self) -> Vec<String> {
        if self.more > 0 {
            self.list.push(format!("and {} more of the kind", self.more));
        }
        self.list
    }
}
