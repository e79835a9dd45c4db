// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sets a simulator up from its options.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use super::owner::Owner;
use super::runtime::{PerDevice, Runtime};
use super::thread;
use crate::engine::Engine;
use crate::handles::{HandleKind, Handles};
use crate::hip::collectives::registry::Registry;
use crate::hip::graphs::capture::Captures;
use crate::hip::graphs::handles::GraphHandles;
use crate::hip::hardware::device::Device;
use crate::hip::hardware::machine::Machine;
use crate::hip::hardware::virtual_memory::VirtualMemory;
use crate::hip::objects::pool::Pool;
use crate::hip::objects::stream::Stream;
use crate::hip::programs::compiled::Compiled;
use crate::injections::Injections;
use crate::memory::{self, Memory, MemoryError};
use crate::options::{Bounds, Options, Uninitialised};
use crate::packet::{Role, Schedule, Scheduler};

/// The time that clients may compute without a call, under a seed, before work goes on without them.
const PATIENCE: Duration = Duration::from_millis(500);

/// Why a simulator could not be set up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The address space for its memory could not be reserved.
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

/// A simulator whose clients see the devices in the given slots, in this order.
///
/// # Errors
/// [`Error`] if the system does not give memory or a file of the schedule cannot be used.
pub(crate) fn set_up(options: Options, slots: &[usize]) -> Result<Arc<Runtime>, Error> {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    let salt = COUNT.fetch_add(1, Ordering::Relaxed);
    let capacity = options.memory.saturating_mul(u64::from(options.devices.max(1)));
    let page_bounds = options.bounds == Bounds::Page;
    let track_writes = options.uninitialised == Uninitialised::Report;
    let memory = memory::MemoryOptions { capacity, track_writes, page_bounds, ..Default::default() };
    let memory = Memory::new(memory).map_err(Error::Memory)?;
    let threads = options.threads.or_else(|| std::thread::available_parallelism().ok().map(Into::into));
    let engine = Engine::new(threads.unwrap_or(1));
    let seen = slots.iter().enumerate();
    let devices: Vec<Device> = seen.map(|(index, slot)| Device::new(&options, index, *slot)).collect();
    let count = devices.len();
    let machine = Arc::new(Machine::new(memory, engine, devices, &options));
    let contexts = Handles::new(HandleKind::Context, salt);
    let pools = Handles::new(HandleKind::Pool, salt);
    let schedule = Schedule::new(&options, PATIENCE).map_err(Error::Setup)?;
    let seed = schedule.as_ref().map(|schedule| schedule.report().seed);
    let injections = Injections::new(&options.injections, seed);
    let functions = Arc::new(Handles::new(HandleKind::Function, salt));
    let graphs = Arc::new(GraphHandles::new(salt));
    let compiled = Compiled::new(salt, machine.clone(), functions.clone());
    let mut complete = true;
    let runtime = Arc::new_cyclic(|this| {
        let talks_to: Weak<Runtime> = this.clone();
        let enter_thread = move || thread::enter(&talks_to);
        let (clock, hardware_queues) = (machine.clock.clone(), options.hardware_queues as usize);
        let scheduler = Arc::new(Scheduler::new(schedule, clock, hardware_queues, enter_thread));
        let mut handle = |entered: Option<std::num::NonZeroU64>| {
            complete &= entered.is_some();
            entered.map_or(0, std::num::NonZeroU64::get)
        };
        let per_device = (0..count).map(|index| {
            let default_pool = handle(pools.insert(Arc::new(Pool::new(index, true, 0))));
            PerDevice {
                context: handle(contexts.insert(Arc::new(index))),
                null_stream: Arc::new(Stream::new(scheduler.create_queue(index, Role::Null, 0), 0)),
                default_pool,
                pool: Mutex::new(default_pool),
            }
        });
        let per_device = per_device.collect();
        Runtime {
            virtual_memory: VirtualMemory::new(machine.clone(), salt),
            options,
            machine,
            scheduler,
            contexts,
            streams: Handles::new(HandleKind::Stream, salt),
            events: Handles::new(HandleKind::Event, salt),
            modules: Handles::new(HandleKind::Module, salt),
            // As in AMD's HIP, a library is a fat binary.
            libraries: Handles::new(HandleKind::FatBinary, salt),
            functions,
            pools,
            captures: Captures::new(graphs.clone()),
            collectives: Registry::new(salt),
            graphs,
            graph_execs: Handles::new(HandleKind::GraphExec, salt),
            compiled,
            injections,
            owner: Owner::default(),
            calls: AtomicU64::new(0),
            per_device,
            initialised: AtomicBool::new(false),
        }
    });
    if complete { Ok(runtime) } else { Err(Error::Setup("no handles for its devices".to_owned())) }
}
