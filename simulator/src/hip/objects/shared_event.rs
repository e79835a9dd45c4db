// SPDX-License-Identifier: MIT OR Apache-2.0
//! The part of an event that several processes share: which recordings there are, and how far their streams have come.
//!
//! Recordings are numbered from 1, by all processes together. The latest one counts, as of an event of one process.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::{Arc, OnceLock};

use crate::memory::sharing::{Content, SharedFile, SharedWords, Ticket, WORDS, start_of};
use crate::packet::Condition;
use crate::trace::tell;

/// The number of the latest recording.
const RECORDED: usize = 0;
/// The greatest number of a recording that its stream has reached.
const REACHED: usize = 1;
/// The process of the latest recording, and when it began.
const PROCESS: usize = 2;
const STARTED: usize = 3;

/// The words of an event.
#[derive(Debug)]
pub(crate) struct SharedEvent {
    words: SharedWords,
}

/// A recording of a shared event.
#[derive(Clone, Debug)]
pub(crate) struct SharedRecording {
    event: Arc<SharedEvent>,
    number: u64,
}

/// A wait for a recording. Its process may end before its stream comes there, and then nobody waits any longer.
pub(crate) struct AwaitedRecording {
    recording: SharedRecording,
    /// Looks since the process was looked at.
    looks: AtomicU64,
}

impl SharedEvent {
    /// An event without a recording.
    ///
    /// # Errors
    /// The system's reason.
    pub(crate) fn new() -> Result<Arc<Self>, String> {
        Ok(Arc::new(Self { words: SharedWords::new(SharedFile::new(Content::Event, WORDS)?)? }))
    }

    /// The event of another process.
    ///
    /// # Errors
    /// The mistake in the ticket.
    pub(crate) fn open(ticket: &Ticket) -> Result<Arc<Self>, String> {
        Ok(Arc::new(Self { words: SharedWords::new(SharedFile::open(Content::Event, ticket)?)? }))
    }

    pub(crate) fn ticket(&self, device: usize) -> Ticket {
        self.words.file.ticket(WORDS, 0, device)
    }

    /// A new recording, which replaces the latest.
    pub(crate) fn record(self: &Arc<Self>) -> SharedRecording {
        let process = std::process::id();
        self.words.word(STARTED).store(start_of(process).unwrap_or(0), Ordering::Relaxed);
        self.words.word(PROCESS).store(process.into(), Ordering::Relaxed);
        let number = self.words.word(RECORDED).fetch_add(1, Ordering::AcqRel) + 1;
        SharedRecording { event: self.clone(), number }
    }

    /// The latest recording of any process, if there is one.
    pub(crate) fn latest(self: &Arc<Self>) -> Option<SharedRecording> {
        let number = self.words.word(RECORDED).load(Ordering::Acquire);
        (number > 0).then(|| SharedRecording { event: self.clone(), number })
    }

    /// Whether the process of the latest recording is there.
    fn is_attended(&self) -> bool {
        let process = u32::try_from(self.words.word(PROCESS).load(Ordering::Relaxed)).unwrap_or(0);
        start_of(process) == Some(self.words.word(STARTED).load(Ordering::Relaxed))
    }
}

impl SharedRecording {
    /// The stream has reached the recording.
    pub(crate) fn reach(&self) {
        self.event.words.word(REACHED).fetch_max(self.number, Ordering::AcqRel);
    }

    pub(crate) fn is_reached(&self) -> bool {
        self.event.words.word(REACHED).load(Ordering::Acquire) >= self.number
    }

    /// Whether it is reached, or never will be.
    pub(crate) fn is_over(&self) -> bool {
        if self.is_reached() || self.event.is_attended() {
            return self.is_reached();
        }
        if !self.is_reached() {
            tell(|| {
                tracing::warn!(
                    target: "windlass::sim",
                    "the process that recorded an event has ended before its stream reached it: waits for it end"
                );
            });
            self.reach();
        }
        true
    }

    pub(crate) fn awaited(self) -> AwaitedRecording {
        AwaitedRecording { recording: self, looks: AtomicU64::new(0) }
    }
}

/// The way from the place of a recording in its stream to the recording that other processes see, which there may be.
#[derive(Debug, Default)]
pub(crate) struct Passage {
    recording: OnceLock<SharedRecording>,
    /// Whether the stream was there.
    passed: AtomicBool,
}

impl Passage {
    /// The stream may be there already.
    pub(crate) fn share(&self, recording: SharedRecording) {
        let recording = self.recording.get_or_init(|| recording);
        fence(Ordering::SeqCst);
        if self.passed.load(Ordering::Relaxed) {
            recording.reach();
        }
    }

    /// The stream is there, or work that failed has ended it.
    pub(crate) fn pass(&self) {
        self.passed.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if let Some(recording) = self.recording.get() {
            recording.reach();
        }
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        // A stream that is gone comes nowhere.
        self.pass();
    }
}

impl Condition for AwaitedRecording {
    fn holds(&self) -> bool {
        /// A look at a process takes a system call.
        const SELDOM: u64 = 64;
        if self.looks.fetch_add(1, Ordering::Relaxed) % SELDOM == SELDOM - 1 {
            return self.recording.is_over();
        }
        self.recording.is_reached()
    }
}
