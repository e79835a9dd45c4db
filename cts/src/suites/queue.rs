// SPDX-License-Identifier: MIT OR Apache-2.0
//! Order: semaphores order work, and nothing else does.

use windlass_hal::{Buffer, Code, Deadline, Fence, Point, Semaphore, WaitPolicy, wait_all, wait_any};

use crate::{
    check::{ensure, ensure_eq, refused, same_bytes, same_items},
    context::Context,
    outcome::Outcome,
};

suite! { "queue";
    barrier_signals: "A barrier without waits reaches its signals.";
    #[smoke] barrier_waits: "A barrier reaches its signals only after each of its waits.";
    submission_does_not_block: "Submitting work with an unreached wait returns, and signals nothing.";
    #[smoke] independent_work_goes_on: "Work without an edge to blocked work completes, on the same queue too.";
    #[smoke] wait_before_signal: "Work may be submitted before the work that it waits for, on every pair of queues.";
    one_timeline_orders_a_chain: "One semaphore with rising values orders work that was submitted in reverse.";
    smaller_value_is_reached: "A wait for a value that the payload has passed does not wait.";
    different_values_of_one_signal: "Work that waits for several values of a semaphore starts value by value.";
    one_semaphore_twice_in_a_list: "A wait list may name a semaphore twice; the greater value decides.";
    many_waits_and_signals: "Wait and signal lists of sixty-four points each work.";
    host_and_device_waits: "Work that waits for the host and for another queue starts after both.";
    host_waits_for_host_and_device: "A thread that waits for all of a host's and a device's points waits for both.";
    host_waits_for_any_of_host_and_device:
        "A thread that waits for any of a host's and a device's points wakes for the first of them.";
    fan_out: "One signal releases work on every queue.";
    fan_in: "Work that waits for every queue sees the writes of each.";
    #[smoke] diamond: "In a diamond of edges the last operation sees the writes of both sides.";
    chain_across_queues: "Data passes through a chain that changes the queue with every link.";
    signals_after_all_effects: "A reached signal means that the work's writes are visible, round after round.";
    ends_follow_causes: "Signals are reached in the order of their list: work behind the last one sees all others reached.";
    long_pending_chain: "Twenty thousand submissions, each waiting for the next, unwind without exhausting a stack.";
    random_graph: "A thousand submissions over four queues, with random edges and submitted in random order, \
        all run after the work that they wait for.";
    #[stress] random_graph_repeated: "Ten more random graphs, each with other edges, run in the order of their edges.";
}

fn barrier_signals(ctx: &Context) -> Outcome {
    let (a, b) = (Semaphore::new(0), Semaphore::new(5));
    ctx.queue(0)?.barrier(&[], &[a.at(1), b.at(9)])?;
    ctx.wait(&a.at(1))?;
    ctx.wait(&b.at(9))?;
    ensure_eq!((a.query()?, b.query()?), (1, 9), "the payloads");
    ctx.queue(0)?.barrier(&[], &[])?;
    Ok(())
}

fn barrier_waits(ctx: &Context) -> Outcome {
    let gates = [Semaphore::new(0), Semaphore::new(0), Semaphore::new(0)];
    let done = Semaphore::new(0);
    ctx.queue(0)?.barrier(&gates.each_ref().map(|gate| gate.at(1)), &[done.at(1)])?;
    for gate in &gates {
        ctx.device().poll();
        ensure_eq!(done.query()?, 0, "the semaphore before the last wait is reached");
        gate.signal(1)?;
    }
    ctx.wait(&done.at(1))
}

