// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collective operations that are refused.

use std::time::Duration;

use windlass_hal::{Buffer, ChannelParams, Code, Collective, ElementType, Reduction, Semaphore};

use super::collective::{I32, channel_id, world};
use crate::{
    check::{ensure_eq, names, refused},
    context::Context,
    outcome::Outcome,
};

suite! { "collective_refused";
    ranks [Collectives]: "A rank that is not below the count is INVALID_ARGUMENT, and so are such roots and peers.";
    lengths [Collectives, Alloca]: "Buffers that do not fit each other, the elements or the ranks are INVALID_ARGUMENT.";
    places [Collectives, Alloca]: "Sources and targets that overlap in another way than in place are INVALID_ARGUMENT.";
    own_sends [Collectives, Alloca]: "A send to the own rank without its receive is INVALID_ARGUMENT.";
    element_types [Collectives, Alloca]: "A reduction of integers of no stated sign is INVALID_ARGUMENT.";
    belongs_to_its_device [Collectives, Alloca]: "A channel and buffers of another device are INVALID_ARGUMENT.";
}

fn ranks(ctx: &Context) -> Outcome {
    let device = ctx.device();
    let id = channel_id(device)?;
    for (rank, count) in [(0, 0), (1, 1), (7, 2), (u32::MAX, u32::MAX), (0, u32::MAX)] {
        // SAFETY: no channel is made, here and below.
        let made = unsafe { device.create_channel(&ChannelParams::new(id, rank, count)) };
        refused(made, Code::InvalidArgument, &format!("rank {rank} of {count}"))?;
    }
    let timeless = ChannelParams::new(id, 0, 1).with_timeout(Duration::ZERO);
    // SAFETY: as above.
    refused(unsafe { device.create_channel(&timeless) }, Code::InvalidArgument, "a timeout of 0")?;
    let ranks = world(device)?;
    let (rank, count) = (&ranks[0], ranks.len() as u32);
    let data = device.allocate_device(64)?;
    let other = device.allocate_device(64)?;
    for peer in [count, u32::MAX] {
        for operation in [
            Collective::broadcast(peer, I32, None, &data),
            Collective::reduce(peer, Reduction::Sum, I32, &data, Some(&data)),
            Collective::send(peer, I32, &data),
            Collective::recv(peer, I32, &data),
            Collective::send_recv(Some(peer), None, I32, &data, &other),
            Collective::send_recv(None, Some(peer), I32, &data, &other),
        ] {
            let done = Semaphore::new(0);
            let submitted = rank.queue.collective(&[], &[done.at(1)], &rank.channel, &[operation]);
            names(&refused(submitted, Code::InvalidArgument, "a peer beyond the ranks")?, &peer.to_string())?;
            ensure_eq!(done.query()?, 0, "the signal of a refused group");
        }
    }
    Ok(())
}

fn lengths(ctx: &Context) -> Outcome {
    let ranks = world(ctx.device())?;
    let (rank, count) = (&ranks[0], ranks.len() as u64);
    let memory = ctx.device().allocate_device(64 * (count + 1))?;
    let other = ctx.device().allocate_device(64 * (count + 1))?;
    let part = |offset, length| memory.subspan(offset, length);
    let of_other = |offset, length| other.subspan(offset, length);
    let sum = Reduction::Sum;
    let refuse = |what: &str, operation: Collective| -> Outcome {
        let submitted = rank.queue.collective(&[], &[], &rank.channel, &[operation]);
        refused(submitted, Code::InvalidArgument, what).map(drop)
    };
    let gathered = 64 * count;
    refuse("a target too small", Collective::all_gather(I32, &part(0, 64)?, &of_other(0, gathered - 4)?))?;
    refuse("a target too large", Collective::all_gather(I32, &part(0, 64)?, &of_other(0, gathered + 4)?))?;
    refuse("other lengths", Collective::all_reduce(sum, I32, &part(0, 64)?, &of_other(0, 60)?))?;
    refuse("half an element", Collective::all_reduce(sum, I32, &part(0, 62)?, &of_other(0, 62)?))?;
    refuse("a place within an element", Collective::all_reduce(sum, I32, &part(2, 8)?, &of_other(0, 8)?))?;
    refuse("no source", Collective::all_gather(I32, &part(0, 0)?, &of_other(0, 64)?))?;
    refuse(
        "a source too small",
        Collective::reduce_scatter(sum, I32, &part(0, gathered - 4)?, &of_other(0, 64)?),
    )?;
    refuse("a broadcast", Collective::broadcast(0, I32, Some(&part(0, 64)?), &of_other(0, 32)?))?;
    refuse("a root without a target", Collective::reduce(0, sum, I32, &part(0, 64)?, None))?;
    refuse("an exchange", Collective::all_to_all(I32, &part(0, gathered)?, &of_other(0, gathered - 4)?))?;
    if count > 1 {
        refuse("parts of no element", Collective::all_to_all(I32, &part(0, 4)?, &of_other(0, 4)?))?;
    }
    Ok(())
}

