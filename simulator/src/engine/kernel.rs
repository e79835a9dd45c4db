// SPDX-License-Identifier: MIT OR Apache-2.0
//! A kernel of a loaded module: where it starts, what it takes and what it needs.

use super::module::Module;
use std::fmt;
use std::sync::Arc;

/// One explicit parameter of a kernel, as the code object's metadata has it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name, where the compiler left it.
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

/// What a hidden argument holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HiddenKind {
    BlockCount(usize),
    GroupSize(usize),
    Remainder(usize),
    GlobalOffset,
    GridDims,
    DynamicLdsSize,
    PrivateBase,
    SharedBase,
    /// Services that the simulator lacks; null.
    Null,
}

/// An argument that the launch fills in behind the explicit ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hidden {
    pub(crate) kind: HiddenKind,
    pub(crate) offset: u32,
    pub(crate) size: u32,
}

/// The fields of a kernel descriptor that a launch needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Descriptor {
    pub(crate) group_segment: u32,
    pub(crate) private_segment: u32,
    pub(crate) kernarg_size: u32,
    pub(crate) rsrc1: u32,
    pub(crate) rsrc2: u32,
    pub(crate) properties: u16,
}

/// Everything known about a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) name: String,
    /// Address of the descriptor.
    pub(crate) handle: u64,
    /// Address of the first instruction.
    pub(crate) entry: u64,
    pub(crate) descriptor: Descriptor,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) hidden: Vec<Hidden>,
    pub(crate) max_workgroup_size: u32,
    pub(crate) required_workgroup_size: Option<[u32; 3]>,
    pub(crate) vgprs: u32,
    pub(crate) agprs: u32,
    pub(crate) sgprs: u32,
    pub(crate) dynamic_stack: bool,
}

/// A kernel of a [`Module`]. It keeps its module loaded.
pub struct Kernel {
    pub(super) module: Arc<Module>,
    pub(super) index: usize,
}

impl Kernel {
    pub(super) fn record(&self) -> &Record {
        &self.module.kernels[self.index]
    }

    /// The name in the metadata, without `.kd`.
    pub fn name(&self) -> &str {
        &self.record().name
    }

    /// The module that it belongs to.
    pub fn module(&self) -> &Arc<Module> {
        &self.module
    }

    /// Address of its descriptor in device memory.
    pub fn handle(&self) -> u64 {
        self.record().handle
    }

    /// The explicit parameters, by offset.
    pub fn parameters(&self) -> &[Parameter] {
        &self.record().parameters
    }

    /// Bytes of the argument block, hidden arguments included.
    pub fn argument_size(&self) -> u32 {
        self.record().descriptor.kernarg_size
    }

    /// Bytes of the argument block that the explicit parameters take.
    pub fn explicit_argument_size(&self) -> u32 {
        self.parameters().iter().map(|parameter| parameter.offset + parameter.size).max().unwrap_or(0)
    }

    /// The most work-items that a workgroup may have.
    pub fn max_workgroup_size(&self) -> u32 {
        self.record().max_workgroup_size
    }

    /// The workgroup size that the kernel was compiled for, if it accepts no other.
    pub fn required_workgroup_size(&self) -> Option<[u32; 3]> {
        self.record().required_workgroup_size
    }

    /// Bytes of LDS that the kernel declares.
    pub fn static_lds(&self) -> u32 {
        self.record().descriptor.group_segment
    }

    /// Bytes of private memory of each work-item.
    pub fn private_size(&self) -> u32 {
        self.record().descriptor.private_segment
    }

    /// Vector registers, accumulation registers not counted.
    pub fn vgprs(&self) -> u32 {
        self.record().vgprs
    }

    /// Accumulation registers.
    pub fn agprs(&self) -> u32 {
        self.record().agprs
    }

    /// Scalar registers.
    pub fn sgprs(&self) -> u32 {
        self.record().sgprs
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("name", &self.name()).finish_non_exhaustive()
    }
}
