// SPDX-License-Identifier: MIT OR Apache-2.0
//! The engine: loads code objects into simulated memory and runs their kernels on CPU threads.
//!
//! A [`Module`] is a loaded code object, and a [`Kernel`] is one of its kernels. An [`Engine`] owns worker threads.
//! [`Engine::dispatch`] runs a kernel to its end, on the calling thread and on idle workers. Dispatches from several
//! threads run side by side.
//!
//! The files, in the order of a dispatch:
//!
//! - `module` loads a code object into memory. `record` and `kernel` are its kernels. `coverage` lists the instructions of a
//!   code object that are not executed, without loading it.
//! - `launch` has the parameters of a dispatch. `start` checks them, and writes arguments and packet. `opening` sets the
//!   registers of each wave. `service` names the services of a runtime that a dispatch lacks.
//! - `grid` is the data that all workgroups of a dispatch share. `workgroup` lets the waves of one workgroup take turns.
//! - `job` spreads the workgroups over threads, in an order from `order`. `stepped` runs them one turn at a time instead, as
//!   `choose` decides.
//! - `float_mode` keeps the float mode of the host's threads from kernels.
//! - `scene` describes the fault of a wave, and `fault` is the report.

mod choose;
mod coverage;
mod fault;
mod float_mode;
mod grid;
mod job;
mod kernel;
mod launch;
mod module;
mod opening;
mod order;
mod record;
mod scene;
mod service;
mod start;
mod stepped;
mod workgroup;

pub use crate::exec::{AccessKind, Cause, SourceLine};
pub use choose::{Choose, StepOutcome};
pub use coverage::{Unsupported, unsupported};
pub use fault::{Access, Fault, Location};
pub use float_mode::DefaultFloatMode;
pub use kernel::Kernel;
pub use launch::{Launch, Statistics};
pub use launch::{OfQueue, Placed};
pub use module::{LoadError, Module};
pub use record::{Parameter, ParameterKind};
pub use stepped::Stepped;

use crate::memory::Memory;
use crossbeam_channel::Sender;
use grid::Grid;
use job::{Invitation, Job};
use start::Start;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Runs kernels.
pub struct Engine {
    threads: usize,
    cancelled: AtomicBool,
    /// Flags that stop the dispatches in flight.
    running: Mutex<Vec<Arc<AtomicBool>>>,
    /// The channel on which idle workers receive dispatches to help with.
    help: OnceLock<Sender<Invitation>>,
    /// Faults that are reported but stopped no kernel, the oldest first.
    findings: Mutex<Vec<Fault>>,
}

/// The most findings that are kept for [`Engine::take_findings`]. Further ones are only in the log.
const FINDINGS: usize = 256;

impl Engine {
    /// An engine that spreads the workgroups of a dispatch over `threads` threads, including the caller's. Worker
    /// threads start when they are first needed, and end when the engine is dropped.
    pub fn new(threads: usize) -> Arc<Self> {
        Arc::new(Self {
            threads: threads.max(1),
            cancelled: AtomicBool::new(false),
            running: Mutex::default(),
            help: OnceLock::new(),
            findings: Mutex::default(),
        })
    }

    /// Runs a kernel; returns when all of its workgroups have ended.
    ///
    /// # Errors
    /// A [`Fault`] describes the error of the kernel, or the reason why it was not started. Writes before the fault
    /// stay.
    pub fn dispatch(
        &self,
        memory: &Arc<Memory>,
        kernel: &Kernel,
        launch: &Launch<'_>,
    ) -> Result<Statistics, Box<Fault>> {
        self.dispatch_of(memory, kernel, launch, OfQueue::default())
    }

