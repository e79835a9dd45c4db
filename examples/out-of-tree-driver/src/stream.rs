// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stream: packets that the machine's only thread runs in order. A driver for hardware has a ring instead, which
//! the hardware reads, and a counter, which the hardware writes.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
    mpsc,
};
use std::thread::{self, ThreadId};

use windlass_hal::{
    Error, Notifications, Point, Probe, Result, Semaphore,
    edge::{Domain, EdgeSource},
    panics,
    pending::{Order, Ordered},
};

/// The host's end of the stream.
pub(crate) struct Stream<W> {
    sender: Mutex<mpsc::Sender<(u64, Ordered<W>)>>,
    enqueued: AtomicU64,
    /// Reaches the epoch of each packet as it retires.
    retired: Semaphore,
    thread: ThreadId,
}

impl<W: Send + 'static> Stream<W> {
    /// Starts the machine. Its thread ends when the stream is dropped and all packets are done. Nobody joins it.
    pub(crate) fn new(run: impl Fn(W) -> Result<()> + Send + 'static) -> Result<Self> {
        let (sender, packets) = mpsc::channel();
        let retired = Semaphore::new(0);
        let timeline = retired.clone();
        let work_off = move || {
            for (epoch, packet) in packets {
                retire(packet, &run, timeline.at(epoch));
            }
        };
        let thread = thread::Builder::new().name("postfix".to_owned()).spawn(work_off).map_err(|error| {
            Error::resource_exhausted(format!("the postfix machine got no thread to run on: {error}"))
        })?;
        let thread = thread.thread().id();
        Ok(Self { sender: Mutex::new(sender), enqueued: AtomicU64::new(0), retired, thread })
    }

    /// Appends a packet and returns its epoch. Epochs ascend in the order in which packets run.
    pub(crate) fn enqueue(&self, packet: Ordered<W>) -> Result<u64> {
        let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        let epoch = self.enqueued.load(Ordering::Relaxed) + 1;
        sender
            .send((epoch, packet))
            .map_err(|_| Error::internal("the postfix machine's thread has ended"))?;
        self.enqueued.store(epoch, Ordering::Release);
        Ok(epoch)
    }

    /// The point that is reached when all packets enqueued so far have retired.
    pub(crate) fn end(&self) -> Point {
        self.retired.at(self.enqueued.load(Ordering::Acquire))
    }

    /// Whether the calling thread is the machine's. That thread must not wait for itself.
    pub(crate) fn is_current(&self) -> bool {
        thread::current().id() == self.thread
    }
}

/// Runs a packet, unless one of its waits has failed, and reaches or fails its signals. Called without a lock,
/// because signals run wakers.
fn retire<W>(packet: Ordered<W>, run: &impl Fn(W) -> Result<()>, end: Point) {
    let Ordered { operation, order } = packet;
    let Order { waits, signals, .. } = order;
    // A wait that was replaced by an edge may have failed with the work behind the edge. That work ran earlier on
    // this stream, so each wait is decided by now.
    let failed = waits.iter().find_map(|wait| match wait.semaphore.probe(wait.value, None) {
        Probe::Failed(error) => Some(error),
        _ => None,
    });
    let result = match failed {
        Some(error) => Err(error),
        None => panics::caught(|| run(operation))
            .unwrap_or_else(|text| Err(Error::internal(format!("the postfix machine panicked: {text}")))),
    };
    let mut notifications = Notifications::new();
    for signal in signals.iter() {
        match &result {
            Ok(()) => signal.semaphore.advance(signal.value, &mut notifications),
            Err(error) => signal.semaphore.fail_into(error.clone(), &mut notifications),
        }
    }
    end.semaphore.advance(end.value, &mut notifications);
    notifications.fire();
}

/// The source of the stream's edges.
pub(crate) struct Lane(pub(crate) Domain);

impl EdgeSource for Lane {
    fn domain(&self) -> Domain {
        self.0
    }

    /// Does nothing: the machine's thread retires its work without help.
    fn poll(&self) {}

    fn demand(&self, _lane: u32, _epoch: u64) {}
}
