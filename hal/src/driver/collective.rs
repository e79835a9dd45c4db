// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collective operations: the parts of a group.

use crate::{
    driver::{buffer_ref::BufferRef, range::Buffer},
    words::{
        collective::{CollectiveKind, Reduction},
        element_type::ElementType,
        error::Result,
    },
};

/// One operation that all ranks of a channel carry out together, as this rank states it. For
/// [`Queue::collective`](crate::Queue::collective), and with ranges that may be slots
/// ([`BufferRef`](crate::BufferRef)) for [`Recorder::collective`](crate::Recorder::collective), which check it.
///
/// The lengths of the ranges say how many elements move. Each rank states the same kind, element type, reduction, root
/// and number of elements.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Collective<Range = Buffer> {
    /// The kind.
    pub kind: CollectiveKind,
    /// The type of the elements.
    pub element: ElementType,
    /// The elements that this rank gives. To a driver it is present exactly where this rank gives any.
    pub source: Option<Range>,
    /// The place of the elements that this rank gets. To a driver it is present exactly where this rank gets any.
    pub target: Option<Range>,
}

impl<Range: Clone> Collective<Range> {
    fn new(
        kind: CollectiveKind,
        element: ElementType,
        source: Option<&Range>,
        target: Option<&Range>,
    ) -> Self {
        Self { kind, element, source: source.cloned(), target: target.cloned() }
    }

    /// Each rank gets the elements of all ranks, by rank. The target has as many times the bytes of the source as there
    /// are ranks; the source may be this rank's part of it.
    pub fn all_gather(element: ElementType, source: &Range, target: &Range) -> Self {
        Self::new(CollectiveKind::AllGather, element, Some(source), Some(target))
    }

    /// Each rank gets the reduction over all ranks. Source and target have the same length, and may be the same.
    pub fn all_reduce(reduction: Reduction, element: ElementType, source: &Range, target: &Range) -> Self {
        Self::new(CollectiveKind::AllReduce(reduction), element, Some(source), Some(target))
    }

    /// Each rank sends part n of its source to rank n, and gets part n of its target from there. Source and target have
    /// the same length, a whole number of elements for each rank.
    pub fn all_to_all(element: ElementType, source: &Range, target: &Range) -> Self {
        Self::new(CollectiveKind::AllToAll, element, Some(source), Some(target))
    }

    /// Each rank gets the elements of `root`. Only the root's source is read; a root without one sends what its target
    /// holds.
    pub fn broadcast(root: u32, element: ElementType, source: Option<&Range>, target: &Range) -> Self {
        Self::new(CollectiveKind::Broadcast { root }, element, source, Some(target))
    }

    /// The rank `root` gets the reduction over all ranks. Only the root's target is written, and only the root needs one.
    /// It has the length of the source, and may be the same.
    pub fn reduce(
        root: u32,
        reduction: Reduction,
        element: ElementType,
        source: &Range,
        target: Option<&Range>,
    ) -> Self {
        Self::new(CollectiveKind::Reduce { root, reduction }, element, Some(source), target)
    }

    /// Rank n gets part n of the reduction over all ranks. The source has as many times the bytes of the target as there
    /// are ranks; the target may be this rank's part of it.
    pub fn reduce_scatter(
        reduction: Reduction,
        element: ElementType,
        source: &Range,
        target: &Range,
    ) -> Self {
        Self::new(CollectiveKind::ReduceScatter(reduction), element, Some(source), Some(target))
    }

    /// Sends elements to a rank, which receives as many from this one. The parts of a group start together, so ranks
    /// that send to each other put both operations into one group.
    pub fn send(to: u32, element: ElementType, source: &Range) -> Self {
        Self::new(CollectiveKind::Send { to }, element, Some(source), None)
    }

    /// Receives elements from a rank, which sends as many to this one.
    pub fn recv(from: u32, element: ElementType, target: &Range) -> Self {
        Self::new(CollectiveKind::Recv { from }, element, None, Some(target))
    }

    /// Sends to one rank and receives from another, each with or without. Without a rank to receive from, the target is
    /// filled with zeros. Without a rank to send to, the source is not read. Source and target have the same length and
    /// do not overlap.
    pub fn send_recv(
        to: Option<u32>,
        from: Option<u32>,
        element: ElementType,
        source: &Range,
        target: &Range,
    ) -> Self {
        Self::new(CollectiveKind::SendRecv { to, from }, element, Some(source), Some(target))
    }
}

impl Collective<BufferRef> {
    /// The operation with the binding table of a submission. Errors as for [`BufferRef::resolve`].
    pub fn resolve(&self, bindings: &[Buffer]) -> Result<Collective> {
        let range =
            |range: &Option<BufferRef>| range.as_ref().map(|range| range.resolve(bindings)).transpose();
        let (source, target) = (range(&self.source)?, range(&self.target)?);
        Ok(Collective { kind: self.kind, element: self.element, source, target })
    }
}
