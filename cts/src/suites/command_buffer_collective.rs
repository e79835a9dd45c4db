// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collective operations in command buffers. Each physical device is a rank, with command buffers of its own.

use std::time::Duration;

use windlass_hal::{
    Buffer, BufferRef, Code, Collective, CommandBuffer, QueueAffinity, Recorder, Reduction, Semaphore,
};

use super::{
    channel::half,
    collective::{COUNT, I32, Rank, are_summed, reduced, source, sums, world},
    command_buffer_indirect::count::{self as counts, dynamic, increment},
};
use crate::{
    check::{ensure_eq, names, refused},
    context::Context,
    outcome::Outcome,
};

suite! { "command_buffer_collective";
    #[smoke] between_commands [Collectives, Alloca]: "A group runs behind the commands before a barrier, and before those behind one, in each replay.";
    slots [Collectives, Alloca]: "Sources and targets are slots, and each submission has its own table.";
    recorded_order [Collectives, Alloca]: "Groups start in recorded order, and several follow each other in one command buffer.";
    beside_groups_of_queues [Collectives, Alloca]: "Groups of queues and of command buffers take turns on one channel.";
    split_channels [Collectives, Alloca]: "Groups of a channel and of a split of it follow each other in one command buffer.";
    receives_from_nobody [Collectives, Alloca]: "A recorded target that receives from nobody is filled with zeros.";
    keeps_objects [Collectives, Alloca]: "A command buffer keeps the channel and the buffers of its groups, and work keeps the command buffer.";
    in_flight_many_times [Collectives, Alloca]: "A command buffer with a group is submitted again before it has run.";
    writes_a_workgroup_count [Collectives, Alloca, CommandBuffers, Dispatch, IndirectDispatch]: "Dispatches before and behind a group take the counts that they find.";
    absent_rank [Collectives, Alloca]: "A rank that does not come fails the command buffer in time, and the device stays usable.";
    failed_wait [Collectives, Alloca]: "A command buffer whose wait fails submits no group, and the channel stays usable.";
    nothing_is_no_command [Collectives, Alloca]: "A group without elements records nothing.";
    refused_while_recording [Collectives, Alloca]: "Wrong ranks, lengths, places, slots and channels are refused by the recorder.";
    refused_at_submission [Collectives, Alloca]: "Tables whose ranges overlap or are too short, and queues of another processor, are refused.";
}

const BYTES: u64 = COUNT as u64 * 4;

impl Rank {
    fn recorder(&self, slots: u32) -> Outcome<Recorder> {
        Ok(self.queue.device().record_with_slots(slots)?)
    }

    /// Runs a command buffer behind the groups that were submitted.
    fn execute(&mut self, commands: &CommandBuffer, bindings: &[&Buffer]) -> Outcome {
        let bindings: Vec<Buffer> = bindings.iter().copied().cloned().collect();
        let (before, after) = self.next();
        Ok(self.queue.execute(&[before], &[after], commands, bindings)?)
    }
}

fn direct(buffer: &Buffer) -> BufferRef {
    buffer.into()
}

fn sum_of(from: &BufferRef, to: &BufferRef) -> Collective<BufferRef> {
    Collective::all_reduce(Reduction::Sum, I32, from, to)
}

/// A command buffer that sums slot 0 into slot 1.
fn sum_of_slots(rank: &Rank) -> Outcome<CommandBuffer> {
    let mut recorder = rank.recorder(2)?;
    let [from, to] = [0, 1].map(|slot| BufferRef::slot(slot, 0, BYTES));
    recorder.collective(&rank.channel, &[sum_of(&from, &to)])?;
    Ok(recorder.finish()?)
}

