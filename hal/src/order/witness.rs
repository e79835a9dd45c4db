// SPDX-License-Identifier: MIT OR Apache-2.0
//! Witnesses: how a profile learns of an operation. A witness is a semaphore that the front puts before the signal list.
//!
//! So every driver and every wrapper takes it along with the operation, settles it with the other signals, and knows
//! nothing of profiles. It comes first in the list, so no operation behind another signal is recorded before this one.
//! Nobody waits for a witness: it is only settled, and keeps no promises.
//!
//! A driver that knows more than the end of an operation looks for the witness by [`Witness::of`], which costs a few
//! instructions, and tells it more.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
};

use crate::{
    order::{notifications::Notifications, point::Point, profiler::Profiler},
    words::{
        error::Error,
        profile::{CommandRecord, OperationRecord, TimeSpan},
        sync::lock_std,
    },
};

pub use crate::words::clock::now;

/// The witness of one submission. All methods may be called from any thread.
pub struct Witness {
    profiler: Arc<Profiler>,
    /// The key among the operations in flight.
    pub(super) key: usize,
    /// `None` once the record is taken.
    pub(super) record: Mutex<Option<Witnessed>>,
    submitted: AtomicU64,
    /// Zero means that the driver has told nothing.
    issued: AtomicU64,
    /// When a driver saw the end of the work.
    seen: AtomicU64,
    begun: AtomicU64,
    ended: AtomicU64,
    /// The number plus one.
    queue: AtomicU32,
    gpu: AtomicU32,
}

/// The records of one submission.
pub(super) struct Witnessed {
    pub(super) operation: Box<OperationRecord>,
    pub(super) commands: Vec<CommandRecord>,
}

impl Witness {
    pub(super) fn new(profiler: Arc<Profiler>) -> Self {
        Self {
            profiler,
            key: 0,
            record: Mutex::new(None),
            submitted: AtomicU64::new(0),
            issued: AtomicU64::new(0),
            seen: AtomicU64::new(0),
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            queue: AtomicU32::new(0),
            gpu: AtomicU32::new(0),
        }
    }

    /// Makes it the witness of another submission.
    pub(super) fn renew(&mut self, key: usize, witnessed: Witnessed) {
        self.key = key;
        *self.submitted.get_mut() = witnessed.operation.submitted;
        *self.record.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(witnessed);
        for time in [&mut self.issued, &mut self.seen, &mut self.begun, &mut self.ended] {
            *time.get_mut() = 0;
        }
        *self.queue.get_mut() = 0;
        *self.gpu.get_mut() = 0;
    }

    /// The witness of a submission with these signals, if the submission is profiled.
    #[inline]
    pub fn of(signals: &[Point]) -> Option<&Self> {
        signals.first()?.semaphore.witness()
    }

    /// The number of points at the head of a signal list that are witnesses. A wrapper that holds the signals of a program
    /// back passes these on.
    pub fn count(signals: &[Point]) -> usize {
        signals.iter().take_while(|signal| signal.semaphore.witness().is_some()).count()
    }

    /// Whether the profile wants times of the device.
    pub fn wants_device_times(&self) -> bool {
        self.profiler.options().device_times
    }

    /// Whether the profile wants the times of commands. See [`CommandList::tell`](crate::CommandList::tell).
    pub fn wants_commands(&self) -> bool {
        let options = self.profiler.options();
        options.commands && options.device_times
    }

    /// Notes that the driver takes the operation over, whose waits allow it. The pending set calls this. An operation that
    /// it never held is issued when it is submitted.
    pub(crate) fn issue(&self, was_held: bool) {
        if self.issued.load(Relaxed) == 0 {
            let at = if was_held { now() } else { self.submitted.load(Relaxed) };
            self.issued.store(at, Relaxed);
        }
    }

    /// The time at which the pending set let the operation go, or 0.
    pub fn issued(&self) -> u64 {
        self.issued.load(Relaxed)
    }

    /// Tells the queue that runs the operation.
    #[inline]
    pub fn on_queue(&self, queue: u32) {
        self.queue.store(queue.wrapping_add(1), Relaxed);
    }

    /// Tells that the work begins now, for a device whose clock is that of the host.
    pub fn begin(&self) {
        self.begun.store(now(), Relaxed);
    }

    /// Tells that the work has ended, before the signals are settled. Does nothing without [`begin`](Self::begin).
    pub fn end(&self) {
        if self.begun.load(Relaxed) != 0 {
            self.ended.store(now(), Relaxed);
        }
    }

    /// Tells when the work ran on a GPU, just before the signals are settled. The times are of the clock of [`now`], the GPU
    /// is its number within the device. `seen` is the present time.
    pub fn ran(&self, gpu: u32, time: TimeSpan, seen: u64) {
        self.seen.store(seen, Relaxed);
        self.begun.store(time.begun, Relaxed);
        self.ended.store(time.ended, Relaxed);
        self.gpu.store(gpu.wrapping_add(1), Relaxed);
    }

    /// Replaces the records of commands.
    pub(crate) fn tell_commands(&self, commands: Vec<CommandRecord>) {
        if let Some(witnessed) = &mut *lock_std(&self.record) {
            let submission = witnessed.operation.submission;
            witnessed.commands = commands;
            witnessed.commands.iter_mut().for_each(|command| command.submission = submission);
        }
    }

    /// Takes the record, with everything that was told. `None` if it was taken before.
    pub(super) fn take(&self, retired: Option<u64>, failure: Option<&Error>) -> Option<Witnessed> {
        let mut witnessed = lock_std(&self.record).take()?;
        let record = &mut *witnessed.operation;
        let told = |time: &AtomicU64| Some(time.load(Relaxed)).filter(|time| *time != 0);
        let number = |number: &AtomicU32| number.load(Relaxed).checked_sub(1);
        record.issued = told(&self.issued);
        if record.issued.is_none() && retired.is_some() && failure.is_none() {
            // The driver did it on the host within the submission.
            record.issued = Some(record.submitted);
        }
        record.retired = retired;
        record.failure = failure.cloned();
        record.queue = number(&self.queue);
        record.gpu = number(&self.gpu);
        let span = told(&self.begun).zip(told(&self.ended));
        record.device = span.map(|(begun, ended)| TimeSpan { begun, ended });
        Some(witnessed)
    }

    /// Records the end of the operation.
    #[inline(never)]
    pub(super) fn retire(&self, failure: Option<&Error>, notifications: &mut Notifications) {
        let seen = self.seen.load(Relaxed);
        let retired = if seen == 0 { now() } else { seen };
        if let Some(witnessed) = self.take(Some(retired), failure) {
            self.profiler.finish(self.key, witnessed, notifications);
        }
    }
}

impl std::fmt::Debug for Witness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Witness").field("key", &self.key).finish_non_exhaustive()
    }
}
