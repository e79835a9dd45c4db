// SPDX-License-Identifier: MIT OR Apache-2.0
//! The HSA runtime of a process: one machine. The first `hsa_init` makes it, and the last `hsa_shut_down`
//! ends it. The next `hsa_init` makes another.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard};
use std::time::Duration;

use crate::engine::Engine;
use crate::injections::Injections;
use crate::memory::{self, Memory};
use crate::options::{Bounds, Options, Uninitialised};
use crate::packet::{Clock, Schedule, Scheduler};

use super::agent::GpuAgent;
use super::explain::explain;
use super::handler::Handlers;
use super::holding::Holdings;
use super::ipc::Attachments;
use super::loader::Loader;
use super::queue::Queues;
use super::signal::Signals;
use super::status::{Outcome, Status};
use super::virtual_memory::VirtualMemory;

/// How long clients may compute without a call before work continues without them, where there is a seed.
/// Runtimes above HSA, such as AMD's HIP, spin on memory that their signal handlers write.
const PATIENCE: Duration = Duration::from_millis(10);

/// How long the last `hsa_shut_down` waits for running kernels, copies and a handler. A handler may wait for
/// anything, even for the thread that shuts down.
const LAST: Duration = Duration::from_secs(1);

/// HSA's state in a process.
pub(crate) struct Runtime {
    pub(crate) options: Options,
    pub(crate) memory: Arc<Memory>,
    pub(crate) engine: Arc<Engine>,
    pub(crate) scheduler: Arc<Scheduler>,
    pub(crate) clock: Arc<Clock>,
    /// The GPUs, in the order in which clients see them.
    pub(crate) gpus: Vec<GpuAgent>,
    pub(crate) signals: Arc<Signals>,
    pub(crate) queues: Queues,
    pub(crate) holdings: Arc<Holdings>,
    pub(crate) virtual_memory: VirtualMemory,
    pub(crate) attachments: Attachments,
    pub(crate) loader: Loader,
    pub(crate) handlers: Handlers,
    pub(crate) injections: Injections,
    /// Bytes of scratch that queues may keep, by GPU, as clients have set them.
    pub(crate) scratch_limits: Mutex<BTreeMap<usize, u64>>,
    /// Calls of HSA's functions so far.
    pub(crate) calls: AtomicU64,
    /// The number of runtimes before this one.
    pub(crate) epoch: u64,
    /// Whether the last reference is gone.
    ended: AtomicBool,
}

/// The runtime while it is initialised, and the number of `hsa_init` calls that no `hsa_shut_down` has ended.
static CURRENT: RwLock<Option<(Arc<Runtime>, u32)>> = RwLock::new(None);
/// Held while a runtime is made or its references change. Other calls are not blocked.
static CHANGE: Mutex<u64> = Mutex::new(0);
/// The memory of the latest ended runtime, empty. A process may still read signals and buffers while it
/// exits.
static ENDED: Mutex<Option<Arc<Memory>>> = Mutex::new(None);
/// Whether this process was forked from the process that owns the machine.
static IS_CHILD: AtomicBool = AtomicBool::new(false);

/// `hsa_init`.
///
/// # Errors
/// `OUT_OF_RESOURCES` if `WINDLASS_SIM` is invalid or the machine cannot be set up, `REFCOUNT_OVERFLOW`.
pub(crate) fn init() -> Outcome<()> {
    if IS_CHILD.load(Ordering::Relaxed) {
        explain(
            "hsa_init: the simulated GPU belongs to the process that forked this one. Call HSA in the child alone, or \
             start the child as a program of its own",
        );
        return Err(Status::OUT_OF_RESOURCES);
    }
    let mut made = CHANGE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, references)) = write().as_mut() {
        *references = references.checked_add(1).ok_or(Status::REFCOUNT_OVERFLOW)?;
        return Ok(());
    }
    drop(ended().take());
    let runtime = make(*made).map_err(|why| {
        explain(&no_machine(&why));
        Status::OUT_OF_RESOURCES
    })?;
    *made += 1;
    *write() = Some((runtime, 1));
    Ok(())
}

/// `hsa_shut_down`. Returns the runtime if this was its last reference. The caller must then [shut it
/// down](Runtime::shut_down).
///
/// # Errors
/// `NOT_INITIALIZED` without a runtime.
pub(crate) fn shut_down() -> Outcome<Option<Arc<Runtime>>> {
    let _change = CHANGE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut current = write();
    let (_, references) = current.as_mut().ok_or(Status::NOT_INITIALIZED)?;
    *references -= 1;
    if *references > 0 {
        return Ok(None);
    }
    Ok(current.take().map(|(runtime, _)| runtime))
}

