// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pending set: operations that wait for values which no work has promised yet.
//!
//! An operation may enter a stream of a device when each of its waits is resolved: the value is reached, or work that
//! the same device has already enqueued will signal it (an [`Edge`]). Until then the operation stays in the set and
//! holds no stream. So operations are enqueued in a topological order of their dependencies. A stream only ever waits
//! for work that was enqueued before, so a wait that was submitted before its signal cannot deadlock.
//!
//! The thread that resolves the last wait of an operation moves the operation to the ready list. One thread at a time
//! drains this list in a loop. So a chain of a hundred thousand operations, each made ready or failed by the one
//! before, needs no more stack than one operation, whatever devices it crosses.

use std::{collections::VecDeque, fmt, sync::Arc};

use slab::Slab;
use smallvec::SmallVec;

pub use crate::order::point::{fail, reach};
use crate::{
    order::{
        edge::{Domain, Edge},
        notifications::{Resolution, Target, Timepoint},
        point::{self, Point, Points},
        semaphore::{Probe, Registration},
        turn::{self, Turn},
        witness::Witness,
    },
    words::{
        error::{Error, Result},
        panics::contain,
        sync::{AtomicBool, Mutex, Ordering, lock},
    },
};

/// The edges that the stream of an operation must wait for, at most one for each wait. Up to four need no heap.
#[derive(Clone, Debug, Default)]
pub struct Edges(SmallVec<[Edge; 4]>);

impl Edges {
    /// Adds an edge of the driver, such as the last use of memory that the operation takes over.
    pub fn push(&mut self, edge: Edge) {
        self.0.push(edge);
    }

    /// Removes all edges. A list of usual length keeps its memory.
    #[inline]
    pub fn clear(&mut self) {
        self.0.clear();
        if self.0.capacity() > point::KEPT {
            *self = Self::default();
        }
    }
}

impl std::ops::Deref for Edges {
    type Target = [Edge];
    #[inline]
    fn deref(&self) -> &[Edge] {
        &self.0
    }
}

/// The place of an operation in the order of work. The set fills it in.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Order {
    /// The waits that were not reached when the operation was submitted.
    pub waits: Points,
    /// The signal list.
    pub signals: Points,
    /// The edges that stand for waits, once the operation is issued. All other waits are reached.
    pub edges: Edges,
}

impl Order {
    /// Removes everything. Lists of usual length keep their memory.
    #[inline]
    pub fn clear(&mut self) {
        self.waits.clear();
        self.signals.clear();
        self.edges.clear();
    }
}

/// An operation with all that a driver needs for it, and its order. A driver that moves it often puts it in a `Box`,
/// which it may use again for the next operation.
pub trait Work: Send + 'static {
    /// The order, empty at first.
    fn order(&mut self) -> &mut Order;
}

impl<W: Work> Work for Box<W> {
    fn order(&mut self) -> &mut Order {
        (**self).order()
    }
}

/// The simplest [`Work`].
#[derive(Debug)]
#[allow(clippy::exhaustive_structs, reason = "drivers make it")]
pub struct Ordered<T> {
    /// The operation.
    pub operation: T,
    /// Its order.
    pub order: Order,
}

impl<T> From<T> for Ordered<T> {
    fn from(operation: T) -> Self {
        Self { operation, order: Order::default() }
    }
}

impl<T: Send + 'static> Work for Ordered<T> {
    fn order(&mut self) -> &mut Order {
        &mut self.order
    }
}

/// The device's side of a pending set.
pub trait Issue: Send + Sync + 'static {
    /// An operation with all it needs.
    type Work: Work;

    /// The set of this device.
    fn pending(&self) -> &PendingSet<Self>
    where
        Self: Sized;

    /// The domain whose edges may stand for the waits of `work`. `None` for work on the host, which needs the values
    /// reached.
    fn domain_for(&self, work: &Self::Work) -> Option<Domain>;

    /// Enqueues `work`: each of its waits is reached or stands in its edges. Errors go to the signal list from here on.
    ///
    /// Called on the thread that resolved the last wait, with no lock of this crate held. It must not block on other
    /// work. If it panics for an operation that the set had held, the signal list fails with `INTERNAL`.
    fn issue(self: &Arc<Self>, work: Self::Work);

    /// Called after `issue`, when this thread has issued all ready operations. A device whose work runs on the host
    /// queues the work in `issue` and runs it here, so that other threads can issue theirs meanwhile. It may submit,
    /// signal and fail. Called with no lock of this crate held.
    fn issued(self: &Arc<Self>) {}
}

/// The operations of a device that wait for values. See the [module's text](self).
pub struct PendingSet<I: Issue> {
    state: Mutex<PendingState<I>>,
    closed: AtomicBool,
}

