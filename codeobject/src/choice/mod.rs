// SPDX-License-Identifier: MIT OR Apache-2.0
//! The choice of code for a GPU: the verdict on each entry, and code renamed for a GPU of its family.

pub(crate) mod retarget;
pub(crate) mod select;
