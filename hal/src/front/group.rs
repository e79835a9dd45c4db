// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checks of a group of collective operations, whose ranges are buffers, or slots too in a command buffer.

use crate::{
    driver::{RawChannel, buffer_ref::BufferRef, collective::Collective, range::Buffer},
    front::check::{check_lengths, check_multiple},
    words::{
        buffer_params::BufferUsage,
        collective::{CollectiveKind, Reduction},
        element_type::ElementType,
        error::{Error, Result, ResultExt},
    },
};

/// A range of an operation.
pub(super) trait Place: Clone {
    fn length(&self) -> u64;

    /// The device address; `None` where only a binding table has it.
    fn known_address(&self) -> Option<u64>;
}

impl Place for Buffer {
    fn length(&self) -> u64 {
        self.len()
    }

    fn known_address(&self) -> Option<u64> {
        Some(self.device_address())
    }
}

impl Place for BufferRef {
    fn length(&self) -> u64 {
        self.len()
    }

    fn known_address(&self) -> Option<u64> {
        match self {
            Self::Direct(buffer) => Some(buffer.device_address()),
            Self::Slot { .. } => None,
        }
    }
}

pub(super) fn of_another_device() -> Error {
    Error::invalid_argument("the channel is one of another device")
}

/// The operations as a driver gets them, those without elements left out. `check` checks the device, the usage and the
/// alignment of a range.
pub(super) fn canonical<Range: Place>(
    operations: &[Collective<Range>],
    channel: &dyn RawChannel,
    check: impl Fn(&Range, BufferUsage, u64, &str) -> Result<()>,
) -> Result<Vec<Collective<Range>>> {
    let mut group = Vec::with_capacity(operations.len());
    for (index, operation) in operations.iter().enumerate() {
        let of = || format!("operation {index} of a group, {}", operation.kind.name());
        group.extend(canonical_of(operation, channel, &check).context(of)?);
    }
    check_own(&group, channel.rank())?;
    Ok(group)
}

/// The operation as a driver gets it; `None` if it has no elements.
fn canonical_of<Range: Place>(
    operation: &Collective<Range>,
    channel: &dyn RawChannel,
    check: impl Fn(&Range, BufferUsage, u64, &str) -> Result<()>,
) -> Result<Option<Collective<Range>>> {
    let (rank, count) = (channel.rank(), u64::from(channel.count()));
    let Collective { kind, element, source, target } = operation;
    let (mut source, mut target) = (source.as_ref(), target.as_ref());
    for other in ranks_of(*kind) {
        if other >= channel.count() {
            return Err(Error::invalid_argument(format!("rank {other} of a channel of {count} ranks")));
        }
    }
    if let Some(reduction) = kind.reduction() {
        check_reduction(reduction, *element)?;
    }
    match kind {
        CollectiveKind::Broadcast { root } if *root == rank => source = source.or(target),
        CollectiveKind::Broadcast { .. } => source = None,
        CollectiveKind::Reduce { root, .. } if *root == rank => {
            target.ok_or_else(|| Error::invalid_argument("the root of a reduce has no target"))?;
        }
        CollectiveKind::Reduce { .. } => target = None,
        CollectiveKind::SendRecv { to: None, .. } => source = None,
        _ => {}
    }
    let size = element.size() as u64;
    for (range, usage, what) in [
        (source, BufferUsage::TRANSFER_SOURCE, "the source"),
        (target, BufferUsage::TRANSFER_TARGET, "the target"),
    ] {
        let Some(range) = range else { continue };
        check(range, usage, size, what)?;
        check_multiple(range.length(), size, what)?;
    }
    if let (Some(source), Some(target)) = (source, target) {
        let (from, to) = (source.length(), target.length());
        match kind {
            CollectiveKind::AllGather => check_parts(from, to, count, "a source", "the target")?,
            CollectiveKind::ReduceScatter(_) => check_parts(to, from, count, "a target", "the source")?,
            CollectiveKind::AllToAll => {
                check_lengths(from, to, "an exchange")?;
                check_multiple(from, size * count, "the part of each rank")?;
            }
            _ => check_lengths(from, to, "the elements")?,
        }
        if let (Some(given), Some(got)) = (source.known_address(), target.known_address()) {
            check_places(*kind, rank, (given, from), (got, to))?;
        }
    }
    let is_empty = |range: Option<&Range>| range.is_none_or(|range| range.length() == 0);
    if is_empty(source) && is_empty(target) {
        return Ok(None);
    }
    let (source, target) = (source.cloned(), target.cloned());
    Ok(Some(Collective { kind: *kind, element: *element, source, target }))
}

