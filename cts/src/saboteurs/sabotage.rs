// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parts of every saboteur: a driver and a device that forward everything, and a trait that changes each step.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Wake, Waker},
};

use windlass_hal::{
    Buffer, BufferParams, ChannelId, ChannelParams, CommandList, Deadline, DeviceFacts, DeviceInfo, Error,
    ExportFlags, External, ExternalStream, ExternalTimepoint, Limits, Notifications, Operation, OperationRef,
    Point, QueueAffinity, Release, Result, Semaphore, Statistics, Topology, TopologyEdge, TopologyNode, Uri,
    Wait, driver, edge::Domain, pool::SlabSource,
};

use crate::pass::Pass;

/// The device behind the saboteur.
pub(super) type Inner = Arc<dyn driver::RawDevice>;

/// The changes of a saboteur. Each method gets the object behind the saboteur, and by default forwards the call.
pub(super) trait Sabotage: Send + Sync + 'static {
    fn enumerate(&self, driver: &dyn driver::Driver) -> Result<Vec<DeviceInfo>> {
        driver.enumerate()
    }
    fn open(&self, driver: &dyn driver::Driver, uri: &Uri) -> Result<Inner> {
        driver.open(uri)
    }
    fn info(&self, _info: &mut DeviceInfo) {}
    fn limits(&self, _limits: &mut Limits) {}
    fn domain(&self, inner: &Inner) -> Domain {
        inner.domain()
    }
    fn topology(&self, inner: &Inner) -> Topology {
        inner.topology()
    }
    fn facts(&self, inner: &Inner, physical_device: u32) -> Result<DeviceFacts> {
        inner.facts(physical_device)
    }
    fn reserve_growable(
        &self,
        inner: &Inner,
        params: &BufferParams,
        capacity: u64,
    ) -> Result<Arc<dyn driver::RawGrowable>> {
        inner.reserve_growable(params, capacity)
    }
    fn allocate(
        &self,
        inner: &Inner,
        params: &BufferParams,
        size: u64,
    ) -> Result<Arc<dyn driver::RawBuffer>> {
        inner.allocate(params, size)
    }
    fn reserve(
        &self,
        inner: &Inner,
        affinity: QueueAffinity,
        params: &BufferParams,
        size: u64,
    ) -> Result<Arc<dyn driver::RawBuffer>> {
        inner.reserve(affinity, params, size)
    }
    fn memory(&self, inner: &Inner) -> Arc<dyn SlabSource> {
        inner.memory()
    }
    fn import(
        &self,
        inner: &Inner,
        params: &BufferParams,
        memory: External,
        release: Release,
    ) -> Result<Arc<dyn driver::RawBuffer>> {
        import(inner, params, memory, release)
    }
    fn export(
        &self,
        inner: &Inner,
        affinity: QueueAffinity,
        waits: &[Point],
        stream: ExternalStream,
        flags: ExportFlags,
    ) -> Result<()> {
        export(inner, affinity, waits, stream, flags)
    }
    fn channel_id(&self, inner: &Inner) -> Result<ChannelId> {
        inner.channel_id()
    }
    fn create_channel(&self, inner: &Inner, params: &ChannelParams) -> Result<Arc<dyn driver::RawChannel>> {
        inner.create_channel(params)
    }
    fn load(&self, inner: &Inner, code: &[u8]) -> Result<Arc<dyn driver::RawExecutable>> {
        load(inner, code)
    }
    fn link(&self, inner: &Inner, parts: &[&[u8]]) -> Result<Arc<dyn driver::RawExecutable>> {
        link(inner, parts)
    }
    fn prepare(&self, inner: &Inner, list: CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>> {
        inner.pass_list(list)
    }
    fn submit(&self, inner: &Inner, submission: Submission<'_>) -> Result<()> {
        submission.to(inner)
    }
    fn poll(&self, inner: &Inner) {
        inner.poll();
    }
    fn drain(&self, inner: &Inner, deadline: Deadline) -> Result<()> {
        inner.drain(deadline)
    }
    fn close(&self, inner: &Inner) {
        inner.close();
    }
    fn trim(&self, inner: &Inner) {
        inner.trim();
    }
    fn statistics(&self, inner: &Inner) -> Statistics {
        inner.statistics()
    }
}

