// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows of chained submissions: on one queue, across queues, and submitted before their waits can be reached.

use crate::{CommandBuffer, Feature, Queue, Semaphore};

use super::load::{Load, Timeline};
use crate::command::bench::{
    row::{Prepared, Row},
    shape::Shape,
    stop::{Stop, Work},
    subject::{Floor, whole},
    target::Target,
};

const COMMANDS: &[Feature] = &[Feature::CommandBuffers, Feature::Dispatch];

/// Submissions of a chain.
const LINKS: u32 = 100;

pub(super) fn add(rows: &mut Vec<Row>) {
    let mut row = |name: &str, prepare: fn(&Target) -> Work<Prepared>| {
        rows.push(
            Row::new(format!("{name} n={LINKS}"), (LINKS.into(), "submission"), prepare).needs(COMMANDS),
        );
    };
    row("chain/one-queue", |target| chain(target, 1));
    row("chain/across-queues", |target| chain(target, 2));
    row("chain/wait-before-signal", wait_before_signal);
}

/// Queues of a chain, which follow each other in turns.
fn queues(target: &Target, count: u32) -> Work<Vec<Queue>> {
    let there = target.device.limits().queues;
    if there < count {
        return Err(Stop::Lacks(format!("the device has {there} queue, and the row uses {count}")));
    }
    (0..count).map(|index| Ok(target.device.queue(index)?)).collect()
}

/// Each submission waits for the one before, and the host waits for the last one only.
fn chain(target: &Target, count: u32) -> Work<Prepared> {
    let shape = Shape::direct(2, 1);
    let load = Load::new(target, shape)?;
    let (queues, commands) = (queues(target, count)?, load.record()?);
    let links = move |timeline: &mut Timeline| -> Work {
        for queue in queues.iter().cycle().take(LINKS as usize) {
            link(queue, &load, &commands, timeline)?;
        }
        timeline.wait()
    };
    let mut timeline = Timeline::default();
    let subject = whole(move || links(&mut timeline));
    Ok(Prepared::Timed(subject, floor(target, Shape { n: LINKS, ..shape }, count)?))
}

fn link(queue: &Queue, load: &Load, commands: &CommandBuffer, timeline: &mut Timeline) -> Work {
    let value = timeline.next();
    let (waits, signals) = ([timeline.semaphore.at(value - 1)], [timeline.semaphore.at(value)]);
    Ok(queue.execute(&waits, &signals, commands, load.table())?)
}

/// The submissions wait for a value that the host signals when all are submitted.
fn wait_before_signal(target: &Target) -> Work<Prepared> {
    let load = Load::new(target, Shape::direct(2, 1))?;
    let commands = load.record()?;
    let mut timeline = Timeline::default();
    let (gate, mut opened) = (Semaphore::new(0), 0);
    let subject = whole(move || {
        opened += 1;
        for _ in 0..LINKS {
            let value = timeline.next();
            let waits = [gate.at(opened), timeline.semaphore.at(value - 1)];
            load.queue.execute(&waits, &[timeline.semaphore.at(value)], &commands, load.table())?;
        }
        gate.signal(opened)?;
        timeline.wait()
    });
    Ok(Prepared::Timed(subject, None))
}

/// Bare launches with an event behind each.
#[cfg(feature = "hip")]
fn floor(target: &Target, shape: Shape, streams: u32) -> Work<Option<Floor>> {
    let Some(hip) = &target.hip else { return Ok(None) };
    let name = if streams > 1 { "launch, event, wait of the other stream" } else { "launch, event" };
    Ok(Some(Floor::new(name, shape.n.into(), hip.chain(shape, streams as usize)?)))
}

#[cfg(not(feature = "hip"))]
fn floor(_: &Target, _: Shape, _: u32) -> Work<Option<Floor>> {
    Ok(None)
}
