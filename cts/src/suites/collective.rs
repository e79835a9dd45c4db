// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collective operations. Each physical device of the device under test is a rank; one is a channel by itself.

use std::time::Duration;

use windlass_hal::{
    Buffer, BufferParams, Channel, ChannelId, ChannelParams, Code, Collective, Device, ElementType, Error,
    Number, Point, Queue, Reduction, Semaphore,
};

use crate::{
    check::{ensure_eq, same_bytes},
    context::Context,
    outcome::{Outcome, Stop},
};

suite! { "collective";
    #[smoke] all_reduce [Collectives, Alloca]: "Each rank gets the reduction of all sources, for each reduction and element type, in place too.";
    all_gather [Collectives, Alloca]: "Each rank gets the sources of all ranks by rank, in place too.";
    all_to_all [Collectives, Alloca]: "Part n of each source is at rank n afterwards.";
    broadcast [Collectives, Alloca]: "Each rank gets the source of each root, in place too.";
    reduce [Collectives, Alloca]: "Only the root gets the reduction, for each root.";
    reduce_scatter [Collectives, Alloca]: "Rank n gets part n of the reduction.";
    send_and_recv [Collectives, Alloca]: "Ranks send to each other around a ring, in one group.";
    send_recv [Collectives, Alloca]: "A rank sends and receives at the same time, and receives zeros from nobody.";
    groups [Collectives, Alloca]: "A group of several kinds carries all of them out.";
    unaligned_lengths [Collectives, Alloca]: "Odd numbers of bytes move, and nothing beside the target is written.";
    #[smoke] order [Collectives, Alloca]: "A group runs behind its waits, and its signals follow it, without the host in between.";
    failed_waits [Collectives, Alloca]: "A group whose wait fails fails with its error, and the channel stays usable.";
    work_keeps_objects [Collectives, Alloca]: "A group keeps its buffers and its channel when all handles are dropped.";
    nothing_is_a_barrier [Collectives, Alloca]: "A group without elements is a barrier.";
}

/// A rank of the device under test, whose groups follow each other.
pub(super) struct Rank {
    pub(super) queue: Queue,
    pub(super) channel: Channel,
    pub(super) done: Semaphore,
    step: u64,
}

impl Rank {
    pub(super) fn new(queue: Queue, channel: Channel) -> Self {
        Self { queue, channel, done: Semaphore::new(0), step: 0 }
    }

    /// The end of the groups that were submitted.
    pub(super) fn now(&self) -> Point {
        self.done.at(self.step)
    }

    /// The end of the groups that were submitted, and that of a further one.
    pub(super) fn next(&mut self) -> (Point, Point) {
        let before = self.now();
        self.step += 1;
        (before, self.now())
    }

    pub(super) fn submit(&mut self, operations: &[Collective]) -> Outcome {
        let (before, after) = self.next();
        Ok(self.queue.collective(&[before], &[after], &self.channel, operations)?)
    }

    /// Later groups of this rank follow a point too.
    pub(super) fn follow(&mut self, point: &Point) -> Outcome {
        let (before, after) = self.next();
        Ok(self.queue.barrier(&[before, point.clone()], &[after])?)
    }

    /// Fills a buffer with zeros behind the groups that were submitted.
    pub(super) fn clear(&mut self, buffer: &Buffer) -> Outcome {
        let (before, after) = self.next();
        Ok(self.queue.fill(&[before], &[after], buffer, 0_u8)?)
    }

    /// Memory of this rank, with these bytes.
    pub(super) fn upload(&self, ctx: &Context, bytes: &[u8]) -> Outcome<Buffer> {
        let done = Semaphore::new(0);
        let size = bytes.len().max(1) as u64;
        let buffer = self.queue.alloca(&[], &[done.at(1)], &BufferParams::device(), size)?;
        let buffer = buffer.subspan(0, bytes.len() as u64)?;
        self.queue.update(&[done.at(1)], &[done.at(2)], bytes, &buffer)?;
        ctx.wait(&done.at(2))?;
        Ok(buffer)
    }

