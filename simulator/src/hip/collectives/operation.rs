// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operations: what the ranks of a round do together, and the memory that each of them uses.

use std::fmt;

use windlass_hip_sys::rccl::ncclDataType_t;

use super::element::Reduction;

/// The kinds of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    AllReduce(Reduction),
    Reduce(Reduction, usize),
    ReduceScatter(Reduction),
    Broadcast(usize),
    AllGather,
    Gather(usize),
    Scatter(usize),
    AllToAll,
    /// From the rank in the first slot to that in the second.
    Send,
}

/// An operation. All ranks of a round ask for the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operation {
    pub(crate) kind: Kind,
    pub(crate) element: ncclDataType_t,
    /// Elements, as RCCL counts them for the operation.
    pub(crate) count: u64,
}

/// The bytes that a rank sends from and receives into; zero for a side that it does not use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sides {
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

impl Operation {
    /// The bytes of `count` elements.
    pub(crate) fn block(&self) -> u64 {
        self.count.saturating_mul(self.element.size().unwrap_or(0) as u64)
    }

    /// The bytes that the rank in a slot uses; `None` if no integer holds them.
    pub(crate) fn sides(&self, slot: usize, ranks: usize) -> Option<Sides> {
        let size = self.element.size()? as u64;
        let one = self.count.checked_mul(size)?;
        let all = one.checked_mul(ranks as u64)?;
        let (sent, received) = match self.kind {
            Kind::AllReduce(_) => (one, one),
            Kind::Reduce(_, root) => (one, if slot == root { one } else { 0 }),
            Kind::ReduceScatter(_) => (all, one),
            Kind::Broadcast(root) => (if slot == root { one } else { 0 }, one),
            Kind::AllGather => (one, all),
            Kind::Gather(root) => (one, if slot == root { all } else { 0 }),
            Kind::Scatter(root) => (if slot == root { all } else { 0 }, one),
            Kind::AllToAll => (all, all),
            Kind::Send => (if slot == 0 { one } else { 0 }, if slot == 1 { one } else { 0 }),
        };
        Some(Sides { sent, received })
    }
}

impl fmt::Display for Operation {
    /// For example `AllReduce(Sum) of 4 ncclFloat32`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of {} {:?}", self.kind, self.count, self.element)
    }
}
