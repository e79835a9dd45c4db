// SPDX-License-Identifier: MIT OR Apache-2.0
//! Objects behind handles that need no machine: streams, events, memory pools.

pub(crate) mod budget;
pub(crate) mod event;
pub(crate) mod graph_reserve;
pub(crate) mod pool;
pub(crate) mod shared_event;
pub(crate) mod stream;
pub(crate) mod user_object;
