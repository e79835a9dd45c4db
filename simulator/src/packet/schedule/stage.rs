// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stage of a schedule: one thread at a time acts on it, to make a call, to continue after a wait, or to
//! run a step of queued work.
//!
//! So there is one order of all events, which a log can hold and a replay can repeat.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::choices::Choices;
use super::clients;
use super::log::Entry;

/// How long a replay waits for the next entry before it gives up.
const OVERDUE: Duration = Duration::from_secs(30);
/// The interval at which a running host function is checked.
const LOOK: Duration = Duration::from_millis(1);
/// How long a thread waits for a lock that is never held for long.
const BLINK: Duration = Duration::from_micros(50);
/// The longest wait for a host function that does not sleep.
const BUSY: Duration = Duration::from_secs(1);

/// The stage. A thread that has [`enter`](Self::enter)ed it acts until it [`leave`](Self::leave)s.
#[derive(Debug)]
pub(crate) struct Stage {
    state: Mutex<StageState>,
    moved: Condvar,
    /// The thread on the stage may hold this lock for long; others only look.
    choices: Mutex<Choices>,
}

#[derive(Debug)]
struct StageState {
    busy: bool,
    closed: bool,
    /// Tickets of the threads that wait to call or to continue, in the order of their arrival. Steps come
    /// after them.
    line: VecDeque<u64>,
    next_ticket: u64,
    /// The number of threads that have a number.
    threads: u64,
    /// Threads that wait for work inside a call.
    waiting: usize,
    /// When a thread left the stage last.
    left: Instant,
    /// The host function that the thread on the stage watches.
    watched: Option<Watched>,
    /// Host functions that have begun and not ended, with their thread ids.
    host_functions: Vec<(u64, i32)>,
}

/// A host function that was started, and whose end is awaited.
#[derive(Debug)]
struct Watched {
    function: u64,
    ended: bool,
}

/// A thread's reason to enter the stage.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// A call, by a thread with its number if it has one.
    Call { thread: Option<u64>, function: &'static str },
    /// Continue after a wait.
    Back { thread: u64 },
    /// Run a step.
    Step,
    /// Report that a host function has ended.
    Ended { function: u64 },
}

/// The reason with which a thread has entered the stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entered {
    /// For a call, by the thread of this number.
    Call(u64),
    Back,
    Step,
    Ended,
}

impl Stage {
    pub(crate) fn new(choices: Choices) -> Self {
        let state = StageState {
            busy: false,
            closed: false,
            line: VecDeque::new(),
            next_ticket: 0,
            threads: 0,
            waiting: 0,
            left: Instant::now(),
            watched: None,
            host_functions: Vec::new(),
        };
        Self { state: Mutex::new(state), moved: Condvar::new(), choices: Mutex::new(choices) }
    }

    /// The choices. The thread on the stage may hold the lock; others only look.
    pub(crate) fn choices(&self) -> MutexGuard<'_, Choices> {
        self.choices.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a turn and takes the stage. `None` once the simulator is closed.
    ///
    /// `want` gives the reason, and is called again after each event; while it gives none, the thread waits.
    /// Threads that call or continue enter in the order of their arrival, steps where no such thread waits. A
    /// replay admits the thread that is next in its log.
    pub(crate) fn enter(&self, want: impl FnMut() -> Option<Purpose>) -> Option<Entered> {
        self.enter_by(None, want)
    }

