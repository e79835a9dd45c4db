// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows of memory: queue-ordered allocation, and mapping.

use std::hint::black_box;

use crate::{BufferParams, Feature};

use super::load::Timeline;
use crate::command::bench::{
    row::{Prepared, Row},
    stop::{Stop, Work},
    subject::{Floor, whole},
    target::Target,
};

const BYTES: u64 = 4096;

pub(super) fn add(rows: &mut Vec<Row>) {
    let alloca = Row::new(format!("memory/alloca-dealloca bytes={BYTES}"), (1, "pair"), alloca);
    rows.push(alloca.needs(&[Feature::Alloca]));
    rows.push(Row::new(format!("memory/map-unmap bytes={BYTES}"), (1, "pair"), map));
}

/// An alloca and the dealloca behind it, until both are done.
fn alloca(target: &Target) -> Work<Prepared> {
    let queue = target.queue()?;
    let params = BufferParams::device();
    let mut timeline = Timeline::default();
    let subject = whole(move || {
        let ready = timeline.next();
        let buffer = queue.alloca(&[], &[timeline.semaphore.at(ready)], &params, BYTES)?;
        let value = timeline.next();
        let (waits, signals) = ([timeline.semaphore.at(ready)], [timeline.semaphore.at(value)]);
        queue.dealloca(&waits, &signals, &buffer)?;
        timeline.wait()
    });
    Ok(Prepared::Timed(subject, alloca_floor(target)?))
}

#[cfg(feature = "hip")]
fn alloca_floor(target: &Target) -> Work<Option<Floor>> {
    let Some(hip) = &target.hip else { return Ok(None) };
    let floor = hip.alloca(BYTES as usize)?;
    Ok(floor.map(|subject| Floor::new("hipMallocAsync, hipFreeAsync, event, query", 1, subject)))
}

#[cfg(not(feature = "hip"))]
fn alloca_floor(_: &Target) -> Work<Option<Floor>> {
    Ok(None)
}

/// Mapping memory of the host that the device can use, and dropping the mapping.
fn map(target: &Target) -> Work<Prepared> {
    let buffer = target.device.allocate(&BufferParams::host(), BYTES)?;
    let mapping = buffer.map()?;
    mapping.write(0, b"windlass")?;
    if mapping.to_vec().get(..8) != Some(b"windlass") {
        return Err(Stop::Failed("a mapping does not hold the bytes that were written to it".to_owned()));
    }
    drop(mapping);
    let subject = whole(move || {
        drop(black_box(buffer.map()?));
        Ok(())
    });
    Ok(Prepared::Timed(subject, None))
}
