// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows of transfers, from 4 bytes to 64 MiB, from their submission until their signal is reached.

use crate::{Buffer, Queue};

use super::load::Timeline;
use crate::command::bench::{
    row::{Prepared, Row},
    stop::{Stop, Work},
    subject::{Floor, whole},
    target::Target,
};

const SIZES: [(&str, u64); 5] =
    [("4", 4), ("4KiB", 4 << 10), ("64KiB", 64 << 10), ("1MiB", 1 << 20), ("64MiB", 64 << 20)];
const PATTERN: u32 = 0x1234_5678;

pub(super) fn add(rows: &mut Vec<Row>) {
    for (name, bytes) in SIZES {
        let row = |kind: &'static str, prepare: fn(&Target, u64) -> Work<Prepared>| {
            Row::new(format!("transfer/{kind} bytes={name}"), (1, kind), move |target| prepare(target, bytes))
        };
        // Callgrind expands each byte of a long transfer.
        let steady = |row: Row| if bytes > 4096 { row.uncounted() } else { row };
        rows.push(steady(row("fill", fill)));
        rows.push(steady(row("update", update)));
        rows.push(steady(row("copy", copy)));
    }
}

fn fill(target: &Target, bytes: u64) -> Work<Prepared> {
    let buffer = target.buffer(bytes)?;
    let round = move |queue: &Queue, timeline: &mut Timeline| {
        let value = timeline.next();
        queue.fill(&[], &[timeline.semaphore.at(value)], &buffer, PATTERN)?;
        Ok(buffer.clone())
    };
    let expected = PATTERN.to_le_bytes().repeat(bytes as usize / 4);
    prepared(target, round, &expected, floor(target, "hipMemsetD32Async, event, query", bytes)?)
}

fn update(target: &Target, bytes: u64) -> Work<Prepared> {
    let (buffer, source) = (target.buffer(bytes)?, content(bytes));
    let expected = source.clone();
    let round = move |queue: &Queue, timeline: &mut Timeline| {
        let value = timeline.next();
        queue.update(&[], &[timeline.semaphore.at(value)], &source, &buffer)?;
        Ok(buffer.clone())
    };
    prepared(target, round, &expected, floor(target, "hipMemcpyAsync from the host, event, query", bytes)?)
}

fn copy(target: &Target, bytes: u64) -> Work<Prepared> {
    let (source, buffer) = (target.buffer(bytes)?, target.buffer(bytes)?);
    let expected = PATTERN.to_le_bytes().repeat(bytes as usize / 4);
    let mut filled = Timeline::default();
    let value = filled.next();
    target.queue()?.fill(&[], &[filled.semaphore.at(value)], &source, PATTERN)?;
    filled.wait()?;
    let round = move |queue: &Queue, timeline: &mut Timeline| {
        let value = timeline.next();
        queue.copy(&[], &[timeline.semaphore.at(value)], &source, &buffer)?;
        Ok(buffer.clone())
    };
    prepared(target, round, &expected, floor(target, "hipMemcpyAsync on the device, event, query", bytes)?)
}

/// Numbers that differ from each other.
fn content(bytes: u64) -> Vec<u8> {
    (0..bytes as u32 / 4).flat_map(|index| index.wrapping_mul(0x9e37_79b9).to_le_bytes()).collect()
}

/// Checks the bytes that a round leaves, and makes a subject of it.
fn prepared(
    target: &Target,
    mut round: impl FnMut(&Queue, &mut Timeline) -> Work<Buffer> + 'static,
    expected: &[u8],
    floor: Option<Floor>,
) -> Work<Prepared> {
    let (queue, mut timeline) = (target.queue()?, Timeline::default());
    let buffer = round(&queue, &mut timeline)?;
    timeline.wait()?;
    let got = target.download(&buffer)?;
    if let Some(at) = got.iter().zip(expected).position(|(got, expected)| got != expected) {
        return Err(Stop::Failed(format!(
            "the transfer writes wrong bytes, so its time means nothing: the first is byte {at} of {}",
            buffer.len()
        )));
    }
    let subject = whole(move || {
        round(&queue, &mut timeline)?;
        timeline.wait()
    });
    Ok(Prepared::Timed(subject, floor))
}

#[cfg(feature = "hip")]
fn floor(target: &Target, name: &'static str, bytes: u64) -> Work<Option<Floor>> {
    let Some(hip) = &target.hip else { return Ok(None) };
    let subject = match name.starts_with("hipMemset") {
        true => hip.fill(bytes as usize)?,
        false => hip.copy(bytes as usize, name.contains("host"))?,
    };
    Ok(Some(Floor::new(name, 1, subject)))
}

#[cfg(not(feature = "hip"))]
fn floor(_: &Target, _: &'static str, _: u64) -> Work<Option<Floor>> {
    Ok(None)
}
