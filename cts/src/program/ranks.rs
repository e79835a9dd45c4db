// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ranks of a device under test, which carry out the collective operations of programs.

use std::time::Duration;

use windlass_hal::{
    Buffer, BufferRef, Channel, ChannelParams, Code, Collective, Device, ElementType, Error, Feature, Point,
    Queue, Reduction, Result, Semaphore,
};

use super::CollectiveKind;

/// A channel whose ranks are the physical devices of a device, each with a queue near it.
#[derive(Debug)]
pub(super) struct Ranks(Vec<(Queue, Channel)>);

impl Ranks {
    /// Joins the ranks. `None` if the device has no collectives, or the library for them is not installed. A rank waits
    /// for the others until `timeout`.
    pub(super) fn new(device: &Device, timeout: Duration) -> Result<Option<Self>> {
        if device.info().lacks.iter().any(|lack| lack.feature == Feature::Collectives) {
            return Ok(None);
        }
        let id = match device.channel_id() {
            Err(error) if error.code() == Code::Unavailable => return Ok(None),
            id => id?,
        };
        let count = device.limits().physical_devices;
        let rank = |rank| {
            let affinity = device.limits().physical_affinity(rank);
            let affinity = affinity.ok_or_else(|| Error::internal("a physical device without queues"))?;
            let params = ChannelParams::new(id, rank, count).with_affinity(affinity).with_timeout(timeout);
            // SAFETY: each group of a program is submitted on all ranks, and groups follow each other.
            let channel = unsafe { device.create_channel(&params) }?;
            Ok((device.queue_of(affinity)?, channel))
        };
        (0..count).map(rank).collect::<Result<_>>().map(|ranks| Some(Self(ranks)))
    }

    pub(super) fn count(&self) -> u32 {
        self.0.len() as u32
    }

    /// Submits a group with the source and the target of each rank. A single rank uses `queue`, as any other operation
    /// does. Several ranks begin together, behind a barrier that all of them follow: otherwise a wait that fails at
    /// that moment could leave one of them without the others.
    pub(super) fn submit(
        &self,
        queue: &Queue,
        waits: &[Point],
        signals: &[Point],
        (kind, recorded): (CollectiveKind, bool),
        parts: &[(Buffer, Buffer)],
    ) -> Result<()> {
        if parts.len() != self.0.len() {
            return Err(Error::invalid_argument(format!(
                "a collective operation of {} ranks on a device of {}",
                parts.len(),
                self.0.len()
            )));
        }
        if let ([(_, channel)], [part]) = (&*self.0, parts) {
            return submit_rank(queue, channel, (waits, signals), kind, recorded, part);
        }
        let begin = Semaphore::new(0).at(1);
        queue.barrier(waits, std::slice::from_ref(&begin))?;
        let mut ends = Vec::with_capacity(parts.len());
        for ((queue, channel), part) in self.0.iter().zip(parts) {
            let end = Semaphore::new(0).at(1);
            let order = (std::slice::from_ref(&begin), std::slice::from_ref(&end));
            submit_rank(queue, channel, order, kind, recorded, part)?;
            ends.push(end);
        }
        queue.barrier(&ends, signals)
    }
}

fn submit_rank(
    queue: &Queue,
    channel: &Channel,
    (waits, signals): (&[Point], &[Point]),
    kind: CollectiveKind,
    recorded: bool,
    (source, target): &(Buffer, Buffer),
) -> Result<()> {
    if !recorded {
        return queue.collective(waits, signals, channel, &[operation(kind, channel, source, target)]);
    }
    let mut recorder = queue.device().record_with_slots(2)?;
    let [from, to] = [0, 1].map(|slot| BufferRef::slot(slot, 0, source.len()));
    recorder.collective(channel, &[operation(kind, channel, &from, &to)])?;
    queue.execute(waits, signals, &recorder.finish()?, vec![source.clone(), target.clone()])
}

fn operation<R: Clone>(kind: CollectiveKind, channel: &Channel, source: &R, target: &R) -> Collective<R> {
    let element = ElementType::Uint8;
    match kind {
        CollectiveKind::Sum => Collective::all_reduce(Reduction::Sum, element, source, target),
        CollectiveKind::Ring => {
            let (rank, count) = (channel.rank(), channel.count());
            let (to, from) = ((rank + 1) % count, (rank + count - 1) % count);
            Collective::send_recv(Some(to), Some(from), element, source, target)
        }
    }
}