fn between_commands(ctx: &Context) -> Outcome {
    let mut ranks = world(ctx.device())?;
    let count = ranks.len();
    let mut all = Vec::new();
    for (index, rank) in ranks.iter().enumerate() {
        let [from, to, copied] = [(); 3].map(|()| rank.upload(ctx, &[9; BYTES as usize]));
        let (from, to, copied) = (from?, to?, copied?);
        let mut recorder = rank.recorder(0)?;
        recorder.update(&source(I32, index, 0, COUNT)?, &from)?;
        recorder.barrier();
        recorder.collective(&rank.channel, &[sum_of(&direct(&from), &direct(&to))])?;
        recorder.barrier();
        recorder.copy(&to, &copied)?;
        recorder.barrier();
        // The next replay has to write them anew.
        recorder.fill(&from, 0_u8)?;
        recorder.fill(&to, 0_u8)?;
        all.push((recorder.finish()?, copied));
    }
    let expected = reduced(Reduction::Sum, I32, count, 0, COUNT)?;
    for _ in 0..3 {
        for (rank, (commands, copied)) in ranks.iter_mut().zip(&all) {
            rank.clear(copied)?;
            rank.execute(commands, &[])?;
        }
        for (rank, (_, copied)) in ranks.iter().zip(&all) {
            rank.has(ctx, copied, &expected, "the copy of the sum")?;
        }
    }
    Ok(())
}

fn slots(ctx: &Context) -> Outcome {
    let mut ranks = world(ctx.device())?;
    let count = ranks.len();
    let commands: Vec<_> = ranks.iter().map(sum_of_slots).collect::<Outcome<_>>()?;
    let mut targets = Vec::new();
    for first in [0, COUNT] {
        for (index, (rank, commands)) in ranks.iter_mut().zip(&commands).enumerate() {
            let from = rank.upload(ctx, &source(I32, index, first, COUNT)?)?;
            let to = rank.upload(ctx, &[7; BYTES as usize + 8])?;
            rank.execute(commands, &[&from, &to.subspan(4, BYTES)?])?;
            targets.push((first, index, to));
        }
    }
    for (first, index, target) in &targets {
        let sum = reduced(Reduction::Sum, I32, count, *first, COUNT)?;
        let expected = [&[7; 4][..], &sum, &[7; 4]].concat();
        ranks[*index].has(ctx, target, &expected, "the sum, and the bytes around it")?;
    }
    Ok(())
}

fn recorded_order(ctx: &Context) -> Outcome {
    let mut ranks = world(ctx.device())?;
    let count = ranks.len();
    let mut targets = Vec::new();
    for (index, rank) in ranks.iter_mut().enumerate() {
        let from = rank.upload(ctx, &source(I32, index, 0, COUNT)?)?;
        let (sum, all) =
            (rank.upload(ctx, &[0; BYTES as usize])?, rank.upload(ctx, &vec![0; BYTES as usize * count])?);
        let again = rank.upload(ctx, &[0; BYTES as usize])?;
        let mut recorder = rank.recorder(0)?;
        // There is no barrier between the first two.
        recorder.collective(&rank.channel, &[sum_of(&direct(&from), &direct(&sum))])?;
        let gathered = Collective::all_gather(I32, &direct(&from), &direct(&all));
        let largest = Collective::all_reduce(Reduction::Maximum, I32, &direct(&from), &direct(&again));
        recorder.collective(&rank.channel, &[gathered, largest])?;
        recorder.barrier();
        recorder.collective(&rank.channel, &[sum_of(&direct(&again), &direct(&again))])?;
        rank.execute(&recorder.finish()?, &[])?;
        targets.push((sum, all, again));
    }
    let parts: Vec<_> = (0..count).map(|rank| source(I32, rank, 0, COUNT)).collect::<Outcome<_>>()?;
    let largest = reduced(Reduction::Maximum, I32, count, 0, COUNT)?;
    let times = |bytes: &[u8]| -> Vec<u8> {
        let words = bytes.as_chunks().0.iter().map(|word| i32::from_le_bytes(*word) * count as i32);
        words.flat_map(i32::to_le_bytes).collect()
    };
    for (rank, (sum, all, again)) in ranks.iter().zip(&targets) {
        rank.has(ctx, sum, &reduced(Reduction::Sum, I32, count, 0, COUNT)?, "the sum")?;
        rank.has(ctx, all, &parts.concat(), "the gathered parts")?;
        rank.has(ctx, again, &times(&largest), "the sum of the largest")?;
    }
    Ok(())
}

