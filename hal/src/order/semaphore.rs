// SPDX-License-Identifier: MIT OR Apache-2.0
//! The timeline semaphore: its payload, its waiters and its failure.
//!
//! The 64-bit payload only grows. A thread may wait for a value that no work has promised yet. A failure is sticky: the
//! first one wins and wakes all waiters whose value was not reached. A value that was reached before the failure stays
//! reached, because its work is done.
//!
//! One mutex guards waiters, edges and failure. The payload is an atomic beside it, so that checking a reached value
//! costs one load. A second atomic says whether there are waiters or edges, so that a signal without any takes no lock.
//! Calls into foreign code (wakers, time points, the drop of an edge) are collected while the mutex is held and made
//! after it is released.

use std::{collections::BTreeMap, fmt, sync::Arc, task::Waker};

use smallvec::SmallVec;

use crate::{
    order::{
        edge::{Domain, Edge},
        notifications::{Notification, Notifications, Resolution, Target},
        observer::Watch,
        promises::Promises,
        witness::{Witness, Witnessed},
    },
    words::{
        error::{Error, Result},
        fork,
        sync::{AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering, lock, ordered_load, ordered_store},
    },
};

const FAILED: u64 = 1 << 63;
/// The value in the registration of an observer, which no payload reaches.
const OBSERVED: u64 = u64::MAX;

/// A timeline semaphore: the only way to order work in Windlass.
///
/// Clones are handles of the same timeline. All methods may be called from any thread at any time. A semaphore belongs
/// to no device: one timeline may order work of several devices and of the host.
///
/// ```
/// use windlass_hal::Semaphore;
/// let semaphore = Semaphore::new(0);
/// let wait = semaphore.wait(2); // a future; nobody has signalled yet, and that is fine
/// semaphore.signal(2)?;
/// pollster::block_on(wait)?;
/// assert_eq!(semaphore.query()?, 2);
/// # Ok::<(), windlass_hal::Error>(())
/// ```
#[derive(Clone)]
pub struct Semaphore(Arc<Shared>);

struct Shared {
    /// The payload, and the bit [`FAILED`] once the semaphore has failed. Only the holder of the lock sets that bit.
    payload: AtomicU64,
    /// Whether `state` has waiters or edges. It is set before the payload is read for a new one. Whoever raises the
    /// payload reads it afterwards. So one of the two sees the other.
    attended: AtomicBool,
    /// [`Semaphore::id`], or zero until it is asked for.
    id: AtomicU64,
    state: Mutex<SemaphoreState>,
    /// Present if it stands for a submission that is profiled.
    witness: Option<Box<Witness>>,
}

#[derive(Default)]
struct SemaphoreState {
    failure: Option<Error>,
    /// Ordered by value, and by age where values are equal.
    waiters: Waiters,
    next_waiter: u64,
    /// The promised values above the payload.
    promises: Promises,
}

/// The waiters of a semaphore that had any. So one that never had any costs nothing to drop.
type Waiters = Option<BTreeMap<Registration, Target>>;

/// A registered wait, for [`Semaphore::cancel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Registration {
    value: u64,
    id: u64,
}

/// The present state of a wait for a value.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Probe {
    /// The payload has reached the value.
    Reached,
    /// The semaphore failed before it reached the value.
    Failed(Error),
    /// A device of the given domain has enqueued work that will signal the value.
    Edge(Edge),
    /// There is nothing yet that the domain could wait for.
    Unresolved,
}

impl Semaphore {
    /// The greatest payload. Greater values are refused with `OUT_OF_RANGE`.
    pub const MAX_VALUE: u64 = FAILED - 1;

    /// A timeline that starts at `initial`, or at [`MAX_VALUE`](Self::MAX_VALUE) if `initial` is greater.
    pub fn new(initial: u64) -> Self {
        Self(Arc::new(Shared {
            payload: AtomicU64::new(initial.min(Self::MAX_VALUE)),
            attended: AtomicBool::new(false),
            id: AtomicU64::new(0),
            state: Mutex::new(SemaphoreState::default()),
            witness: None,
        }))
    }

