// SPDX-License-Identifier: MIT OR Apache-2.0
//! A kernel, by its descriptor and its metadata.

use crate::code::arg::Arg;
use crate::code::descriptor::KernelDescriptor;

/// A kernel of a code object. Addresses are relative to the load address; sizes are in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kernel {
    /// The name for `hipModuleGetFunction`; bytes that are not UTF-8 are written as `\xNN`.
    pub name: String,
    /// The symbol of the descriptor, `<name>.kd`.
    pub symbol: String,
    /// The descriptor.
    pub descriptor: KernelDescriptor,
    /// The address of the descriptor.
    pub descriptor_address: u64,
    /// The address of the first instruction, which lies in an executable segment.
    pub entry_address: u64,
    /// The size of the argument block, with hidden arguments.
    pub kernarg_size: u32,
    /// The alignment of the argument block.
    pub kernarg_align: u32,
    /// Static group memory (LDS). Triton states 0 and passes all of it as dynamic.
    pub group_segment_size: u32,
    /// Private memory (scratch) per work item.
    pub private_segment_size: u32,
    /// Lanes per wave, 32 or 64.
    pub wavefront_size: u32,
    /// The maximum number of work items of a workgroup.
    pub max_flat_workgroup_size: u32,
    /// The only permitted workgroup size, if there is one.
    pub reqd_workgroup_size: Option<[u32; 3]>,
    /// When the kernel runs.
    pub kind: KernelKind,
    /// The arguments in the order of the metadata: the caller's own, then hidden ones.
    pub args: Vec<Arg>,
    /// Vector registers per lane. On processors with accumulation registers in the same file, both kinds together.
    pub vgpr_count: u32,
    /// Scalar registers per wave.
    pub sgpr_count: u32,
    /// Accumulation registers per lane, if the processor has them.
    pub agpr_count: Option<u32>,
    /// Vector registers that were spilled to memory.
    pub vgpr_spill_count: u32,
    /// Scalar registers that were spilled.
    pub sgpr_spill_count: u32,
    /// Whether the stack size is unknown before the launch.
    pub uses_dynamic_stack: bool,
    /// Whether the kernel was compiled for workgroup processor mode (gfx10 and later).
    pub workgroup_processor_mode: bool,
    /// Whether the grid must consist of whole workgroups.
    pub uniform_workgroup_size: bool,
}

impl Kernel {
    /// The arguments that a caller gives, in order.
    pub fn explicit_args(&self) -> impl Iterator<Item = &Arg> {
        self.args.iter().filter(|arg| !arg.is_hidden())
    }
}

/// When a kernel runs.
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

/// A kernel of the metadata that cannot be launched.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RejectedKernel {
    /// The name, or `kernel N` if the name is missing.
    pub name: String,
    /// The reason.
    pub reason: String,
    /// The arguments in order, as far as the metadata describes them.
    pub args: Vec<Arg>,
}
