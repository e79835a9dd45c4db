// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of one simulator: its machine, its scheduler, and the tables of handles.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::owner::Owner;
use crate::handles::Handles;
use crate::hip::collectives::registry::Registry;
use crate::hip::graphs::capture::Captures;
use crate::hip::graphs::graph_exec::GraphExec;
use crate::hip::graphs::handles::GraphHandles;
use crate::hip::hardware::allocation;
use crate::hip::hardware::machine::Machine;
use crate::hip::hardware::virtual_memory::VirtualMemory;
use crate::hip::objects::event::Event;
use crate::hip::objects::pool::Pool;
use crate::hip::objects::stream::Stream;
use crate::hip::programs::compiled::Compiled;
use crate::hip::programs::library::Library;
use crate::hip::programs::program::{Function, Program};
use crate::hip::words::code::{Code, Outcome};
use crate::hip::work::item::Work;
use crate::hip::work::packet::Queued;
use crate::injections::Injections;
use crate::options::Options;
use crate::packet::{Edge, Point, Role, Scheduler};

/// One simulator. It shares nothing with any other.
pub(crate) struct Runtime {
    pub(crate) options: Options,
    pub(crate) machine: Arc<Machine>,
    pub(crate) scheduler: Arc<Scheduler>,
    /// The device of each context. Every device has one context.
    pub(crate) contexts: Handles<usize>,
    pub(crate) streams: Handles<Stream>,
    pub(crate) events: Handles<Event>,
    pub(crate) modules: Handles<Program>,
    pub(crate) libraries: Handles<Library>,
    pub(crate) functions: Arc<Handles<Function>>,
    pub(crate) pools: Handles<Pool>,
    pub(crate) virtual_memory: VirtualMemory,
    pub(crate) graphs: Arc<GraphHandles>,
    pub(crate) graph_execs: Handles<GraphExec>,
    pub(crate) captures: Captures,
    pub(crate) collectives: Registry,
    pub(crate) compiled: Compiled,
    pub(crate) injections: Injections,
    pub(crate) owner: Owner,
    /// Calls of HIP's functions so far.
    pub(crate) calls: AtomicU64,
    pub(super) per_device: Vec<PerDevice>,
    /// Whether a call has looked for a GPU.
    pub(super) initialised: AtomicBool,
}

/// The objects that every device has, by handle or itself.
pub(super) struct PerDevice {
    pub(super) context: u64,
    pub(super) null_stream: Arc<Stream>,
    pub(super) default_pool: u64,
    /// The pool that hipMallocAsync takes from.
    pub(super) pool: Mutex<u64>,
}

impl Runtime {
    /// Notes that a call looked for a GPU. Whether it was the first.
    pub(crate) fn note_initialisation(&self) -> bool {
        !self.initialised.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn null_stream(&self, device: usize) -> Outcome<Arc<Stream>> {
        Ok(self.per_device(device)?.null_stream.clone())
    }

    /// The handle of a device's context.
    pub(crate) fn context(&self, device: usize) -> Outcome<u64> {
        Ok(self.per_device(device)?.context)
    }

    /// The handle of a device's default pool.
    pub(crate) fn default_pool(&self, device: usize) -> Outcome<u64> {
        Ok(self.per_device(device)?.default_pool)
    }

    /// The handle of the pool that hipMallocAsync takes from: the default pool if the pool that was set is destroyed.
    pub(crate) fn current_pool(&self, device: usize) -> Outcome<u64> {
        let per_device = self.per_device(device)?;
        let mut pool = per_device.pool.lock().unwrap_or_else(PoisonError::into_inner);
        if self.pools.get(*pool).is_none() {
            *pool = per_device.default_pool;
        }
        Ok(*pool)
    }

    pub(crate) fn set_current_pool(&self, device: usize, handle: u64) -> Outcome<()> {
        *self.per_device(device)?.pool.lock().unwrap_or_else(PoisonError::into_inner) = handle;
        Ok(())
    }

    /// Creates a stream. The caller enters it into the table.
    pub(crate) fn create_stream(&self, device: usize, role: Role, priority: i32) -> Arc<Stream> {
        Arc::new(Stream::new(self.scheduler.create_queue(device, role, priority), priority))
    }

    /// Queues work behind the earlier work of the stream and behind `edges`. Never waits.
    ///
    /// # Errors
    /// `CONTEXT_IS_DESTROYED` for a destroyed stream, `DEINITIALIZED` after the end of the simulator, `OUT_OF_MEMORY` if the
    /// first thread cannot be started.
    pub(crate) fn enqueue(&self, stream: &Arc<Stream>, work: Work, edges: &[Edge]) -> Outcome<Point> {
        self.machine.device(stream.device)?.set_active();
        let packet = Queued::new(&self.machine, stream, None, work);
        Ok(self.scheduler.enqueue(stream, packet, edges)?)
    }

    /// Gives back the memory of a device's pools that exceeds their thresholds, after a client has synchronised, and all that the
    /// device keeps for graphs, which stayed until it was trimmed before HIP 6.2.
    pub(crate) fn release_pools(&self, device: usize) {
        for pool in self.pools.all() {
            if pool.device == device {
                allocation::release_idle(&self.machine, &pool, pool.release_threshold());
            }
        }
        if self.options.hip >= (6, 2)
            && let Ok(device) = self.machine.device(device)
        {
            device.graph_reserve.trim(&device.budget);
        }
    }

    /// Blocks until all queued work of a device has run.
    pub(crate) fn synchronize(&self, device: usize) -> Outcome<()> {
        Ok(self.scheduler.wait(&self.scheduler.tails(device))?)
    }

    /// Resets a device: no allocation, no queued work, no failure. Handles of its streams, events, modules and graphs
    /// become stale.
    pub(crate) fn reset(&self, device: usize, by: Arc<str>) -> Outcome<()> {
        self.synchronize(device)?;
        for stream in self.streams.remove_where(|stream| stream.device == device) {
            self.captures.leave(&stream);
            self.scheduler.close_queue(&stream);
        }
        drop(self.events.remove_where(|event| event.device == device));
        drop(self.graph_execs.remove_where(|exec| exec.concerns(device)));
        self.graphs.discard_of(device);
        drop(self.functions.remove_where(|function| function.program.device == device));
        drop(self.modules.remove_where(|program| program.device == device));
        self.libraries.all().iter().for_each(|library| library.forget(device));
        for pool in self.pools.all().into_iter().filter(|pool| pool.device == device) {
            allocation::release_idle(&self.machine, &pool, 0);
            // Also of streams that ran no free behind a failure.
            pool.forget_parked();
        }
        for pool in self.pools.remove_where(|pool| pool.device == device && !pool.is_default) {
            pool.close();
        }
        self.compiled.unload(device);
        self.virtual_memory.reset(device, &by);
        for holding in self.machine.ledger.of_device(device) {
            if self.machine.ledger.remove(holding.base, |_| true).is_some() {
                allocation::settle(&self.machine, &holding, by.clone());
            }
        }
        if let Some(services) = self.machine.services.get(device) {
            services.reset(&by);
        }
        let device = self.machine.device(device)?;
        device.graph_reserve.trim(&device.budget);
        device.recover();
        Ok(())
    }

    fn per_device(&self, device: usize) -> Outcome<&PerDevice> {
        self.per_device.get(device).ok_or(Code::INVALID_DEVICE)
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // After a fork, threads that the child lacks may hold the locks that it inherits.
        if self.owner.is_elsewhere() {
            return;
        }
        self.scheduler.close();
        // No client can see the results of a kernel that still runs.
        self.machine.engine.cancel();
    }
}
