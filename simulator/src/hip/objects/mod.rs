// SPDX-License-Identifier: MIT OR Apache-2.0
//! Objects behind handles that need no machine: streams, events, memory pools.

pub(crate) mod event;
pub(crate) mod pool;
pub(crate) mod shared_event;
pub(crate) mod stream;
