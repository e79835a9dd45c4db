// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory pools: those of the host, and those of each GPU. A pool is a region too, with the same handle.

use super::abi::MemoryPool;
use super::agent::Which;

/// The handle of the host's first pool. It cannot be an address.
const FIRST: u64 = 0x5749_4e44_504f_0000;
/// The number of handles reserved for one agent.
const OF_AGENT: u64 = 16;

/// The kind of memory of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grain {
    Fine,
    /// Fine-grained memory of the host for arguments of kernels.
    Kernarg,
    Coarse,
    /// LDS, which cannot be allocated.
    Group,
}

/// A pool of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pool {
    pub(crate) agent: Which,
    pub(crate) grain: Grain,
}

const OF_CPU: [Grain; 3] = [Grain::Fine, Grain::Kernarg, Grain::Coarse];
const OF_GPU: [Grain; 3] = [Grain::Coarse, Grain::Fine, Grain::Group];

impl Pool {
    /// The pools of an agent.
    pub(crate) fn of_agent(agent: Which) -> impl Iterator<Item = Self> {
        let grains = if agent == Which::Cpu { OF_CPU } else { OF_GPU };
        grains.into_iter().map(move |grain| Self { agent, grain })
    }

    pub(crate) fn handle(self) -> MemoryPool {
        let agent = self.agent.gpu().map_or(0, |index| index as u64 + 1);
        MemoryPool { handle: FIRST + agent * OF_AGENT + self.grain as u64 }
    }

    /// `hsa_amd_memory_pool_global_flag_t`, a bit each.
    pub(crate) fn flags(self) -> u32 {
        match self.grain {
            Grain::Fine => 2,
            Grain::Kernarg => 1 | 2,
            Grain::Coarse => 4,
            Grain::Group => 0,
        }
    }

    /// `hsa_amd_memory_pool_access_t` of an agent.
    pub(crate) fn access(self, agent: Which) -> u32 {
        const NEVER: u32 = 0;
        const BY_DEFAULT: u32 = 1;
        const WHEN_ALLOWED: u32 = 2;
        match (self.agent, agent) {
            (owner, agent) if owner == agent => BY_DEFAULT,
            _ if self.grain == Grain::Group => NEVER,
            (Which::Cpu, Which::Gpu(_)) => BY_DEFAULT,
            // Without a large BAR the host cannot access a GPU's memory.
            (Which::Gpu(_), Which::Cpu) => NEVER,
            _ => WHEN_ALLOWED,
        }
    }
}
