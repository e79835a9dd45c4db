// SPDX-License-Identifier: MIT OR Apache-2.0
//! Handlers: functions of the client's that are called when a signal is as wanted, and when a GPU or a queue goes wrong.
//!
//! One runs at a time, on a thread of the runtime's and outside of every call: clients of ROCr, which has one thread for
//! them, count on it, and a handler may wait for whatever the client's other threads do.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::{Choose, Fault};
use crate::packet::{Begun, Edge, Edges, HostFunction, Packet};

use super::abi::{AsyncFunction, Event, EventHandler, SignalHandler};
use super::agent::Which;
use super::queue::AqlQueue;
use super::runtime::Runtime;
use super::signal::{Awaited, Comparison, SignalRef};
use super::status::{Outcome, Status};

/// The functions of a client's that are called when a GPU goes wrong.
#[derive(Default)]
pub(crate) struct Handlers {
    events: Mutex<Vec<(EventHandler, Data)>>,
}

/// The client's datum, which goes back to it.
#[derive(Clone, Copy)]
struct Data(*mut c_void);

// SAFETY: the pointer is handed back to the client's own function and not looked at. HSA says that handlers are called on
// a thread of the runtime's.
unsafe impl Send for Data {}

/// A handler that waits for its signal, or what is to be called at once.
struct Handler {
    runtime: Arc<Runtime>,
    what: What,
    /// Whether the signal's handler was called, wants to be called again, and its condition held still.
    looks_again: bool,
}

#[derive(Clone)]
enum What {
    OfSignal(SignalRef, Comparison, SignalHandler, Data),
    Function(AsyncFunction, Data),
    /// A kernel used an address that it must not, or a queue has stopped for a reason, or both.
    Failure {
        queue: Arc<AqlQueue>,
        reason: Option<Status>,
        address: Option<u64>,
    },
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
        self.add(What::OfSignal(signal, until, handler, Data(data)))
    }

    /// Has a function called soon.
    ///
    /// # Errors
    /// As the scheduler's.
    pub(crate) fn call_soon(self: &Arc<Self>, function: AsyncFunction, data: *mut c_void) -> Outcome<()> {
        self.add(What::Function(function, Data(data)))
    }

    /// Stops a queue, and has the client told why, if this is the first reason. `fault` is of the kernel that went wrong.
    pub(crate) fn fail(self: &Arc<Self>, queue: &Arc<AqlQueue>, status: Status, fault: Option<&Fault>) {
        let first = queue.stop();
        let address = fault.and_then(|fault| fault.access.as_ref()).map(|access| access.address);
        if !first && address.is_none() {
            return;
        }
        let reason = Some(status).filter(|_| first);
        let told = self.add(What::Failure { queue: queue.clone(), reason, address });
        if told.is_err() && !self.has_ended() {
            tracing::error!(target: "windlass::sim", ?status, "the client was not told of a queue that went wrong");
        }
    }

    fn add(self: &Arc<Self>, what: What) -> Outcome<()> {
        let mut edges = Edges::new();
        if let What::OfSignal(signal, until, ..) = &what {
            edges.push(Edge::Condition(Arc::new(Awaited { signal: signal.clone(), until: *until })));
        }
        let handler = Handler { runtime: self.clone(), what, looks_again: false };
        self.scheduler.enqueue_in_turn(Box::new(handler), edges)?;
        Ok(())
    }
}

impl Packet for Handler {
    fn run(mut self: Box<Self>) {
        self.call();
    }

    fn begin(self: Box<Self>, _: &mut dyn Choose) -> Begun {
        Begun::HostFunction(self)
    }
}

impl HostFunction for Handler {
    fn call(&mut self) {
        // The last `hsa_shut_down` may have come between.
        if self.runtime.has_ended() {
            return;
        }
        match &self.what {
            // SAFETY: the client gave function and datum for this call.
            What::Function(function, Data(data)) => unsafe { function(*data) },
            What::OfSignal(signal, until, handler, Data(data)) => {
                // A signal that was destroyed has nothing to tell.
                if !signal.is_live() {
                    return;
                }
                // SAFETY: as above.
                if unsafe { handler(signal.load(), *data) } && !self.runtime.has_ended() {
                    self.looks_again = until.holds(signal.load());
                    if let Err(status) = self.runtime.add(self.what.clone()) {
                        tracing::error!(target: "windlass::sim", ?status, "a signal's handler is lost");
                    }
                }
            }
            What::Failure { queue, reason, address } => {
                if let Some(address) = address {
                    self.runtime.handlers.tell_of_fault(queue.gpu, *address);
                }
                if let Some(status) = reason {
                    self.runtime.queues.tell(queue, *status);
                }
            }
        }
    }

    fn looks_again(&self) -> bool {
        self.looks_again
    }

    fn give_up(&mut self, reason: String) {
        tracing::error!(target: "windlass::sim", "a handler was not called: {reason}");
    }
}

impl Handlers {
    /// Has a function called when a GPU goes wrong.
    pub(crate) fn handle_events(&self, handler: EventHandler, data: *mut c_void) {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).push((handler, Data(data)));
    }

    /// Tells of a kernel that used an address that it must not.
    fn tell_of_fault(&self, gpu: usize, address: u64) {
        const PAGE_NOT_PRESENT: u32 = 1;
        let event = Event {
            kind: 0,
            agent: Which::Gpu(gpu).handle(),
            virtual_address: address,
            reasons: PAGE_NOT_PRESENT,
        };
        let handlers = self.events.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (handler, Data(data)) in handlers {
            // SAFETY: the client gave function and datum for this call; the event outlives it.
            unsafe { handler(&event, data) };
        }
    }
}
