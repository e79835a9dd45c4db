// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's ring of asynchronous reads and writes (io_uring): any number of them under way, and one thread.
//!
//! That thread alone talks to the kernel. It sleeps on an event of its own until something completes or somebody hands it a
//! request (and not in the ring, where valgrind would hold every thread up), starts with the first request of the process,
//! and is never joined. What has completed goes on elsewhere, on threads of the
//! callback pool, a few at a time: what comes next may be long.
//!
//! The ring judges no error. Whatever it cannot finish, it gives back with the count of bytes moved so far, and the plain
//! calls tell what is wrong. So does a system without a ring, and one that forbids it later on.
//!
//! # Soundness
//!
//! The kernel is given raw pointers, and writes through them at any time between the submission of a request and its
//! completion. A [`Request`] holds a [`Mapping`], which keeps the memory valid and is never turned into a reference, and
//! the range in it is checked when the request is made. From before it is submitted until its completion is read, or until it
//! is certain that the kernel never saw it, the request lies in [`Worker::under_way`]; nothing else removes it, and if the
//! thread ever unwound, the requests would be leaked. The pointers to bytes that a queue may touch are the kernel's alone:
//! what it does to them is a device's doing, outside of Rust's model of memory.
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

/// Requests that the kernel has at once. Others wait for their turn here.
const MOST: usize = 512;
/// Entries of the submission queue. The completion queue has twice as many, and never overflows.
const ENTRIES: u32 = 512;
/// The kernel's own threads, for what it cannot do without one.
const KERNEL_THREADS: u32 = 16;
/// From so many bytes on, the kernel copies cached bytes on a thread of its own rather than on the ring's.
const LONG: u32 = 64 << 10;
/// The most bytes of one call.
const LONGEST: u64 = 1 << 30;

/// An open file that the kernel can move bytes of by itself.
#[derive(Clone)]
pub(super) struct Descriptor {
    fd: RawFd,
    _file: File,
}

impl Descriptor {
    /// The file's descriptor, where the ring does to `length` bytes at `offset` what plain calls would do: of regular files
    /// and block devices only. Elsewhere positions mean something else, or a read may last for ever.
    pub(super) fn of(file: &File, offset: u64, length: u64) -> Option<Self> {
        if offset.checked_add(length).is_none_or(|end| end > i64::MAX as u64) {
            return None;
        }
        // The storage borrows the descriptor out as long as it is borrowed itself, and that is as long as the handle
        // lives that is kept beside it.
        let fd = caught(|| file.storage().descriptor()).ok()??;
        let kind = FileType::from_raw_mode(fstat(fd).ok()?.st_mode);
        // Pieces are written in any order, so none may go where the end happens to be.
        let appends = fcntl_getfl(fd).ok()?.contains(OFlags::APPEND);
        let fits = matches!(kind, FileType::RegularFile | FileType::BlockDevice) && !appends;
        (fits && ring().is_some()).then(|| Self { fd: fd.as_raw_fd(), _file: file.clone() })
    }
}

/// Bytes to move.
pub(super) struct Request {
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
    /// With all bytes.
    Moved,
    /// After so many bytes, for a reason that the plain calls will tell, if there is one.
    Stopped(u64),
}

impl Request {
    /// Bytes of `memory` from a start on, of a length, for the file's bytes from `offset` on. `done` is called on a thread of
    /// the callback pool, when nothing touches the memory any more.
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

    /// What the kernel is asked next.
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

    /// Lets go of file and memory, and tells.
    fn end(self, outcome: Outcome) {
        let Self { descriptor, memory, done, .. } = self;
        contain("dropping a request", move || drop((descriptor, memory)));
        done(outcome);
    }
}

/// Moves the bytes, without waiting for them. For a [`Descriptor`] that was given, there is a ring.
pub(super) fn submit(request: Request) {
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
        // Only a counter that is full refuses, and then it has been rung.
        tracing::debug!(target: "windlass::queue", %error, "waking the thread of the ring");
    }
}

/// Gives a request back that never got to the kernel.
fn stop(request: Request) {
    go_on((Outcome::Stopped(request.moved), request));
}

fn go_on((outcome, request): (Outcome, Request)) {
    follow(Box::new(move || request.end(outcome)));
}

/// The process's ring, or `None` where the system has none for it.
fn ring() -> Option<&'static Arc<Ring>> {
    static RING: OnceLock<Option<Arc<Ring>>> = OnceLock::new();
    let start = || {
        Ring::start().inspect_err(|error| {
            tracing::debug!(target: "windlass::queue", %error, "no io_uring; threads read and write files");
        })
    };
    RING.get_or_init(|| start().ok()).as_ref()
}

/// What the thread of the ring shares with those who hand requests in.
struct Ring {
    inbox: Mutex<Inbox>,
    /// Readable when the thread is to look into its inbox.
    bell: OwnedFd,
}

struct Inbox {
    requests: VecDeque<Request>,
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
        // Kernels before 5.15 cannot be told, and take as many as they see fit.
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
    waiting: VecDeque<Request>,
    /// Those that are, or that the kernel has, by the number that it knows them by.
    under_way: ManuallyDrop<Slab<Request>>,
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
                // Short of memory, or of room for completions, which were just read.
                Err(error) if matches!(error.raw_os_error(), Some(BUSY | AGAIN)) => thread::yield_now(),
                Err(error) => return self.close(&error),
            }
            if idle && self.may_sleep() {
                // Until the bell is rung: by a request, or by the kernel for each completion.
                let _ = rustix::io::read(&self.ring.bell, &mut [0; 8]);
            }
        }
    }

    /// Whether there is nothing to do but to wait for the kernel. Whoever hands something in from now on rings the bell.
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

    /// Whether there was room.
    ///
    /// # Safety
    /// The memory that the entry names must stay valid until its completion is read, or the kernel is known not to have seen
    /// it.
    unsafe fn push(&mut self, entry: squeue::Entry, key: u64) -> bool {
        // SAFETY: the caller's promise.
        let pushed = unsafe { self.kernel.submission().push(&entry.user_data(key)) }.is_ok();
        if pushed {
            self.unseen.push_back(key);
        }
        pushed
    }

    /// The kernel takes entries in order.
    fn note_seen(&mut self) {
        let left = self.kernel.submission().len();
        self.unseen.drain(..self.unseen.len().saturating_sub(left));
    }

    /// Reads completions. What they complete, and how.
    fn reap(&mut self) -> Vec<(Outcome, Request)> {
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

    /// The kernel takes no more requests, as when a filter was installed meanwhile: waits for those that it has, and gives all
    /// others back.
    fn close(mut self, error: &io::Error) {
        tracing::warn!(target: "windlass::queue", %error, "io_uring failed; threads read and write files from now on");
        for key in mem::take(&mut self.unseen) {
            // Nobody asks the kernel to look into this queue any more.
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
/// How often completions are looked for where the kernel cannot be asked to wake the thread.
const LOOK_AGAIN: Duration = Duration::from_millis(1);
