// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams: each is a queue with a timeline, on which every operation waits for the one before it.
//!
//! The null stream is one more stream, ordered as HIP orders it: its work waits for all work that streams took before,
//! and work that streams take later waits for it.

use std::{
    collections::VecDeque,
    ffi::c_void,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use facade::{Error, Fence, Function, Observation, Observer, Point, Queue, Result, Semaphore};

use crate::{
    device, failure,
    handles::{Kind, Table},
};

/// A stream.
pub(crate) struct Stream {
    /// Its number in messages; 0 for the null stream.
    number: u64,
    queue: Queue,
    timeline: Semaphore,
    /// The value that the last operation signals. Written under the lock of `joined`.
    submitted: AtomicU64,
    /// The greatest value that the observer heard of.
    reached: AtomicU64,
    told: AtomicBool,
    /// The points that the next operation waits for besides the one before it. Locked for the whole of a submission.
    joined: Mutex<Fence>,
    /// The operations that may not be done, with their values, for messages about failures. A submission may fail its
    /// signals at once, and the observer then locks this on the same thread: no submission holds it.
    pending: Mutex<VecDeque<(u64, Work)>>,
    observation: OnceLock<Observation>,
}

/// An operation of a stream, for messages.
pub(crate) enum Work {
    /// A launch: the function, workgroups, work-items of a workgroup.
    Launch(Function, [u32; 3], [u32; 3]),
    /// A copy: target, source, bytes.
    Copy(usize, usize, usize),
    /// A fill: target, value, its bytes, count.
    Fill(usize, u32, u32, usize),
    /// Points of other streams.
    Join,
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Launch(function, [x, y, z], [bx, by, bz]) => write!(
                f,
                "mgpuLaunchKernel of `{}` with {x} x {y} x {z} blocks of {bx} x {by} x {bz} threads",
                function.name()
            ),
            Self::Copy(target, source, bytes) => {
                write!(f, "mgpuMemcpy of {bytes} bytes from {source:#x} to {target:#x}")
            }
            Self::Fill(target, value, size, count) => {
                write!(f, "mgpuMemset{} of {count} x {value:#x} at {target:#x}", size * 8)
            }
            Self::Join => f.write_str("the wait for events"),
        }
    }
}

impl Kind for Stream {
    const NAME: &'static str = "stream";
    const TAG: usize = 0x51;
    fn table() -> &'static Table<Self> {
        static TABLE: Table<Stream> = Table::new();
        &TABLE
    }
}

/// The null stream, once it was used.
static NULL: OnceLock<Arc<Stream>> = OnceLock::new();

/// Streams that were destroyed before their work was done.
static RETIRING: Mutex<Vec<Arc<Stream>>> = Mutex::new(Vec::new());