fn ranks_of(kind: CollectiveKind) -> impl Iterator<Item = u32> {
    let ranks = match kind {
        CollectiveKind::Broadcast { root } | CollectiveKind::Reduce { root, .. } => [Some(root), None],
        CollectiveKind::Send { to } => [Some(to), None],
        CollectiveKind::Recv { from } => [Some(from), None],
        CollectiveKind::SendRecv { to, from } => [to, from],
        _ => [None, None],
    };
    ranks.into_iter().flatten()
}

fn check_reduction(reduction: Reduction, element: ElementType) -> Result<()> {
    match element {
        ElementType::Bool8
        | ElementType::Int8
        | ElementType::Int16
        | ElementType::Int32
        | ElementType::Int64 => Err(Error::invalid_argument(format!(
            "a {reduction:?} of {}: a reduction needs a type that says whether its integers have a sign, such as {} or {}",
            element.name(),
            ElementType::Sint32.name(),
            ElementType::Uint32.name()
        ))),
        _ => Ok(()),
    }
}

/// Checks that the whole has the bytes of a part for each rank.
fn check_parts(part: u64, whole: u64, count: u64, what: &str, of: &str) -> Result<()> {
    if part.checked_mul(count) != Some(whole) {
        let message = format!("{what} of {part} bytes, {count} ranks, and {of} of {whole} bytes");
        return Err(Error::invalid_argument(format!("{message}: that is not one part for each rank")));
    }
    Ok(())
}

/// Checks that source and target, each an address and a length, are apart, or lie as the kind allows.
pub(super) fn check_places(
    kind: CollectiveKind,
    rank: u32,
    (from, gives): (u64, u64),
    (to, gets): (u64, u64),
) -> Result<()> {
    let apart = from.saturating_add(gives) <= to || to.saturating_add(gets) <= from;
    let own_part = |whole: u64, part: u64, length: u64| {
        u64::from(rank).checked_mul(length).and_then(|offset| whole.checked_add(offset)) == Some(part)
    };
    let in_place = match kind {
        CollectiveKind::AllGather => own_part(to, from, gives),
        CollectiveKind::ReduceScatter(_) => own_part(from, to, gets),
        CollectiveKind::AllReduce(_) | CollectiveKind::Broadcast { .. } | CollectiveKind::Reduce { .. } => {
            from == to
        }
        _ => false,
    };
    if !apart && !in_place {
        return Err(Error::invalid_argument(format!(
            "{gives} bytes at {from:#x} and {gets} bytes at {to:#x}: source and target overlap in a way that {} does not \
             allow",
            kind.name()
        )));
    }
    Ok(())
}

/// Checks that a group receives what it sends to its own rank. Nobody else could.
fn check_own<Range: Place>(group: &[Collective<Range>], rank: u32) -> Result<()> {
    let length = |range: &Option<Range>| range.as_ref().map_or(0, Place::length);
    let mut both: [Vec<u64>; 2] = [Vec::new(), Vec::new()];
    for operation in group {
        let (to, from) = match operation.kind {
            CollectiveKind::Send { to } => (Some(to), None),
            CollectiveKind::Recv { from } => (None, Some(from)),
            CollectiveKind::SendRecv { to, from } => (to, from),
            _ => continue,
        };
        if to == Some(rank) {
            both[0].push(length(&operation.source));
        }
        if from == Some(rank) {
            both[1].push(length(&operation.target));
        }
    }
    match both[0] == both[1] {
        true => Ok(()),
        false => Err(Error::invalid_argument(format!(
            "a group of rank {rank} sends pieces of {:?} bytes to itself and receives pieces of {:?} bytes from itself: \
             these must be the same",
            both[0], both[1]
        ))),
    }
}