    /// As [`dispatch`](Self::dispatch), for a queue.
    pub fn dispatch_of(
        &self,
        memory: &Arc<Memory>,
        kernel: &Kernel,
        launch: &Launch<'_>,
        queue: OfQueue,
    ) -> Result<Statistics, Box<Fault>> {
        let mut start = Start::new(kernel, launch)?;
        let stop = start.join(queue);
        let entry = kernel.check()?;
        let block = start.place(memory, kernel, launch)?;
        let owned = Kernel { module: kernel.module.clone(), record: kernel.record.clone() };
        let grid = Grid::new(memory.clone(), owned, start, entry, stop);
        let job = Arc::new(Job::new(grid, launch.seed));
        let _running = Running::new(self, &job.grid.stop);
        let helpers = job.total().saturating_sub(1).min(self.threads as u64 - 1);
        for _ in 0..helpers {
            // Without helpers the caller runs all workgroups.
            let _ = self.help().send(job.invitation());
        }
        let result = job.finish();
        self.keep(job.grid.findings());
        drop(block);
        match &result {
            Ok(statistics) => {
                tracing::trace!(target: "windlass::sim", kernel = kernel.name(), ?statistics, "dispatch");
            }
            // The caller reports it to the user.
            Err(fault) => tracing::debug!(target: "windlass::sim", "{fault}"),
        }
        result
    }

    /// Begins a dispatch that only [`Stepped::step`] runs, on the thread that calls it.
    ///
    /// # Errors
    /// As [`dispatch`](Self::dispatch), before anything runs.
    pub fn begin(
        memory: &Arc<Memory>,
        kernel: &Kernel,
        launch: &Launch<'_>,
        queue: OfQueue,
    ) -> Result<Stepped, Box<Fault>> {
        let mut start = Start::new(kernel, launch)?;
        let stop = start.join(queue);
        let entry = kernel.check()?;
        let block = start.place(memory, kernel, launch)?;
        let owned = Kernel { module: kernel.module.clone(), record: kernel.record.clone() };
        let grid = Grid::new(memory.clone(), owned, start, entry, stop);
        Ok(Stepped::new(Job::new(grid, launch.seed), block))
    }

    /// Takes the faults since the last call that are reported but stopped no kernel: reads of memory that was
    /// never written, if [`track_writes`](crate::memory::MemoryOptions::track_writes) is set. At most 256 are kept.
    pub fn take_findings(&self) -> Vec<Fault> {
        std::mem::take(&mut *self.findings.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Logs findings, and keeps them for [`take_findings`](Self::take_findings).
    pub fn keep(&self, findings: Vec<Fault>) {
        for finding in &findings {
            tracing::error!(target: "windlass::sim", "{finding}");
        }
        let mut kept = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        let room = FINDINGS.saturating_sub(kept.len());
        kept.extend(findings.into_iter().take(room));
    }

    /// Stops the dispatches in flight and all later ones, with [`Cause::Cancelled`].
    pub fn cancel(&self) {
        let running = self.lock();
        self.cancelled.store(true, Ordering::SeqCst);
        for stop in running.iter() {
            stop.store(true, Ordering::Relaxed);
        }
    }

    /// The channel to the workers. The first call starts them.
    fn help(&self) -> &Sender<Invitation> {
        self.help.get_or_init(|| {
            let (sender, receiver) = crossbeam_channel::unbounded::<Invitation>();
            for number in 1..self.threads {
                let receiver = receiver.clone();
                let started = std::thread::Builder::new()
                    .name(format!("windlass-sim-{number}"))
                    .spawn(move || receiver.iter().for_each(Invitation::redeem));
                if let Err(error) = started {
                    tracing::warn!(target: "windlass::sim", %error, number, "no more worker threads");
                    break;
                }
            }
            sender
        })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<AtomicBool>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("threads", &self.threads).finish_non_exhaustive()
    }
}

/// A dispatch in flight, which [`Engine::cancel`] stops.
struct Running<'a> {
    engine: &'a Engine,
    stop: &'a Arc<AtomicBool>,
}

impl<'a> Running<'a> {
    fn new(engine: &'a Engine, stop: &'a Arc<AtomicBool>) -> Self {
        let mut running = engine.lock();
        running.push(stop.clone());
        if engine.cancelled.load(Ordering::SeqCst) {
            stop.store(true, Ordering::Relaxed);
        }
        Self { engine, stop }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.engine.lock().retain(|stop| !Arc::ptr_eq(stop, self.stop));
    }
}