    /// A timeline that records the submission whose signal list it heads.
    pub(super) fn of_witness(witness: Witness) -> Self {
        Self(Arc::new(Shared {
            payload: AtomicU64::new(0),
            // Its signal must not pass unseen.
            attended: AtomicBool::new(true),
            id: AtomicU64::new(0),
            state: Mutex::new(SemaphoreState::default()),
            witness: Some(Box::new(witness)),
        }))
    }

    /// The witness that this timeline is, if it is one.
    #[inline]
    pub(super) fn witness(&self) -> Option<&Witness> {
        self.0.witness.as_deref()
    }

    /// Whether nobody else has a handle.
    pub(super) fn is_only_handle(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Makes the only handle of a witness the witness of another submission, which is not settled.
    pub(super) fn renew_witness(&mut self, key: usize, witnessed: Witnessed) {
        if let Some(shared) = Arc::get_mut(&mut self.0)
            && let Some(witness) = &mut shared.witness
        {
            witness.renew(key, witnessed);
            shared.payload = AtomicU64::new(0);
            shared.attended = AtomicBool::new(true);
            let mut state = lock(&shared.state);
            state.failure = None;
        }
    }

    /// A number for this timeline that no other of the process has or had. Records of profiles, tracers and recorders name
    /// semaphores by it.
    pub fn id(&self) -> u64 {
        static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
        let known = self.0.id.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        let new = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        match self.0.id.compare_exchange(0, new, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => new,
            Err(other) => other,
        }
    }

    /// The present payload, or the error of a failed semaphore. First retires finished work of the devices that owe
    /// values. Never blocks.
    pub fn query(&self) -> Result<u64> {
        let payload = self.0.payload.load(Ordering::Acquire);
        if payload & FAILED == 0 {
            // Without an edge, no device owes a value.
            if !self.0.attended.load(Ordering::Relaxed) || fork::is_child() {
                return Ok(payload);
            }
            self.poll_sources(payload.saturating_add(1));
        }
        let payload = self.0.payload.load(Ordering::Acquire);
        if payload & FAILED == 0 { Ok(payload) } else { Err(self.failure()) }
    }

    #[cold]
    fn failure(&self) -> Error {
        lock(&self.0.state)
            .failure
            .clone()
            .unwrap_or_else(|| Error::internal("a failed semaphore without a failure"))
    }

    /// Raises the payload to `value` from the host and wakes the waiters for values up to it. Does nothing where
    /// `value` is at or below the payload, and on a failed semaphore. `OUT_OF_RANGE` above
    /// [`MAX_VALUE`](Self::MAX_VALUE).
    pub fn signal(&self, value: u64) -> Result<()> {
        check_value("signal", value)?;
        fork::check()?;
        if self.raise(value) {
            let mut notifications = Notifications::new();
            self.notify(&mut notifications);
            notifications.fire();
        }
        Ok(())
    }

    /// Fails the semaphore. The failure is sticky, and the first one wins. All waits for values that were not reached
    /// end with the error at once.
    pub fn fail(&self, error: Error) {
        if fork::is_child() {
            return;
        }
        let mut notifications = Notifications::new();
        self.fail_into(error, &mut notifications);
        notifications.fire();
    }

    /// [`signal`](Self::signal) for drivers. It collects the wake-ups instead of carrying them out. A value above the
    /// maximum counts as the maximum.
    #[inline]
    pub fn advance(&self, value: u64, notifications: &mut Notifications) {
        if self.raise(value) {
            self.notify(notifications);
        }
    }

    /// Raises the payload. Returns whether there may be waiters or edges to [`notify`](Self::notify). A value above the
    /// maximum counts as the maximum.
    #[inline]
    pub(super) fn raise(&self, value: u64) -> bool {
        let value = value.min(Self::MAX_VALUE);
        let mut payload = self.0.payload.load(Ordering::Relaxed);
        loop {
            // A failed payload is above every value.
            if value <= payload {
                return false;
            }
            match self.0.payload.compare_exchange_weak(payload, value, Ordering::SeqCst, Ordering::Relaxed) {
                Ok(_) => return ordered_load(&self.0.attended),
                Err(now) => payload = now,
            }
        }
    }

    /// Collects the wake-ups of all waiters that the payload has reached.
    pub(super) fn notify(&self, notifications: &mut Notifications) {
        if let Some(witness) = self.witness() {
            witness.retire(None, notifications);
        }
        let mut state = lock(&self.0.state);
        let payload = self.0.payload.load(Ordering::Acquire);
        if payload & FAILED != 0 {
            return;
        }
        while let Some(edge) = state.promises.pop_reached(payload) {
            notifications.release(edge);
        }
        if let Some(waiters) = &mut state.waiters {
            while let Some(first) = waiters.first_entry().filter(|first| first.key().value <= payload) {
                notifications.push(first.remove().over(Resolution::Reached));
            }
        }
        if state.is_observed() {
            state.tell_observers(payload, notifications);
        }
        self.rest(&state);
    }

    /// Lets signals pass without the lock again once nobody attends.
    fn rest(&self, state: &MutexGuard<'_, SemaphoreState>) {
        if state.promises.is_empty() && !state.has_waiters() {
            self.0.attended.store(false, Ordering::Relaxed);
        }
    }

    /// [`rest`](Self::rest), unless the signal of a witness must not pass unseen.
    fn rest_after_wait(&self, state: &MutexGuard<'_, SemaphoreState>) {
        if self.0.witness.is_none() {
            self.rest(state);
        }
    }

    /// The payload, read after the semaphore is marked as attended: a later signal will notify.
    fn attend(&self, _state: &MutexGuard<'_, SemaphoreState>) -> u64 {
        if !self.0.attended.load(Ordering::Relaxed) {
            ordered_store(&self.0.attended);
        }
        self.0.payload.load(Ordering::SeqCst)
    }

    /// [`fail`](Self::fail) for drivers. It collects the wake-ups instead of carrying them out.
    pub fn fail_into(&self, error: Error, notifications: &mut Notifications) {
        let mut state = lock(&self.0.state);
        if state.failure.is_some() {
            return;
        }
        state.failure = Some(error.clone());
        let reached = self.0.payload.fetch_or(FAILED, Ordering::AcqRel);
        if let Some(witness) = self.witness() {
            witness.retire(Some(&error), notifications);
        }
        while let Some(edge) = state.promises.pop() {
            notifications.release(edge);
        }
        let waiters = state.waiters.take();
        waiters.into_iter().flatten().for_each(|(registration, target)| {
            // A signal may have raised the payload just before, without the lock.
            if let Target::Observer(watch) = &target {
                notifications.push(Notification::Advanced(watch.clone(), reached));
            }
            let is_reached = registration.value <= reached;
            let end = if is_reached { Resolution::Reached } else { Resolution::Failed(error.clone()) };
            notifications.push(target.over(end));
        });
        self.rest(&state);
    }

    /// Attaches the promise of a driver that has enqueued the work which will signal `value`. Pending operations of the
    /// same domain that wait for the value become ready. If other waiters remain, the device must make progress by
    /// itself from now on.
    pub fn attach_edge(&self, value: u64, edge: Edge, notifications: &mut Notifications) {
        if self.0.witness.is_some() {
            // Nobody waits for a witness.
            return;
        }
        let mut state = lock(&self.0.state);
        // A failed payload is above every value.
        if value <= self.attend(&state) {
            self.rest(&state);
            drop(state);
            return;
        }
        if state.has_waiters() {
            state.tell_waiters(value, &edge, notifications);
        }
        state.promises.add(value, edge);
    }

    /// The present state of a wait for `value` by a device of `domain`. Without a domain the host waits, and edges do
    /// not count.
    #[inline]
    pub fn probe(&self, value: u64, domain: Option<Domain>) -> Probe {
        if self.has_reached(value) { Probe::Reached } else { self.probe_unreached(value, domain) }
    }

    fn probe_unreached(&self, value: u64, domain: Option<Domain>) -> Probe {
        match self.reached(value) {
            Some(Ok(())) => return Probe::Reached,
            Some(Err(error)) => return Probe::Failed(error),
            None => {}
        }
        let state = lock(&self.0.state);
        // Under the lock, payload and edges are consistent: an edge is only removed when its value is reached.
        match self.reached_locked(value, &state) {
            Some(Ok(())) => Probe::Reached,
            Some(Err(error)) => Probe::Failed(error),
            None => match domain.and_then(|domain| state.promises.covering(value, Some(domain))) {
                Some(edge) => Probe::Edge(edge.clone()),
                None => Probe::Unresolved,
            },
        }
    }

    /// Whether a wait for `value` has ended: reached, failed, or neither (`None`). Costs one load where the value is
    /// reached.
    ///
    /// A wait for more than [`MAX_VALUE`](Self::MAX_VALUE) ends at once with `OUT_OF_RANGE`, because no signal can
    /// reach such a value.
    pub(crate) fn reached(&self, value: u64) -> Option<Result<()>> {
        let payload = self.0.payload.load(Ordering::Acquire);
        if payload & !FAILED >= value {
            Some(Ok(()))
        } else if payload & FAILED != 0 {
            Some(Err(self.failure()))
        } else {
            check_value("wait for", value).and_then(|()| fork::check()).err().map(Err)
        }
    }

    /// Whether the payload has reached `value`. Costs one load.
    #[inline]
    pub(crate) fn has_reached(&self, value: u64) -> bool {
        self.0.payload.load(Ordering::Acquire) & !FAILED >= value
    }

    fn reached_locked(&self, value: u64, state: &SemaphoreState) -> Option<Result<()>> {
        let payload = self.0.payload.load(Ordering::Relaxed);
        if payload & !FAILED >= value { Some(Ok(())) } else { state.failure.clone().map(Err) }
    }

    /// Lets a device that has promised a value at or above `value` retire finished work.
    pub(crate) fn poll_sources(&self, value: u64) {
        // In a forked child, another thread of the parent may hold the lock, and the device is the parent's.
        if !self.0.attended.load(Ordering::Acquire) || fork::is_child() {
            return;
        }
        let edge = lock(&self.0.state).promises.covering(value, None).cloned();
        if let Some(edge) = edge {
            edge.source.poll();
        }
    }

    /// Registers a wait. `Err` says how the wait has already ended.
    pub(crate) fn register(&self, value: u64, target: Target) -> Result<Registration, Resolution> {
        let mut state = lock(&self.0.state);
        self.attend(&state);
        let accepts = target.accepts();
        let resolution = match self.reached_locked(value, &state) {
            Some(Ok(())) => Some(Resolution::Reached),
            Some(Err(error)) => Some(Resolution::Failed(error)),
            None if accepts.is_some() => {
                state.promises.covering(value, accepts).cloned().map(Resolution::Edge)
            }
            None => None,
        };
        if let Some(resolution) = resolution {
            self.rest_after_wait(&state);
            return Err(resolution);
        }
        let registration = state.enter(value, target);
        let owed = state.promises.covering(value, None).cloned();
        drop(state);
        if let Some(edge) = owed {
            edge.source.demand(edge.lane, edge.epoch);
        }
        Ok(registration)
    }

    /// Replaces the waker of a registered wait. Returns `false` if the wait has ended.
    pub(crate) fn update_waker(&self, registration: &Registration, waker: &Waker) -> bool {
        match lock(&self.0.state).waiter(registration) {
            Some(Target::Waker(current)) if current.will_wake(waker) => return true,
            Some(_) => {}
            None => return false,
        }
        // Cloning and dropping a waker run foreign code, which must not happen under the lock.
        let mut waker = waker.clone();
        let mut state = lock(&self.0.state);
        match state.waiter(registration) {
            Some(Target::Waker(current)) => {
                std::mem::swap(current, &mut waker);
                true
            }
            _ => false,
        }
    }

    /// Cancels a registered wait. Does nothing if the wait has ended.
    pub(crate) fn cancel(&self, registration: &Registration) {
        if fork::is_child() {
            return;
        }
        let mut state = lock(&self.0.state);
        let target = state.waiters.as_mut().and_then(|waiters| waiters.remove(registration));
        self.rest_after_wait(&state);
        drop(state);
        drop(target);
    }

    /// Registers an observer, which hears of the payloads above the present one. `None` where it has heard of a failure.
    pub(super) fn add_watch(
        &self,
        watch: Arc<Watch>,
        notifications: &mut Notifications,
    ) -> Option<Registration> {
        if fork::is_child() {
            return None;
        }
        let mut state = lock(&self.0.state);
        watch.begin_at(self.attend(&state) & !FAILED);
        if let Some(error) = state.failure.clone() {
            notifications.push(Notification::Failed(watch, error));
            self.rest(&state);
            return None;
        }
        let registration = state.enter(OBSERVED, Target::Observer(watch));
        for edge in state.promises.edges() {
            notifications.push(Notification::Demand(edge.clone()));
        }
        Some(registration)
    }

    /// The number of registered waits. A dropped future must leave none.
    #[doc(hidden)]
    pub fn waiter_count(&self) -> usize {
        lock(&self.0.state).waiters.as_ref().map_or(0, BTreeMap::len)
    }

    /// Whether both handles are of the same timeline.
    pub fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether there is a handle of the timeline besides this one. With another thread that clones or drops handles,
    /// the answer may be out of date.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
}

/// `OUT_OF_RANGE` for a value that no semaphore can have.
#[inline]
pub(crate) fn check_value(what: &str, value: u64) -> Result<()> {
    if value <= Semaphore::MAX_VALUE { Ok(()) } else { Err(beyond_maximum(what, value)) }
}

#[cold]
fn beyond_maximum(what: &str, value: u64) -> Error {
    let most = Semaphore::MAX_VALUE;
    Error::out_of_range(format!("cannot {what} {value:#x}: a semaphore's payload ends at {most:#x}"))
}

impl SemaphoreState {
    #[inline]
    fn has_waiters(&self) -> bool {
        self.waiters.as_ref().is_some_and(|waiters| !waiters.is_empty())
    }

