// SPDX-License-Identifier: MIT OR Apache-2.0
//! A kernel of a loaded module: its entry, its parameters and its resources.

use super::fault::Fault;
use super::module::Module;
use super::record::{KernelRecord, Parameter};
use crate::exec::{Cause, Position};
use std::fmt;
use std::sync::Arc;
use windlass_codeobject::Kernel as Description;

/// A kernel of a [`Module`]. It keeps its module loaded.
pub struct Kernel {
    pub(super) module: Arc<Module>,
    pub(super) record: Arc<KernelRecord>,
}

impl Module {
    /// The kernel of a name, with or without `.kd`.
    pub fn kernel(self: &Arc<Self>, name: &str) -> Option<Arc<Kernel>> {
        let record = self.kernels.get(name).or_else(|| self.kernels.get(name.strip_suffix(".kd")?))?;
        Some(Arc::new(Kernel { module: self.clone(), record: record.clone() }))
    }
}

impl Kernel {
    /// The name in the metadata, without `.kd`.
    pub fn name(&self) -> &str {
        &self.record.description.name
    }

    /// The code object's description. Its addresses count from the address that the code object is loaded at.
    pub fn description(&self) -> &Description {
        &self.record.description
    }

    /// The module that it belongs to.
    pub fn module(&self) -> &Arc<Module> {
        &self.module
    }

    /// The address of its descriptor in device memory.
    pub fn handle(&self) -> u64 {
        self.record.handle
    }

    /// The explicit parameters, in order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.record.parameters
    }

    /// The size of the argument block in bytes, with hidden arguments.
    pub fn argument_size(&self) -> u32 {
        self.record.description.kernarg_size
    }

    /// The size of the explicit parameters in the argument block, in bytes.
    pub fn explicit_argument_size(&self) -> u32 {
        self.parameters()
            .iter()
            .map(|parameter| parameter.offset.saturating_add(parameter.size))
            .max()
            .unwrap_or(0)
    }

    /// The most work-items that a workgroup may have.
    pub fn max_workgroup_size(&self) -> u32 {
        self.record.description.max_flat_workgroup_size
    }

    /// The workgroup size that the kernel was compiled for, if it accepts no other.
    pub fn required_workgroup_size(&self) -> Option<[u32; 3]> {
        self.record.description.reqd_workgroup_size
    }

    /// Bytes of LDS that the kernel declares.
    pub fn static_lds(&self) -> u32 {
        self.record.description.group_segment_size
    }

    /// Bytes of private memory of each work-item.
    pub fn private_size(&self) -> u32 {
        self.record.description.private_segment_size
    }

    /// Lanes of the waves that it was compiled for, 32 or 64.
    pub fn wave_size(&self) -> u32 {
        self.record.description.wavefront_size
    }

    /// Vector registers, with accumulation registers.
    pub fn vgprs(&self) -> u32 {
        self.record.description.vgpr_count
    }

    /// Accumulation registers.
    pub fn agprs(&self) -> u32 {
        self.record.description.agpr_count.unwrap_or(0)
    }

    /// Checks that the simulator executes every instruction that the kernel reaches without calls. The error lists the
    /// first few that it does not execute, with their bytes.
    ///
    /// # Errors
    /// The fault with which a launch would be refused.
    pub fn verify(&self) -> Result<(), Box<Fault>> {
        self.check().map(drop)
    }

    /// The first instruction of its waves, if everything that it reaches can be executed.
    pub(super) fn check(&self) -> Result<Position, Box<Fault>> {
        /// The most instructions that are listed.
        const SHOWN: usize = 5;
        let record = &self.record;
        let Some(entry) = record.program.find(record.entry) else {
            let place = self.module.memory().place(record.entry);
            let cause = Cause::IllegalProgramCounter { target: record.entry, place };
            return Err(Fault::before_start(self.name(), cause));
        };
        let problems = &entry.region.problems;
        if problems.is_empty() {
            return Ok(entry);
        }
        let mut lines: Vec<String> = problems.iter().take(SHOWN).map(ToString::to_string).collect();
        if problems.len() > SHOWN {
            lines.push(format!("and {} more", problems.len() - SHOWN));
        }
        Err(Fault::before_start(self.name(), Cause::Unsupported { instructions: lines.join("; ") }))
    }

    /// Whether a workgroup may use both compute units of a pair (WGP mode).
    pub fn is_for_both_units(&self) -> bool {
        self.record.description.workgroup_processor_mode
    }

    /// Scalar registers.
    pub fn sgprs(&self) -> u32 {
        self.record.description.sgpr_count
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("name", &self.name()).finish_non_exhaustive()
    }
}
