// SPDX-License-Identifier: MIT OR Apache-2.0
//! The choice of code for a GPU: targets, processors, and the verdict on each entry.

pub(crate) mod processor;
pub(crate) mod retarget;
pub(crate) mod select;
pub(crate) mod target;
