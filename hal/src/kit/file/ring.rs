// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's ring of asynchronous reads and writes (io_uring). It takes any number of requests with one thread.
//!
//! Only that thread talks to the kernel. It starts with the first request of the process and is never joined. It sleeps
//! on an eventfd until a request arrives or completes. It does not sleep in the ring, because valgrind would then stop
//! all threads. Completed requests continue on a few threads of the callback pool, because the next step may take long.
//!
//! The ring interprets no error. It returns a request that it cannot finish with the number of bytes moved so far, and
//! the plain calls then find the error. The same happens on a system that has no ring, or forbids it later.
//!
//! # Soundness
//!
//! The kernel receives raw pointers, and writes through them at any time between the submission of a request and its
//! completion. A [`RingRequest`] holds a [`Mapping`], which keeps the memory valid and is never turned into a reference.
//! The range in it is checked when the request is made.
//!
//! A request lies in [`Worker::under_way`] from before its submission until its completion is read, or until it is
//! certain that the kernel never saw it. Nothing else removes it. If the thread ever unwound, the requests would be
//! leaked. Only the kernel follows the pointers, so its accesses are those of a device, outside of Rust's memory model.
#![allow(unsafe_code)]

use std::{
    collections::VecDeque,
    io,
    mem::{self, ManuallyDrop},
    os::fd::{AsRawFd, OwnedFd, RawFd},
    sync::{Arc, Mutex, OnceLock},
    thread,
    time::Duration,
};

use io_uring::{IoUring, Probe, opcode, squeue, types::Fd};
use rustix::{
    event::{EventfdFlags, eventfd},
    fs::{FileType, OFlags, fcntl_getfl, fstat},
};
use slab::Slab;

use super::{direction::Direction, follow::follow};
use crate::{
    driver::storage::File,
    kit::mapping::Mapping,
    words::{
        panics::{caught, contain},
        sync::lock_std,
    },
};

/// The most requests that the kernel has at once. Further requests wait in this process.
const MOST: usize = 512;
/// Entries of the submission queue. The completion queue has twice as many, and never overflows.
const ENTRIES: u32 = 512;
/// Threads of the kernel for requests that would block.
const KERNEL_THREADS: u32 = 16;
/// From this many bytes on, the kernel copies cached bytes on a thread of its own instead of the ring's thread.
const LONG: u32 = 64 << 10;
/// The most bytes of one call.
const LONGEST: u64 = 1 << 30;

/// An open file whose bytes the kernel can move by itself.
#[derive(Clone)]
pub(super) struct Descriptor {
    fd: RawFd,
    _file: File,
}

impl Descriptor {
    /// The descriptor of the file, where the ring moves `length` bytes at `offset` exactly as plain calls would. This
    /// holds for regular files and block devices only: other files have no positions, or a read of them may take for
    /// ever.
    pub(super) fn for_range(file: &File, offset: u64, length: u64) -> Option<Self> {
        if offset.checked_add(length).is_none_or(|end| end > i64::MAX as u64) {
            return None;
        }
        // The storage lends the descriptor as long as the storage itself is borrowed, and the file handle beside the
        // descriptor keeps the storage.
        let fd = caught(|| file.storage().descriptor()).ok()??;
        let kind = FileType::from_raw_mode(fstat(fd).ok()?.st_mode);
        // Pieces are written in any order, so none may be appended at the end of the file.
        let appends = fcntl_getfl(fd).ok()?.contains(OFlags::APPEND);
        let fits = matches!(kind, FileType::RegularFile | FileType::BlockDevice) && !appends;
        (fits && ring().is_some()).then(|| Self { fd: fd.as_raw_fd(), _file: file.clone() })
    }
}

/// A request to move bytes.
pub(super) struct RingRequest {
    descriptor: Descriptor,
    direction: Direction,
    offset: u64,
    memory: Mapping,
    start: u64,
    length: u64,
    moved: u64,
    done: Done,
}

type Done = Box<dyn FnOnce(Outcome) + Send>;

/// How a request ended.
pub(super) enum Outcome {
    /// All bytes were moved.
    Moved,
    /// This many bytes were moved. The plain calls find the reason, if there is one.
    Stopped(u64),
}

impl RingRequest {
    /// A request for `length` bytes between the file at `offset` and `memory` at `start`. `done` is called on a thread
    /// of the callback pool, when nothing touches the memory any more.
    pub(super) fn new(
        descriptor: Descriptor,
        direction: Direction,
        offset: u64,
        (memory, start, length): (Mapping, u64, u64),
        done: Done,
    ) -> Self {
        assert!(start.checked_add(length).is_some_and(|end| end <= memory.len()), "within its memory");
        Self { descriptor, direction, offset, memory, start, length, moved: 0, done }
    }

