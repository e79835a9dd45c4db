// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of one simulator: its machine, its scheduler, and the tables of what clients hold handles to.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use crate::engine::Engine;
use crate::inject::Injections;
use crate::memory::{self, Memory, MemoryError};
use crate::options::{Options, Uninitialised};
use crate::packet::{Edge, Point, Role, Schedule, Scheduler};

use super::allocation;
use super::capture::Captures;
use super::code::{Code, Outcome};
use super::compiled::Compiled;
use super::current;
use super::device::Device;
use super::event::Event;
use super::graph::{Graph, Node};
use super::graph_exec::GraphExec;
use super::machine::Machine;
use super::owner::Owner;
use super::pool::Pool;
use super::program::{Function, Program};
use super::stream::Stream;
use super::work::{Queued, Work};
use crate::handles::{Handles, Kind};

/// How long clients may compute without a call before work goes on without them, where there is a seed. Few spin.
const PATIENCE: Duration = Duration::from_millis(500);

/// One simulator. It shares nothing with any other.
pub(crate) struct Runtime {
    pub(crate) options: Options,
    pub(crate) machine: Arc<Machine>,
    pub(crate) scheduler: Arc<Scheduler>,
    /// The device that a context belongs to; every device has one context, which lasts.
    pub(crate) contexts: Handles<usize>,
    pub(crate) streams: Handles<Stream>,
    pub(crate) events: Handles<Event>,
    pub(crate) modules: Handles<Program>,
    pub(crate) functions: Handles<Function>,
    pub(crate) pools: Handles<Pool>,
    pub(crate) graphs: Handles<Graph>,
    pub(crate) nodes: Handles<Node>,
    pub(crate) graph_execs: Handles<GraphExec>,
    pub(crate) captures: Captures,
    pub(crate) compiled: Compiled,
    pub(crate) injections: Injections,
    pub(crate) owner: Owner,
    /// Calls of HIP's functions so far.
    pub(crate) calls: AtomicU64,
    per_device: Vec<PerDevice>,
    /// Whether a call has looked for a GPU.
    initialised: AtomicBool,
}

struct PerDevice {
    context: u64,
    null_stream: Arc<Stream>,
    default_pool: u64,
    /// The pool that hipMallocAsync takes from.
    pool: Mutex<u64>,
}

/// Why a simulator could not be made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// Its memory could not be reserved.
    Memory(MemoryError),
    /// A part of it could not be set up.
    Setup(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(error) => write!(f, "the simulated GPU gets no memory: {error} (option memory=)"),
            Self::Setup(reason) => write!(f, "the simulated GPU cannot be set up: {reason}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Memory(error) => Some(error),
            Self::Setup(_) => None,
        }
    }
}

impl Runtime {
    /// A machine whose clients see the devices in the given slots, in this order.
    pub(crate) fn new(options: Options, slots: &[usize]) -> Result<Arc<Self>, Error> {
        static COUNT: AtomicU64 = AtomicU64::new(1);
        let salt = COUNT.fetch_add(1, Ordering::Relaxed);
        let capacity = options.memory.saturating_mul(u64::from(options.devices.max(1)));
        let track_writes = options.uninitialised == Uninitialised::Report;
        let memory = memory::Options { capacity, track_writes, ..Default::default() };
        let memory = Memory::new(memory).map_err(Error::Memory)?;
        let threads = options.threads.or_else(|| std::thread::available_parallelism().ok().map(Into::into));
        let engine = Engine::new(threads.unwrap_or(1));
        let seen = slots.iter().enumerate();
        let devices: Vec<Device> =
            seen.map(|(index, slot)| Device::new(options.part, index, *slot, options.memory)).collect();
        let count = devices.len();
        let machine = Arc::new(Machine::new(memory, engine, devices, &options));
        let contexts = Handles::new(Kind::Context, salt);
        let pools = Handles::new(Kind::Pool, salt);
        let schedule = Schedule::new(&options, PATIENCE).map_err(Error::Setup)?;
        let seed = schedule.as_ref().map(|schedule| schedule.report().seed);
        let injections = Injections::new(&options.injections, seed);
        let mut complete = true;
        let runtime = Arc::new_cyclic(|this| {
            let talks_to: Weak<Self> = this.clone();
            let enter_thread = move || current::enter_thread(&talks_to);
            let (clock, hardware_queues) = (machine.clock.clone(), options.hardware_queues as usize);
            let scheduler = Arc::new(Scheduler::new(schedule, clock, hardware_queues, enter_thread));
            let mut handle = |entered: Option<std::num::NonZeroU64>| {
                complete &= entered.is_some();
                entered.map_or(0, std::num::NonZeroU64::get)
            };
            let per_device = (0..count).map(|index| {
                let default_pool = handle(pools.insert(Arc::new(Pool::new(index, true))));
                PerDevice {
                    context: handle(contexts.insert(Arc::new(index))),
                    null_stream: Arc::new(Stream::new(scheduler.create_queue(index, Role::Null, 0), 0)),
                    default_pool,
                    pool: Mutex::new(default_pool),
                }
            });
            let per_device = per_device.collect();
            Self {
                options,
                machine,
                scheduler,
                contexts,
                streams: Handles::new(Kind::Stream, salt),
                events: Handles::new(Kind::Event, salt),
                modules: Handles::new(Kind::Module, salt),
                functions: Handles::new(Kind::Function, salt),
                pools,
                graphs: Handles::new(Kind::Graph, salt),
                nodes: Handles::new(Kind::GraphNode, salt),
                graph_execs: Handles::new(Kind::GraphExec, salt),
                captures: Captures::default(),
                compiled: Compiled::new(salt),
                injections,
                owner: Owner::default(),
                calls: AtomicU64::new(0),
                per_device,
                initialised: AtomicBool::new(false),
            }
        });
        if complete { Ok(runtime) } else { Err(Error::Setup("no handles for its devices".to_owned())) }
    }

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