/// Loads code for the suite.
pub(super) fn load(inner: &Inner, code: &[u8]) -> Result<Arc<dyn driver::RawExecutable>> {
    // SAFETY: only the suite runs saboteurs. Its kernels stay within their buffers, and no driver accepts its invalid
    // bytes as code.
    unsafe { inner.load_executable(code) }
}

/// Links code for the suite.
pub(super) fn link(inner: &Inner, parts: &[&[u8]]) -> Result<Arc<dyn driver::RawExecutable>> {
    // SAFETY: as for one piece.
    unsafe { inner.load_linked(parts) }
}

/// Imports memory for the suite.
pub(super) fn import(
    inner: &Inner,
    params: &BufferParams,
    memory: External,
    release: Release,
) -> Result<Arc<dyn driver::RawBuffer>> {
    // SAFETY: only the suite runs saboteurs, and it lends memory that exists until its release.
    unsafe { inner.import(params, memory, release) }
}

/// Exports points for the suite.
pub(super) fn export(
    inner: &Inner,
    affinity: QueueAffinity,
    waits: &[Point],
    stream: ExternalStream,
    flags: ExportFlags,
) -> Result<()> {
    // SAFETY: only the suite runs saboteurs, and it names the default stream alone.
    unsafe { inner.export_timepoint(affinity, waits, stream, flags) }
}

/// One call of `submit`.
#[derive(Debug)]
pub(super) struct Submission<'a> {
    pub(super) affinity: QueueAffinity,
    pub(super) waits: &'a [Point],
    pub(super) signals: &'a [Point],
    pub(super) operation: Operation,
}

impl Submission<'_> {
    /// Forwards the submission.
    pub(super) fn to(self, inner: &Inner) -> Result<()> {
        inner.pass(self.affinity, self.waits, self.signals, self.operation)
    }

    /// Forwards the submission without its signals, and calls `end` once with the outcome.
    pub(super) fn pass_then(
        self,
        inner: &Inner,
        end: impl FnOnce(Result<()>, &[Point]) + Send + 'static,
    ) -> Result<()> {
        let (done, signals) = (Semaphore::new(0).at(1), self.signals.to_vec());
        inner.pass(self.affinity, self.waits, std::slice::from_ref(&done), self.operation)?;
        when_ended(done, move |result| end(result, &signals));
        Ok(())
    }

    /// Holds the operation back until its waits are reached or failed, and calls `start` with the outcome.
    pub(super) fn hold(
        self,
        inner: &Inner,
        start: impl FnOnce(&Inner, Result<()>, Held) + Send + 'static,
    ) -> Result<()> {
        let reached = Semaphore::new(0).at(1);
        let held =
            Held { affinity: self.affinity, signals: self.signals.to_vec(), operation: self.operation };
        inner.pass(self.affinity, self.waits, std::slice::from_ref(&reached), Operation::Barrier)?;
        let weak = Arc::downgrade(inner);
        when_ended(reached, move |result| {
            if let Some(inner) = weak.upgrade() {
                start(&inner, result, held);
            }
        });
        Ok(())
    }
}

/// An operation whose waits are over.
pub(super) struct Held {
    pub(super) affinity: QueueAffinity,
    pub(super) signals: Vec<Point>,
    pub(super) operation: Operation,
}

impl Held {
    /// Runs it.
    pub(super) fn run(self, inner: &Inner) {
        if let Err(error) = inner.pass(self.affinity, &[], &self.signals, self.operation) {
            fail(&self.signals, &error);
        }
    }
}

/// Reaches every point, from the host.
pub(super) fn reach(points: &[Point]) {
    let mut notifications = Notifications::new();
    points.iter().for_each(|point| point.semaphore.advance(point.value, &mut notifications));
    notifications.fire();
}

/// Fails every point.
pub(super) fn fail(points: &[Point], error: &Error) {
    points.iter().for_each(|point| point.semaphore.fail(error.clone()));
}