    /// Whether the bytes are there once the groups have ended.
    pub(super) fn has(&self, ctx: &Context, buffer: &Buffer, expected: &[u8], what: &str) -> Outcome {
        let bytes = self.queue.download(&[self.now()], buffer)?.wait(ctx.deadline())?;
        same_bytes(&bytes, expected, &format!("{what} of rank {}", self.channel.rank()))
    }
}

/// A name for a channel. Skips the case where the library for it is not installed.
pub(super) fn channel_id(device: &Device) -> Outcome<ChannelId> {
    match device.channel_id() {
        Err(error) if error.code() == Code::Unavailable => {
            Err(Stop::skip(format!("collectives are not installed: {}", error.message())))
        }
        id => Ok(id?),
    }
}

/// A rank of its own for each physical device.
pub(super) fn world(device: &Device) -> Outcome<Vec<Rank>> {
    let id = channel_id(device)?;
    let count = device.limits().physical_devices;
    let mut ranks = Vec::new();
    for rank in 0..count {
        let affinity = device.limits().physical_affinity(rank);
        let affinity = affinity.ok_or_else(|| Stop::fail(format!("physical device {rank} has no queues")))?;
        let params = ChannelParams::new(id, rank, count).with_affinity(affinity).with_timeout(PATIENCE);
        // SAFETY: the ranks of a case submit groups that fit.
        let channel = unsafe { device.create_channel(&params) }?;
        let queue = device.queue_of(affinity)?;
        ranks.push(Rank::new(queue, channel));
    }
    Ok(ranks)
}

/// A small number of a rank, which all element types can hold.
fn value(rank: usize, index: usize) -> i128 {
    ((rank * 3 + index * 7) % 5 + 1) as i128
}

/// The bytes of numbers.
fn bytes_of(element: ElementType, numbers: impl IntoIterator<Item = Number>) -> Outcome<Vec<u8>> {
    let mut bytes = Vec::new();
    for number in numbers {
        element.write(number, &mut bytes)?;
    }
    Ok(bytes)
}

/// `count` numbers of a rank from `first` on.
pub(super) fn source(element: ElementType, rank: usize, first: usize, count: usize) -> Outcome<Vec<u8>> {
    bytes_of(element, (first..first + count).map(|index| Number::Integer(value(rank, index))))
}

/// The reduction of the numbers of all ranks, by a plain loop.
pub(super) fn reduced(
    reduction: Reduction,
    element: ElementType,
    ranks: usize,
    first: usize,
    count: usize,
) -> Outcome<Vec<u8>> {
    let one = |index| {
        let values = (0..ranks).map(|rank| value(rank, index));
        match reduction {
            Reduction::Product => Number::Integer(values.product()),
            Reduction::Minimum => Number::Integer(values.min().unwrap_or_default()),
            Reduction::Maximum => Number::Integer(values.max().unwrap_or_default()),
            Reduction::Average if element.is_float() => {
                Number::Float(values.sum::<i128>() as f64 / ranks as f64)
            }
            Reduction::Average => Number::Integer(values.sum::<i128>() / ranks as i128),
            _ => Number::Integer(values.sum()),
        }
    };
    bytes_of(element, (first..first + count).map(one))
}

/// Sums numbers over all ranks, in place, and checks the sums.
pub(super) fn sums(ctx: &Context, ranks: &mut [Rank], what: &str) -> Outcome {
    let mut targets = Vec::new();
    for (index, rank) in ranks.iter_mut().enumerate() {
        let data = rank.upload(ctx, &source(I32, index, 0, COUNT)?)?;
        rank.submit(&[Collective::all_reduce(Reduction::Sum, I32, &data, &data)])?;
        targets.push(data);
    }
    let expected = reduced(Reduction::Sum, I32, ranks.len(), 0, COUNT)?;
    for (rank, target) in ranks.iter().zip(&targets) {
        rank.has(ctx, target, &expected, what)?;
    }
    Ok(())
}

