// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pools of a runtime, and their attributes.

use super::abi::MemoryPool;
use super::agent::Which;
use super::info::Info;
use super::pool::{Grain, Pool};
use super::runtime::Runtime;
use super::status::{Outcome, Status};

/// Bytes of memory that the host reports.
const HOST: u64 = 64 << 30;

impl Runtime {
    /// # Errors
    /// `INVALID_MEMORY_POOL`.
    pub(crate) fn pool(&self, pool: MemoryPool) -> Outcome<Pool> {
        self.agents()
            .flat_map(Pool::of_agent)
            .find(|known| known.handle() == pool)
            .ok_or(Status::INVALID_MEMORY_POOL)
    }

    /// An attribute of a pool, by `hsa_amd_memory_pool_info_t`. The attributes of regions that exist have the
    /// same numbers.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an unknown attribute.
    pub(crate) fn pool_info(&self, pool: Pool, attribute: u32) -> Outcome<Info> {
        let group = pool.grain == Grain::Group;
        let size = match (pool.grain, pool.agent) {
            (_, Which::Cpu) => HOST,
            (Grain::Group, Which::Gpu(index)) => self.gpus.get(index).map_or(0, |gpu| gpu.part.lds.into()),
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