    /// As [`enter`](Self::enter); `want` is called again at a certain time as well.
    pub(crate) fn enter_by(
        &self,
        time: Option<Instant>,
        mut want: impl FnMut() -> Option<Purpose>,
    ) -> Option<Entered> {
        let mut state = self.lock();
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        let mut since = Instant::now();
        loop {
            if state.closed {
                state.line.retain(|waiting| *waiting != ticket);
                self.moved.notify_all();
                return None;
            }
            let wanted = want();
            let urgent = wanted.is_some_and(|wanted| !matches!(wanted, Purpose::Step));
            if let Some(Purpose::Ended { function }) = wanted {
                state.host_functions.retain(|(begun, _)| *begun != function);
            }
            if urgent && !state.line.contains(&ticket) {
                state.line.push_back(ticket);
                // A host function that makes a call is not awaited.
                self.moved.notify_all();
            }
            if let Some(wanted) = wanted.filter(|_| !state.busy) {
                let overdue = since.max(state.left).elapsed() > OVERDUE;
                if let Some(entered) = self.admit(&mut state, ticket, wanted, overdue) {
                    state.line.retain(|waiting| *waiting != ticket);
                    state.busy = true;
                    return Some(entered);
                }
            } else {
                since = Instant::now();
            }
            let left = time.map_or(OVERDUE, |time| time.saturating_duration_since(Instant::now()));
            let left = left.clamp(LOOK, OVERDUE);
            state = self.moved.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Admits the next thread.
    pub(crate) fn leave(&self) {
        let mut state = self.lock();
        state.busy = false;
        state.left = Instant::now();
        drop(state);
        self.moved.notify_all();
    }

    /// Wakes the threads that wait for a turn.
    pub(crate) fn notice(&self) {
        self.moved.notify_all();
    }

    /// Ends all waits for a turn.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.moved.notify_all();
    }

    /// Counts a thread that begins (`true`) or ends (`false`) a wait inside a call.
    pub(crate) fn set_waiting(&self, waits: bool) {
        let mut state = self.lock();
        state.waiting = if waits { state.waiting + 1 } else { state.waiting.saturating_sub(1) };
    }

    /// Since when no thread acts, wants to act, or waits inside a call; `None` while one does.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        let state = self.lock();
        let idle = !state.busy && state.line.is_empty() && state.waiting == 0;
        idle.then_some(state.left)
    }

    /// Takes the stage for a step if no other thread has it or wants it. In a replay, only if a step is next.
    pub(crate) fn try_step(&self) -> bool {
        let mut state = self.lock();
        let free = !state.closed && !state.busy && state.line.is_empty();
        if !free || !self.admit_step(&mut state) {
            return false;
        }
        state.busy = true;
        true
    }

    /// Announces a host function that the thread on the stage is about to start.
    pub(crate) fn watch(&self, function: u64) {
        self.lock().watched = Some(Watched { function, ended: false });
    }

    /// Waits for the end of the watched host function. False if the function sleeps, calls or computes for
    /// long: it may wait for anything, even for this stage, so it continues by itself and reports its own
    /// end.
    pub(crate) fn see_end(&self, function: u64) -> bool {
        let expected = self.choices().expected().map(|entry| *entry == Entry::Ended { function });
        let (start, mut asleep) = (Instant::now(), 0);
        let mut state = self.lock();
        let ended = loop {
            let Some(watched) = state.watched.as_ref().filter(|watched| watched.function == function) else {
                return false;
            };
            if watched.ended {
                break true;
            }
            let give_up = match expected {
                Some(expected) => !expected || start.elapsed() > OVERDUE,
                None => clients::waits(asleep) || start.elapsed() > BUSY,
            };
            if give_up || state.closed {
                break false;
            }
            let thread = state.host_functions.iter().find(|(begun, _)| *begun == function);
            asleep = if thread.is_some_and(|(_, thread)| clients::sleeps(*thread)) { asleep + 1 } else { 0 };
            state = self.moved.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        };
        state.watched = None;
        drop(state);
        if ended {
            self.choices().note(&Entry::Ended { function });
        }
        ended
    }

    /// Notes that a host function begins. Called on its thread.
    pub(crate) fn host_begins(&self, function: u64) {
        self.lock().host_functions.push((function, clients::this_thread()));
    }

    /// Waits for running host functions, until they end or wait for something. So the effects of the caller's
    /// last action, such as releasing a host function, come before its next one.
    pub(crate) fn await_host_functions(&self) {
        let start = Instant::now();
        let mut looks = 0;
        let mut state = self.lock();
        state.waiting += 1;
        while looks < 2 && !state.closed && !state.host_functions.is_empty() && start.elapsed() < BUSY {
            // A host function that calls does not wait for itself.
            let own = clients::this_thread();
            let others =
                state.host_functions.iter().map(|(_, thread)| *thread).filter(|thread| *thread != own);
            let threads: Vec<i32> = others.collect();
            if threads.is_empty() {
                break;
            }
            // Without the lock, for which a host function may be waiting. A second check tells such a wait
            // from a long one.
            drop(state);
            let asleep = threads.into_iter().all(clients::sleeps);
            looks = if asleep { looks + 1 } else { 0 };
            std::thread::sleep(if asleep { BLINK } else { LOOK });
            state = self.lock();
        }
        state.waiting -= 1;
    }