impl Stream {
    /// A stream on the next queue of this thread's GPU.
    pub(crate) fn create() -> Result<Arc<Self>> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Ok(Self::new(LAST.fetch_add(1, Ordering::Relaxed) + 1, device::next_queue()?))
    }

    /// The null stream.
    pub(crate) fn null() -> Result<&'static Arc<Self>> {
        if let Some(stream) = NULL.get() {
            return Ok(stream);
        }
        let queue = device::next_queue()?;
        Ok(NULL.get_or_init(|| Self::new(0, queue)))
    }

    fn new(number: u64, queue: Queue) -> Arc<Self> {
        let timeline = Semaphore::new(0);
        let stream = Arc::new(Self {
            number,
            queue,
            timeline: timeline.clone(),
            submitted: AtomicU64::new(0),
            reached: AtomicU64::new(0),
            told: AtomicBool::new(false),
            joined: Mutex::default(),
            pending: Mutex::default(),
            observation: OnceLock::new(),
        });
        let observation = timeline.observe(Arc::new(Watcher(Arc::downgrade(&stream))));
        let _ = stream.observation.set(observation);
        stream
    }

    /// Whether two handles are of one stream.
    pub(crate) fn same(&self, other: &Self) -> bool {
        self.timeline.same(&other.timeline)
    }

    /// The point of the last operation. `None` if there is none or it is done.
    pub(crate) fn tail(&self) -> Option<Point> {
        let value = self.submitted.load(Ordering::Acquire);
        (value > self.reached.load(Ordering::Acquire)).then(|| self.timeline.at(value))
    }

    /// Whether the stream has nothing left to do or to wait for.
    pub(crate) fn is_idle(&self) -> bool {
        let joined = lock(&self.joined).query();
        let done = self.timeline.query().is_ok_and(|value| value >= self.submitted.load(Ordering::Acquire));
        let null =
            self.null_tail().is_none_or(|point| point.semaphore.query().is_ok_and(|at| at >= point.value));
        done && null && self.number != 0 && joined.is_ok_and(|joined| joined)
    }

    /// Lets the next operation wait for a point.
    pub(crate) fn join(&self, point: Point) {
        lock(&self.joined).insert(point);
    }

    /// Submits one operation behind all earlier ones.
    pub(crate) fn submit(
        &self,
        work: Work,
        operation: impl FnOnce(&Queue, &[Point], &[Point]) -> Result<()>,
    ) -> Result<()> {
        // Before the lock, so that two streams never hold their locks at once.
        let others = if self.number == 0 { tails(self) } else { self.null_tail().into_iter().collect() };
        let mut joined = lock(&self.joined);
        let mut waits = joined.clone();
        waits.extend(&others);
        let value = self.submitted.load(Ordering::Acquire);
        if value > 0 {
            waits.insert(self.timeline.at(value));
        }
        self.note_pending(value + 1, work);
        if let Err(error) = operation(&self.queue, &waits, &[self.timeline.at(value + 1)]) {
            lock(&self.pending).pop_back();
            return Err(error);
        }
        *joined = Fence::new();
        self.submitted.store(value + 1, Ordering::Release);
        Ok(())
    }

    fn note_pending(&self, value: u64, work: Work) {
        let reached = self.reached.load(Ordering::Acquire);
        let mut pending = lock(&self.pending);
        while pending.front().is_some_and(|(value, _)| *value <= reached) {
            pending.pop_front();
        }
        pending.push_back((value, work));
    }

    /// The point that all work so far reaches, that of other streams which the next operation would wait for included.
    pub(crate) fn mark(&self) -> Result<Option<Point>> {
        if self.number == 0 || !lock(&self.joined).is_empty() {
            self.submit(Work::Join, |queue, waits, signals| queue.barrier(waits, signals))?;
        }
        Ok(self.tail())
    }

    /// Blocks until all work so far is done. A failure of it is told, once for the stream.
    pub(crate) fn synchronize(&self) -> Result<()> {
        if let Some(point) = self.mark()? {
            self.wait_for(&point);
        }
        Ok(())
    }

    /// Blocks until a point of this stream is reached. A failure is told, once for the stream.
    pub(crate) fn wait_for(&self, point: &Point) {
        if let Err(error) = point.semaphore.wait_blocking(point.value, facade::Deadline::NEVER) {
            self.tell(&error);
        }
    }

    /// Ends the stream of a handle. Its work continues.
    pub(crate) fn destroy(handle: *mut c_void) -> Result<()> {
        let stream = Self::table().get(handle)?;
        let mut retiring = lock(&RETIRING);
        retiring.retain(|stream| stream.tail().is_some() && !stream.told.load(Ordering::Acquire));
        if stream.tail().is_some() {
            // Before the handle ends, so that the stream is in one of the two lists at all times.
            retiring.push(stream);
        }
        Self::table().remove(handle).map(drop)
    }

    /// Tells the failure of the timeline, unless that was done.
    fn tell(&self, error: &Error) {
        let name = match self.number {
            0 => "the null stream".to_owned(),
            number => format!("stream {number}"),
        };
        let reached = self.reached.load(Ordering::Acquire);
        let what = {
            let pending = lock(&self.pending);
            let failed = pending.iter().find(|(value, _)| *value > reached);
            failed.map_or_else(|| "work".to_owned(), |(_, work)| work.to_string())
        };
        failure::tell(&format!("{what}, on {name}, failed: {error}"), || {
            !self.told.swap(true, Ordering::AcqRel)
        });
    }

    fn null_tail(&self) -> Option<Point> {
        NULL.get().filter(|_| self.number != 0)?.tail()
    }
}

/// The last points of all streams but `except`, those of destroyed ones with work left included.
fn tails(except: &Stream) -> Vec<Point> {
    let retiring = lock(&RETIRING).clone();
    let streams = Stream::table().all().into_iter().chain(retiring);
    streams.filter(|stream| !stream.same(except)).filter_map(|stream| stream.tail()).collect()
}

/// The last points of all streams that did not fail.
pub(crate) fn all_tails() -> Result<Fence> {
    let mut fence: Fence =
        tails(Stream::null()?).into_iter().chain(NULL.get().and_then(|null| null.tail())).collect();
    if fence.iter().any(|point| point.semaphore.query().is_err()) {
        fence = fence.iter().filter(|point| point.semaphore.query().is_ok()).cloned().collect();
    }
    Ok(fence)
}

/// Hears the advances and the failure of a stream's timeline.
struct Watcher(Weak<Stream>);

impl Observer for Watcher {
    fn advanced(&self, payload: u64) {
        if let Some(stream) = self.0.upgrade() {
            stream.reached.store(payload, Ordering::Release);
        }
    }

    fn failed(&self, error: &Error) {
        if let Some(stream) = self.0.upgrade() {
            stream.tell(error);
        }
    }
}

/// Locks a mutex. No code panics while it holds one in a state that others may not see.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
