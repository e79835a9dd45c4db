// SPDX-License-Identifier: MIT OR Apache-2.0
//! Channels: ranks, splits, and ranks that do not come.

use std::time::{Duration, Instant};

use windlass_hal::{
    Channel, ChannelId, ChannelParams, Code, Collective, Deadline, Device, QueueAffinity, Reduction,
    Semaphore,
};

use super::collective::{COUNT, I32, Rank, channel_id, source, sums, world};
use crate::{
    check::{ensure, ensure_eq, refused, same_bytes},
    context::Context,
    outcome::{Outcome, Stop},
};

suite! { "channel";
    #[smoke] ranks [Collectives]: "A channel tells its rank and its count, and no two names of channels are the same.";
    split [Collectives, Alloca]: "The ranks of a color are a channel, in the order that they pass.";
    sits_out [Collectives, Alloca]: "A rank that sits a split out leaves the others to it.";
    wrong_count [Collectives, Alloca]: "A rank that splits with a count which is not its color's fails the new channel, and no other.";
    #[smoke] absent_rank [Collectives, Alloca]: "A rank that never joins holds up nothing but its channel, whose groups are ABORTED in time.";
    absent_from_a_group [Collectives, Alloca]: "A rank that does not take part in a group aborts it in time, and all groups after it.";
    closed_before_the_join [Collectives, Alloca]: "Closing the device cancels groups of a channel that has not joined.";
    dropped_before_the_join [Collectives]: "A channel that nobody joins can be dropped with its device at once.";
}

fn ranks(ctx: &Context) -> Outcome {
    let ranks = world(ctx.device())?;
    for (index, rank) in ranks.iter().enumerate() {
        let told = (rank.channel.rank() as usize, rank.channel.count() as usize);
        ensure_eq!(told, (index, ranks.len()), "rank and count");
    }
    let (one, other) = (channel_id(ctx.device())?, channel_id(ctx.device())?);
    ensure!(one != other, "two names of channels are {one:?}");
    ensure_eq!(ChannelId::from_bytes(*one.bytes()), one, "a name that was sent as bytes");
    Ok(())
}

fn split(ctx: &Context) -> Outcome {
    let mut ranks = world(ctx.device())?;
    let count = ranks.len();
    // All ranks, the last of them first.
    for (index, rank) in ranks.iter_mut().enumerate() {
        let reversed = rank.channel.split(3, (count - 1 - index) as u32, count as u32)?;
        let told = (reversed.rank() as usize, reversed.count() as usize);
        ensure_eq!(told, (count - 1 - index, count), "rank and count of a split");
        rank.channel = reversed;
    }
    let mut targets = Vec::new();
    for (index, rank) in ranks.iter_mut().enumerate() {
        let from = rank.upload(ctx, &source(I32, index, 0, COUNT)?)?;
        let to = rank.upload(ctx, &vec![0; COUNT * count * 4])?;
        rank.submit(&[Collective::all_gather(I32, &from, &to)])?;
        targets.push(to);
    }
    let parts: Vec<_> = (0..count).rev().map(|rank| source(I32, rank, 0, COUNT)).collect::<Outcome<_>>()?;
    for (rank, target) in ranks.iter().zip(&targets) {
        rank.has(ctx, target, &parts.concat(), "the parts in the order of the split")?;
    }
    // Each by itself.
    for (index, rank) in ranks.iter_mut().enumerate() {
        rank.channel = rank.channel.split(index as u32, 0, 1)?;
    }
    for (index, rank) in ranks.iter_mut().enumerate() {
        let data = rank.upload(ctx, &source(I32, index, 0, COUNT)?)?;
        rank.submit(&[Collective::all_reduce(Reduction::Sum, I32, &data, &data)])?;
        rank.has(ctx, &data, &source(I32, index, 0, COUNT)?, "the sum of one")?;
    }
    let channel = &ranks[0].channel;
    refused(channel.split(u32::MAX, 0, 1), Code::InvalidArgument, "a color above the greatest")?;
    refused(channel.split(0, 1, 1), Code::InvalidArgument, "rank 1 of 1")?;
    refused(channel.split(0, 0, 2), Code::InvalidArgument, "more ranks than there are")?;
    Ok(())
}

fn sits_out(ctx: &Context) -> Outcome {
    let mut ranks = world(ctx.device())?;
    let (first, others) = ranks.split_at_mut(1);
    let alone = first[0].channel.split(0, 0, 1)?;
    for rank in others.iter() {
        rank.channel.sit_out()?;
    }
    let whole = std::mem::replace(&mut first[0].channel, alone);
    let data = first[0].upload(ctx, &source(I32, 2, 0, COUNT)?)?;
    first[0].submit(&[Collective::all_reduce(Reduction::Sum, I32, &data, &data)])?;
    first[0].has(ctx, &data, &source(I32, 2, 0, COUNT)?, "the sum of one")?;
    // The channel that was split goes on.
    first[0].channel = whole;
    sums(ctx, &mut ranks, "the sum of all")
}

