// SPDX-License-Identifier: MIT OR Apache-2.0
//! A simulated machine, and the table of HIP functions that leads to it.

use std::fmt;
use std::sync::Arc;

use windlass_hip_sys::{Api, Binding, Found, Origin, Version};

use crate::options::{Faults, Options};
use crate::packet::{Schedule, ScheduleReport};

use super::call;
use super::current;
use super::runtime::{Error, Runtime};
use super::table;

/// A simulated machine with its GPUs.
///
/// Simulators share nothing. A simulator lives as long as this value or an [`Api`] of it does; what is still queued
/// when the last one goes is dropped, and nobody waits for it.
pub struct Simulator {
    runtime: Arc<Runtime>,
}

impl Simulator {
    /// Sets a machine up. Threads are started when there is work for them.
    ///
    /// # Errors
    /// [`Error`] where the system does not give the address space for its memory.
    pub fn new(options: Options) -> Result<Arc<Self>, Error> {
        let slots: Vec<usize> = (0..options.devices as usize).collect();
        Ok(Arc::new(Self { runtime: Runtime::new(options, &slots)? }))
    }

    /// Whether the log that options say to replay is one, and whether one can be written where they say so. For who
    /// describes a machine to a program that it starts: [`new`](Self::new) says the same, later. Changes no file.
    ///
    /// # Errors
    /// [`Error::Setup`] names the file and the reason.
    pub fn check_files(options: &Options) -> Result<(), Error> {
        Schedule::check(options).map_err(Error::Setup)
    }

    /// What the machine consists of.
    pub fn options(&self) -> &Options {
        &self.runtime.options
    }

    /// HIP's functions, bound to this simulator. The table keeps the simulator alive.
    pub fn api(&self) -> Api {
        let options = &self.runtime.options;
        let origin = Origin {
            name: format!("simulator {}", options.part.name()),
            path: None,
            version: Version::from_number(options.hip_version()),
            found: Found::InProcess,
            simulated: true,
            simulated_hip: true,
        };
        let binding =
            Binding { context: Arc::as_ptr(&self.runtime).cast(), enter, keep_alive: self.runtime.clone() };
        // SAFETY: the functions do as HIP documents, on any thread, once `enter` has named the simulator, which the
        // binding keeps alive.
        let api = unsafe { Api::from_entries(table::entries(options), origin, Some(binding)) };
        let api = api.with_diagnosis(call::explanation);
        match options.faults {
            Faults::Submission => api.with_contained_faults(),
            Faults::Sticky => api,
        }
    }

    /// What the latest kernel or copy to fail did wrong: the kernel, its instruction, the lane and the address where
    /// they are known. It stays until the next failure.
    pub fn last_fault(&self) -> Option<String> {
        self.runtime.machine.last_fault()
    }

    /// What was chosen so far, where the options have a seed.
    pub fn schedule(&self) -> Option<ScheduleReport> {
        self.runtime.scheduler.schedule.as_ref().map(Schedule::report)
    }

    /// What kernels did since this was last asked that is reported but did not stop them, a report each: reads of
    /// memory that nobody wrote, with the option `uninitialised=report`. 256 are kept; the log has all.
    pub fn take_findings(&self) -> Vec<String> {
        self.runtime.machine.engine.take_findings().iter().map(ToString::to_string).collect()
    }
}

impl fmt::Debug for Simulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulator").field("options", self.options()).finish_non_exhaustive()
    }
}

/// Makes the simulator of a binding the one that this thread talks to.
///
/// # Safety
/// `context` is that of a [`Binding`] whose `keep_alive` is alive.
unsafe fn enter(context: *const ()) {
    // SAFETY: it came from `Arc::as_ptr`, and the binding keeps an `Arc`.
    unsafe { current::select(context.cast()) };
}
