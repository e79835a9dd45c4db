// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which simulator a thread is talking to, and what HIP keeps per thread.
//!
//! HIP's functions carry no instance. A thread that calls through an `Api` names its simulator before each call; one
//! that never did, such as any thread of a program over the drop-in library, gets the process's own simulator.

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::sync::{Arc, Weak};

use crate::packet::Role;

use super::code::{Code, Outcome};
use super::compiled::CallConfiguration;
use super::process;
use super::runtime::Runtime;
use super::stream::Stream;

/// What one thread is to one simulator.
pub(crate) struct ThreadState {
    /// The latest error, until asked for.
    pub(crate) last_error: Cell<Code>,
    /// What the latest call returned.
    pub(crate) last_status: Cell<Code>,
    pub(crate) device: Cell<usize>,
    /// Devices whose contexts were pushed, which hipCtxPopCurrent gives.
    pub(crate) contexts: RefCell<Vec<usize>>,
    /// Of `<<<>>>` calls that were pushed and not yet popped.
    pub(crate) configurations: RefCell<Vec<CallConfiguration>>,
    /// hipThreadExchangeStreamCaptureMode.
    pub(crate) capture_mode: Cell<u32>,
    /// What the latest hipStreamGetCaptureInfo_v2 gave a pointer to.
    pub(crate) capture_frontier: RefCell<Vec<u64>>,
    /// The thread's number in the simulator's schedule, once it has one.
    pub(crate) number: Cell<Option<u64>>,
    /// hipStreamPerThread, by device.
    streams: RefCell<Vec<Arc<Stream>>>,
    runtime: Weak<Runtime>,
}

impl ThreadState {
    fn new(runtime: Weak<Runtime>) -> Self {
        Self {
            last_error: Cell::new(Code::SUCCESS),
            last_status: Cell::new(Code::SUCCESS),
            device: Cell::new(0),
            contexts: RefCell::default(),
            configurations: RefCell::default(),
            capture_mode: Cell::new(0),
            capture_frontier: RefCell::default(),
            number: Cell::new(None),
            streams: RefCell::default(),
            runtime,
        }
    }

    /// This thread's own stream on a device.
    pub(crate) fn stream(&self, runtime: &Runtime, device: usize) -> Arc<Stream> {
        let mut streams = self.streams.borrow_mut();
        if let Some(stream) = streams.iter().find(|stream| stream.device == device && !stream.is_closed()) {
            return stream.clone();
        }
        let stream = runtime.create_stream(device, Role::Blocking, 0);
        streams.push(stream.clone());
        stream
    }
}

impl Drop for ThreadState {
    fn drop(&mut self) {
        let runtime = self.runtime.upgrade().filter(|runtime| !runtime.owner.is_elsewhere());
        if let Some(runtime) = runtime {
            for stream in self.streams.get_mut() {
                runtime.captures.leave(&runtime, stream);
                runtime.scheduler.close_queue(stream);
            }
        }
    }
}

struct Current {
    /// Whom the next call is for; dangling for the process's own.
    selected: Weak<Runtime>,
    states: Vec<(Weak<Runtime>, Rc<ThreadState>)>,
}

/// Clears up when the thread ends.
struct Leaving;

thread_local! {
    // Not dropped by itself: destructors of the thread's other variables, and what runs behind all of them when a
    // process ends, may call HIP still. What they make anew is left behind.
    static CURRENT: RefCell<ManuallyDrop<Current>> = const {
        RefCell::new(ManuallyDrop::new(Current { selected: Weak::new(), states: Vec::new() }))
    };
    static LEAVING: Leaving = const { Leaving };
}

impl Drop for Leaving {
    fn drop(&mut self) {
        let states = CURRENT.with(|current| std::mem::take(&mut current.borrow_mut().states));
        drop(states);
        let selected = CURRENT.with(|current| std::mem::take(&mut current.borrow_mut().selected));
        drop(selected);
    }
}

/// Makes a simulator the one that this thread talks to.
///
/// # Safety
/// `runtime` came from [`Arc::as_ptr`] and an `Arc` of it is alive.
pub(crate) unsafe fn select(runtime: *const Runtime) {
    CURRENT.with(|current| {
        let mut current = current.borrow_mut();
        // A `Weak` keeps its allocation, so an equal address is the same simulator.
        if current.selected.as_ptr() != runtime {
            // SAFETY: the caller keeps an `Arc` alive; the count that is added is taken over by the new one.
            let runtime = unsafe {
                Arc::increment_strong_count(runtime);
                Arc::from_raw(runtime)
            };
            current.selected = Arc::downgrade(&runtime);
        }
    });
}

/// Makes a simulator the one that this thread of the scheduler's talks to when it calls host functions.
pub(crate) fn enter_thread(runtime: &Weak<Runtime>) {
    let _ = LEAVING.try_with(|_| ());
    CURRENT.with(|current| current.borrow_mut().selected = runtime.clone());
}

/// The simulator that this thread talks to, and what the thread is to it.
///
/// # Errors
/// `DEINITIALIZED` when the simulator is gone; what creating the process's own gave otherwise.
pub(crate) fn current() -> Outcome<(Arc<Runtime>, Rc<ThreadState>)> {
    let selected = CURRENT.with(|current| current.borrow().selected.clone());
    let runtime = match selected.upgrade() {
        Some(runtime) => runtime,
        None if Weak::ptr_eq(&selected, &Weak::new()) => process::runtime()?,
        None => return Err(Code::DEINITIALIZED),
    };
    let state = CURRENT.with(|current| current.borrow_mut().state(&runtime));
    Ok((runtime, state))
}

impl Current {
    fn state(&mut self, runtime: &Arc<Runtime>) -> Rc<ThreadState> {
        let address = Arc::as_ptr(runtime);
        if let Some((_, state)) = self.states.iter().find(|(known, _)| known.as_ptr() == address) {
            return state.clone();
        }
        // From now on there is something to clear up.
        let _ = LEAVING.try_with(|_| ());
        self.states.retain(|(known, _)| known.strong_count() > 0);
        let state = Rc::new(ThreadState::new(Arc::downgrade(runtime)));
        self.states.push((Arc::downgrade(runtime), state.clone()));
        state
    }
}
