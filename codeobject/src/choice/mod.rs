// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which code a GPU gets: targets, what they have in common, and the verdict on each entry.

pub(crate) mod processor;
pub(crate) mod retarget;
pub(crate) mod select;
pub(crate) mod target;
