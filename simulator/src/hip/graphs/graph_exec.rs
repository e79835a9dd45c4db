// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instantiated graphs, which can be launched.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::graph::Graph;
use super::operation::{GraphStep, Operation};
use crate::hip::hardware::machine::Machine;
use crate::hip::objects::event::{Mark, Recording};
use crate::hip::objects::stream::Stream;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;
use crate::hip::work::item::Work;
use crate::hip::work::packet::Queued;
use crate::packet::{Edge, GraphPacket, Packet, Point, Scheduler};

/// An instantiated graph. Later changes of the graph that it was made from do not reach it.
#[derive(Debug)]
pub(crate) struct GraphExec {
    /// The device of the call that instantiated the graph.
    device: usize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    steps: Arc<Vec<GraphStep>>,
    /// The end of the latest launch. The next launch waits for it.
    latest: Option<Point>,
}

/// Why an instantiated graph cannot take the parameters of another graph: `hipGraphExecUpdateResult`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    Topology,
    NodeType,
    Function,
    Parameters,
}

impl GraphExec {
    /// # Errors
    /// `INVALID_VALUE` for a graph whose nodes wait for each other in a circle.
    pub(crate) fn new(graph: &Graph, device: usize) -> Outcome<Self> {
        let steps = Arc::new(graph.freeze()?);
        Ok(Self { device, state: Mutex::new(State { steps, latest: None }) })
    }

    /// The steps as they are now.
    pub(crate) fn steps(&self) -> Arc<Vec<GraphStep>> {
        self.lock().steps.clone()
    }

    /// Whether the graph was instantiated for a device, or has operations for it.
    pub(crate) fn concerns(&self, device: usize) -> bool {
        self.device == device || self.steps().iter().any(|step| step.operation.concerns(device))
    }

    /// Queues the graph on a stream, behind the previous launch.
    pub(crate) fn launch(
        &self,
        machine: &Arc<Machine>,
        scheduler: &Arc<Scheduler>,
        stream: &Arc<Stream>,
    ) -> Outcome<()> {
        let mut state = self.lock();
        let mut marks = Vec::with_capacity(state.steps.len());
        let mut steps = Vec::with_capacity(state.steps.len());
        for step in state.steps.iter() {
            let mark = Arc::new(Mark::on(stream));
            let waits = match &step.operation {
                Operation::Wait(event) => event.edge(),
                _ => None,
            };
            let device = step.operation.device();
            let work = step.operation.work(machine, &mark)?;
            steps.push(GraphPacket {
                packet: Queued::new(machine, stream, device, work),
                device,
                after: step.after.clone(),
                edges: waits.into_iter().collect(),
            });
            marks.push(mark);
        }
        let before: Vec<Edge> = state.latest.iter().cloned().map(Edge::Point).collect();
        let nothing = || Queued::new(machine, stream, None, Work::Nothing);
        let ends: (Box<dyn Packet>, Box<dyn Packet>) = (nothing(), nothing());
        let (points, end) = scheduler.enqueue_graph(stream, ends, steps, &before)?;
        for ((step, point), mark) in state.steps.iter().zip(points).zip(marks) {
            if let Operation::Record(event) = &step.operation {
                event.record(|| Ok(Recording { point, mark }))?;
            }
        }
        state.latest = Some(end);
        Ok(())
    }

    /// Replaces the operation of one node from the next launch on.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a node that the graph did not have, for an operation of another kind, and for a copy in another
    /// direction unless copies may turn.
    pub(crate) fn set(&self, node: u64, operation: Operation, may_turn: bool) -> Outcome<()> {
        let mut state = self.lock();
        let steps = Arc::make_mut(&mut state.steps);
        let step = steps.iter_mut().find(|step| step.node == node && node != 0);
        let old = &mut step.ok_or(Code::INVALID_VALUE)?.operation;
        if old.turns(&operation) && !may_turn {
            explain("a copy of an instantiated graph keeps its direction (hipMemcpyKind)".to_owned());
            return Err(Code::INVALID_VALUE);
        }
        old.replace(operation)
    }

    /// Takes the operations of another graph of the same form. Otherwise returns the node that differs, and how.
    pub(crate) fn update(&self, graph: &Graph) -> Outcome<Result<(), (u64, Difference)>> {
        let new = graph.freeze()?;
        let mut state = self.lock();
        if new.len() != state.steps.len() {
            return Ok(Err((0, Difference::Topology)));
        }
        for (old, new) in state.steps.iter().zip(&new) {
            let difference = match (&old.operation, &new.operation) {
                _ if old.after != new.after => Difference::Topology,
                (Operation::Launch(old), Operation::Launch(new))
                    if old.function.program.device != new.function.program.device =>
                {
                    Difference::Function
                }
                (old, new) if old.number() != new.number() => Difference::NodeType,
                (old, new) if old.turns(new) => Difference::Parameters,
                _ => continue,
            };
            return Ok(Err((new.node, difference)));
        }
        for (old, new) in Arc::make_mut(&mut state.steps).iter_mut().zip(new) {
            old.operation.replace(new.operation)?;
        }
        Ok(Ok(()))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
