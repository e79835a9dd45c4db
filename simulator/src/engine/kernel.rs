// SPDX-License-Identifier: MIT OR Apache-2.0
//! A kernel of a loaded module: where it starts, what it takes and what it needs.

use super::fault::{Cause, Fault};
use super::module::Module;
use crate::exec::{Position, Program};
use std::fmt;
use std::sync::Arc;
use windlass_codeobject::{ArgKind, Kernel as Description};

/// One explicit parameter of a kernel, as the code object's metadata has it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name, where the compiler left it; otherwise empty.
    pub name: String,
    /// Byte offset in the argument block.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// What it is.
    pub kind: ParameterKind,
}

/// What a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParameterKind {
    /// Bytes.
    Value,
    /// A device pointer.
    Pointer,
    /// An offset into dynamic LDS (OpenCL's local pointers).
    LocalPointer,
    /// Something else that takes space (images, pipes).
    Other,
}

/// Everything known about a kernel.
pub(super) struct Record {
    /// What the code object says.
    pub(super) description: Description,
    /// Address of the descriptor.
    pub(super) handle: u64,
    /// Address of the first instruction.
    pub(super) entry: u64,
    /// The code that holds the entry.
    pub(super) program: Arc<Program>,
    pub(super) parameters: Vec<Parameter>,
}

impl Record {
    /// A kernel of a code object that is loaded at `base`.
    pub(super) fn new(description: Description, base: u64, program: Arc<Program>) -> Self {
        let parameters = description
            .explicit_args()
            .map(|arg| Parameter {
                name: arg.name.clone().unwrap_or_default(),
                offset: arg.offset,
                size: arg.size,
                kind: match arg.kind {
                    ArgKind::ByValue => ParameterKind::Value,
                    ArgKind::GlobalBuffer => ParameterKind::Pointer,
                    ArgKind::DynamicSharedPointer => ParameterKind::LocalPointer,
                    _ => ParameterKind::Other,
                },
            })
            .collect();
        Self {
            handle: base.wrapping_add(description.descriptor_address),
            entry: base.wrapping_add(description.entry_address),
            program,
            parameters,
            description,
        }
    }
}

/// A kernel of a [`Module`]. It keeps its module loaded.
pub struct Kernel {
    pub(super) module: Arc<Module>,
    pub(super) record: Arc<Record>,
}

impl Kernel {
    /// The name in the metadata, without `.kd`.
    pub fn name(&self) -> &str {
        &self.record.description.name
    }

    /// What the code object says of it. Addresses in it count from where the code object is loaded.
    pub fn description(&self) -> &Description {
        &self.record.description
    }

    /// The module that it belongs to.
    pub fn module(&self) -> &Arc<Module> {
        &self.module
    }

    /// Address of its descriptor in device memory.
    pub fn handle(&self) -> u64 {
        self.record.handle
    }

    /// The explicit parameters, in order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.record.parameters
    }

    /// Bytes of the argument block, hidden arguments included.
    pub fn argument_size(&self) -> u32 {
        self.record.description.kernarg_size
    }

    /// Bytes of the argument block that the explicit parameters take.
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

    /// Vector registers, accumulation registers counted.
    pub fn vgprs(&self) -> u32 {
        self.record.description.vgpr_count
    }

    /// Accumulation registers.
    pub fn agprs(&self) -> u32 {
        self.record.description.agpr_count.unwrap_or(0)
    }

    /// Whether the simulator executes every instruction that the kernel reaches without calls; the first few that it
    /// does not, with their bytes, are in the error.
    ///
    /// # Errors
    /// The fault that a launch would end in before anything runs.
    pub fn verify(&self) -> Result<(), Box<Fault>> {
        self.check().map(drop)
    }

    /// Where waves start, unless something there cannot be executed.
    pub(super) fn check(&self) -> Result<Position, Box<Fault>> {
        /// Instructions that are named.
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