const REDUCED: [ElementType; 10] = [
    ElementType::Sint8,
    ElementType::Uint8,
    ElementType::Sint32,
    ElementType::Uint32,
    ElementType::Sint64,
    ElementType::Uint64,
    ElementType::Float16,
    ElementType::Float32,
    ElementType::Float64,
    ElementType::Bfloat16,
];
const F32: ElementType = ElementType::Float32;
pub(super) const I32: ElementType = ElementType::Sint32;
pub(super) const COUNT: usize = 100;
/// The time of the other ranks, which come.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

fn all_reduce(ctx: &Context) -> Outcome {
    let mut ranks = world(ctx.device())?;
    let count = ranks.len();
    for element in REDUCED {
        let length = COUNT * element.size();
        let part = |buffer: &Buffer, index: usize| buffer.subspan((index * length) as u64, length as u64);
        let mut targets = Vec::new();
        for (index, rank) in ranks.iter_mut().enumerate() {
            let from = rank.upload(ctx, &source(element, index, 0, COUNT)?)?;
            let to = rank.upload(ctx, &vec![7; length * Reduction::ALL.len()])?;
            let of = |(at, reduction): (usize, &Reduction)| -> Outcome<_> {
                Ok(Collective::all_reduce(*reduction, element, &from, &part(&to, at)?))
            };
            let group: Vec<_> = Reduction::ALL.iter().enumerate().map(of).collect::<Outcome<_>>()?;
            rank.submit(&group)?;
            rank.submit(&[Collective::all_reduce(Reduction::Sum, element, &from, &from)])?;
            targets.push((from, to));
        }
        for (rank, (from, to)) in ranks.iter().zip(&targets) {
            for (at, reduction) in Reduction::ALL.into_iter().enumerate() {
                let expected = reduced(reduction, element, count, 0, COUNT)?;
                let what = format!("the {reduction:?} of {}", element.name());
                rank.has(ctx, &part(to, at)?, &expected, &what)?;
            }
            rank.has(ctx, from, &reduced(Reduction::Sum, element, count, 0, COUNT)?, "the sum in place")?;
        }
    }
    Ok(())
}

fn all_gather(ctx: &Context) -> Outcome {
    let mut ranks = world(ctx.device())?;
    let count = ranks.len();
    let part = COUNT * 4;
    for in_place in [false, true] {
        let mut targets = Vec::new();
        for (index, rank) in ranks.iter_mut().enumerate() {
            let bytes = source(I32, index, 0, COUNT)?;
            let target = rank.upload(ctx, &vec![0xee; part * count])?;
            let from = match in_place {
                false => rank.upload(ctx, &bytes)?,
                true => target.subspan((index * part) as u64, part as u64)?,
            };
            if in_place {
                let written = Semaphore::new(0);
                rank.queue.update(&[rank.now()], &[written.at(1)], &bytes, &from)?;
                ctx.wait(&written.at(1))?;
            }
            rank.submit(&[Collective::all_gather(I32, &from, &target)])?;
            targets.push(target);
        }
        let parts: Vec<_> = (0..count).map(|rank| source(I32, rank, 0, COUNT)).collect::<Outcome<_>>()?;
        for (rank, target) in ranks.iter().zip(&targets) {
            rank.has(ctx, target, &parts.concat(), "the gathered parts")?;
        }
    }
    Ok(())
}

fn all_to_all(ctx: &Context) -> Outcome {
    let mut ranks = world(ctx.device())?;
    let count = ranks.len();
    let mut targets = Vec::new();
    for (index, rank) in ranks.iter_mut().enumerate() {
        let from = rank.upload(ctx, &source(F32, index, 0, COUNT * count)?)?;
        let to = rank.upload(ctx, &vec![0; COUNT * count * 4])?;
        rank.submit(&[Collective::all_to_all(F32, &from, &to)])?;
        targets.push(to);
    }
    for (index, (rank, target)) in ranks.iter().zip(&targets).enumerate() {
        let parts: Vec<_> =
            (0..count).map(|from| source(F32, from, index * COUNT, COUNT)).collect::<Outcome<_>>()?;
        rank.has(ctx, target, &parts.concat(), "the exchanged parts")?;
    }
    Ok(())
}

