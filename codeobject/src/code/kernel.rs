// SPDX-License-Identifier: MIT OR Apache-2.0
//! A kernel: what its descriptor and its metadata say together.

use crate::code::arg::Arg;
use crate::code::descriptor::KernelDescriptor;

/// A kernel of a code object. Addresses count from where the code object is loaded, sizes are bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kernel {
    /// Its name, as `hipModuleGetFunction` takes it; bytes that are not UTF-8 are written as `\xNN`.
    pub name: String,
    /// The symbol of its descriptor, `<name>.kd`.
    pub symbol: String,
    /// Its descriptor.
    pub descriptor: KernelDescriptor,
    /// Where the descriptor lies.
    pub descriptor_address: u64,
    /// Where its first instruction lies, in an executable segment.
    pub entry_address: u64,
    /// Size of the argument block, hidden arguments included.
    pub kernarg_size: u32,
    /// Alignment of the argument block.
    pub kernarg_align: u32,
    /// Static group memory (LDS). Triton states 0 and passes all of it as dynamic.
    pub group_segment_size: u32,
    /// Private memory (scratch) per work item.
    pub private_segment_size: u32,
    /// Lanes per wave, 32 or 64.
    pub wavefront_size: u32,
    /// The most work items that a workgroup may have.
    pub max_flat_workgroup_size: u32,
    /// The only workgroup size that it may be launched with, where there is one.
    pub reqd_workgroup_size: Option<[u32; 3]>,
    /// When it is to run.
    pub kind: KernelKind,
    /// Its arguments in the order of the metadata: the caller's own, then hidden ones.
    pub args: Vec<Arg>,
    /// Vector registers per lane; on processors with accumulation registers in one file, both kinds together.
    pub vgpr_count: u32,
    /// Scalar registers per wave.
    pub sgpr_count: u32,
    /// Accumulation registers per lane, where the processor has them.
    pub agpr_count: Option<u32>,
    /// Vector registers that were spilled to memory.
    pub vgpr_spill_count: u32,
    /// Scalar registers that were spilled.
    pub sgpr_spill_count: u32,
    /// Whether the size of its stack is not known before the launch.
    pub uses_dynamic_stack: bool,
    /// Whether it was compiled for workgroup processor mode (gfx10 and later).
    pub workgroup_processor_mode: bool,
    /// Whether it may only be launched with a grid of whole workgroups.
    pub uniform_workgroup_size: bool,
}

impl Kernel {
    /// The arguments that a caller gives, in order.
    pub fn explicit_args(&self) -> impl Iterator<Item = &Arg> {
        self.args.iter().filter(|arg| !arg.is_hidden())
    }
}

/// When a kernel is to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KernelKind {
    /// When it is launched.
    Normal,
    /// Once, after the code object is loaded (constructors of globals).
    Init,
    /// Once, before the code object is unloaded.
    Fini,
}

/// A kernel that the metadata lists and that cannot be launched.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RejectedKernel {
    /// Its name, or `kernel N` where that is what is missing.
    pub name: String,
    /// What is wrong with it.
    pub reason: String,
    /// Its arguments as far as the metadata describes them, in order.
    pub args: Vec<Arg>,
}
