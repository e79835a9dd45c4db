// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instantiated graphs, which can be launched.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::graph::Graph;
use super::operation::{GraphStep, Operation};
use crate::hip::hardware::graph_memory::GraphMemory;
use crate::hip::hardware::machine::Machine;
use crate::hip::objects::event::{Mark, Recording};
use crate::hip::objects::stream::Stream;
use crate::hip::objects::user_object::{References, UserObjects};
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;
use crate::hip::work::item::Work;
use crate::hip::work::packet::Queued;
use crate::packet::{Edge, GraphPacket, Packet, Point, Scheduler};

/// hipGraphInstantiateFlagAutoFreeOnLaunch: a launch frees memory that the launch before gave and nobody has freed.
pub(crate) const AUTO_FREE: u64 = 1;

/// An instantiated graph. Later changes of the graph that it was made from do not reach it.
#[derive(Debug)]
pub(crate) struct GraphExec {
    /// The device of the call that instantiated the graph.
    pub(crate) device: usize,
    /// `hipGraphInstantiateFlags`.
    pub(crate) flags: u64,
    /// The user objects of the graph, which outlive it.
    objects: References,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    steps: Arc<Vec<GraphStep>>,
    /// The end of the latest launch, and its stream. The next launch waits for it.
    latest: Option<(Point, Arc<Stream>)>,
}

/// The work of a launch.
#[derive(Default)]
struct Prepared {
    packets: Vec<GraphPacket>,
    /// By step, the index of the packet that ends it.
    ends: Vec<usize>,
    /// By step, the mark that the recording of an event leaves.
    marks: Vec<Arc<Mark>>,
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
    pub(crate) fn new(graph: &Graph, objects: &Arc<UserObjects>, device: usize, flags: u64) -> Outcome<Self> {
        let steps = Arc::new(graph.freeze()?);
        let objects = References::take(objects, graph.all_objects());
        Ok(Self { device, flags, objects, state: Mutex::new(State { steps, latest: None }) })
    }

    /// The end of the latest launch and the stream of it, if a launch under way may use user objects.
    pub(crate) fn outlived_by(&self) -> Option<(Point, Arc<Stream>)> {
        let latest = self.lock().latest.clone();
        latest.filter(|(point, _)| !self.objects.handles.is_empty() && !point.is_reached())
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
        self.check_memory(&state.steps)?;
        let mut given = Vec::new();
        let prepared = self.prepare(machine, stream, &state.steps, &mut given);
        let Prepared { packets: steps, marks, ends: places } = prepared.inspect_err(|_| {
            for memory in given {
                memory.withdraw();
            }
        })?;
        let before: Vec<Edge> = state.latest.iter().map(|(point, _)| point.clone().into()).collect();
        machine.device(stream.device)?.set_active();
        let nothing = || Queued::new(machine, stream, None, Work::Nothing);
        let ends: (Box<dyn Packet>, Box<dyn Packet>) = (nothing(), nothing());
        let (points, end) = scheduler.enqueue_graph(stream, ends, steps, &before)?;
        for ((step, place), mark) in state.steps.iter().zip(places).zip(marks) {
            if let (Operation::Record(event, _), Some(point)) = (&step.operation, points.get(place)) {
                event.record(|| Ok(Recording { point: point.clone(), mark, is_on_stream: false }))?;
            }
        }
        state.latest = Some((end, stream.clone()));
        Ok(())
    }

    /// Refuses a launch of a graph whose memory from the launch before nobody has freed.
    fn check_memory(&self, steps: &[GraphStep]) -> Outcome<()> {
        let kept = steps.iter().find_map(|step| match &step.operation {
            Operation::Allocate(memory, _) if memory.is_given() => Some(memory.base),
            _ => None,
        });
        match kept.filter(|_| self.flags & AUTO_FREE == 0) {
            Some(base) => {
                explain(format!(
                    "the launch before gave memory at {base:#x}, which nobody has freed: free it, or instantiate with \
                     hipGraphInstantiateFlagAutoFreeOnLaunch"
                ));
                Err(Code::INVALID_VALUE)
            }
            None => Ok(()),
        }
    }