/// Reaches or fails every point.
pub(super) fn signal_all(points: &[Point], result: Result<()>) {
    match result {
        Ok(()) => reach(points),
        Err(error) => fail(points, &error),
    }
}

/// Locks, also after a panic of another thread.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `end` with the outcome of a point, on the thread that reaches or fails it.
pub(super) fn when_ended(point: Point, end: impl FnOnce(Result<()>) + Send + 'static) {
    let wait = point.semaphore.wait(point.value);
    let task = Arc::new(Task(Mutex::new(Some((wait, Box::new(end))))));
    task.wake();
}

/// A wait, and the action at its end.
struct Task(Mutex<Option<(Wait, End)>>);

type End = Box<dyn FnOnce(Result<()>) + Send>;

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        let waker = Waker::from(self.clone());
        let mut state = lock(&self.0);
        let Some((wait, _)) = state.as_mut() else { return };
        if let Poll::Ready(result) = Pin::new(wait).poll(&mut Context::from_waker(&waker)) {
            let ended = state.take();
            drop(state);
            if let Some((_, end)) = ended {
                end(result);
            }
        }
    }
}

/// A saboteur that changes only submissions.
pub(super) struct Submit(pub(super) fn(&Inner, Submission<'_>) -> Result<()>);

impl Sabotage for Submit {
    fn submit(&self, inner: &Inner, submission: Submission<'_>) -> Result<()> {
        (self.0)(inner, submission)
    }
}

/// A saboteur that changes only submissions of one kind, by the name of [`Operation::name`].
pub(super) struct Only(pub(super) &'static str, pub(super) fn(&Inner, Submission<'_>) -> Result<()>);

impl Sabotage for Only {
    fn submit(&self, inner: &Inner, submission: Submission<'_>) -> Result<()> {
        if submission.operation.name() == self.0 { (self.1)(inner, submission) } else { submission.to(inner) }
    }
}

/// A saboteur that changes only operations.
pub(super) struct Change(pub(super) fn(&mut Operation));

impl Sabotage for Change {
    fn submit(&self, inner: &Inner, mut submission: Submission<'_>) -> Result<()> {
        (self.0)(&mut submission.operation);
        submission.to(inner)
    }
}

/// A saboteur that skips an operation, but signals it, if the operation's objects have no other handle when its waits
/// are reached.
pub(super) struct LetsGo(pub(super) fn(&Operation) -> bool);

impl Sabotage for LetsGo {
    fn submit(&self, inner: &Inner, submission: Submission<'_>) -> Result<()> {
        let is_gone = self.0;
        submission.hold(inner, move |inner, result, mut held| match result {
            Ok(()) => {
                if is_gone(&held.operation) {
                    held.operation = Operation::Barrier;
                }
                held.run(inner);
            }
            Err(error) => fail(&held.signals, &error),
        })
    }
}

/// Whether one of these buffers has no other handle.
pub(super) fn alone<'a>(buffers: impl IntoIterator<Item = &'a Buffer>) -> bool {
    buffers.into_iter().any(|buffer| Arc::strong_count(buffer.raw()) == 1)
}

/// A driver behind its saboteur.
pub(super) struct Saboteured {
    pub(super) driver: Arc<dyn driver::Driver>,
    pub(super) sabotage: Arc<dyn Sabotage>,
}

impl driver::Driver for Saboteured {
    fn scheme(&self) -> &str {
        self.driver.scheme()
    }

    fn description(&self) -> String {
        format!("{}, sabotaged", self.driver.description())
    }

    fn enumerate(&self) -> Result<Vec<DeviceInfo>> {
        self.sabotage.enumerate(self.driver.as_ref())
    }

    fn open(&self, uri: &Uri) -> Result<Inner> {
        let inner = self.sabotage.open(self.driver.as_ref(), uri)?;
        let (mut info, mut limits) = (inner.info().clone(), inner.limits().clone());
        self.sabotage.info(&mut info);
        self.sabotage.limits(&mut limits);
        Ok(Arc::new(Device { inner, info, limits, sabotage: self.sabotage.clone() }))
    }
}

