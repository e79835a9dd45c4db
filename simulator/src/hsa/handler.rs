// SPDX-License-Identifier: MIT OR Apache-2.0
//! Handlers: the client's functions for signals, for memory faults, and for queues that stop.
//!
//! One handler runs at a time, on a thread of the runtime and outside of every call. Clients of ROCr, which
//! has one thread for handlers, rely on that. A handler may wait for any action of the client's other
//! threads.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::{Choose, Fault};
use crate::packet::{Begun, Edge, Edges, HostFunction, Packet};

use super::abi::{AsyncFunction, Event, EventHandler, SignalHandler};
use super::agent::Which;
use super::client_data::ClientData;
use super::queue::AqlQueue;
use super::runtime::Runtime;
use super::signal::{Awaited, Comparison, SignalRef};
use super::status::{Outcome, Status};

/// The client's functions that are called after a memory fault.
#[derive(Default)]
pub(crate) struct Handlers {
    events: Mutex<Vec<(EventHandler, ClientData)>>,
}

/// A handler that waits for its signal, or a function that is called at once.
struct PendingCallback {
    runtime: Arc<Runtime>,
    callback: Callback,
    /// Whether the handler was called, returned true, and its condition still holds.
    looks_again: bool,
}

#[derive(Clone)]
enum Callback {
    OfSignal(SignalRef, Comparison, SignalHandler, ClientData),
    Function(AsyncFunction, ClientData),
    /// A kernel accessed an invalid address, or a queue has stopped with a status, or both.
    Failure {
        queue: Arc<AqlQueue>,
        reason: Option<Status>,
        address: Option<u64>,
    },
}

impl Runtime {
    /// Calls a function when a signal meets a condition.
    ///
    /// # Errors
    /// The scheduler's.
    pub(crate) fn handle_signal(
        self: &Arc<Self>,
        signal: SignalRef,
        until: Comparison,
        handler: SignalHandler,
        data: *mut c_void,
    ) -> Outcome<()> {
        self.add(Callback::OfSignal(signal, until, handler, ClientData(data)))
    }

    /// Calls a function soon.
    ///
    /// # Errors
    /// The scheduler's.
    pub(crate) fn call_soon(self: &Arc<Self>, function: AsyncFunction, data: *mut c_void) -> Outcome<()> {
        self.add(Callback::Function(function, ClientData(data)))
    }

    /// Stops a queue, and reports the reason to the client if it is the first. `fault` is that of the kernel.
    pub(crate) fn fail(self: &Arc<Self>, queue: &Arc<AqlQueue>, status: Status, fault: Option<&Fault>) {
        let first = queue.stop();
        let address = fault.and_then(|fault| fault.access.as_ref()).map(|access| access.address);
        if !first && address.is_none() {
            return;
        }
        let reason = Some(status).filter(|_| first);
        let told = self.add(Callback::Failure { queue: queue.clone(), reason, address });
        if told.is_err() && !self.has_ended() {
            tracing::error!(target: "windlass::sim", ?status, "the failure of a queue was not reported to the client");
        }
    }

    fn add(self: &Arc<Self>, callback: Callback) -> Outcome<()> {
        let mut edges = Edges::new();
        if let Callback::OfSignal(signal, until, ..) = &callback {
            edges.push(Edge::Condition(Arc::new(Awaited { signal: signal.clone(), until: *until })));
        }
        let handler = PendingCallback { runtime: self.clone(), callback, looks_again: false };
        self.scheduler.enqueue_in_turn(Box::new(handler), edges)?;
        Ok(())
    }
}

impl Packet for PendingCallback {
    fn run(mut self: Box<Self>) {
        self.call();
    }

    fn begin(self: Box<Self>, _: &mut dyn Choose) -> Begun {
        Begun::HostFunction(self)
    }
}

impl HostFunction for PendingCallback {
    fn call(&mut self) {
        // The last `hsa_shut_down` may have happened since.
        if self.runtime.has_ended() {
            return;
        }
        match &self.callback {
            // SAFETY: the client gave function and data for this call.
            Callback::Function(function, ClientData(data)) => unsafe { function(*data) },
            Callback::OfSignal(signal, until, handler, ClientData(data)) => {
                // The handler of a destroyed signal is not called.
                if !signal.is_live() {
                    return;
                }
                // SAFETY: as above.
                if unsafe { handler(signal.load(), *data) } && !self.runtime.has_ended() {
                    self.looks_again = until.holds(signal.load());
                    if let Err(status) = self.runtime.add(self.callback.clone()) {
                        tracing::error!(target: "windlass::sim", ?status, "a signal's handler is lost");
                    }
                }
            }
            Callback::Failure { queue, reason, address } => {
                if let Some(address) = address {
                    self.runtime.handlers.report_fault(queue.gpu, *address);
                }
                if let Some(status) = reason {
                    self.runtime.queues.report_stop(queue, *status);
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
    /// Sets the function that is called after a memory fault.
    pub(crate) fn handle_events(&self, handler: EventHandler, data: *mut c_void) {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).push((handler, ClientData(data)));
    }

    /// Reports to the client that a kernel accessed an invalid address.
    fn report_fault(&self, gpu: usize, address: u64) {
        const PAGE_NOT_PRESENT: u32 = 1;
        let event = Event {
            kind: 0,
            agent: Which::Gpu(gpu).handle(),
            virtual_address: address,
            reasons: PAGE_NOT_PRESENT,
        };
        let handlers = self.events.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (handler, ClientData(data)) in handlers {
            // SAFETY: the client gave function and data for this call; the event outlives it.
            unsafe { handler(&event, data) };
        }
    }
}
