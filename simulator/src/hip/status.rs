// SPDX-License-Identifier: MIT OR Apache-2.0
//! What options may name: HIP's errors, and the functions that the simulator has.

use super::code::Code;
use super::table;

pub(crate) const OUT_OF_MEMORY: u32 = Code::OUT_OF_MEMORY.0;
pub(crate) const UNKNOWN: u32 = Code::UNKNOWN.0;

/// The number of a status by its name.
pub(crate) fn number(name: &str) -> Option<u32> {
    Code::known().find(|(_, known)| *known == name).map(|(code, _)| code.0)
}

/// The names of all statuses.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    Code::known().map(|(_, name)| name)
}

/// Whether the simulator has the function in some version of HIP.
pub(crate) fn is_simulated(function: &str) -> bool {
    table::has(function)
}
