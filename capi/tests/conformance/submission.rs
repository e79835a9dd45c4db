// SPDX-License-Identifier: MIT OR Apache-2.0
//! The order of work. An operation is pending until its waits are reached, or earlier work of this device will reach
//! them; then it goes to the library. It waits there for the semaphores of that earlier work. An observer of its own
//! semaphore settles its signals, once those of that earlier work are settled: observers of different semaphores are
//! called in any order, and a program that sees the end of work must see the end of everything before it.

use std::{
    ffi::c_void,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use slab::Slab;
use windlass_hal::{
    Buffer, Collective, Deadline, Error, HostCalls, Notifications, Operation, Point, Probe, QueueAffinity,
    Result, Semaphore, WaitPolicy, driver,
    edge::{Domain, Edge, EdgeSource},
    pending::{self, Issue, Order, Ordered, PendingSet},
    pool::{Frontier, placed},
    wait_all,
};

use crate::{
    api::{self, Handle, api, check, error_of},
    bindings::*,
    queue::{self, Lists},
};

/// An operation and the queues that it may run on.
pub(crate) struct Submitted {
    pub(crate) affinity: QueueAffinity,
    pub(crate) operation: Operation,
}

/// The order of a device's work.
pub(crate) struct Submissions {
    domain: Domain,
    device: Arc<Handle<windlass_device_t>>,
    pending: PendingSet<Self>,
    calls: HostCalls,
    running: Mutex<Running>,
}

#[derive(Default)]
struct Running {
    operations: Slab<InLibrary>,
    next_epoch: u64,
    /// The operations that have left the library before work that they wait for was settled.
    early: Vec<(usize, Result<()>)>,
}

impl Running {
    fn has(&self, (index, epoch): (usize, u64)) -> bool {
        self.operations.get(index).is_some_and(|operation| operation.epoch == epoch)
    }

    fn may_settle(&self, index: usize) -> bool {
        self.operations
            .get(index)
            .is_some_and(|operation| !operation.after.iter().any(|work| self.has(*work)))
    }

    /// An early operation whose turn has come.
    fn next(&mut self) -> Option<(usize, Result<()>)> {
        let next = (0..self.early.len()).find(|at| self.may_settle(self.early[*at].0))?;
        Some(self.early.swap_remove(next))
    }
}

/// An operation that the library has.
struct InLibrary {
    epoch: u64,
    /// The operations that it waits for, by index and epoch.
    after: Vec<(usize, u64)>,
    /// Reaches 1 with the operation.
    semaphore: Arc<Handle<windlass_semaphore_t>>,
    observation: Option<Handle<windlass_observation_t>>,
    kept: Kept,
    signals: windlass_hal::Points,
    /// Reached after the signals, for drains.
    end: Semaphore,
}

/// The objects that an operation keeps until it is settled.
#[derive(Default)]
struct Kept {
    _buffers: Vec<Buffer>,
    _command_buffer: Option<Arc<dyn driver::RawCommandBuffer>>,
    _timepoint: Option<Arc<dyn driver::RawTimepoint>>,
    /// The buffer whose memory the operation releases.
    released: Option<Buffer>,
}

impl Kept {
    fn of(operation: &Operation) -> Self {
        let buffers = |buffers: Vec<Buffer>| Self { _buffers: buffers, ..Self::default() };
        match operation {
            Operation::Alloca { buffer: target }
            | Operation::Fill { target, .. }
            | Operation::Update { target, .. } => buffers(vec![target.clone()]),
            Operation::Copy { source, target } => buffers(vec![source.clone(), target.clone()]),
            Operation::Dealloca { buffer } => Self { released: Some(buffer.clone()), ..Self::default() },
            Operation::Dispatch(dispatch) => {
                let count = dispatch.workgroup_count.buffer(&[]);
                buffers(dispatch.resources.iter().cloned().chain(count).collect())
            }
            Operation::Execute { command_buffer, bindings } => {
                Self { _command_buffer: Some(command_buffer.clone()), ..buffers(bindings.to_vec()) }
            }
            Operation::ImportTimepoint { timepoint } => {
                Self { _timepoint: Some(timepoint.clone()), ..Self::default() }
            }
            Operation::Collective { operations, .. } => {
                let of = |operation: &Collective| [operation.source.clone(), operation.target.clone()];
                buffers(operations.iter().flat_map(of).flatten().collect())
            }
            _ => Self::default(),
        }
    }
}

/// An observer's user data.
struct Key {
    submissions: Arc<Submissions>,
    index: usize,
}

impl Submissions {
    pub(crate) fn new(domain: Domain, device: Arc<Handle<windlass_device_t>>) -> Arc<Self> {
        let (pending, calls) = (PendingSet::new(), HostCalls::default());
        Arc::new(Self { domain, device, pending, calls, running: Mutex::default() })
    }

    pub(crate) fn pending(&self) -> &PendingSet<Self> {
        &self.pending
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn drain(&self, deadline: Deadline) -> Result<()> {
        let mut ends = self.calls.ends();
        ends.extend(self.running().operations.iter().map(|(_, operation)| operation.end.at(1)));
        wait_all(&ends, deadline, WaitPolicy::default())
    }

    /// Makes the library's semaphore of an operation and observes it.
    fn enter(
        self: &Arc<Self>,
        order: &Order,
        kept: Kept,
    ) -> Result<(usize, u64, Arc<Handle<windlass_semaphore_t>>)> {
        // SAFETY: a local.
        let semaphore = Handle::from(api::semaphore, |semaphore| unsafe {
            api().windlass_semaphore_create(0, semaphore)
        })?;
        let semaphore = Arc::new(semaphore);
        let mut running = self.running();
        let epoch = running.next_epoch;
        running.next_epoch += 1;
        let index = running.operations.insert(InLibrary {
            epoch,
            after: order.edges.iter().map(|edge| (edge.lane as usize, edge.epoch)).collect(),
            semaphore: semaphore.clone(),
            observation: None,
            kept,
            signals: order.signals.clone(),
            end: Semaphore::new(0),
        });
        drop(running);
        let key = Box::into_raw(Box::new(Key { submissions: self.clone(), index })).cast();
        // SAFETY: the library calls the functions with this user data, and the last of them once.
        let observation = Handle::from(api::observation, |observation| unsafe {
            api().windlass_semaphore_observe(semaphore.get(), Some(heard), key, Some(forgotten), observation)
        });
        match observation {
            Ok(observation) => {
                self.running().operations[index].observation = Some(observation);
                Ok((index, epoch, semaphore))
            }
            Err(error) => {
                self.running().operations.remove(index);
                Err(error)
            }
        }
    }

    /// Settles an operation that has left the library, and those that it held back, once all work before it is settled.
    fn ended(&self, index: usize, result: Result<()>) {
        let mut next = {
            let mut running = self.running();
            running.early.push((index, result));
            running.next()
        };
        while let Some((index, result)) = next {
            self.settle(index, result);
            next = self.running().next();
        }
    }

    /// Settles the signals of an operation, and forgets it.
    fn settle(&self, index: usize, result: Result<()>) {
        let (kept, signals, end) = {
            let mut running = self.running();
            let Some(entry) = running.operations.get_mut(index) else { return };
            (mem::take(&mut entry.kept), entry.signals.clone(), entry.end.clone())
        };
        if result.is_ok()
            && let Some(placed) = kept.released.as_ref().and_then(placed)
        {
            placed.release(Frontier::new());
        }
        drop(kept);
        match result {
            Ok(()) => pending::reach(&signals),
            Err(error) => pending::fail(&signals, &error),
        }
        // Only now: work that finds no entry finds its waits settled.
        let entry = self.running().operations.remove(index);
        drop(entry);
        pending::reach(&[end.at(1)]);
    }

    /// The library's points for the edges that stand for waits.
    fn waits(&self, order: &Order) -> (Vec<Arc<Handle<windlass_semaphore_t>>>, Result<()>) {
        let running = self.running();
        let semaphores = order.edges.iter().filter_map(|edge| {
            let entry =
                running.operations.get(edge.lane as usize).filter(|entry| entry.epoch == edge.epoch)?;
            Some(entry.semaphore.clone())
        });
        let semaphores = semaphores.collect();
        drop(running);
        let failed = order.waits.iter().find_map(|wait| match wait.semaphore.probe(wait.value, None) {
            Probe::Failed(error) => Some(error),
            _ => None,
        });
        (semaphores, failed.map_or(Ok(()), Err))
    }

    /// The library's semaphores for points, each with the value 1. None for a point that is reached.
    pub(crate) fn semaphores_of(&self, points: &[Point]) -> Result<Vec<Arc<Handle<windlass_semaphore_t>>>> {
        let mut order = Order::default();
        for point in points {
            match point.semaphore.probe(point.value, Some(self.domain)) {
                Probe::Reached => {}
                Probe::Failed(error) => return Err(error),
                Probe::Edge(edge) => order.edges.push(edge),
                _ => {
                    return Err(Error::failed_precondition(format!(
                        "the library has no work that will reach {point:?}"
                    )));
                }
            }
        }
        Ok(self.waits(&order).0)
    }

    fn give(self: &Arc<Self>, work: Ordered<Submitted>) -> Result<()> {
        let Ordered { operation: Submitted { affinity, operation }, order } = work;
        let (semaphores, usable) = self.waits(&order);
        usable?;
        let waits: Vec<_> = semaphores
            .iter()
            .map(|semaphore| windlass_point_t { semaphore: semaphore.get(), value: 1 })
            .collect();
        let (index, epoch, semaphore) = self.enter(&order, Kept::of(&operation))?;
        let signals = [windlass_point_t { semaphore: semaphore.get(), value: 1 }];
        let lists = Lists { waits: &waits, signals: &signals };
        if let Err(error) = queue::submit(&self.device, affinity, &lists, &operation) {
            self.ended(index, Err(error));
            return Ok(());
        }
        let mut notifications = Notifications::new();
        for signal in order.signals.iter() {
            let edge = Edge { source: self.clone(), lane: index as u32, epoch };
            signal.semaphore.attach_edge(signal.value, edge, &mut notifications);
        }
        notifications.fire();
        Ok(())
    }
}

/// The library's news of a semaphore.
unsafe extern "C" fn heard(user_data: *mut c_void, _payload: u64, error: *mut windlass_error_t) {
    // SAFETY: the box that `forgotten` takes back after the last call.
    let key = unsafe { &*user_data.cast::<Key>() };
    let result = if error.is_null() { Ok(()) } else { Err(error_of(error)) };
    key.submissions.ended(key.index, result);
}

unsafe extern "C" fn forgotten(user_data: *mut c_void) {
    // SAFETY: the library calls this once, with the box of `enter`.
    drop(unsafe { Box::from_raw(user_data.cast::<Key>()) });
}

impl Issue for Submissions {
    type Work = Ordered<Submitted>;

    fn pending(&self) -> &PendingSet<Self> {
        &self.pending
    }

    /// A host call runs here, and so it needs reached values.
    fn domain_for(&self, work: &Ordered<Submitted>) -> Option<Domain> {
        (!matches!(work.operation.operation, Operation::HostCall(_))).then_some(self.domain)
    }

    fn issue(self: &Arc<Self>, work: Ordered<Submitted>) {
        let signals = work.order.signals.clone();
        if let Operation::HostCall(call) = work.operation.operation {
            return self.calls.spawn(call, signals);
        }
        if let Err(error) = self.give(work) {
            pending::fail(&signals, &error);
        }
    }
}

impl EdgeSource for Submissions {
    fn domain(&self) -> Domain {
        self.domain
    }

    fn poll(&self) {
        // SAFETY: a handle.
        let _ = check(unsafe { api().windlass_device_poll(self.device.get()) });
    }

    /// Each operation is observed, so the library makes progress by itself.
    fn demand(&self, _lane: u32, _epoch: u64) {}
}