    /// Prepares the work of all steps. Memory that steps give is entered into `given`.
    fn prepare(
        &self,
        machine: &Arc<Machine>,
        stream: &Arc<Stream>,
        steps: &[GraphStep],
        given: &mut Vec<Arc<GraphMemory>>,
    ) -> Outcome<Prepared> {
        let mut prepared = Prepared::default();
        for step in steps {
            let mark = Arc::new(Mark::on(stream));
            let device = step.operation.device();
            let mut after: Vec<usize> =
                step.after.iter().filter_map(|before| prepared.ends.get(*before).copied()).collect();
            let mut push = |work, edge: Option<Edge>| {
                let packet = Queued::new(machine, stream, device, work);
                let next = vec![prepared.packets.len()];
                let after = std::mem::replace(&mut after, next);
                prepared.packets.push(GraphPacket {
                    packet,
                    device,
                    after,
                    edges: edge.into_iter().collect(),
                });
            };
            match &step.operation {
                Operation::Batch(batch) => {
                    for operation in &batch.operations {
                        let (work, edge) = operation.prepare(machine, stream.device);
                        push(work, edge);
                    }
                }
                Operation::Wait(event, _) => {
                    push(Work::Nothing, event.edge());
                }
                operation if step.is_enabled => {
                    push(operation.work(machine, &mark)?, None);
                    if let Operation::Allocate(memory, _) = operation {
                        given.push(memory.clone());
                    }
                }
                _ => push(Work::Nothing, None),
            }
            prepared.ends.push(prepared.packets.len().saturating_sub(1));
            prepared.marks.push(mark);
        }
        Ok(prepared)
    }

    /// Replaces the operation of one node from the next launch on.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a node that the graph did not have, for an operation of another kind, for a copy in another
    /// direction unless copies may turn, and for a fill of several rows in other extents.
    pub(crate) fn set(&self, node: u64, operation: Operation, may_turn: bool) -> Outcome<()> {
        self.change(node, |step| {
            let old = &mut step.operation;
            if old.turns(&operation) && !may_turn {
                explain("a copy of an instantiated graph keeps its direction (hipMemcpyKind)".to_owned());
                return Err(Code::INVALID_VALUE);
            }
            if old.resizes(&operation) {
                explain(
                    "a fill of several rows of an instantiated graph keeps its width and height".to_owned(),
                );
                return Err(Code::INVALID_VALUE);
            }
            old.replace(operation)
        })
    }

    /// The operation of a node.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a node that the graph did not have.
    pub(crate) fn operation(&self, node: u64) -> Outcome<Operation> {
        let steps = self.steps();
        let step = steps.iter().find(|step| step.node == node && node != 0);
        step.map(|step| step.operation.clone()).ok_or(Code::INVALID_VALUE)
    }

    /// Has a kernel, a copy or a fill take place from the next launch on, or not.
    ///
    /// # Errors
    /// `INVALID_VALUE` for other nodes, and those that the graph did not have.
    pub(crate) fn enable(&self, node: u64, is_enabled: bool) -> Outcome<()> {
        self.change(node, |step| match step.operation.can_be_disabled() {
            true => {
                step.is_enabled = is_enabled;
                Ok(())
            }
            false => Err(Code::INVALID_VALUE),
        })
    }

    /// Whether a kernel, a copy or a fill takes place.
    ///
    /// # Errors
    /// As for [`enable`](Self::enable).
    pub(crate) fn is_enabled(&self, node: u64) -> Outcome<bool> {
        let steps = self.steps();
        let step = steps.iter().find(|step| step.node == node && node != 0).ok_or(Code::INVALID_VALUE)?;
        step.operation.can_be_disabled().then_some(step.is_enabled).ok_or(Code::INVALID_VALUE)
    }

    /// Gives the nodes of a child graph the operations of another graph's.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a node that has no child graph here, `UNKNOWN` for a graph with other nodes, as in HIP.
    pub(crate) fn set_child(&self, node: u64, graph: &Graph) -> Outcome<()> {
        let new = graph.freeze()?;
        let mut state = self.lock();
        let place = state.steps.iter().position(|step| step.node == node && step.opened_by.is_some());
        let place = place.ok_or(Code::INVALID_VALUE)?;
        let opened = state.steps.get(place).and_then(|step| step.opened_by).ok_or(Code::INVALID_VALUE)?;
        let steps = Arc::make_mut(&mut state.steps);
        let own = steps.get_mut(opened + 1..place).ok_or(Code::UNKNOWN)?;
        let pairs = || own.iter().zip(&new);
        let fits = own.len() == new.len()
            && pairs().all(|(own, new)| own.operation.number() == new.operation.number());
        if !fits {
            explain("the child graph has other nodes than the one that it replaces".to_owned());
            return Err(Code::UNKNOWN);
        }
        for (own, new) in own.iter_mut().zip(new) {
            own.operation.replace(new.operation)?;
        }
        Ok(())
    }

    fn change(&self, node: u64, change: impl FnOnce(&mut GraphStep) -> Outcome<()>) -> Outcome<()> {
        let mut state = self.lock();
        let place = state.steps.iter().position(|step| step.node == node && node != 0);
        let place = place.ok_or(Code::INVALID_VALUE)?;
        let steps = Arc::make_mut(&mut state.steps);
        change(steps.get_mut(place).ok_or(Code::INVALID_VALUE)?)
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
                (Operation::Launch(old, _), Operation::Launch(new, _))
                    if old.function.program.device != new.function.program.device =>
                {
                    Difference::Function
                }
                (old, new) if old.number() != new.number() => Difference::NodeType,
                (old, new) if old.turns(new) => Difference::Parameters,
                _ if old.after != new.after => Difference::Topology,
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
