// SPDX-License-Identifier: MIT OR Apache-2.0
//! Work of streams: kernel launches, host functions, copies and fills, and the packets that carry them.

pub(crate) mod batch;
pub(crate) mod host_function;
pub(crate) mod item;
pub(crate) mod launch;
pub(crate) mod occupancy;
pub(crate) mod packet;
pub(crate) mod word;