/// A device behind its saboteur.
struct Device {
    inner: Inner,
    info: DeviceInfo,
    limits: Limits,
    sabotage: Arc<dyn Sabotage>,
}

// SAFETY: the device forwards every call, and its saboteur breaks one contract on purpose. A saboteur changes results, order,
// counts and ranges within the objects of a call, so the device below touches no memory but theirs. Where it gives an object
// back too early, the cases of the suite hold that object themselves. No program but the suite ever gets such a device.
unsafe impl driver::RawDevice for Device {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn domain(&self) -> Domain {
        self.sabotage.domain(&self.inner)
    }

    fn topology(&self) -> Topology {
        self.sabotage.topology(&self.inner)
    }

    fn edge_to(&self, physical_device: u32, node: &TopologyNode) -> Option<TopologyEdge> {
        self.inner.edge_to(physical_device, node)
    }

    fn facts(&self, physical_device: u32) -> Result<DeviceFacts> {
        self.sabotage.facts(&self.inner, physical_device)
    }

    fn reserve_growable(&self, params: &BufferParams, capacity: u64) -> Result<Arc<dyn driver::RawGrowable>> {
        self.sabotage.reserve_growable(&self.inner, params, capacity)
    }

    fn allocate(&self, params: &BufferParams, size: u64) -> Result<Arc<dyn driver::RawBuffer>> {
        self.sabotage.allocate(&self.inner, params, size)
    }

    fn reserve(
        &self,
        affinity: QueueAffinity,
        params: &BufferParams,
        size: u64,
    ) -> Result<Arc<dyn driver::RawBuffer>> {
        self.sabotage.reserve(&self.inner, affinity, params, size)
    }

    fn memory(&self) -> Arc<dyn SlabSource> {
        self.sabotage.memory(&self.inner)
    }

    unsafe fn import(
        &self,
        params: &BufferParams,
        memory: External,
        release: Release,
    ) -> Result<Arc<dyn driver::RawBuffer>> {
        self.sabotage.import(&self.inner, params, memory, release)
    }

    fn channel_id(&self) -> Result<ChannelId> {
        self.sabotage.channel_id(&self.inner)
    }

    fn create_channel(&self, params: &ChannelParams) -> Result<Arc<dyn driver::RawChannel>> {
        self.sabotage.create_channel(&self.inner, params)
    }

    unsafe fn import_timepoint(
        &self,
        affinity: QueueAffinity,
        timepoint: ExternalTimepoint,
    ) -> Result<Arc<dyn driver::RawTimepoint>> {
        // SAFETY: as the caller promises.
        unsafe { self.inner.import_timepoint(affinity, timepoint) }
    }

    unsafe fn export_timepoint(
        &self,
        affinity: QueueAffinity,
        waits: &[Point],
        stream: ExternalStream,
        flags: ExportFlags,
    ) -> Result<()> {
        self.sabotage.export(&self.inner, affinity, waits, stream, flags)
    }

    unsafe fn load_executable(&self, code: &[u8]) -> Result<Arc<dyn driver::RawExecutable>> {
        self.sabotage.load(&self.inner, code)
    }

    unsafe fn load_linked(&self, parts: &[&[u8]]) -> Result<Arc<dyn driver::RawExecutable>> {
        self.sabotage.link(&self.inner, parts)
    }

    unsafe fn prepare(&self, list: CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>> {
        self.sabotage.prepare(&self.inner, list)
    }

    unsafe fn submit(
        &self,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        operation: OperationRef<'_>,
    ) -> Result<()> {
        let operation = operation.into_owned();
        self.sabotage.submit(&self.inner, Submission { affinity, waits, signals, operation })
    }

    fn poll(&self) {
        self.sabotage.poll(&self.inner);
    }

    fn drain(&self, deadline: Deadline) -> Result<()> {
        self.sabotage.drain(&self.inner, deadline)
    }

    fn close(&self) {
        self.sabotage.close(&self.inner);
    }

    fn trim(&self) {
        self.sabotage.trim(&self.inner);
    }

    fn statistics(&self) -> Statistics {
        self.sabotage.statistics(&self.inner)
    }
}