/// The runtime, while it is initialised.
///
/// # Errors
/// `NOT_INITIALIZED`.
pub(crate) fn current() -> Outcome<Arc<Runtime>> {
    // A child has none of the parent's threads, and the lock may be held by one of them.
    if IS_CHILD.load(Ordering::Relaxed) {
        return Err(Status::NOT_INITIALIZED);
    }
    let current = CURRENT.read().unwrap_or_else(PoisonError::into_inner);
    current.as_ref().map(|(runtime, _)| runtime.clone()).ok_or(Status::NOT_INITIALIZED)
}

fn write() -> RwLockWriteGuard<'static, Option<(Arc<Runtime>, u32)>> {
    CURRENT.write().unwrap_or_else(PoisonError::into_inner)
}

fn ended() -> MutexGuard<'static, Option<Arc<Memory>>> {
    ENDED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn no_machine(why: &str) -> String {
    format!("hsa_init: there is no simulated GPU: {why} (WINDLASS_SIM)")
}

#[cfg(unix)]
extern "C" fn in_child() {
    IS_CHILD.store(true, Ordering::Relaxed);
}

/// Makes a runtime. `epoch` others were made before.
fn make(epoch: u64) -> Result<Arc<Runtime>, String> {
    #[cfg(unix)]
    if epoch == 0 {
        // SAFETY: the handler only stores to an atomic, which is allowed in the child of a process with
        // several threads. glibc drops the handlers of libraries that it unloads.
        let status = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        if status != 0 {
            tracing::warn!(target: "windlass::sim", status, "forked children will not be detected");
        }
    }
    let mut options = Options::from_environment().map_err(|error| error.to_string())?;
    if epoch > 0 && (options.record.is_some() || options.replay.is_some()) {
        tracing::warn!(target: "windlass::sim", "a schedule's log ends with hsa_shut_down");
        options.record = None;
        if let Some(log) = options.replay.take() {
            options.seed = Some(Schedule::seed_of(&log)?);
        }
    }
    let visible = std::env::var("ROCR_VISIBLE_DEVICES").ok().filter(|list| !list.is_empty());
    let slots = crate::visible::slots(options.devices as usize, visible.as_deref());
    Runtime::new(options, &slots, epoch)
}

impl Runtime {
    fn new(options: Options, slots: &[usize], epoch: u64) -> Result<Arc<Self>, String> {
        let capacity = options.memory.saturating_mul(u64::from(options.devices.max(1)));
        let page_bounds = options.bounds == Bounds::Page;
        let track_writes = options.uninitialised == Uninitialised::Report;
        let memory = memory::MemoryOptions { capacity, track_writes, page_bounds, ..Default::default() };
        let memory = Memory::new(memory).map_err(|error| format!("{error} (option memory=)"))?;
        let threads = options.threads.or_else(|| std::thread::available_parallelism().ok().map(Into::into));
        let schedule = Schedule::new(&options, PATIENCE)?;
        let seed = schedule.as_ref().map(|schedule| schedule.report().seed);
        let clock = Arc::new(Clock::new(schedule.is_some()));
        let gpus = slots.iter().enumerate().map(|(index, slot)| GpuAgent {
            index,
            slot: *slot,
            part: options.part_of(*slot),
            units: options.units_of(*slot).saturating_mul(options.part_of(*slot).simd.units()),
        });
        let gpus: Vec<_> = gpus.collect();
        Ok(Arc::new(Self {
            engine: Engine::new(threads.unwrap_or(1)),
            // Every thread of the process finds the runtime in `CURRENT`.
            scheduler: Arc::new(Scheduler::new(schedule, clock.clone(), 0, || ())),
            signals: Signals::new(memory.clone()),
            holdings: Arc::new(Holdings::new(memory.clone(), &options)),
            virtual_memory: VirtualMemory::new(memory.clone()),
            attachments: Attachments::new(memory.clone()),
            scratch_limits: Mutex::default(),
            queues: Queues::default(),
            loader: Loader::new(gpus.iter().map(|gpu| gpu.part).collect(), memory.clone()),
            handlers: Handlers::default(),
            injections: Injections::new(&options.injections, seed),
            calls: AtomicU64::new(0),
            epoch,
            ended: AtomicBool::new(false),
            options,
            memory,
            clock,
            gpus,
        }))
    }

    /// Ends the runtime: queues stop, waits return, and no handler is called any more. The bytes of its
    /// memory are released; its addresses stay until the next runtime is made, and as long as a call or a
    /// handler runs.
    pub(crate) fn shut_down(&self) {
        self.ended.store(true, Ordering::Release);
        for queue in self.queues.all() {
            queue.stop();
        }
        self.scheduler.close();
        if !self.scheduler.wait_for_end(LAST) {
            tracing::warn!(target: "windlass::sim", "hsa_shut_down: a handler or a kernel still runs");
        }
        self.memory.forget_contents();
        drop(ended().replace(self.memory.clone()));
    }

    /// Whether the last reference is gone.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// The time in ticks, which are nanoseconds.
    pub(crate) fn now(&self) -> u64 {
        u64::try_from(self.clock.now().as_nanos()).unwrap_or(u64::MAX)
    }
}