    /// Notes that a host function makes a call, so that it is not awaited. Called on its thread.
    pub(crate) fn host_calls(&self, function: u64) {
        let mut state = self.lock();
        if state.watched.as_ref().is_some_and(|watched| watched.function == function) {
            state.watched = None;
            drop(state);
            self.moved.notify_all();
        }
    }

    /// Notes that a host function has ended. Called on its thread. False if a watching thread takes over from
    /// here.
    pub(crate) fn host_ends(&self, function: u64) -> bool {
        let mut state = self.lock();
        let Some(watched) = state.watched.as_mut().filter(|watched| watched.function == function) else {
            return true;
        };
        watched.ended = true;
        state.host_functions.retain(|(begun, _)| *begun != function);
        drop(state);
        self.moved.notify_all();
        false
    }

    fn admit(&self, state: &mut StageState, ticket: u64, wanted: Purpose, overdue: bool) -> Option<Entered> {
        if matches!(wanted, Purpose::Step) {
            let replayed = self.choices().expected().is_some();
            let may = replayed || state.line.is_empty();
            if may && self.admit_step(state) {
                return Some(Entered::Step);
            }
            if overdue {
                self.choices().diverge("no thread does that");
                self.moved.notify_all();
            }
            return None;
        }
        let mut choices = self.choices();
        let entry = entry(wanted, state.threads);
        match choices.expected() {
            None if state.line.front() != Some(&ticket) => return None,
            None => {}
            Some(expected) if *expected == entry => {}
            // A thread that does something other than its next entry will not do that any more.
            Some(expected) if overdue || contradicts(expected, wanted) => {
                choices.diverge(&format!("{:?} comes", entry.to_string()));
                drop(choices);
                self.moved.notify_all();
                // The first in the line is admitted.
                return self.admit_first(state, ticket, wanted);
            }
            Some(_) => return None,
        }
        choices.note(&entry);
        Some(entered(wanted, &mut state.threads))
    }

    fn admit_first(&self, state: &mut StageState, ticket: u64, wanted: Purpose) -> Option<Entered> {
        if state.line.front() != Some(&ticket) {
            return None;
        }
        self.choices().note(&entry(wanted, state.threads));
        Some(entered(wanted, &mut state.threads))
    }

    fn admit_step(&self, state: &mut StageState) -> bool {
        let mut choices = self.choices();
        let may = choices.expected().is_none_or(|expected| *expected == Entry::Step);
        if may {
            choices.note(&Entry::Step);
            choices.steps += 1;
            state.left = Instant::now();
        }
        may
    }

    fn lock(&self) -> MutexGuard<'_, StageState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn entry(wanted: Purpose, threads: u64) -> Entry {
    match wanted {
        // A thread that calls for the first time gets the next number.
        Purpose::Call { thread, function } => {
            Entry::Call { thread: thread.unwrap_or(threads), function: function.into() }
        }
        Purpose::Back { thread } => Entry::Back { thread },
        Purpose::Step => Entry::Step,
        Purpose::Ended { function } => Entry::Ended { function },
    }
}

fn entered(wanted: Purpose, threads: &mut u64) -> Entered {
    match wanted {
        Purpose::Call { thread, .. } => Entered::Call(thread.unwrap_or_else(|| {
            *threads += 1;
            *threads - 1
        })),
        Purpose::Back { .. } => Entered::Back,
        Purpose::Step => Entered::Step,
        Purpose::Ended { .. } => Entered::Ended,
    }
}

/// Whether a thread with this reason can no longer cause the expected entry.
fn contradicts(expected: &Entry, wanted: Purpose) -> bool {
    match (expected, wanted) {
        (Entry::Call { thread, .. } | Entry::Back { thread }, Purpose::Call { thread: Some(by), .. }) => {
            *thread == by
        }
        // A thread makes a choice on the stage, and the stage is empty.
        (Entry::Pick { .. }, _) => true,
        _ => false,
    }
}