    /// The next entry for the kernel.
    fn entry(&self) -> squeue::Entry {
        let length = (self.length - self.moved).min(LONGEST) as u32;
        // SAFETY: start + length lies in the mapping, and moved <= length.
        let pointer = unsafe { self.memory.as_ptr().add((self.start + self.moved) as usize) };
        let (fd, offset) = (Fd(self.descriptor.fd), self.offset + self.moved);
        let entry = match self.direction {
            Direction::Read => opcode::Read::new(fd, pointer, length).offset(offset).build(),
            Direction::Write => opcode::Write::new(fd, pointer, length).offset(offset).build(),
        };
        if length > LONG { entry.flags(squeue::Flags::ASYNC) } else { entry }
    }

    /// Drops the file and the memory, then reports the outcome.
    fn end(self, outcome: Outcome) {
        let Self { descriptor, memory, done, .. } = self;
        contain("dropping a request", move || drop((descriptor, memory)));
        done(outcome);
    }
}

/// Moves the bytes without waiting for them. A ring exists, because a [`Descriptor`] exists.
pub(super) fn submit(request: RingRequest) {
    let Some(ring) = ring() else { return stop(request) };
    let mut inbox = lock_std(&ring.inbox);
    if inbox.closed {
        drop(inbox);
        return stop(request);
    }
    inbox.requests.push_back(request);
    let asleep = mem::take(&mut inbox.asleep);
    drop(inbox);
    if asleep && let Err(error) = rustix::io::write(&ring.bell, &1_u64.to_ne_bytes()) {
        // The write fails only where the counter is full, and then the bell was rung before.
        tracing::debug!(target: "windlass::queue", %error, "waking the thread of the ring");
    }
}

/// Returns a request that never reached the kernel.
fn stop(request: RingRequest) {
    go_on((Outcome::Stopped(request.moved), request));
}

fn go_on((outcome, request): (Outcome, RingRequest)) {
    follow(Box::new(move || request.end(outcome)));
}

/// The ring of the process; `None` where the system has none.
fn ring() -> Option<&'static Arc<Ring>> {
    static RING: OnceLock<Option<Arc<Ring>>> = OnceLock::new();
    let start = || {
        Ring::start().inspect_err(|error| {
            tracing::debug!(target: "windlass::queue", %error, "no io_uring; threads read and write files");
        })
    };
    RING.get_or_init(|| start().ok()).as_ref()
}

/// The state that the thread of the ring shares with the submitting threads.
struct Ring {
    inbox: Mutex<Inbox>,
    /// Readable when the thread is to look into its inbox.
    bell: OwnedFd,
}

struct Inbox {
    requests: VecDeque<RingRequest>,
    /// The thread waits for the bell.
    asleep: bool,
    /// The thread has ended.
    closed: bool,
}

impl Ring {
    fn start() -> io::Result<Arc<Self>> {
        let kernel = IoUring::new(ENTRIES)?;
        let mut probe = Probe::new();
        kernel.submitter().register_probe(&mut probe)?;
        let needed = [opcode::Read::CODE, opcode::Write::CODE];
        if !needed.into_iter().all(|code| probe.is_supported(code)) || !kernel.params().is_feature_nodrop() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        // Kernels before 5.15 have no such limit.
        let _ = kernel.submitter().register_iowq_max_workers(&mut [KERNEL_THREADS; 2]);
        let bell = eventfd(0, EventfdFlags::CLOEXEC)?;
        kernel.submitter().register_eventfd(bell.as_raw_fd())?;
        let inbox = Inbox { requests: VecDeque::new(), asleep: false, closed: false };
        let ring = Arc::new(Self { inbox: Mutex::new(inbox), bell });
        let worker = Worker {
            ring: ring.clone(),
            kernel,
            waiting: VecDeque::new(),
            under_way: ManuallyDrop::new(Slab::new()),
            unseen: VecDeque::new(),
        };
        thread::Builder::new().name("windlass-files".to_owned()).spawn(|| worker.work())?;
        Ok(ring)
    }
}

/// The thread of the ring.
struct Worker {
    ring: Arc<Ring>,
    kernel: IoUring,
    /// Requests that are not in the submission queue.
    waiting: VecDeque<RingRequest>,
    /// Requests in the submission queue or in the kernel, by their number.
    under_way: ManuallyDrop<Slab<RingRequest>>,
    /// The numbers in the submission queue that the kernel has not taken yet.
    unseen: VecDeque<u64>,
}