/// The operations whose memory an idle set keeps for the next ones.
const KEPT: usize = 1024;

struct PendingState<I: Issue> {
    operations: Slab<PendingOperation<I>>,
    next_id: u64,
    ready: VecDeque<Ready<I>>,
    /// A thread is in the drain loop and will see all that is pushed.
    draining: bool,
    closed: Option<Error>,
}

struct PendingOperation<I: Issue> {
    id: u64,
    work: I::Work,
    /// Waits that are not resolved yet, plus one while the waits are being registered.
    unresolved: usize,
    registrations: SmallVec<[(usize, Registration); 4]>,
}

struct Ready<I: Issue> {
    issuer: Arc<I>,
    work: I::Work,
    /// The error of a wait.
    outcome: Result<()>,
}

/// Connects the waits of one operation with the set.
struct Ticket<I: Issue> {
    issuer: Arc<I>,
    key: usize,
    id: u64,
}

impl<I: Issue> PendingSet<I> {
    /// An empty set.
    pub fn new() -> Self {
        Self {
            state: Mutex::new(PendingState {
                operations: Slab::new(),
                next_id: 0,
                ready: VecDeque::new(),
                draining: false,
                closed: None,
            }),
            closed: AtomicBool::new(false),
        }
    }

    /// Whether all waits of an operation are reached. A driver may then do it on the host at once and reach its signals,
    /// without the set. An error means that the device is closed.
    pub fn all_reached(&self, waits: &[Point]) -> Result<bool> {
        if self.closed.load(Ordering::Acquire) {
            return Err(self.closed_error());
        }
        Ok(waits.iter().all(|wait| wait.semaphore.has_reached(wait.value)))
    }

    /// Issues the work on the calling thread if its waits allow. Fails its signal list if a wait has failed. Otherwise
    /// the set keeps the work. An error means that the device is closed: the work was not accepted, and no signal
    /// follows.
    pub fn submit(
        &self,
        issuer: &Arc<I>,
        waits: &[Point],
        signals: &[Point],
        mut work: I::Work,
    ) -> Result<()> {
        if self.closed.load(Ordering::Acquire) {
            return Err(self.closed_error());
        }
        let domain = issuer.domain_for(&work);
        let order = work.order();
        order.signals.extend(signals);
        let mut unresolved = false;
        for wait in waits {
            match wait.semaphore.probe(wait.value, domain) {
                Probe::Reached => continue,
                Probe::Edge(edge) => order.edges.push(edge),
                Probe::Unresolved => unresolved = true,
                Probe::Failed(error) => {
                    give_up(work, &error);
                    return Ok(());
                }
            }
            order.waits.push(wait.clone());
        }
        if !unresolved {
            if let Some(witness) = Witness::of(signals) {
                witness.issue(false);
            }
            issuer.issue(work);
            issuer.issued();
            return Ok(());
        }
        order.edges.clear();
        self.hold(issuer, work, domain)
    }

    fn hold(&self, issuer: &Arc<I>, mut work: I::Work, accepts: Option<Domain>) -> Result<()> {
        let registered = work.order().waits.clone();
        let mut state = lock(&self.state);
        if let Some(error) = &state.closed {
            return Err(error.clone());
        }
        let id = state.next_id;
        state.next_id += 1;
        let unresolved = registered.len() + 1;
        let operation = PendingOperation { id, work, unresolved, registrations: SmallVec::new() };
        let key = state.operations.insert(operation);
        drop(state);
        let ticket = Arc::new(Ticket { issuer: issuer.clone(), key, id });
        for (index, wait) in registered.iter().enumerate() {
            let target = Target::Timepoint { sink: ticket.clone(), token: index as u32, accepts };
            match wait.semaphore.register(wait.value, target) {
                Err(resolution) => ticket.resolved(index as u32, resolution),
                Ok(registration) => {
                    let mut state = lock(&self.state);
                    match state.operations.get_mut(key) {
                        Some(operation) if operation.id == id => {
                            operation.registrations.push((index, registration))
                        }
                        // The operation failed through another wait meanwhile, so only this thread can cancel the
                        // registration.
                        _ => {
                            drop(state);
                            wait.semaphore.cancel(&registration);
                        }
                    }
                }
            }
        }
        ticket.resolved(u32::MAX, Resolution::Reached);
        Ok(())
    }

