// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulator that a thread selected, and the state that each simulator keeps of a thread.
//!
//! HIP's functions carry no instance. A thread that calls through an `Api` selects its simulator before each call. Threads
//! of programs over the drop-in library select none.

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::sync::{Arc, Weak};

use super::runtime::Runtime;
use crate::hip::collectives::group::Group;
use crate::hip::objects::stream::Stream;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::work::launch::Shape;
use crate::packet::Role;

/// The shape and stream of a `<<<>>>` call, which compiled programs push before they make the call.
#[derive(Clone, Debug)]
pub(crate) struct CallConfiguration {
    pub(crate) shape: Shape,
    /// The client's handle of the stream.
    pub(crate) stream: u64,
    /// The arguments that hipSetupArgument has placed so far.
    pub(crate) arguments: Vec<u8>,
}

/// The state that one simulator keeps of one thread.
pub(crate) struct ThreadState {
    /// The latest error, until hipGetLastError returns it.
    pub(crate) last_error: Cell<Code>,
    /// The status that the latest call returned.
    pub(crate) last_status: Cell<Code>,
    pub(crate) device: Cell<usize>,
    /// Devices whose contexts were pushed. hipCtxPopCurrent pops them.
    pub(crate) contexts: RefCell<Vec<usize>>,
    /// Configurations that were pushed and not yet popped.
    pub(crate) configurations: RefCell<Vec<CallConfiguration>>,
    /// hipThreadExchangeStreamCaptureMode.
    pub(crate) capture_mode: Cell<u32>,
    /// The list that the latest hipStreamGetCaptureInfo_v2 returned a pointer to.
    pub(crate) capture_frontier: RefCell<Vec<u64>>,
    /// The calls since ncclGroupStart.
    pub(crate) group: RefCell<Group>,
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
            group: RefCell::default(),
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
                runtime.captures.leave(stream);
                runtime.scheduler.close_queue(stream);
            }
        }
    }
}

struct Current {
    /// The simulator of the next call; dangling if the thread selected none.
    selected: Weak<Runtime>,
    states: Vec<(Weak<Runtime>, Rc<ThreadState>)>,
}

/// Drops the states when the thread ends.
struct Leaving;

thread_local! {
    // Never dropped by itself: destructors of other thread-locals, and exit handlers after them, may still call HIP. The
    // states that such calls create are leaked.
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

/// Selects a simulator for this thread.
///
/// # Safety
/// `runtime` came from [`Arc::as_ptr`] and an `Arc` of it is alive.
pub(crate) unsafe fn select(runtime: *const Runtime) {
    CURRENT.with(|current| {
        let mut current = current.borrow_mut();
        // A `Weak` keeps its allocation, so an equal address is the same simulator.
        if current.selected.as_ptr() != runtime {
            // SAFETY: the caller keeps an `Arc` alive. The new `Arc` owns the count that is added.
            let runtime = unsafe {
                Arc::increment_strong_count(runtime);
                Arc::from_raw(runtime)
            };
            current.selected = Arc::downgrade(&runtime);
        }
    });
}

/// Selects a simulator for a thread of the scheduler, for the calls of its host functions.
pub(crate) fn enter(runtime: &Weak<Runtime>) {
    let _ = LEAVING.try_with(|_| ());
    CURRENT.with(|current| current.borrow_mut().selected = runtime.clone());
}

/// The simulator that this thread selected; `None` if it selected none.
///
/// # Errors
/// `DEINITIALIZED` if that simulator is gone.
pub(crate) fn selected() -> Outcome<Option<Arc<Runtime>>> {
    let selected = CURRENT.with(|current| current.borrow().selected.clone());
    match selected.upgrade() {
        Some(runtime) => Ok(Some(runtime)),
        None if Weak::ptr_eq(&selected, &Weak::new()) => Ok(None),
        None => Err(Code::DEINITIALIZED),
    }
}

/// The state that a simulator keeps of this thread.
pub(crate) fn state(runtime: &Arc<Runtime>) -> Rc<ThreadState> {
    CURRENT.with(|current| current.borrow_mut().state(runtime))
}

impl Current {
    fn state(&mut self, runtime: &Arc<Runtime>) -> Rc<ThreadState> {
        let address = Arc::as_ptr(runtime);
        if let Some((_, state)) = self.states.iter().find(|(known, _)| known.as_ptr() == address) {
            return state.clone();
        }
        // From now on there are states to drop.
        let _ = LEAVING.try_with(|_| ());
        self.states.retain(|(known, _)| known.strong_count() > 0);
        let state = Rc::new(ThreadState::new(Arc::downgrade(runtime)));
        self.states.push((Arc::downgrade(runtime), state.clone()));
        state
    }
}