fn broadcast(ctx: &Context) -> Outcome {
    let mut ranks = world(ctx.device())?;
    for root in 0..ranks.len() {
        for in_place in [false, true] {
            let mut targets = Vec::new();
            for (index, rank) in ranks.iter_mut().enumerate() {
                let from = rank.upload(ctx, &source(I32, index, 0, COUNT)?)?;
                let to = if in_place { from.clone() } else { rank.upload(ctx, &[7; COUNT * 4])? };
                let given = (!in_place).then_some(&from);
                rank.submit(&[Collective::broadcast(root as u32, I32, given, &to)])?;
                targets.push(to);
            }
            let expected = source(I32, root, 0, COUNT)?;
            for (rank, target) in ranks.iter().zip(&targets) {
                rank.has(ctx, target, &expected, &format!("the broadcast of rank {root}"))?;
            }
        }
    }
    Ok(())
}

fn reduce(ctx: &Context) -> Outcome {
    let mut ranks = world(ctx.device())?;
    let count = ranks.len();
    for root in 0..count {
        let mut targets = Vec::new();
        for (index, rank) in ranks.iter_mut().enumerate() {
            let from = rank.upload(ctx, &source(F32, index, 0, COUNT)?)?;
            let to = rank.upload(ctx, &[7; COUNT * 4])?;
            // Other ranks than the root may have a target, which is not written.
            let given = (index == root || index % 2 == 0).then_some(&to);
            rank.submit(&[Collective::reduce(root as u32, Reduction::Sum, F32, &from, given)])?;
            targets.push((from, to));
        }
        for (index, (rank, (from, to))) in ranks.iter().zip(&targets).enumerate() {
            rank.has(ctx, from, &source(F32, index, 0, COUNT)?, "the source of a reduce")?;
            match index == root {
                true => {
                    rank.has(ctx, to, &reduced(Reduction::Sum, F32, count, 0, COUNT)?, "the reduction")?
                }
                false => rank.has(ctx, to, &[7; COUNT * 4], "the target beside the root")?,
            }
        }
    }
    Ok(())
}

fn reduce_scatter(ctx: &Context) -> Outcome {
    let mut ranks = world(ctx.device())?;
    let count = ranks.len();
    let mut targets = Vec::new();
    for (index, rank) in ranks.iter_mut().enumerate() {
        let from = rank.upload(ctx, &source(I32, index, 0, COUNT * count)?)?;
        let to = rank.upload(ctx, &[0; COUNT * 4])?;
        rank.submit(&[Collective::reduce_scatter(Reduction::Maximum, I32, &from, &to)])?;
        targets.push(to);
    }
    for (index, (rank, target)) in ranks.iter().zip(&targets).enumerate() {
        let expected = reduced(Reduction::Maximum, I32, count, index * COUNT, COUNT)?;
        rank.has(ctx, target, &expected, "the part of the reduction")?;
    }
    Ok(())
}

fn send_and_recv(ctx: &Context) -> Outcome {
    let mut ranks = world(ctx.device())?;
    let count = ranks.len();
    let mut targets = Vec::new();
    for (index, rank) in ranks.iter_mut().enumerate() {
        let from = rank.upload(ctx, &source(I32, index, 0, COUNT)?)?;
        let to = rank.upload(ctx, &[0; COUNT * 4])?;
        let (next, before) = ((index + 1) % count, (index + count - 1) % count);
        rank.submit(&[Collective::send(next as u32, I32, &from), Collective::recv(before as u32, I32, &to)])?;
        targets.push((to, before));
    }
    for (rank, (target, before)) in ranks.iter().zip(&targets) {
        rank.has(ctx, target, &source(I32, *before, 0, COUNT)?, "what the rank before sent")?;
    }
    Ok(())
}