fn wrong_count(ctx: &Context) -> Outcome {
    let mut ranks = world(ctx.device())?;
    let count = ranks.len() as u32;
    if count < 2 {
        return Err(Stop::skip("needs two physical devices"));
    }
    // The first rank takes itself for the only one of its color.
    let splits = ranks.iter().zip(0..);
    let splits: Vec<_> = splits
        .map(|(rank, index)| rank.channel.split(0, index, if index == 0 { 1 } else { count }))
        .collect::<Result<_, _>>()?;
    for (index, (rank, split)) in ranks.iter().zip(&splits).enumerate() {
        let data = rank.upload(ctx, &[1; 64])?;
        let failed = Semaphore::new(0);
        let sum = [Collective::all_reduce(Reduction::Sum, I32, &data, &data)];
        rank.queue.collective(&[], &[failed.at(1)], split, &sum)?;
        let error = ctx.wait_for_failure(&failed.at(1))?;
        let expected = if index == 0 { Code::InvalidArgument } else { Code::Aborted };
        ensure_eq!(error.code(), expected, "the code of rank {index}: {error}");
    }
    sums(ctx, &mut ranks, "the sum of the channel that was split")
}

/// A channel of two ranks, of which one never comes.
pub(super) fn half(device: &Device, timeout: Duration) -> Outcome<Channel> {
    if device.limits().physical_devices < 2 {
        // A simulated machine knows that the second rank cannot come.
        return Err(Stop::skip("needs two physical devices"));
    }
    let params = ChannelParams::new(channel_id(device)?, 0, 2).with_timeout(timeout);
    // SAFETY: the ranks of a case submit groups that fit.
    Ok(unsafe { device.create_channel(&params) }?)
}

fn absent_rank(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let begun = Instant::now();
    let channel = half(&device, Duration::from_millis(100))?;
    let queue = device.queue_of(channel_affinity(&device))?;
    let (done, other) = (Semaphore::new(0), Semaphore::new(0));
    let data = device.allocate_device(64)?;
    let sum = [Collective::all_reduce(Reduction::Sum, I32, &data, &data)];
    queue.collective(&[], &[done.at(1)], &channel, &sum)?;
    let behind = Semaphore::new(0);
    queue.barrier(&[done.at(1)], &[behind.at(1)])?;
    // Other work of the same queue goes on, and so does a drain.
    let buffer = device.allocate_device(64)?;
    queue.fill(&[], &[other.at(1)], &buffer, 5_u8)?;
    ctx.wait(&other.at(1))?;
    device.drain(ctx.deadline())?;
    let error = ctx.wait_for_failure(&done.at(1))?;
    ensure_eq!(error.code(), Code::Aborted, "the code of {error}");
    ensure!(begun.elapsed() >= Duration::from_millis(100), "the rank had less than its time: {error}");
    ctx.wait_for_failure(&behind.at(1))?;
    let later = Semaphore::new(0);
    queue.collective(&[], &[later.at(1)], &channel, &sum)?;
    let error = ctx.wait_for_failure(&later.at(1))?;
    ensure_eq!(error.code(), Code::Aborted, "the code of a later group: {error}");
    queue.fill(&[], &[other.at(2)], &buffer, 6_u8)?;
    let bytes = queue.download(&[other.at(2)], &buffer)?.wait(ctx.deadline())?;
    same_bytes(&bytes, &[6; 64], "a fill afterwards")
}

fn channel_affinity(device: &Device) -> QueueAffinity {
    device.limits().physical_affinity(0).unwrap_or_default()
}

fn absent_from_a_group(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let (id, count) = (channel_id(&device)?, device.limits().physical_devices);
    if count < 2 {
        return Err(Stop::skip("needs two physical devices"));
    }
    let mut ranks = Vec::new();
    for rank in 0..count {
        let affinity = device.limits().physical_affinity(rank).unwrap_or_default();
        let params = ChannelParams::new(id, rank, count).with_affinity(affinity);
        // SAFETY: the ranks of a case submit groups that fit.
        let channel = unsafe { device.create_channel(&params.with_timeout(Duration::from_millis(250))) }?;
        let queue = device.queue_of(affinity)?;
        ranks.push(Rank::new(queue, channel));
    }
    let data = ranks[0].upload(ctx, &[1; 64])?;
    let sum = [Collective::all_reduce(Reduction::Sum, I32, &data, &data)];
    ranks[0].submit(&sum)?;
    ranks[0].submit(&sum)?;
    for step in 1..=2 {
        let error = ctx.wait_for_failure(&ranks[0].done.at(step))?;
        ensure_eq!(error.code(), Code::Aborted, "the code of group {step}: {error}");
    }
    let rank = &ranks[0];
    let data = rank.upload(ctx, &[3; 64])?;
    let bytes = rank.queue.download(&[], &data)?.wait(ctx.deadline())?;
    same_bytes(&bytes, &[3; 64], "an upload afterwards")?;
    drop(ranks);
    Ok(device.drain(ctx.deadline())?)
}

fn closed_before_the_join(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let channel = half(&device, Duration::from_secs(600))?;
    let data = device.allocate_device(64)?;
    let done = Semaphore::new(0);
    let sum = [Collective::all_reduce(Reduction::Sum, I32, &data, &data)];
    device.queue_of(channel_affinity(&device))?.collective(&[], &[done.at(1)], &channel, &sum)?;
    device.close();
    let error = ctx.wait_for_failure(&done.at(1))?;
    ensure_eq!(error.code(), Code::Cancelled, "the code of {error}");
    Ok(())
}

fn dropped_before_the_join(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let begun = Instant::now();
    let channel = half(&device, Duration::from_secs(600))?;
    device.drain(Deadline::after(Duration::from_secs(10)))?;
    drop(channel);
    drop(device);
    ensure!(begun.elapsed() < Duration::from_secs(20), "dropping took {:?}", begun.elapsed());
    Ok(())
}
