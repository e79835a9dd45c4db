// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows of dispatches whose workgroup count is in a buffer.

use crate::{
    Buffer, BufferParams, BufferUsage, CommandBuffer, Deadline, Feature, IndirectDispatchConfig,
    IndirectParameters, Semaphore,
};

use super::load::{Load, Timeline};
use crate::command::bench::{
    row::{Prepared, Row},
    shape::{ITEMS, Shape},
    stop::Work,
    subject::whole,
    target::Target,
};

const NEEDS: &[Feature] = &[Feature::CommandBuffers, Feature::Dispatch, Feature::IndirectDispatch];

pub(super) fn add(rows: &mut Vec<Row>) {
    for (count, prepare) in [("static", fixed as fn(&Target) -> Work<Prepared>), ("dynamic", dynamic)] {
        let row = Row::new(format!("indirect count={count} n=1"), (1, "dispatch"), prepare);
        // On HIP another thread may read the count.
        rows.push(row.needs(NEEDS).uncounted());
    }
}

fn fixed(target: &Target) -> Work<Prepared> {
    indirect(target, |buffer| IndirectParameters::Static(buffer.into()))
}

fn dynamic(target: &Target) -> Work<Prepared> {
    indirect(target, |buffer| IndirectParameters::Dynamic(buffer.into()))
}

/// One dispatch with a count in memory of the device, from its submission to its completion.
fn indirect(target: &Target, parameters: fn(&Buffer) -> IndirectParameters) -> Work<Prepared> {
    let load = Load::new(target, Shape::direct(2, 1))?;
    let usage = BufferUsage::DEFAULT | BufferUsage::DISPATCH_INDIRECT_PARAMETERS;
    let count = target.device.allocate(&BufferParams::device().with_usage(usage), 12)?;
    let one: Vec<_> = [1_u32; 3].into_iter().flat_map(u32::to_le_bytes).collect();
    let written = Semaphore::new(0);
    load.queue.update(&[], &[written.at(1)], &one, &count)?;
    written.wait_blocking(1, Deadline::NEVER)?;
    let commands = record(&load, parameters(&count))?;
    load.check(target, |done| Ok(load.queue.execute(&[], &[done.at(1)], &commands, load.table())?))?;
    let mut timeline = Timeline::default();
    let subject = whole(move || {
        let value = timeline.next();
        load.queue.execute(&[], &[timeline.semaphore.at(value)], &commands, load.table())?;
        timeline.wait()
    });
    Ok(Prepared::Timed(subject, None))
}

fn record(load: &Load, parameters: IndirectParameters) -> Work<CommandBuffer> {
    let config = IndirectDispatchConfig::new(parameters).workgroup_size([ITEMS, 1, 1]);
    let mut recorder = load.queue.device().record()?;
    recorder.dispatch_indirect(&load.function, config, &load.arguments())?;
    Ok(recorder.finish()?)
}