fn beside_groups_of_queues(ctx: &Context) -> Outcome {
    let mut ranks = world(ctx.device())?;
    let count = ranks.len() as i32;
    let mut targets = Vec::new();
    for rank in &mut ranks {
        let data = rank.upload(ctx, &1_i32.to_le_bytes().repeat(COUNT))?;
        let commands = sum_of_slots(rank)?;
        for _ in 0..2 {
            rank.submit(&[Collective::all_reduce(Reduction::Sum, I32, &data, &data)])?;
            rank.execute(&commands, &[&data, &data])?;
        }
        targets.push(data);
    }
    for (rank, target) in ranks.iter().zip(&targets) {
        rank.has(ctx, target, &count.pow(4).to_le_bytes().repeat(COUNT), "four sums")?;
    }
    Ok(())
}

fn split_channels(ctx: &Context) -> Outcome {
    let mut ranks = world(ctx.device())?;
    let count = ranks.len();
    let mut targets = Vec::new();
    let reversed: Vec<_> = (ranks.iter().enumerate())
        .map(|(index, rank)| Ok(rank.channel.split(0, (count - 1 - index) as u32, count as u32)?))
        .collect::<Outcome<_>>()?;
    for ((index, rank), reversed) in ranks.iter_mut().enumerate().zip(&reversed) {
        let from = rank.upload(ctx, &source(I32, index, 0, COUNT)?)?;
        let [first, second] = [(); 2].map(|()| rank.upload(ctx, &vec![0; BYTES as usize * count]));
        let (first, second) = (first?, second?);
        let mut recorder = rank.recorder(0)?;
        for (channel, target) in [(&rank.channel, &first), (reversed, &second)] {
            recorder.collective(channel, &[Collective::all_gather(I32, &direct(&from), &direct(target))])?;
        }
        rank.execute(&recorder.finish()?, &[])?;
        targets.push((first, second));
    }
    let mut parts: Vec<_> = (0..count).map(|rank| source(I32, rank, 0, COUNT)).collect::<Outcome<_>>()?;
    let forwards = parts.concat();
    parts.reverse();
    for (rank, (first, second)) in ranks.iter().zip(&targets) {
        rank.has(ctx, first, &forwards, "the gathered parts")?;
        rank.has(ctx, second, &parts.concat(), "the parts of the split")?;
    }
    Ok(())
}

fn receives_from_nobody(ctx: &Context) -> Outcome {
    let mut ranks = world(ctx.device())?;
    let mut targets = Vec::new();
    for rank in &mut ranks {
        let (from, to) = (rank.upload(ctx, &[1; 16])?, rank.upload(ctx, &[9; 16])?);
        let mut recorder = rank.recorder(1)?;
        let part = BufferRef::slot(0, 4, 4);
        let nobody = Collective::send_recv(None, None, I32, &direct(&from.subspan(4, 4)?), &part);
        recorder.collective(&rank.channel, &[nobody])?;
        rank.execute(&recorder.finish()?, &[&to])?;
        targets.push(to);
    }
    let expected = [[9; 4], [0; 4], [9; 4], [9; 4]].concat();
    for (rank, target) in ranks.iter().zip(&targets) {
        rank.has(ctx, target, &expected, "the zeros, and the bytes around them")?;
    }
    Ok(())
}

fn keeps_objects(ctx: &Context) -> Outcome {
    let mut ranks = world(ctx.device())?;
    let count = ranks.len();
    let go = Semaphore::new(0);
    let mut targets = Vec::new();
    for (index, rank) in ranks.drain(..).enumerate() {
        let from = rank.upload(ctx, &source(I32, index, 0, COUNT)?)?;
        let to = rank.upload(ctx, &[0; BYTES as usize])?;
        let mut recorder = rank.recorder(0)?;
        recorder.collective(&rank.channel, &[sum_of(&direct(&from), &direct(&to))])?;
        drop(from);
        let commands = recorder.finish()?;
        rank.queue.execute(&[go.at(1)], &[rank.done.at(1)], &commands, Vec::new())?;
        targets.push((rank.queue.clone(), rank.done.clone(), to));
    }
    go.signal(1)?;
    are_summed(ctx, count, &targets)
}