    fn enter(&mut self, value: u64, target: Target) -> Registration {
        let registration = Registration { value, id: self.next_waiter };
        self.next_waiter += 1;
        self.waiters.get_or_insert_default().insert(registration, target);
        registration
    }

    /// Whether there are observers, which are behind all waiters.
    #[inline]
    fn is_observed(&self) -> bool {
        let waiters = self.waiters.as_ref().filter(|waiters| !waiters.is_empty());
        waiters.and_then(BTreeMap::last_key_value).is_some_and(|(last, _)| last.value == OBSERVED)
    }

    #[cold]
    fn tell_observers(&self, payload: u64, notifications: &mut Notifications) {
        let observed = Registration { value: OBSERVED, id: 0 }..;
        for (_, target) in self.waiters.iter().flat_map(|waiters| waiters.range(observed.clone())) {
            if let Target::Observer(watch) = target {
                notifications.push(Notification::Advanced(watch.clone(), payload));
            }
        }
    }

    fn waiter(&mut self, registration: &Registration) -> Option<&mut Target> {
        self.waiters.as_mut()?.get_mut(registration)
    }

    /// Ends the waits that an edge for `value` ends. If others remain that the edge covers, demands progress.
    fn tell_waiters(&mut self, value: u64, edge: &Edge, notifications: &mut Notifications) {
        let covered = ..=Registration { value, id: u64::MAX };
        let domain = edge.source.domain();
        let Some(waiters) = &mut self.waiters else { return };
        let ready: SmallVec<[Registration; 4]> = waiters
            .range(covered)
            .filter(|(_, target)| target.accepts() == Some(domain))
            .map(|(registration, _)| *registration)
            .collect();
        for registration in ready {
            if let Some(target) = waiters.remove(&registration) {
                notifications.push(target.over(Resolution::Edge(edge.clone())));
            }
        }
        if waiters.range(covered).next().is_some() || self.is_observed() {
            notifications.push(Notification::Demand(edge.clone()));
        }
    }
}

impl Default for Semaphore {
    /// A timeline that starts at zero.
    fn default() -> Self {
        Self::new(0)
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let payload = self.0.payload.load(Ordering::Acquire);
        let failed = if payload & FAILED != 0 { ", failed" } else { "" };
        write!(f, "Semaphore({:p} at {}{failed})", Arc::as_ptr(&self.0), payload & !FAILED)
    }
}