fn send_recv(ctx: &Context) -> Outcome {
    let mut ranks = world(ctx.device())?;
    let count = ranks.len();
    let mut targets = Vec::new();
    // Along a line: the first rank receives from nobody, and the last one sends to nobody.
    for (index, rank) in ranks.iter_mut().enumerate() {
        let from = rank.upload(ctx, &source(I32, index, 0, COUNT)?)?;
        let to = rank.upload(ctx, &[9; COUNT * 4])?;
        let next = (index + 1 < count).then_some(index as u32 + 1);
        let before = index.checked_sub(1).map(|before| before as u32);
        rank.submit(&[Collective::send_recv(next, before, I32, &from, &to)])?;
        targets.push(to);
    }
    for (index, (rank, target)) in ranks.iter().zip(&targets).enumerate() {
        let expected = match index.checked_sub(1) {
            Some(before) => source(I32, before, 0, COUNT)?,
            None => vec![0; COUNT * 4],
        };
        rank.has(ctx, target, &expected, "what the rank before sent")?;
    }
    Ok(())
}

fn groups(ctx: &Context) -> Outcome {
    let mut ranks = world(ctx.device())?;
    let count = ranks.len();
    let mut targets = Vec::new();
    for (index, rank) in ranks.iter_mut().enumerate() {
        let from = rank.upload(ctx, &source(I32, index, 0, COUNT)?)?;
        let [sum, all, root] = [COUNT, COUNT * count, COUNT].map(|count| vec![0; count * 4]);
        let (sum, all) = (rank.upload(ctx, &sum)?, rank.upload(ctx, &all)?);
        let root = rank.upload(ctx, &root)?;
        rank.submit(&[
            Collective::all_reduce(Reduction::Sum, I32, &from, &sum),
            Collective::all_gather(I32, &from, &all),
            Collective::broadcast(0, I32, Some(&from), &root),
        ])?;
        targets.push((sum, all, root));
    }
    let parts: Vec<_> = (0..count).map(|rank| source(I32, rank, 0, COUNT)).collect::<Outcome<_>>()?;
    for (rank, (sum, all, root)) in ranks.iter().zip(&targets) {
        rank.has(ctx, sum, &reduced(Reduction::Sum, I32, count, 0, COUNT)?, "the sum")?;
        rank.has(ctx, all, &parts.concat(), "the gathered parts")?;
        rank.has(ctx, root, &parts[0], "the broadcast")?;
    }
    Ok(())
}

fn unaligned_lengths(ctx: &Context) -> Outcome {
    let mut ranks = world(ctx.device())?;
    let count = ranks.len();
    let bytes = |rank: usize| (0..13).map(|index| (rank * 40 + index) as u8).collect::<Vec<_>>();
    let mut targets = Vec::new();
    for (index, rank) in ranks.iter_mut().enumerate() {
        let whole = rank.upload(ctx, &[0xaa; 64])?;
        let from = whole.subspan(3, 13)?;
        let written = Semaphore::new(0);
        rank.queue.update(&[], &[written.at(1)], &bytes(index), &from)?;
        ctx.wait(&written.at(1))?;
        let around = rank.upload(ctx, &vec![0xbb; 13 * count + 10])?;
        let to = around.subspan(5, 13 * count as u64)?;
        rank.submit(&[Collective::all_gather(ElementType::Uint8, &from, &to)])?;
        targets.push(around);
    }
    let parts: Vec<u8> = (0..count).flat_map(bytes).collect();
    let expected = [&[0xbb; 5][..], &parts, &[0xbb; 5]].concat();
    for (rank, around) in ranks.iter().zip(&targets) {
        rank.has(ctx, around, &expected, "the gathered bytes and those around them")?;
    }
    Ok(())
}