    /// The handle of the pool that a device always has.
    pub(crate) fn default_pool(&self, device: usize) -> Outcome<u64> {
        Ok(self.per_device(device)?.default_pool)
    }

    /// The handle of the pool that hipMallocAsync takes from. A pool that was destroyed falls back to the default.
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

    /// Adds a stream.
    pub(crate) fn create_stream(&self, device: usize, role: Role, priority: i32) -> Arc<Stream> {
        Arc::new(Stream::new(self.scheduler.create_queue(device, role, priority), priority))
    }

    /// Queues work behind the work that the stream already holds and behind `edges`. Never waits itself.
    ///
    /// # Errors
    /// `CONTEXT_IS_DESTROYED` for a destroyed stream, `DEINITIALIZED` once the simulator is gone, `OUT_OF_MEMORY` when
    /// the first thread cannot be started.
    pub(crate) fn enqueue(&self, stream: &Arc<Stream>, work: Work, edges: &[Edge]) -> Outcome<Point> {
        let packet = self.queued(stream, None, work);
        Ok(self.scheduler.enqueue(stream, packet, edges)?)
    }

    /// Work as a packet of a stream, which another device than the stream's may have to do.
    pub(crate) fn queued(&self, stream: &Arc<Stream>, device: Option<usize>, work: Work) -> Box<Queued> {
        Box::new(Queued { machine: self.machine.clone(), stream: stream.clone(), device, work })
    }

    /// Whether HIP's calls that wait do not wait for work on memory at these addresses: AMD's 6.4 leaves work on memory of
    /// devices alone to its stream (measured; 5.2 waits).
    pub(crate) fn stays_on_devices(&self, addresses: &[u64]) -> bool {
        let is_devices = |address: &u64| {
            let kind = self.machine.memory.lookup(*address).map(|allocation| allocation.kind);
            matches!(kind, Some(memory::Kind::Device | memory::Kind::Code | memory::Kind::Mapped))
        };
        self.options.hip >= (6, 0) && addresses.iter().all(is_devices)
    }

    /// Blocks until all that is queued on a device has run.
    pub(crate) fn synchronize(&self, device: usize) -> Outcome<()> {
        Ok(self.scheduler.wait(&self.scheduler.tails(device))?)
    }

    /// Makes the handles of a graph and of its nodes stale. Whether there was such a graph.
    pub(crate) fn discard_graph(&self, handle: u64) -> bool {
        let Some(graph) = self.graphs.remove(handle) else { return false };
        for node in graph.nodes() {
            self.nodes.remove(node);
        }
        true
    }

    /// Puts a device back to how it was at the start: nothing allocated, nothing queued, no failure. Handles of its
    /// streams, events, modules and graphs are stale afterwards.
    pub(crate) fn reset(&self, device: usize, by: Arc<str>) -> Outcome<()> {
        self.synchronize(device)?;
        for stream in self.streams.remove_where(|stream| stream.device == device) {
            self.captures.leave(self, &stream);
            self.scheduler.close_queue(&stream);
        }
        drop(self.events.remove_where(|event| event.device == device));
        drop(self.graph_execs.remove_where(|exec| exec.concerns(device)));
        for graph in self.graphs.remove_where(|graph| !graph.is_captured_into() && graph.concerns(device)) {
            for node in graph.nodes() {
                self.nodes.remove(node);
            }
        }
        drop(self.functions.remove_where(|function| function.program.device == device));
        drop(self.modules.remove_where(|program| program.device == device));
        drop(self.pools.remove_where(|pool| pool.device == device && !pool.is_default));
        self.compiled.unload(device);
        for holding in self.machine.ledger.of_device(device) {
            if self.machine.ledger.remove(holding.base, |_| true).is_some() {
                allocation::settle(&self.machine, &holding, by.clone());
            }
        }
        self.machine.device(device)?.recover();
        Ok(())
    }

    fn per_device(&self, device: usize) -> Outcome<&PerDevice> {
        self.per_device.get(device).ok_or(Code::INVALID_DEVICE)
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // What a child inherits may be locked by threads that it has not.
        if self.owner.is_elsewhere() {
            return;
        }
        self.scheduler.close();
        // Nobody is left to learn what a kernel that still runs would write.
        self.machine.engine.cancel();
    }
}