fn places(ctx: &Context) -> Outcome {
    let ranks = world(ctx.device())?;
    let (rank, count) = (&ranks[0], ranks.len() as u64);
    let memory = ctx.device().allocate_device(64 * (count + 2))?;
    let part = |offset, length| memory.subspan(offset, length);
    let sum = Reduction::Sum;
    for (what, operation) in [
        ("a reduction", Collective::all_reduce(sum, I32, &part(0, 64)?, &part(4, 64)?)),
        ("a gathering", Collective::all_gather(I32, &part(4, 64)?, &part(0, 64 * count)?)),
        ("a scattering", Collective::reduce_scatter(sum, I32, &part(0, 64 * count)?, &part(4, 64)?)),
        ("an exchange", Collective::all_to_all(I32, &part(0, 64 * count)?, &part(0, 64 * count)?)),
        ("a broadcast", Collective::broadcast(0, I32, Some(&part(0, 64)?), &part(32, 64)?)),
        ("a send and receive", Collective::send_recv(Some(0), Some(0), I32, &part(0, 64)?, &part(0, 64)?)),
    ] {
        let submitted = rank.queue.collective(&[], &[], &rank.channel, &[operation]);
        names(&refused(submitted, Code::InvalidArgument, what)?, "overlap")?;
    }
    Ok(())
}

fn own_sends(ctx: &Context) -> Outcome {
    let mut ranks = world(ctx.device())?;
    let rank = &mut ranks[0];
    let from = rank.upload(ctx, &[4; 64])?;
    let to = rank.upload(ctx, &[0; 64])?;
    let half = to.subspan(0, 32)?;
    for group in [
        &[Collective::send(0, I32, &from)][..],
        &[Collective::recv(0, I32, &to)],
        &[Collective::send(0, I32, &from), Collective::recv(0, I32, &half)],
        &[Collective::send_recv(Some(0), None, I32, &from, &to)],
    ] {
        let submitted = rank.queue.collective(&[], &[], &rank.channel, group);
        refused(submitted, Code::InvalidArgument, "a send to itself alone")?;
    }
    rank.submit(&[Collective::send(0, I32, &from), Collective::recv(0, I32, &to)])?;
    rank.has(ctx, &to, &[4; 64], "what it sent to itself")
}

fn element_types(ctx: &Context) -> Outcome {
    let ranks = world(ctx.device())?;
    let data = ctx.device().allocate_device(64)?;
    for element in ElementType::ALL {
        let stated = !matches!(*element as u32 >> 24, 0x10 | 0x13);
        if stated {
            continue;
        }
        let sum = [Collective::all_reduce(Reduction::Sum, *element, &data, &data)];
        let submitted = ranks[0].queue.collective(&[], &[], &ranks[0].channel, &sum);
        refused(submitted, Code::InvalidArgument, &format!("a sum of {}", element.name()))?;
    }
    Ok(())
}

fn belongs_to_its_device(ctx: &Context) -> Outcome {
    let ranks = world(ctx.device())?;
    let other = ctx.open()?;
    let foreign = world(&other)?;
    let (own, theirs) = (ctx.device().allocate_device(64)?, other.allocate_device(64)?);
    let sum = |data: &Buffer| [Collective::all_reduce(Reduction::Sum, I32, data, data)];
    let queue = &ranks[0].queue;
    let submitted = queue.collective(&[], &[], &foreign[0].channel, &sum(&own));
    refused(submitted, Code::InvalidArgument, "a channel of another device")?;
    let submitted = queue.collective(&[], &[], &ranks[0].channel, &sum(&theirs));
    refused(submitted, Code::InvalidArgument, "a buffer of another device")?;
    if let Some(second) = ranks.get(1) {
        let submitted = second.queue.collective(&[], &[], &ranks[0].channel, &sum(&own));
        refused(submitted, Code::InvalidArgument, "a queue of another physical device")?;
    }
    Ok(())
}
