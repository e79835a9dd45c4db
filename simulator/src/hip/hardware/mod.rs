// SPDX-License-Identifier: MIT OR Apache-2.0
//! The machine: devices, memory, and the list of allocations.

pub(crate) mod allocation;
pub(crate) mod attributes;
pub(crate) mod device;
pub(crate) mod graph_memory;
pub(crate) mod hints;
pub(crate) mod imports;
pub(crate) mod keepers;
pub(crate) mod ledger;
pub(crate) mod machine;
pub(crate) mod virtual_memory;
