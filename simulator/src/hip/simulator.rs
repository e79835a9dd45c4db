// SPDX-License-Identifier: MIT OR Apache-2.0
//! A simulated machine, and the table of HIP functions that leads to it.

use std::fmt;
use std::sync::Arc;

use windlass_hip_sys::rccl::{self, Rccl};
use windlass_hip_sys::{Api, Binding, Found, Origin, Version};

use super::calls::table;
use super::instance::runtime::Runtime;
use super::instance::setup::{Error, set_up};
use super::instance::thread;
use super::rccl::table::{process_rccl, version_of};
use super::words::explanation;
use crate::options::{Faults, Options};
use crate::packet::{Schedule, ScheduleReport};

/// A simulated machine with its GPUs.
///
/// Simulators share nothing. A simulator lives as long as this value or an [`Api`] of it. Work that is queued when the last
/// of them is dropped is dropped too.
pub struct Simulator {
    runtime: Arc<Runtime>,
}

impl Simulator {
    /// Sets a machine up. Its threads start with its first work.
    ///
    /// # Errors
    /// [`Error`] if the system does not give the address space for its memory.
    pub fn new(options: Options) -> Result<Arc<Self>, Error> {
        let slots: Vec<usize> = (0..options.devices as usize).collect();
        Ok(Arc::new(Self { runtime: set_up(options, &slots)? }))
    }

    /// Checks that the file of the option `replay` is a log and that the file of `record` can be written. A program that
    /// passes options to a child learns this early; [`new`](Self::new) checks the same. Changes no file.
    ///
    /// # Errors
    /// [`Error::Setup`] names the file and the reason.
    pub fn check_files(options: &Options) -> Result<(), Error> {
        Schedule::check(options).map_err(Error::Setup)
    }

    /// The description of the machine.
    pub fn options(&self) -> &Options {
        &self.runtime.options
    }

    /// HIP's functions, bound to this simulator, with RCCL's ([`Api::rccl`]). The table keeps the simulator alive.
    pub fn api(&self) -> Api {
        let options = &self.runtime.options;
        let origin = Origin {
            name: format!("simulator {}", options.processors().join(" + ")),
            path: None,
            version: Version::from_number(options.hip_version()),
            found: Found::InProcess,
            simulated: true,
            simulated_hip: true,
        };
        let binding = || Binding {
            context: Arc::as_ptr(&self.runtime).cast(),
            enter,
            keep_alive: self.runtime.clone(),
        };
        let rccl_version = rccl::Version::from_number(version_of(options.hip));
        let rccl_origin = rccl::Origin::in_process("the simulator's RCCL", rccl_version);
        // SAFETY: the functions do as RCCL documents, on any thread, after `enter`, as for the table below.
        let rccl = unsafe { Rccl::from_functions(process_rccl(), rccl_origin, Some(binding())) };
        // SAFETY: the functions do as HIP documents, on any thread, after `enter` has selected the simulator, which the
        // binding keeps alive.
        let api = unsafe { Api::from_entries(table::entries(options), origin, Some(binding())) };
        let api = api.with_diagnosis(explanation::latest).with_rccl(rccl);
        match options.faults {
            Faults::Submission => api.with_contained_faults(),
            Faults::Sticky => api,
        }
    }

    /// The report of the latest failure of a kernel or copy: the kernel, its instruction, the lane and the address, as far
    /// as they are known. It stays until the next failure.
    pub fn last_fault(&self) -> Option<String> {
        self.runtime.machine.last_fault()
    }

    /// The choices so far, if the options have a seed.
    pub fn schedule(&self) -> Option<ScheduleReport> {
        self.runtime.scheduler.schedule.as_ref().map(Schedule::report)
    }

    /// Takes the reports since the last call on mistakes that did not stop a kernel: with the option
    /// `uninitialised=report`, reads of memory that was never written. At most 256 reports are kept; the log has all.
    pub fn take_findings(&self) -> Vec<String> {
        self.runtime.machine.engine.take_findings().iter().map(ToString::to_string).collect()
    }
}

impl fmt::Debug for Simulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulator").field("options", self.options()).finish_non_exhaustive()
    }
}

/// Selects the simulator of a binding for this thread.
///
/// # Safety
/// `context` is that of a [`Binding`] whose `keep_alive` is alive.
unsafe fn enter(context: *const ()) {
    // SAFETY: it came from `Arc::as_ptr`, and the binding keeps an `Arc`.
    unsafe { thread::select(context.cast()) };
}
