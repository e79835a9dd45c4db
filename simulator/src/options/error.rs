// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why options of the simulator were refused.

use std::fmt;

/// Why options of the simulator were refused. The message names the text and the values that are allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionsError(String);

impl OptionsError {
    pub(crate) fn new(message: String) -> Self {
        Self(message)
    }
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OptionsError {}
