// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams, events, modules, and the completion of work.

use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::pace::{KernelTime, Pace};
use crate::bindings::{
    c_int, c_uint, c_void, hipError_t, hipEvent_t, hipFunction_t, hipModule_t, hipStream_t,
};

/// All work of an instance, in the order of enqueuing.
///
/// By default all work completes at once, and no position is kept. In manual mode each piece of work has a position,
/// counted from 1, and is complete after the next call of [`complete`](Timeline::complete). With kernels that take time,
/// the position is the time at which the work is complete.
pub(super) struct Timeline {
    mode: Mode,
    enqueued: AtomicU64,
    completed: AtomicU64,
    waiting: Mutex<Vec<HostCall>>,
    changed: Condvar,
}

/// When work is complete.
#[derive(Debug)]
enum Mode {
    AtOnce,
    Manual,
    Paced(Pace),
}

/// A host function that waits for earlier work.
type HostCall = Box<dyn FnOnce() + Send>;

impl std::fmt::Debug for Timeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Timeline")
            .field("mode", &self.mode)
            .field("enqueued", &self.enqueued)
            .field("completed", &self.completed)
            .finish_non_exhaustive()
    }
}

impl Timeline {
    pub(super) fn new(manual: bool, kernel: KernelTime) -> Self {
        let mode = match (manual, kernel.is_some()) {
            (true, _) => Mode::Manual,
            (false, true) => Mode::Paced(Pace::new(kernel)),
            (false, false) => Mode::AtOnce,
        };
        Self {
            mode,
            enqueued: AtomicU64::new(0),
            completed: AtomicU64::new(0),
            waiting: Mutex::new(Vec::new()),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<HostCall>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enqueues a piece of work that takes no time of its own, and returns its position; 0 if all work completes at once.
    #[inline]
    pub(super) fn enqueue(&self, stream: Option<&Stream>) -> u64 {
        match &self.mode {
            Mode::AtOnce => 0,
            Mode::Manual => {
                let position = self.enqueued.fetch_add(1, Ordering::AcqRel) + 1;
                self.advance(stream, position)
            }
            Mode::Paced(_) => stream.map_or_else(|| self.latest(), Stream::position),
        }
    }

    /// Enqueues a kernel, and returns its position.
    #[inline]
    pub(super) fn launch(&self, stream: Option<&Stream>) -> u64 {
        match &self.mode {
            Mode::Paced(pace) => {
                let end = pace.launch(stream.map_or(&self.enqueued, |stream| &stream.position));
                self.enqueued.fetch_max(end, Ordering::AcqRel);
                end
            }
            _ => self.enqueue(stream),
        }
    }

    fn advance(&self, stream: Option<&Stream>, position: u64) -> u64 {
        if let Some(stream) = stream {
            stream.advance(position);
        }
        position
    }

    /// Runs a host function when the work before it is complete: now, or in [`complete`](Self::complete).
    pub(super) fn host_call(&self, stream: Option<&Stream>, call: HostCall) {
        match &self.mode {
            Mode::AtOnce => call(),
            Mode::Manual => {
                let mut waiting = self.lock();
                waiting.push(call);
                self.enqueue(stream);
            }
            Mode::Paced(pace) => {
                pace.sleep(self.enqueue(stream));
                call();
            }
        }
    }

    /// The position of the latest work.
    pub(super) fn latest(&self) -> u64 {
        self.enqueued.load(Ordering::Acquire)
    }

    #[inline]
    pub(super) fn query(&self, position: u64) -> Result<(), hipError_t> {
        let completed = match &self.mode {
            Mode::Paced(pace) => pace.now(),
            _ => self.completed.load(Ordering::Acquire),
        };
        if position <= completed { Ok(()) } else { Err(hipError_t::hipErrorNotReady) }
    }

    /// Blocks until the work up to `position` is complete.
    pub(super) fn wait(&self, position: u64) {
        if self.query(position).is_ok() {
            return;
        }
        if let Mode::Paced(pace) = &self.mode {
            return pace.sleep(position);
        }
        let mut waiting = self.lock();
        while self.query(position).is_err() {
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn complete(&self) {
        let (calls, position) = {
            let mut waiting = self.lock();
            (std::mem::take(&mut *waiting), self.latest())
        };
        if calls.is_empty() && self.completed.load(Ordering::Acquire) >= position {
            return;
        }
        for call in calls {
            call();
        }
        let _waiting = self.lock();
        self.completed.fetch_max(position, Ordering::AcqRel);
        self.changed.notify_all();
    }
}

/// The object behind a `hipStream_t`.
pub(super) struct Stream {
    pub(super) device: c_int,
    pub(super) flags: c_uint,
    pub(super) priority: c_int,
    position: AtomicU64,
}

impl Stream {
    pub(super) fn new(device: c_int, flags: c_uint, priority: c_int) -> Self {
        Self { device, flags, priority, position: AtomicU64::new(0) }
    }

    /// The stream behind a handle; `None` for the null stream.
    ///
    /// # Safety
    ///
    /// Null, one of the two reserved handles, or from this module and not destroyed.
    pub(super) unsafe fn from_handle<'a>(handle: hipStream_t) -> Option<&'a Self> {
        // 1 and 2 are the handles of the legacy stream and the thread's own stream; both count as null here.
        if handle.addr() <= 2 {
            return None;
        }
        // SAFETY: as the caller promises.
        Some(unsafe { &*handle.cast::<Self>() })
    }

    pub(super) fn into_handle(self) -> hipStream_t {
        Box::into_raw(Box::new(self)).cast()
    }

    /// The position of the stream's latest work.
    pub(super) fn position(&self) -> u64 {
        self.position.load(Ordering::Acquire)
    }

    pub(super) fn advance(&self, position: u64) {
        self.position.fetch_max(position, Ordering::AcqRel);
    }
}

/// The object behind a `hipEvent_t`.
pub(super) struct Event {
    pub(super) flags: c_uint,
    position: AtomicU64,
    /// The time of recording, if the event measures time.
    pub(super) recorded: Mutex<Option<Instant>>,
}

impl Event {
    pub(super) fn new(flags: c_uint) -> Self {
        Self { flags, position: AtomicU64::new(0), recorded: Mutex::new(None) }
    }

    /// # Safety
    ///
    /// Null, or from this module and not destroyed.
    pub(super) unsafe fn from_handle<'a>(handle: hipEvent_t) -> Result<&'a Self, hipError_t> {
        // SAFETY: as the caller promises.
        unsafe { handle.cast::<Self>().as_ref() }.ok_or(hipError_t::hipErrorInvalidHandle)
    }

    pub(super) fn into_handle(self) -> hipEvent_t {
        Box::into_raw(Box::new(self)).cast()
    }

    /// The position of the last recording; 0, which is always complete, if there was none.
    pub(super) fn position(&self) -> u64 {
        self.position.load(Ordering::Acquire)
    }

    pub(super) fn record(&self, position: u64) {
        self.position.store(position, Ordering::Release);
    }
}

/// The object behind a `hipModule_t`.
pub(super) struct Module {
    #[expect(clippy::vec_box, reason = "handles point to the functions, which must stay where they are")]
    functions: Mutex<Vec<Box<Function>>>,
}

/// The object behind a `hipFunction_t`.
pub(super) struct Function {
    name: CString,
}

impl Module {
    pub(super) fn new() -> Self {
        Self { functions: Mutex::new(Vec::new()) }
    }

    /// # Safety
    ///
    /// Null, or from this module and not unloaded.
    pub(super) unsafe fn from_handle<'a>(handle: hipModule_t) -> Result<&'a Self, hipError_t> {
        // SAFETY: as the caller promises.
        unsafe { handle.cast::<Self>().as_ref() }.ok_or(hipError_t::hipErrorInvalidHandle)
    }

    pub(super) fn into_handle(self) -> hipModule_t {
        Box::into_raw(Box::new(self)).cast()
    }

    /// The handle of the function called `name`, the same for each call.
    pub(super) fn function(&self, name: &CStr) -> hipFunction_t {
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = functions.iter().find(|function| function.name.as_c_str() == name) {
            return std::ptr::from_ref::<Function>(function).cast_mut().cast();
        }
        let function = Box::new(Function { name: name.to_owned() });
        let handle = std::ptr::from_ref::<Function>(&function).cast_mut().cast();
        functions.push(function);
        handle
    }
}

/// A pointer that is passed to a host function on any thread.
pub(super) struct UserData(pub(super) *mut c_void);

// SAFETY: never dereferenced here; by HIP's contract the runtime may use it on a thread of its own.
unsafe impl Send for UserData {}