fn in_flight_many_times(ctx: &Context) -> Outcome {
    let mut ranks = world(ctx.device())?;
    let count = ranks.len();
    let go = Semaphore::new(0);
    let mut targets = Vec::new();
    for (index, rank) in ranks.iter_mut().enumerate() {
        rank.follow(&go.at(1))?;
        let commands = sum_of_slots(rank)?;
        let from = rank.upload(ctx, &source(I32, index, 0, COUNT)?)?;
        for _ in 0..4 {
            let to = rank.upload(ctx, &[0; BYTES as usize])?;
            rank.execute(&commands, &[&from, &to])?;
            targets.push((index, to));
        }
    }
    go.signal(1)?;
    let expected = reduced(Reduction::Sum, I32, count, 0, COUNT)?;
    for (index, target) in &targets {
        ranks[*index].has(ctx, target, &expected, "the sum")?;
    }
    Ok(())
}

fn writes_a_workgroup_count(ctx: &Context) -> Outcome {
    let mut ranks = world(ctx.device())?;
    let count = ranks.len() as u32;
    let function = increment(ctx)?;
    let mut all = Vec::new();
    for rank in &ranks {
        let (workgroups, counter) = (counts::count(ctx, [1, 2, 1])?, rank.upload(ctx, &[0; 4])?);
        let mut recorder = rank.recorder(0)?;
        recorder.dispatch_indirect(&function, dynamic(&workgroups), &[counter.arg()])?;
        recorder.barrier();
        for _ in 0..2 {
            recorder.collective(&rank.channel, &[sum_of(&direct(&workgroups), &direct(&workgroups))])?;
            recorder.barrier();
            recorder.dispatch_indirect(&function, dynamic(&workgroups), &[counter.arg()])?;
            recorder.barrier();
        }
        all.push((recorder.finish()?, counter));
    }
    // Not before: a queue that waits for the other ranks holds up what follows there.
    for (rank, (commands, _)) in ranks.iter_mut().zip(&all) {
        rank.execute(commands, &[])?;
    }
    let expected = 2 + 2 * count.pow(3) + 2 * count.pow(6);
    for (rank, (_, counter)) in ranks.iter().zip(&all) {
        rank.has(ctx, counter, &expected.to_le_bytes(), "the number of work-items")?;
    }
    Ok(())
}

fn absent_rank(ctx: &Context) -> Outcome {
    let device = ctx.device();
    let channel = half(device, Duration::from_millis(200))?;
    let queue = device.queue_of(device.limits().physical_affinity(0).unwrap_or(QueueAffinity::ANY))?;
    let mut rank = Rank::new(queue, channel);
    let data = rank.upload(ctx, &[5; BYTES as usize])?;
    let commands = sum_of_slots(&rank)?;
    rank.execute(&commands, &[&data, &data])?;
    let end = rank.now();
    let other = Semaphore::new(0);
    rank.queue.fill(&[], &[other.at(1)], &rank.upload(ctx, &[0; 16])?, 1_u8)?;
    ctx.wait(&other.at(1))?;
    let error = ctx.wait_for_failure(&end)?;
    ensure_eq!(error.code(), Code::Aborted, "the code of {error}");
    sums(ctx, &mut world(device)?, "the sum on another channel")
}

fn failed_wait(ctx: &Context) -> Outcome {
    let mut ranks = world(ctx.device())?;
    for rank in &ranks {
        let (never, failed) = (Semaphore::new(0), Semaphore::new(0));
        let data = rank.upload(ctx, &[0; BYTES as usize])?;
        let bindings = vec![data.clone(), data];
        rank.queue.execute(&[never.at(1)], &[failed.at(1)], &sum_of_slots(rank)?, bindings)?;
        never.fail(windlass_hal::Error::data_loss("the input is gone"));
        let error = ctx.wait_for_failure(&failed.at(1))?;
        ensure_eq!(error.code(), Code::DataLoss, "the code of {error}");
    }
    sums(ctx, &mut ranks, "the sum afterwards")
}

