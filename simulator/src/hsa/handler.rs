// SPDX-License-Identifier: MIT OR Apache-2.0
//! Handlers: functions of the client's that are called when a signal is as wanted, and when a GPU goes wrong.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::{Choose, Fault};
use crate::packet::{Begun, Condition, Edge, Edges, HostFunction, Packet};

use super::abi::{AsyncFunction, Event, EventHandler, SignalHandler};
use super::agent::Which;
use super::runtime::Runtime;
use super::signal::{Awaited, Comparison, SignalRef};
use super::status::Outcome;

/// The handlers of a runtime.
#[derive(Default)]
pub(crate) struct Handlers {
    /// Held while a handler runs: AMD's runtime calls one at a time, and clients count on it.
    one_at_a_time: Mutex<()>,
    /// Whether one runs, so that no thread is sent to wait for its end.
    turn: Arc<Turn>,
    events: Mutex<Vec<(EventHandler, Data)>>,
}

/// Whether a handler runs.
#[derive(Default)]
struct Turn(AtomicBool);

impl Condition for Turn {
    fn holds(&self) -> bool {
        !self.0.load(Ordering::Acquire)
    }
}

/// The client's datum, which goes back to it.
#[derive(Clone, Copy)]
struct Data(*mut c_void);

// SAFETY: the pointer is handed back to the client's own function and not looked at. HSA says that handlers are called on
// a thread of the runtime's.
unsafe impl Send for Data {}

/// A handler that waits for its signal, or a function to be called at once.
struct Handler {
    runtime: Arc<Runtime>,
    what: What,
    data: Data,
}

#[derive(Clone)]
enum What {
    OfSignal(SignalRef, Comparison, SignalHandler),
    Function(AsyncFunction),
}

impl Runtime {
    /// Has a function called when a signal is as wanted.
    ///
    /// # Errors
    /// As the scheduler's.
    pub(crate) fn handle_signal(
        self: &Arc<Self>,
        signal: SignalRef,
        until: Comparison,
        handler: SignalHandler,
        data: *mut c_void,
    ) -> Outcome<()> {
        self.add(What::OfSignal(signal, until, handler), Data(data))
    }

    /// Has a function called soon.
    ///
    /// # Errors
    /// As the scheduler's.
    pub(crate) fn call_soon(self: &Arc<Self>, function: AsyncFunction, data: *mut c_void) -> Outcome<()> {
        self.add(What::Function(function), Data(data))
    }

    fn add(self: &Arc<Self>, what: What, data: Data) -> Outcome<()> {
        let mut edges: Edges = std::iter::once(Edge::Condition(self.handlers.turn.clone())).collect();
        if let What::OfSignal(signal, until, _) = &what {
            edges.push(Edge::Condition(Arc::new(Awaited { signal: signal.clone(), until: *until })));
        }
        let handler = Handler { runtime: self.clone(), what, data };
        // No device does it.
        self.scheduler.enqueue_alone(usize::MAX, Box::new(handler), edges)?;
        Ok(())
    }
}

impl Packet for Handler {
    fn run(mut self: Box<Self>) {
        self.call();
    }

    fn begin(self: Box<Self>, _: &mut dyn Choose) -> Begun {
        self.runtime.handlers.turn.0.store(true, Ordering::Release);
        Begun::HostFunction(self)
    }
}

impl HostFunction for Handler {
    fn call(&mut self) {
        let handlers = &self.runtime.handlers;
        {
            let _alone = handlers.one_at_a_time.lock().unwrap_or_else(PoisonError::into_inner);
            handlers.turn.0.store(true, Ordering::Release);
            self.call_alone();
            handlers.turn.0.store(false, Ordering::Release);
        }
        self.runtime.scheduler.notice();
    }

    fn give_up(&mut self, reason: String) {
        self.runtime.handlers.turn.0.store(false, Ordering::Release);
        tracing::error!(target: "windlass::sim", "a handler was not called: {reason}");
    }
}

impl Handler {
    fn call_alone(&self) {
        let Data(data) = self.data;
        match &self.what {
            // SAFETY: the client gave function and datum for this call.
            What::Function(function) => unsafe { function(data) },
            What::OfSignal(signal, _, handler) => {
                // A signal that was destroyed has nothing to tell.
                if !signal.is_live() {
                    return;
                }
                // SAFETY: as above.
                if unsafe { handler(signal.load(), data) } {
                    let again = self.runtime.add(self.what.clone(), self.data);
                    if let Err(status) = again {
                        tracing::error!(target: "windlass::sim", ?status, "a signal's handler is lost");
                    }
                }
            }
        }
    }
}

impl Handlers {
    /// Has a function called when a GPU goes wrong.
    pub(crate) fn handle_events(&self, handler: EventHandler, data: *mut c_void) {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).push((handler, Data(data)));
    }

    /// Tells of a kernel that used an address that it must not.
    pub(crate) fn tell_of_fault(&self, gpu: usize, fault: &Fault) {
        const PAGE_NOT_PRESENT: u32 = 1;
        let Some(access) = &fault.access else { return };
        let event = Event {
            kind: 0,
            agent: Which::Gpu(gpu).handle(),
            virtual_address: access.address,
            reasons: PAGE_NOT_PRESENT,
        };
        let handlers = self.events.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (handler, Data(data)) in handlers {
            // SAFETY: the client gave function and datum for this call; the event outlives it.
            unsafe { handler(&event, data) };
        }
    }
}
