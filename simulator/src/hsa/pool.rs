// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory pools: those of the host, and those of each GPU. A pool is a region too, by the same handle.

use super::abi::MemoryPool;
use super::agent::Which;
use super::info::Info;
use super::runtime::Runtime;
use super::status::{Outcome, Status};

/// The handle of the host's first pool. No address looks like it.
const FIRST: u64 = 0x5749_4e44_504f_0000;
/// Handles of one agent.
const OF_AGENT: u64 = 16;
/// Memory that the host says to have, in bytes.
const HOST: u64 = 64 << 30;

/// What a pool is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grain {
    Fine,
    /// Fine-grained memory of the host for arguments of kernels.
    Kernarg,
    Coarse,
    /// LDS, of which nothing can be allocated.
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
    pub(crate) fn of(agent: Which) -> impl Iterator<Item = Self> {
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
            // Without a large BAR the host reaches nothing of a GPU's.
            (Which::Gpu(_), Which::Cpu) => NEVER,
            _ => WHEN_ALLOWED,
        }
    }
}

impl Runtime {
    /// # Errors
    /// `INVALID_MEMORY_POOL`.
    pub(crate) fn pool(&self, pool: MemoryPool) -> Outcome<Pool> {
        self.agents()
            .flat_map(Pool::of)
            .find(|known| known.handle() == pool)
            .ok_or(Status::INVALID_MEMORY_POOL)
    }

    /// An attribute of a pool, by `hsa_amd_memory_pool_info_t`; the regions' numbers are the same as far as they go.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an attribute that there is not.
    pub(crate) fn pool_info(&self, pool: Pool, attribute: u32) -> Outcome<Info> {
        let group = pool.grain == Grain::Group;
        let size = match (pool.grain, pool.agent) {
            (Grain::Group, _) => self.options.part.lds.into(),
            (_, Which::Cpu) => HOST,
            _ => self.options.memory,
        };
        Ok(match attribute {
            // The global segment is 0, the group segment 3.
            0 => Info::U32(if group { 3 } else { 0 }),
            1 => Info::U32(pool.flags()),
            2 => Info::U64(size),
            5 => Info::Bool(!group),
            6 | 18 => Info::U64(if group { 0 } else { 4096 }),
            7 => Info::U64(if group { 0 } else { 4096 }),
            15 => Info::Bool(pool.agent == Which::Cpu),
            16 => Info::U64(if group { 0 } else { size }),
            17 => Info::U32(u32::from(pool.agent != Which::Cpu)),
            _ => return Err(Status::INVALID_ARGUMENT),
        })
    }
}
