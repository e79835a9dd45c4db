// SPDX-License-Identifier: MIT OR Apache-2.0
//! Agents: the host's processor, then the GPUs; and the instruction sets of the GPUs.

use windlass_simulated_gpu::Part;

use super::abi::{Agent, Isa};

/// The handle of the host's agent; the GPUs' handles follow. It cannot be an address.
const FIRST: u64 = 0x5749_4e44_4147_0001;
/// The handle of the first part's instruction set; those of the other parts follow.
const ISA: u64 = 0x5749_4e44_4953_0001;

/// A GPU that clients see.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GpuAgent {
    pub(crate) index: usize,
    /// Its index in the machine, which names it.
    pub(crate) slot: usize,
    pub(crate) part: &'static Part,
    /// Compute units that it reports.
    pub(crate) units: u32,
}

/// The processor or GPU behind an agent's handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    Cpu,
    /// A GPU, by its index.
    Gpu(usize),
}

impl Which {
    pub(crate) fn handle(self) -> Agent {
        match self {
            Self::Cpu => Agent { handle: FIRST },
            Self::Gpu(index) => Agent { handle: FIRST + 1 + index as u64 },
        }
    }

    /// The GPU's index.
    pub(crate) fn gpu(self) -> Option<usize> {
        match self {
            Self::Cpu => None,
            Self::Gpu(index) => Some(index),
        }
    }
}

/// The handle of a part's instruction set.
pub(crate) fn isa(part: &Part) -> Isa {
    let parts = Part::in_every_mode().take_while(|other| *other != part);
    Isa { handle: ISA + parts.count() as u64 }
}

/// The name of a part's instruction set.
pub(crate) fn isa_name(part: &Part) -> String {
    format!("amdgcn-amd-amdhsa--{}", part.target_id())
}
