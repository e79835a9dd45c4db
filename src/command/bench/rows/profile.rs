// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows of profiled dispatches, whose records go to a sink that drops them.

use std::sync::Arc;

use crate::{Device, Feature, ProfileChunk, ProfileOptions, ProfileSink};

use super::load::{Load, Timeline};
use crate::command::bench::{
    row::{Prepared, Row},
    shape::{GRID, Shape},
    stop::Work,
    subject::whole,
    target::Target,
};

const COMMANDS: &[Feature] = &[Feature::CommandBuffers, Feature::Dispatch];

pub(super) fn add(rows: &mut Vec<Row>) {
    for n in [1, 10, 100, 1000] {
        let shape = Shape::direct(2, n);
        let name = format!("profile/replay {}", shape.text());
        let row = Row::new(name, (n.into(), "dispatch"), move |target| replay(target, shape));
        rows.push(row.needs(COMMANDS));
    }
    let row = Row::new("profile/direct bindings=2", (1, "dispatch"), direct);
    rows.push(row.needs(&[Feature::Dispatch]));
}

struct Dropped;

impl ProfileSink for Dropped {
    fn records(&self, _: ProfileChunk) {}
}

/// A profile, until this is dropped.
struct Profiled(Device);

impl Profiled {
    fn begin(device: &Device) -> Work<Self> {
        device.profiling_begin(ProfileOptions::default(), Arc::new(Dropped))?;
        Ok(Self(device.clone()))
    }
}

impl Drop for Profiled {
    fn drop(&mut self) {
        let _ = self.0.profiling_end();
    }
}

/// A submission of a recorded command buffer up to its completion.
fn replay(target: &Target, shape: Shape) -> Work<Prepared> {
    let load = Load::new(target, shape)?;
    let (commands, table) = (load.record()?, load.table());
    let (mut timeline, profiled) = (Timeline::default(), Profiled::begin(&target.device)?);
    let subject = whole(move || {
        let _during = &profiled;
        let value = timeline.next();
        let (waits, signals) = ([timeline.semaphore.at(value - 1)], [timeline.semaphore.at(value)]);
        load.queue.execute(&waits, &signals, &commands, table.clone())?;
        timeline.wait()
    });
    Ok(Prepared::Timed(subject, None))
}

/// A dispatch without a command buffer, up to its completion.
fn direct(target: &Target) -> Work<Prepared> {
    let load = Load::new(target, Shape::direct(2, 1))?;
    let (mut timeline, profiled) = (Timeline::default(), Profiled::begin(&target.device)?);
    let subject = whole(move || {
        let _during = &profiled;
        let value = timeline.next();
        let signals = [timeline.semaphore.at(value)];
        load.queue.dispatch(&[], &signals, &load.function, GRID, &load.arguments())?;
        timeline.wait()
    });
    Ok(Prepared::Timed(subject, None))
}