impl Worker {
    fn work(mut self) {
        loop {
            self.waiting.append(&mut lock_std(&self.ring.inbox).requests);
            self.fill_queue();
            let entered = if self.unseen.is_empty() { Ok(0) } else { self.kernel.submit() };
            self.note_seen();
            let completed = self.reap();
            let idle = completed.is_empty() && self.unseen.is_empty();
            completed.into_iter().for_each(go_on);
            match entered {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The kernel is short of memory, or of room for completions, which were just read.
                Err(error) if matches!(error.raw_os_error(), Some(BUSY | AGAIN)) => thread::yield_now(),
                Err(error) => return self.close(&error),
            }
            if idle && self.may_sleep() {
                // Sleeps until a request or a completion rings the bell.
                let _ = rustix::io::read(&self.ring.bell, &mut [0; 8]);
            }
        }
    }

    /// Whether the thread may sleep until the kernel or a request wakes it. A request that arrives from now on rings
    /// the bell.
    fn may_sleep(&self) -> bool {
        let mut inbox = lock_std(&self.ring.inbox);
        inbox.asleep = inbox.requests.is_empty() && (self.waiting.is_empty() || self.under_way.len() >= MOST);
        inbox.asleep
    }

    fn fill_queue(&mut self) {
        while self.under_way.len() < MOST
            && let Some(request) = self.waiting.pop_front()
        {
            let entry = request.entry();
            let key = self.under_way.insert(request);
            // SAFETY: the request holds the memory until its completion is read.
            if !unsafe { self.push(entry, key as u64) } {
                self.waiting.push_front(self.under_way.remove(key));
                return;
            }
        }
    }

    /// Adds an entry to the submission queue. Returns `false` where the queue is full.
    ///
    /// # Safety
    /// The memory that the entry names must stay valid until its completion is read, or until it is known that the
    /// kernel has not seen the entry.
    unsafe fn push(&mut self, entry: squeue::Entry, key: u64) -> bool {
        // SAFETY: the caller vouches under the same contract.
        let pushed = unsafe { self.kernel.submission().push(&entry.user_data(key)) }.is_ok();
        if pushed {
            self.unseen.push_back(key);
        }
        pushed
    }

    /// Removes the entries that the kernel has taken, which it does in order.
    fn note_seen(&mut self) {
        let left = self.kernel.submission().len();
        self.unseen.drain(..self.unseen.len().saturating_sub(left));
    }

    /// Reads completions. Returns the requests that have ended, with their outcomes.
    fn reap(&mut self) -> Vec<(Outcome, RingRequest)> {
        let mut completed = Vec::new();
        for entry in self.kernel.completion() {
            let (key, result) = (entry.user_data(), entry.result());
            let Some(mut request) = self.under_way.try_remove(key as usize) else { continue };
            let Ok(moved @ 1..) = u64::try_from(result) else {
                completed.push((Outcome::Stopped(request.moved), request));
                continue;
            };
            request.moved = (request.moved + moved).min(request.length);
            match request.length - request.moved {
                0 => completed.push((Outcome::Moved, request)),
                _ => self.waiting.push_front(request),
            }
        }
        completed
    }

    /// Ends the ring when the kernel takes no more requests, as after a new seccomp filter. Waits for the requests that
    /// the kernel has, and returns all others.
    fn close(mut self, error: &io::Error) {
        tracing::warn!(target: "windlass::queue", %error, "io_uring failed; threads read and write files from now on");
        for key in mem::take(&mut self.unseen) {
            // The kernel is not asked to read this queue any more.
            self.waiting.extend(self.under_way.try_remove(key as usize));
        }
        loop {
            let mut inbox = lock_std(&self.ring.inbox);
            inbox.closed = true;
            self.waiting.append(&mut inbox.requests);
            drop(inbox);
            self.waiting.drain(..).map(|request| (Outcome::Stopped(request.moved), request)).for_each(go_on);
            if self.under_way.is_empty() {
                return;
            }
            thread::sleep(LOOK_AGAIN);
            self.reap().into_iter().for_each(go_on);
        }
    }
}

/// `EBUSY` and `EAGAIN`.
const BUSY: i32 = 16;
const AGAIN: i32 = 11;
/// The interval of looking for completions where the kernel cannot be asked to wake the thread.
const LOOK_AGAIN: Duration = Duration::from_millis(1);
