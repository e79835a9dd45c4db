// SPDX-License-Identifier: MIT OR Apache-2.0
//! Spreads a graph of packets over queues of its own, so that unordered steps run side by side.

use std::sync::Arc;

use super::edge::{Edge, Edges};
use super::queue::{Point, Queue};
use super::refusal::Refusal;
use super::scheduler::Scheduler;
use super::state::SchedulerState;
use super::work::Packet;

/// One step of a graph.
pub(crate) struct GraphPacket {
    pub(crate) packet: Box<dyn Packet>,
    /// The device that runs it, if it is not the queue's.
    pub(crate) device: Option<usize>,
    /// Indices of the steps that must have run before. All of them are less than this step's index.
    pub(crate) after: Vec<usize>,
    /// Further edges that must have been reached.
    pub(crate) edges: Vec<Edge>,
}

/// A queue that runs some of a graph's steps. It is removed when they are done.
struct Branch {
    queue: Arc<Queue>,
    /// Its latest step.
    last: usize,
}

/// The most branches of a graph on each device; more threads would not help.
const MOST: usize = 8;

impl Scheduler {
    /// Queues a graph as one item of a queue: behind the packets that the queue already holds and behind
    /// `edges`, ahead of all later packets. `entry` and `end` are packets that only order. Returns the ends
    /// of the steps, and the end of the graph.
    ///
    /// # Errors
    /// As [`enqueue`](Self::enqueue); [`Refusal::Backwards`] if a step waits for a later one.
    pub(crate) fn enqueue_graph(
        self: &Arc<Self>,
        queue: &Arc<Queue>,
        (entry, end): (Box<dyn Packet>, Box<dyn Packet>),
        steps: Vec<GraphPacket>,
        edges: &[Edge],
    ) -> Result<(Vec<Point>, Point), Refusal> {
        let backwards =
            steps.iter().enumerate().any(|(at, step)| step.after.iter().any(|before| *before >= at));
        if backwards {
            return Err(Refusal::Backwards);
        }
        let mut state = self.lock();
        state.check_open(queue)?;
        let mut entry_edges: Edges = edges.iter().cloned().collect();
        state.add_null_queue_edges(queue, &mut entry_edges);
        let entry = state.append(queue, entry_edges, entry)?;
        let mut branches: Vec<Branch> = Vec::new();
        let mut points: Vec<Point> = Vec::with_capacity(steps.len());
        for (index, step) in steps.into_iter().enumerate() {
            let device = step.device.unwrap_or(queue.device);
            let branch = choose(&mut state, &mut branches, (queue, device), &step.after, index);
            let Some(branch) = branches.get_mut(branch) else { return Err(Refusal::Defect) };
            branch.last = index;
            let before = step.after.iter().filter_map(|before| points.get(*before));
            let mut edges: Edges = before.cloned().map(Edge::Point).chain(step.edges).collect();
            edges.push(entry.clone().into());
            // The packets of a branch run in order without edges.
            edges.retain(|edge| match edge {
                Edge::Point(point) => !point.is_reached() && point.queue.id != branch.queue.id,
                Edge::Condition(_) => true,
            });
            points.push(state.append(&branch.queue, edges, step.packet)?);
        }
        let ends =
            branches.iter().filter_map(|branch| points.get(branch.last).cloned().map(Edge::Point)).collect();
        let end = state.append(queue, ends, end)?;
        self.start(&mut state)?;
        Ok((points, end))
    }
}

/// The index of the branch for the step `index` of a graph of `stream`: a branch whose latest step it waits for, else a new
/// branch, else any branch. Steps in a branch were queued before, so that waiting for them cannot deadlock.
fn choose(
    state: &mut SchedulerState,
    branches: &mut Vec<Branch>,
    (stream, device): (&Arc<Queue>, usize),
    after: &[usize],
    index: usize,
) -> usize {
    let of_device = branches.iter().enumerate().filter(|(_, branch)| branch.queue.device == device);
    let of_device: Vec<(usize, usize)> = of_device.map(|(place, branch)| (place, branch.last)).collect();
    if let Some((place, _)) = of_device.iter().find(|(_, last)| after.contains(last)) {
        return *place;
    }
    match of_device.get(index % MOST).filter(|_| of_device.len() >= MOST) {
        Some((place, _)) => *place,
        None => {
            branches.push(Branch { queue: state.add_branch(device, stream), last: index });
            branches.len() - 1
        }
    }
}