fn order(ctx: &Context) -> Outcome {
    let ranks = world(ctx.device())?;
    let count = ranks.len();
    let go = Semaphore::new(0);
    let mut ends = Vec::new();
    for (index, rank) in ranks.iter().enumerate() {
        let (from, to) = (rank.upload(ctx, &[0; COUNT * 4])?, rank.upload(ctx, &[0; COUNT * 4])?);
        let copied = rank.upload(ctx, &[0; COUNT * 4])?;
        let step = Semaphore::new(0);
        // From the last to the first.
        rank.queue.copy(&[step.at(2)], &[step.at(3)], &to, &copied)?;
        let sum = [Collective::all_reduce(Reduction::Sum, I32, &from, &to)];
        rank.queue.collective(&[step.at(1)], &[step.at(2)], &rank.channel, &sum)?;
        rank.queue.update(&[go.at(1)], &[step.at(1)], &source(I32, index, 0, COUNT)?, &from)?;
        ends.push((step, copied));
    }
    for (step, _) in &ends {
        ensure_eq!(step.query()?, 0, "the step before the first wait is reached");
    }
    go.signal(1)?;
    let expected = reduced(Reduction::Sum, I32, count, 0, COUNT)?;
    for (rank, (step, copied)) in ranks.iter().zip(&ends) {
        let bytes = rank.queue.download(&[step.at(3)], copied)?.wait(ctx.deadline())?;
        same_bytes(&bytes, &expected, "the copy of the sum")?;
    }
    Ok(())
}

fn failed_waits(ctx: &Context) -> Outcome {
    let mut ranks = world(ctx.device())?;
    for (index, rank) in ranks.iter().enumerate() {
        let (never, failed) = (Semaphore::new(0), Semaphore::new(0));
        let data = rank.upload(ctx, &source(I32, index, 0, COUNT)?)?;
        let sum = [Collective::all_reduce(Reduction::Sum, I32, &data, &data)];
        rank.queue.collective(&[never.at(1)], &[failed.at(1)], &rank.channel, &sum)?;
        never.fail(Error::data_loss("the input is gone"));
        let error = ctx.wait_for_failure(&failed.at(1))?;
        ensure_eq!(error.code(), Code::DataLoss, "the code of {error}");
    }
    sums(ctx, &mut ranks, "the sum afterwards")
}

fn work_keeps_objects(ctx: &Context) -> Outcome {
    let mut ranks = world(ctx.device())?;
    let count = ranks.len();
    let go = Semaphore::new(0);
    let mut targets = Vec::new();
    for (index, rank) in ranks.drain(..).enumerate() {
        let from = rank.upload(ctx, &source(I32, index, 0, COUNT)?)?;
        let to = rank.upload(ctx, &[0; COUNT * 4])?;
        let sum = [Collective::all_reduce(Reduction::Sum, I32, &from, &to)];
        rank.queue.collective(&[go.at(1)], &[rank.done.at(1)], &rank.channel, &sum)?;
        targets.push((rank.queue.clone(), rank.done.clone(), to));
    }
    go.signal(1)?;
    are_summed(ctx, count, &targets)
}

/// Whether the targets of so many ranks have the sum of all sources, each behind the end of its group.
pub(super) fn are_summed(ctx: &Context, count: usize, targets: &[(Queue, Semaphore, Buffer)]) -> Outcome {
    let expected = reduced(Reduction::Sum, I32, count, 0, COUNT)?;
    for (queue, done, target) in targets {
        let bytes = queue.download(&[done.at(1)], target)?.wait(ctx.deadline())?;
        same_bytes(&bytes, &expected, "the sum")?;
    }
    Ok(())
}

fn nothing_is_a_barrier(ctx: &Context) -> Outcome {
    let ranks = world(ctx.device())?;
    let empty = ctx.device().allocate_device(64)?.subspan(0, 0)?;
    let none = Collective::all_reduce(Reduction::Sum, I32, &empty, &empty);
    for group in [&[][..], &[none]] {
        let (go, done) = (Semaphore::new(0), Semaphore::new(0));
        ranks[0].queue.collective(&[go.at(1)], &[done.at(1)], &ranks[0].channel, group)?;
        ensure_eq!(done.query()?, 0, "the signal before the wait");
        go.signal(1)?;
        ctx.wait(&done.at(1))?;
    }
    Ok(())
}
