// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collective operations: the parts of a group.

use crate::{
    driver::range::Buffer,
    words::{
        collective::{CollectiveKind, Reduction},
        element_type::ElementType,
    },
};

/// One operation that all ranks of a channel carry out together, as this rank states it. For
/// [`Queue::collective`](crate::Queue::collective), which checks it.
///
/// The lengths of the buffers say how many elements move. Each rank states the same kind, element type, reduction, root
/// and number of elements.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Collective {
    /// The kind.
    pub kind: CollectiveKind,
    /// The type of the elements.
    pub element: ElementType,
    /// The elements that this rank gives. To a driver it is present exactly where this rank gives any.
    pub source: Option<Buffer>,
    /// The place of the elements that this rank gets. To a driver it is present exactly where this rank gets any.
    pub target: Option<Buffer>,
}

impl Collective {
    fn new(
        kind: CollectiveKind,
        element: ElementType,
        source: Option<&Buffer>,
        target: Option<&Buffer>,
    ) -> Self {
        Self { kind, element, source: source.cloned(), target: target.cloned() }
    }

    /// Each rank gets the elements of all ranks, by rank. The target has as many times the bytes of the source as there
    /// are ranks; the source may be this rank's part of it.
    pub fn all_gather(element: ElementType, source: &Buffer, target: &Buffer) -> Self {
        Self::new(CollectiveKind::AllGather, element, Some(source), Some(target))
    }

    /// Each rank gets the reduction over all ranks. Source and target have the same length, and may be the same.
    pub fn all_reduce(reduction: Reduction, element: ElementType, source: &Buffer, target: &Buffer) -> Self {
        Self::new(CollectiveKind::AllReduce(reduction), element, Some(source), Some(target))
    }

    /// Each rank sends part n of its source to rank n, and gets part n of its target from there. Source and target have
    /// the same length, a whole number of elements for each rank.
    pub fn all_to_all(element: ElementType, source: &Buffer, target: &Buffer) -> Self {
        Self::new(CollectiveKind::AllToAll, element, Some(source), Some(target))
    }

    /// Each rank gets the elements of `root`. Only the root's source is read; a root without one sends what its target
    /// holds.
    pub fn broadcast(root: u32, element: ElementType, source: Option<&Buffer>, target: &Buffer) -> Self {
        Self::new(CollectiveKind::Broadcast { root }, element, source, Some(target))
    }

    /// The rank `root` gets the reduction over all ranks. Only the root's target is written, and only the root needs one.
    /// It has the length of the source, and may be the same.
    pub fn reduce(
        root: u32,
        reduction: Reduction,
        element: ElementType,
        source: &Buffer,
        target: Option<&Buffer>,
    ) -> Self {
        Self::new(CollectiveKind::Reduce { root, reduction }, element, Some(source), target)
    }

    /// Rank n gets part n of the reduction over all ranks. The source has as many times the bytes of the target as there
    /// are ranks; the target may be this rank's part of it.
    pub fn reduce_scatter(
        reduction: Reduction,
        element: ElementType,
        source: &Buffer,
        target: &Buffer,
    ) -> Self {
        Self::new(CollectiveKind::ReduceScatter(reduction), element, Some(source), Some(target))
    }

    /// Sends elements to a rank, which receives as many from this one. The parts of a group start together, so ranks
    /// that send to each other put both operations into one group.
    pub fn send(to: u32, element: ElementType, source: &Buffer) -> Self {
        Self::new(CollectiveKind::Send { to }, element, Some(source), None)
    }

    /// Receives elements from a rank, which sends as many to this one.
    pub fn recv(from: u32, element: ElementType, target: &Buffer) -> Self {
        Self::new(CollectiveKind::Recv { from }, element, None, Some(target))
    }

    /// Sends to one rank and receives from another, each with or without. Without a rank to receive from, the target is
    /// filled with zeros. Without a rank to send to, the source is not read. Source and target have the same length and
    /// do not overlap.
    pub fn send_recv(
        to: Option<u32>,
        from: Option<u32>,
        element: ElementType,
        source: &Buffer,
        target: &Buffer,
    ) -> Self {
        Self::new(CollectiveKind::SendRecv { to, from }, element, Some(source), Some(target))
    }
}