fn submission_does_not_block(ctx: &Context) -> Outcome {
    let (gate, done, buffer) = (Semaphore::new(0), Semaphore::new(0), ctx.filled(64, 1)?);
    let queue = ctx.queue(0)?;
    queue.fill(&[gate.at(1)], &[done.at(1)], &buffer, 2_u8)?;
    queue.update(&[done.at(1)], &[done.at(2)], &[3; 64], &buffer)?;
    queue.barrier(&[done.at(2)], &[done.at(3)])?;
    ctx.device().poll();
    ensure_eq!(done.query()?, 0, "the semaphore before the gate opens");
    same_bytes(&ctx.download(&buffer)?, &[1; 64], "the buffer before the gate opens")?;
    gate.signal(1)?;
    ctx.wait(&done.at(3))?;
    same_bytes(&ctx.download(&buffer)?, &[3; 64], "the buffer at the end")
}

fn independent_work_goes_on(ctx: &Context) -> Outcome {
    let (gate, blocked, free) = (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
    let buffer = ctx.filled(64, 0)?;
    for index in 0..ctx.device().limits().queues {
        let queue = ctx.queue(index)?;
        let value = u64::from(index) + 1;
        queue.fill(&[gate.at(1)], &[blocked.at(value)], &buffer.subspan(0, 32)?, 1_u8)?;
        queue.fill(&[], &[free.at(value)], &buffer.subspan(32, 32)?, 2_u8)?;
        ctx.wait(&free.at(value))?;
        ensure_eq!(blocked.query()?, 0, "the semaphore of blocked work");
    }
    gate.signal(1)?;
    ctx.wait(&blocked.at(ctx.device().limits().queues.into()))
}

fn wait_before_signal(ctx: &Context) -> Outcome {
    let queues = ctx.device().limits().queues.min(4);
    for waiting in 0..queues {
        for signalling in 0..queues {
            let (buffer, order) = (ctx.filled(64, 0)?, Semaphore::new(0));
            let copy = ctx.device().allocate_device(64)?;
            ctx.queue(waiting)?.copy(&[order.at(1)], &[order.at(2)], &buffer, &copy)?;
            ctx.queue(signalling)?.fill(&[], &[order.at(1)], &buffer, 7_u8)?;
            same_bytes(
                &ctx.download_after(&order.at(2), &copy)?,
                &[7; 64],
                &format!("the copy of queue {waiting} after a fill of queue {signalling}"),
            )?;
        }
    }
    Ok(())
}

fn one_timeline_orders_a_chain(ctx: &Context) -> Outcome {
    let (buffer, step) = (ctx.filled(101, 0)?, Semaphore::new(0));
    for value in (1..=100).rev() {
        ctx.queue(value as u32)?.copy(
            &[step.at(value)],
            &[step.at(value + 1)],
            &buffer.subspan(value - 1, 1)?,
            &buffer.subspan(value, 1)?,
        )?;
    }
    ctx.queue(0)?.fill(&[], &[step.at(1)], &buffer.subspan(0, 1)?, 0x77_u8)?;
    same_bytes(
        &ctx.download_after(&step.at(101), &buffer)?,
        &[0x77; 101],
        "the byte handed on from cell to cell",
    )
}

fn smaller_value_is_reached(ctx: &Context) -> Outcome {
    let (semaphore, before, after) = (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
    let queue = ctx.queue(0)?;
    queue.barrier(&[semaphore.at(3)], &[before.at(1)])?;
    ctx.queue(1)?.barrier(&[], &[semaphore.at(10)])?;
    ctx.wait(&before.at(1))?;
    queue.barrier(&[semaphore.at(3)], &[after.at(1)])?;
    ctx.wait(&after.at(1))
}

fn different_values_of_one_signal(ctx: &Context) -> Outcome {
    let (gate, first, second) = (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
    ctx.queue(0)?.barrier(&[gate.at(2)], &[second.at(1)])?;
    ctx.queue(0)?.barrier(&[gate.at(1)], &[first.at(1)])?;
    ctx.queue(1)?.barrier(&[], &[gate.at(1)])?;
    ctx.wait(&first.at(1))?;
    ensure_eq!(second.query()?, 0, "the semaphore of work that waits for value 2");
    ctx.queue(1)?.barrier(&[], &[gate.at(2)])?;
    ctx.wait(&second.at(1))
}

fn one_semaphore_twice_in_a_list(ctx: &Context) -> Outcome {
    let (gate, done) = (Semaphore::new(0), Semaphore::new(0));
    ctx.queue(0)?.barrier(&[gate.at(2), gate.at(1)], &[done.at(2), done.at(1)])?;
    gate.signal(1)?;
    ctx.device().poll();
    ensure_eq!(done.query()?, 0, "the semaphore after the smaller value");
    gate.signal(2)?;
    ctx.wait(&done.at(2))
}

fn many_waits_and_signals(ctx: &Context) -> Outcome {
    let gates: Vec<_> = (0..64).map(|_| Semaphore::new(0)).collect();
    let ends: Vec<_> = (0..64).map(|_| Semaphore::new(0)).collect();
    let points = |semaphores: &[Semaphore]| -> Vec<Point> {
        semaphores.iter().map(|semaphore| semaphore.at(1)).collect()
    };
    ctx.queue(0)?.barrier(&points(&gates), &points(&ends))?;
    for (index, gate) in (0..).zip(&gates) {
        if index % 2 == 0 { gate.signal(1)? } else { ctx.queue(index)?.barrier(&[], &[gate.at(1)])? }
    }
    ends.iter().try_for_each(|end| ctx.wait(&end.at(1)))
}

fn host_and_device_waits(ctx: &Context) -> Outcome {
    let (host, device, done) = (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
    let buffer = ctx.filled(64, 0)?;
    for round in 1..=10 {
        let value = round as u8;
        let target = ctx.device().allocate_device(64)?;
        ctx.queue(0)?.copy(&[host.at(round), device.at(round)], &[done.at(round)], &buffer, &target)?;
        let fill = || ctx.queue(1)?.fill(&[], &[device.at(round)], &buffer, value).map_err(crate::Stop::from);
        if round % 2 == 0 {
            host.signal(round)?;
            fill()?;
        } else {
            fill()?;
            ctx.wait(&device.at(round))?;
            ensure_eq!(done.query()?, round - 1, "the semaphore before the host signals");
            host.signal(round)?;
        }
        same_bytes(&ctx.download_after(&done.at(round), &target)?, &[value; 64], "the copy")?;
    }
    Ok(())
}

fn host_waits_for_host_and_device(ctx: &Context) -> Outcome {
    let (host, device, gate) = (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
    let points = [host.at(1), device.at(1)];
    ctx.queue(0)?.barrier(&[gate.at(1)], &[device.at(1)])?;
    let early = |result, what: &str| refused(result, Code::DeadlineExceeded, what);
    let now = || wait_all(&points, Deadline::now(), WaitPolicy::Block);
    early(now(), "a wait for both before either")?;
    host.signal(1)?;
    early(now(), "a wait for both after the host's signal")?;
    gate.signal(1)?;
    Ok(wait_all(&points, ctx.deadline(), WaitPolicy::Block)?)
}

fn host_waits_for_any_of_host_and_device(ctx: &Context) -> Outcome {
    for device_first in [false, true] {
        let (host, device, gate) = (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
        ctx.queue(0)?.barrier(&[gate.at(1)], &[device.at(1)])?;
        if device_first {
            gate.signal(1)?
        } else {
            host.signal(1)?
        }
        let reached = wait_any(&[host.at(1), device.at(1)], ctx.deadline(), WaitPolicy::Block)?;
        ensure_eq!(reached, usize::from(device_first), "the index of the point that was reached");
        gate.signal(1)?;
        ctx.wait(&device.at(1))?;
    }
    Ok(())
}

fn fan_out(ctx: &Context) -> Outcome {
    let (source, gate) = (ctx.filled(64, 0)?, Semaphore::new(0));
    let mut ends = Vec::new();
    for index in 0..16 {
        let (target, done) = (ctx.device().allocate_device(64)?, Semaphore::new(0));
        ctx.queue(index)?.copy(&[gate.at(1)], &[done.at(1)], &source, &target)?;
        ends.push((target, done));
    }
    ctx.queue(0)?.fill(&[], &[gate.at(1)], &source, 9_u8)?;
    for (target, done) in ends {
        same_bytes(&ctx.download_after(&done.at(1), &target)?, &[9; 64], "a copy of the filled bytes")?;
    }
    Ok(())
}

fn fan_in(ctx: &Context) -> Outcome {
    let (source, target, end) = (ctx.filled(16, 0)?, ctx.filled(16, 0)?, Semaphore::new(0));
    let semaphores: Vec<_> = (0..16).map(|_| Semaphore::new(0)).collect();
    let waits: Vec<_> = semaphores.iter().map(|semaphore| semaphore.at(1)).collect();
    ctx.queue(0)?.copy(&waits, &[end.at(1)], &source, &target)?;
    for (index, wait) in (0..16_u8).zip(&waits) {
        let cell = source.subspan(index.into(), 1)?;
        ctx.queue(index.into())?.fill(&[], std::slice::from_ref(wait), &cell, index + 1)?;
    }
    let expected: Vec<u8> = (1..=16).collect();
    same_bytes(
        &ctx.download_after(&end.at(1), &target)?,
        &expected,
        "the bytes that sixteen submissions wrote",
    )
}

fn diamond(ctx: &Context) -> Outcome {
    for round in 1..=20_u8 {
        let (top, left, right, bottom) =
            (ctx.filled(32, 0)?, ctx.filled(32, 0)?, ctx.filled(32, 0)?, ctx.filled(64, 0)?);
        let [a, b, c, d] = [(); 4].map(|()| Semaphore::new(0));
        let (halves, end) = ([bottom.subspan(0, 32)?, bottom.subspan(32, 32)?], Semaphore::new(0));
        ctx.queue(3)?.copy(&[b.at(1), c.at(1)], &[d.at(1)], &left, &halves[0])?;
        ctx.queue(3)?.copy(&[d.at(1)], &[end.at(1)], &right, &halves[1])?;
        ctx.queue(2)?.copy(&[a.at(1)], &[c.at(1)], &top, &right)?;
        ctx.queue(1)?.copy(&[a.at(1)], &[b.at(1)], &top, &left)?;
        ctx.queue(0)?.fill(&[], &[a.at(1)], &top, round)?;
        same_bytes(&ctx.download_after(&end.at(1), &bottom)?, &[round; 64], "the bottom of the diamond")?;
    }
    Ok(())
}

fn chain_across_queues(ctx: &Context) -> Outcome {
    let bytes = ctx.random().bytes(256);
    let mut buffers = vec![ctx.upload(&bytes)?];
    let step = Semaphore::new(0);
    for link in 0..200 {
        let next = ctx.device().allocate_device(256)?;
        let last: &Buffer = &buffers[link as usize];
        ctx.queue(link as u32)?.copy(&[step.at(link)], &[step.at(link + 1)], last, &next)?;
        buffers.push(next);
    }
    same_bytes(&ctx.download_after(&step.at(200), &buffers[200])?, &bytes, "the data at the end of the chain")
}

fn signals_after_all_effects(ctx: &Context) -> Outcome {
    let (buffer, done) = (ctx.host_buffer(4096)?, Semaphore::new(0));
    let mapping = buffer.map()?;
    for round in 1..=200 {
        ctx.queue(round as u32)?.fill(&[], &[done.at(round)], &buffer, round as u32)?;
        ctx.wait(&done.at(round))?;
        let mut last = [0; 4];
        mapping.read(4092, &mut last)?;
        ensure_eq!(u32::from_le_bytes(last), round as u32, "the last word after round {round}");
    }
    Ok(())
}

fn ends_follow_causes(ctx: &Context) -> Outcome {
    const LINKS: u64 = 400;
    let (buffer, step) = (ctx.device().allocate_device(1 << 12)?, Semaphore::new(0));
    let own: Vec<_> = (0..LINKS).map(|_| Semaphore::new(0)).collect();
    for (link, own) in (0..LINKS).zip(&own) {
        let signals = [own.at(1), step.at(link + 1)];
        ctx.queue(link as u32)?.fill(&[step.at(link)], &signals, &buffer, link as u32)?;
    }
    for (link, own) in (1..=LINKS).zip(&own) {
        ctx.wait(&step.at(link))?;
        ensure_eq!(own.query()?, 1, "the first signal of link {link} after its last one");
    }
    Ok(())
}

fn long_pending_chain(ctx: &Context) -> Outcome {
    let links: Vec<_> = (0..=20_000).map(|_| Semaphore::new(0)).collect();
    let queue = ctx.queue(0)?;
    for pair in links.windows(2).rev() {
        queue.barrier(&[pair[0].at(1)], &[pair[1].at(1)])?;
    }
    links[0].signal(1)?;
    ctx.wait(&links[20_000].at(1))?;
    let waiters: usize = links.iter().map(Semaphore::waiter_count).sum();
    ensure_eq!(waiters, 0, "waiters left behind");
    Ok(())
}

/// Runs a graph of cells of one buffer. Each cell is written once: a root by a fill, any other by a copy from an
/// earlier cell. Each cell has an edge from its parent, and from a few others that only delay it.
fn run_graph(ctx: &Context, seed: u64) -> Outcome {
    const NODES: usize = 1000;
    let mut random = crate::Random::new(seed);
    let cells = ctx.filled(4 * NODES as u64, 0xee)?;
    let semaphores: Vec<_> = (0..4).map(|_| Semaphore::new(0)).collect();
    let done: Vec<_> = (0..NODES).map(|_| Semaphore::new(0)).collect();
    let mut parents = Vec::new();
    let mut expected = Vec::<u32>::new();
    for node in 0..NODES {
        let parent = if node == 0 || random.below(20) == 0 { None } else { Some(random.below(node)) };
        expected.push(parent.map_or(node as u32, |parent| expected[parent]));
        parents.push(parent);
    }
    let waits: Vec<Vec<Point>> = (0..NODES)
        .map(|node| {
            let extra = random.below(4).min(node);
            let others = (0..extra).map(|_| random.below(node)).collect::<Vec<_>>();
            parents[node].into_iter().chain(others).map(|earlier| done[earlier].at(1)).collect()
        })
        .collect();
    let mut order: Vec<usize> = (0..NODES).collect();
    random.shuffle(&mut order);
    for node in order {
        let queue = ctx.queue(random.below(4) as u32)?;
        let cell = cells.subspan(4 * node as u64, 4)?;
        // Beside the node's own semaphore a shared one, whose values come in no order.
        let signals = [done[node].at(1), semaphores[node % 4].at(node as u64)];
        match parents[node] {
            None => queue.fill(&waits[node], &signals, &cell, node as u32)?,
            Some(parent) => {
                queue.copy(&waits[node], &signals, &cells.subspan(4 * parent as u64, 4)?, &cell)?;
            }
        }
    }
    let end: Fence = done.iter().map(|semaphore| semaphore.at(1)).collect();
    end.wait_blocking(ctx.deadline())?;
    let bytes = ctx.download(&cells)?;
    let words: Vec<_> =
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    same_items(&words, &expected, &format!("the cells of graph {seed}"))?;
    let waiters: usize = done.iter().map(Semaphore::waiter_count).sum();
    ensure!(waiters == 0, "{waiters} waiters left behind");
    Ok(())
}

fn random_graph(ctx: &Context) -> Outcome {
    run_graph(ctx, ctx.random().next_u64())
}

fn random_graph_repeated(ctx: &Context) -> Outcome {
    let mut random = ctx.random();
    random.next_u64();
    (0..10).try_for_each(|_| run_graph(ctx, random.next_u64()))
}
