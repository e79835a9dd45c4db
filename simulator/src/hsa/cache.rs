// SPDX-License-Identifier: MIT OR Apache-2.0
//! Caches, as the part has them on paper. The simulator caches nothing; memory is coherent everywhere.

use super::abi::Cache;
use super::agent::Which;
use super::info::Info;
use super::runtime::Runtime;
use super::status::{Outcome, Status};

/// The handle of the host's first level. It cannot be an address.
const FIRST: u64 = 0x5749_4e44_4341_0000;
/// The number of handles reserved for one agent.
const OF_AGENT: u64 = 16;
/// Bytes of the host's first level, the only one that it reports.
const HOST: u32 = 32 << 10;

/// The cache of an agent at a level, from 1 on.
pub(crate) fn handle(agent: Which, level: u8) -> Cache {
    let agent = agent.gpu().map_or(0, |index| index as u64 + 1);
    Cache { handle: FIRST + agent * OF_AGENT + u64::from(level) }
}

impl Runtime {
    /// Bytes of the caches of an agent, by level; zero where it has none.
    pub(crate) fn cache_sizes(&self, agent: Which) -> [u32; 4] {
        match agent {
            Which::Cpu => [HOST, 0, 0, 0],
            Which::Gpu(index) => {
                let caches = self.gpus.get(index).map_or([0; 3], |gpu| gpu.part.caches);
                let [first, second, third] = caches.map(i32::unsigned_abs);
                [first, second, third, 0]
            }
        }
    }

    /// The levels at which an agent has a cache.
    pub(crate) fn caches(&self, agent: Which) -> impl Iterator<Item = u8> + use<> {
        let sizes = self.cache_sizes(agent);
        (1..).zip(sizes).filter(|(_, size)| *size > 0).map(|(level, _)| level)
    }

    /// An attribute of a cache, by `hsa_cache_info_t`.
    ///
    /// # Errors
    /// `INVALID_CACHE`, `INVALID_ARGUMENT` for an unknown attribute.
    pub(crate) fn cache_info(&self, cache: Cache, attribute: u32) -> Outcome<Info> {
        let all = self.agents().flat_map(|agent| self.caches(agent).map(move |level| (agent, level)));
        let mut found = all.filter(|(agent, level)| handle(*agent, *level) == cache);
        let (agent, level) = found.next().ok_or(Status::INVALID_CACHE)?;
        let name = format!("L{level}\0");
        Ok(match attribute {
            0 => Info::U32(name.len() as u32),
            1 => Info::Bytes(name.into_bytes()),
            2 => Info::Bytes(vec![level]),
            3 => Info::U32(self.cache_sizes(agent)[usize::from(level) - 1]),
            _ => return Err(Status::INVALID_ARGUMENT),
        })
    }
}