    /// Fails all operations that were not issued with `error`, and refuses new ones with it. Issued operations
    /// continue.
    pub fn close(&self, issuer: &Arc<I>, error: Error) {
        let mut state = lock(&self.state);
        if state.closed.is_some() {
            return;
        }
        state.closed = Some(error.clone());
        self.closed.store(true, Ordering::SeqCst);
        let operations: Vec<_> = state.operations.drain().collect();
        let mut cancelled = Vec::new();
        for operation in operations {
            cancelled.push(state.push(issuer, operation, Err(error.clone())));
        }
        let drain = state.claim();
        drop(state);
        drop(cancelled);
        if drain {
            turn::take(issuer.clone());
        }
    }

    /// Whether new operations are refused.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// The number of operations in the set.
    pub fn len(&self) -> usize {
        let state = lock(&self.state);
        state.operations.len() + state.ready.len()
    }

    /// Whether the set holds no operation.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[cold]
    fn closed_error(&self) -> Error {
        lock(&self.state).closed.clone().unwrap_or_else(|| Error::cancelled("the device is closed"))
    }

    fn resolve(&self, ticket: &Ticket<I>, resolution: Resolution) {
        let mut state = lock(&self.state);
        let Some(operation) =
            state.operations.get_mut(ticket.key).filter(|operation| operation.id == ticket.id)
        else {
            return; // failed through another wait, or closed
        };
        let failure = match resolution {
            Resolution::Reached => None,
            Resolution::Edge(edge) => {
                operation.work.order().edges.push(edge);
                None
            }
            Resolution::Failed(error) => Some(error),
        };
        operation.unresolved -= 1;
        if operation.unresolved > 0 && failure.is_none() {
            return;
        }
        let operation = state.operations.remove(ticket.key);
        let outcome = failure.map_or(Ok(()), Err);
        let cancelled = state.push(&ticket.issuer, operation, outcome);
        let drain = state.claim();
        drop(state);
        drop(cancelled);
        if drain {
            turn::take(ticket.issuer.clone());
        }
    }

    /// Issues or fails ready operations until none is left. Only the thread that claimed the drain calls this.
    fn drain(&self) {
        loop {
            let mut state = lock(&self.state);
            let Some(ready) = state.ready.pop_front() else {
                state.draining = false;
                return state.give_back();
            };
            drop(state);
            let Ready { issuer, mut work, outcome } = ready;
            match outcome {
                Ok(()) => {
                    let owed = work.order().signals.clone();
                    if let Some(witness) = Witness::of(&owed) {
                        witness.issue(true);
                    }
                    if !contain("enqueueing an operation", || issuer.issue(work)) {
                        fail(&owed, &Error::internal("the driver panicked while it enqueued the operation"));
                    }
                }
                Err(error) => give_up(work, &error),
            }
        }
    }
}

impl<I: Issue> Turn for I {
    fn take(self: Arc<Self>) {
        self.pending().drain();
        self.issued();
    }
}

/// Drops work that will never be issued, then fails its signals. The work may hold a closure of the program, whose
/// captures may panic when they are dropped.
fn give_up(mut work: impl Work, error: &Error) {
    let signals = std::mem::take(&mut work.order().signals);
    contain("dropping an operation", || drop(work));
    fail(&signals, error);
}

/// The registered waits of a failed operation. Dropping this cancels them, which must happen outside the lock of the
/// set.
struct Cancelled(Points, SmallVec<[(usize, Registration); 4]>);

impl Drop for Cancelled {
    fn drop(&mut self) {
        for (index, registration) in &self.1 {
            if let Some(wait) = self.0.get(*index) {
                wait.semaphore.cancel(registration);
            }
        }
    }
}

impl<I: Issue> PendingState<I> {
    fn push(
        &mut self,
        issuer: &Arc<I>,
        operation: PendingOperation<I>,
        outcome: Result<()>,
    ) -> Option<Cancelled> {
        let PendingOperation { mut work, registrations, .. } = operation;
        let cancelled = outcome.is_err().then(|| Cancelled(work.order().waits.clone(), registrations));
        self.ready.push_back(Ready { issuer: issuer.clone(), work, outcome });
        cancelled
    }

    /// Gives the memory of a burst back once the burst has gone.
    fn give_back(&mut self) {
        if self.ready.capacity() > KEPT {
            self.ready = VecDeque::new();
        }
        if self.operations.is_empty() && self.operations.capacity() > KEPT {
            self.operations = Slab::new();
        }
    }

    /// Whether the caller has become the draining thread.
    fn claim(&mut self) -> bool {
        !std::mem::replace(&mut self.draining, true)
    }
}

impl<I: Issue> Timepoint for Ticket<I> {
    fn resolved(&self, _token: u32, resolution: Resolution) {
        self.issuer.pending().resolve(self, resolution);
    }
}

impl<I: Issue> Default for PendingSet<I> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Issue> fmt::Debug for PendingSet<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PendingSet({})", self.len())
    }
}