fn nothing_is_no_command(ctx: &Context) -> Outcome {
    let ranks = world(ctx.device())?;
    let mut recorder = ranks[0].recorder(1)?;
    let empty = BufferRef::slot(0, 0, 0);
    recorder.collective(&ranks[0].channel, &[])?;
    recorder.collective(&ranks[0].channel, &[sum_of(&empty, &empty)])?;
    ensure_eq!(recorder.finish()?.list().commands().len(), 0, "the number of commands");
    Ok(())
}

fn refused_while_recording(ctx: &Context) -> Outcome {
    let ranks = world(ctx.device())?;
    let (rank, count) = (&ranks[0], ranks.len() as u32);
    let other = ctx.open()?;
    let (own, theirs) = (ctx.device().allocate_device(256)?, other.allocate_device(256)?);
    let part = |offset, length| -> Outcome<BufferRef> { Ok(own.subspan(offset, length)?.into()) };
    let mut recorder = rank.recorder(1)?;
    let slot = BufferRef::slot(0, 0, 64);
    let whole = part(0, 64)?;
    for (what, operation, code) in [
        ("a root", Collective::broadcast(count, I32, None, &whole), Code::InvalidArgument),
        ("lengths", sum_of(&whole, &BufferRef::slot(0, 0, 60)), Code::InvalidArgument),
        (
            "half an element",
            sum_of(&BufferRef::slot(0, 0, 62), &BufferRef::slot(0, 64, 62)),
            Code::InvalidArgument,
        ),
        ("a place", sum_of(&BufferRef::slot(0, 2, 64), &whole), Code::InvalidArgument),
        ("an overlap", sum_of(&whole, &part(4, 64)?), Code::InvalidArgument),
        ("a foreign buffer", sum_of(&whole, &direct(&theirs.subspan(0, 64)?)), Code::InvalidArgument),
        ("an absent slot", sum_of(&whole, &BufferRef::slot(1, 0, 64)), Code::OutOfRange),
        ("a send to itself alone", Collective::send(0, I32, &slot), Code::InvalidArgument),
    ] {
        refused(recorder.collective(&rank.channel, &[operation]), code, what)?;
    }
    let foreign = world(&other)?;
    let refusal = recorder.collective(&foreign[0].channel, &[sum_of(&whole, &whole)]);
    refused(refusal, Code::InvalidArgument, "a channel of another device")?;
    if let Some(second) = ranks.get(1) {
        let mut both = rank.recorder(1)?;
        both.collective(&rank.channel, &[sum_of(&slot, &slot)])?;
        let refusal = both.collective(&second.channel, &[sum_of(&slot, &slot)]);
        names(
            &refused(refusal, Code::InvalidArgument, "ranks of two processors")?,
            "a command buffer of its own",
        )?;
    }
    ensure_eq!(recorder.finish()?.list().commands().len(), 0, "the commands of refused calls");
    Ok(())
}

fn refused_at_submission(ctx: &Context) -> Outcome {
    let ranks = world(ctx.device())?;
    let rank = &ranks[0];
    let commands = sum_of_slots(rank)?;
    let memory = ctx.device().allocate_device(4 * BYTES)?;
    let part = |offset, length| memory.subspan(offset, length);
    let done = Semaphore::new(0);
    let execute = |queue: &windlass_hal::Queue, bindings: Vec<Buffer>| {
        queue.execute(&[], &[done.at(1)], &commands, bindings)
    };
    let overlapping = execute(&rank.queue, vec![part(0, BYTES)?, part(4, BYTES)?]);
    names(&refused(overlapping, Code::InvalidArgument, "ranges that overlap")?, "overlap")?;
    let short = execute(&rank.queue, vec![part(0, BYTES)?, part(BYTES, BYTES - 4)?]);
    refused(short, Code::OutOfRange, "a range that is too short")?;
    let turned = execute(&rank.queue, vec![part(2, BYTES)?, part(2 * BYTES, BYTES)?]);
    refused(turned, Code::InvalidArgument, "a range within an element")?;
    if let Some(second) = ranks.get(1) {
        let wrong = execute(&second.queue, vec![part(0, BYTES)?, part(BYTES, BYTES)?]);
        refused(wrong, Code::InvalidArgument, "a queue of another processor")?;
    }
    ensure_eq!(done.query()?, 0, "the signal of refused submissions");
    Ok(())
}
