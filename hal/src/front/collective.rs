// SPDX-License-Identifier: MIT OR Apache-2.0
//! Groups of collective operations on a queue, and their checks.

use crate::{
    driver::{self, collective::Collective, operation::OperationRef, range::Buffer},
    front::{
        channel::Channel,
        check::{check_device, check_lengths, check_multiple},
        queue::Queue,
    },
    order::point::Point,
    words::{
        buffer_params::BufferUsage,
        collective::{CollectiveKind, Reduction},
        element_type::ElementType,
        error::{Error, Result, ResultExt},
    },
};

impl Queue {
    /// Carries out a group of collective operations: they start together when the waits are reached, and when all of them
    /// have completed on this rank, the signals are reached. Each other rank of the channel submits a group that fits.
    ///
    /// Operations of one group must not write memory that another one of it reads or writes. A group without elements is a
    /// barrier, on every rank, because all ranks state the same number of elements.
    ///
    /// `INVALID_ARGUMENT` for a rank that the channel does not have, lengths that do not fit each other or the elements,
    /// a channel whose queues are none of this queue, and sends to the own rank that the group does not receive.
    /// A reduction needs elements of a number type with a sign or without: `Sint32`, and not `Int32`. `UNIMPLEMENTED` for
    /// a reduction of a type that the device cannot reduce; HIP's devices reduce no integers of 16 bits.
    ///
    /// Where another rank fails, leaves or does not come in time, the signals fail with `ABORTED`, and so do those of all
    /// later groups of the channel. The device stays usable. The contents of the targets are undefined then.
    pub fn collective(
        &self,
        waits: &[Point],
        signals: &[Point],
        channel: &Channel,
        operations: &[Collective],
    ) -> Result<()> {
        let device = self.device().open.raw.as_ref();
        if channel.raw.domain() != device.domain() {
            return Err(Error::invalid_argument("the channel is one of another device"));
        }
        if channel.raw.affinity().bits() & self.affinity().bits() == 0 {
            return Err(Error::invalid_argument(format!(
                "the channel runs on the queues {:#x}, and this queue stands for {:#x}: use a queue that the channel has",
                channel.raw.affinity().bits(),
                self.affinity().bits()
            )));
        }
        let mut group = Vec::with_capacity(operations.len());
        for (index, operation) in operations.iter().enumerate() {
            let of = || format!("operation {index} of a group, {}", operation.kind.name());
            group.extend(canonical(operation, channel, device).context(of)?);
        }
        check_own(&group, channel.rank())?;
        if group.is_empty() {
            return self.barrier(waits, signals);
        }
        let allowed = Queue::new(self.device().clone(), self.affinity().intersection(channel.raw.affinity()));
        allowed.submit(waits, signals, OperationRef::Collective { channel: &channel.raw, operations: &group })
    }
}

/// The operation as a driver gets it; `None` if it has no elements.
fn canonical(
    operation: &Collective,
    channel: &Channel,
    device: &dyn driver::RawDevice,
) -> Result<Option<Collective>> {
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
    for (buffer, usage, what) in [
        (source, BufferUsage::TRANSFER_SOURCE, "the source"),
        (target, BufferUsage::TRANSFER_TARGET, "the target"),
    ] {
        let Some(buffer) = buffer else { continue };
        check_device(buffer, device, what)?;
        buffer.require(usage, what)?;
        check_multiple(buffer.device_address(), size, what)?;
        check_multiple(buffer.len(), size, what)?;
    }
    if let (Some(source), Some(target)) = (source, target) {
        let (from, to) = (source.len(), target.len());
        match kind {
            CollectiveKind::AllGather => check_parts(from, to, count, "a source", "the target")?,
            CollectiveKind::ReduceScatter(_) => check_parts(to, from, count, "a target", "the source")?,
            CollectiveKind::AllToAll => {
                check_lengths(from, to, "an exchange")?;
                check_multiple(from, size * count, "the part of each rank")?;
            }
            _ => check_lengths(from, to, "the elements")?,
        }
        check_places(*kind, rank, source, target)?;
    }
    let is_empty = |buffer: Option<&Buffer>| buffer.is_none_or(Buffer::is_empty);
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

/// Checks that source and target are apart, or lie as the kind allows.
fn check_places(kind: CollectiveKind, rank: u32, source: &Buffer, target: &Buffer) -> Result<()> {
    let (from, to) = (source.device_address(), target.device_address());
    let (gives, gets) = (source.len(), target.len());
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
fn check_own(group: &[Collective], rank: u32) -> Result<()> {
    let length = |buffer: &Option<Buffer>| buffer.as_ref().map_or(0, |buffer| buffer.len());
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
