// SPDX-License-Identifier: MIT OR Apache-2.0
//! Spreads a graph over streams of its own, so that what nothing orders runs side by side.

use std::sync::Arc;

use super::code::{Code, Outcome};
use super::scheduler::{Scheduler, State, Waits};
use super::stream::{Point, Stream};
use super::work::Work;

/// One node of a graph on its way.
pub(crate) struct GraphStep {
    pub(crate) work: Work,
    /// The device that does it, where it is not the stream's.
    pub(crate) device: Option<usize>,
    /// Places of the steps that must have run before, all of which come before this one.
    pub(crate) after: Vec<usize>,
    /// What else must have been reached.
    pub(crate) waits: Vec<Point>,
}

/// A stream that runs some of a graph's steps. It goes when they are done.
struct Lane {
    stream: Arc<Stream>,
    /// Its latest step.
    last: usize,
}

/// Lanes of a graph on each device. More would be threads that help nobody.
const MOST: usize = 8;

impl Scheduler {
    /// Queues a graph as one piece of a stream: behind what the stream already holds and behind `waits`, ahead of whatever is
    /// queued later. The ends of the steps, and of the whole.
    ///
    /// # Errors
    /// As [`enqueue`](Self::enqueue); `INVALID_VALUE` where a step waits for one that does not come before it.
    pub(crate) fn enqueue_graph(
        self: &Arc<Self>,
        stream: &Arc<Stream>,
        steps: Vec<GraphStep>,
        waits: &[Point],
    ) -> Outcome<(Vec<Point>, Point)> {
        let forward =
            steps.iter().enumerate().any(|(at, step)| step.after.iter().any(|before| *before >= at));
        if forward {
            return Err(Code::INVALID_VALUE);
        }
        let mut state = self.lock();
        state.check_open(stream)?;
        let mut entry_waits: Waits = waits.iter().cloned().collect();
        state.add_null_stream_edges(stream, &mut entry_waits);
        let entry = state.append(stream, entry_waits, Work::Nothing)?;
        let mut lanes: Vec<Lane> = Vec::new();
        let mut points: Vec<Point> = Vec::with_capacity(steps.len());
        for (index, step) in steps.into_iter().enumerate() {
            let device = step.device.unwrap_or(stream.device);
            let lane = choose(&mut state, &mut lanes, stream, device, &step.after, index);
            let Some(lane) = lanes.get_mut(lane) else { return Err(Code::UNKNOWN) };
            lane.last = index;
            let before = step.after.iter().filter_map(|before| points.get(*before));
            let mut waits: Waits = before.cloned().chain(step.waits).collect();
            waits.push(entry.clone());
            // A lane runs in order anyway.
            waits.retain(|point| !point.is_reached() && point.stream.id != lane.stream.id);
            points.push(state.append(&lane.stream, waits, step.work)?);
        }
        let ends = lanes.iter().filter_map(|lane| points.get(lane.last).cloned()).collect();
        let end = state.append(stream, ends, Work::Nothing)?;
        self.start(&mut state)?;
        Ok((points, end))
    }
}

/// The place of the lane for the step `index`: one whose latest step it waits for, else a new one, else any. What is in a
/// lane already was queued before, so to run behind it cannot go in circles.
fn choose(
    state: &mut State,
    lanes: &mut Vec<Lane>,
    owner: &Arc<Stream>,
    device: usize,
    after: &[usize],
    index: usize,
) -> usize {
    let of_device = lanes.iter().enumerate().filter(|(_, lane)| lane.stream.device == device);
    let of_device: Vec<(usize, usize)> = of_device.map(|(place, lane)| (place, lane.last)).collect();
    if let Some((place, _)) = of_device.iter().find(|(_, last)| after.contains(last)) {
        return *place;
    }
    match of_device.get(index % MOST).filter(|_| of_device.len() >= MOST) {
        Some((place, _)) => *place,
        None => {
            lanes.push(Lane { stream: state.add_lane(device, owner), last: index });
            lanes.len() - 1
        }
    }
}
