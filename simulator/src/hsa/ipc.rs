// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shared memory that is mapped to an address of its own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::memory::Memory;

use super::agent::Which;
use super::holding::{Holdings, Pinned};
use super::pool::Pool;
use super::status::{Outcome, Status};
use super::ticket::Ticket;

/// Mappings are reserved in pages.
const PAGE: u64 = 4096;

/// The mappings of shared memory.
pub(crate) struct Attachments {
    memory: Arc<Memory>,
    state: Mutex<BTreeMap<u64, Attached>>,
}

/// Shared memory at an address of its own. It keeps the memory alive.
pub(crate) struct Attached {
    pub(crate) size: u64,
    pub(crate) pool: Pool,
    _memory: Pinned,
}

impl Attachments {
    pub(crate) fn new(memory: Arc<Memory>) -> Self {
        Self { memory, state: Mutex::default() }
    }

    /// Maps the memory of a handle to an address of its own, for these agents, or for all GPUs if there are
    /// none.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for memory that is gone, another size, and the host; `OUT_OF_RESOURCES`.
    pub(crate) fn attach(
        &self,
        holdings: &Arc<Holdings>,
        ticket: Ticket,
        size: u64,
        agents: &[Which],
        by: Arc<str>,
    ) -> Outcome<u64> {
        let (pinned, allocation) = holdings.pin(ticket.address, ticket.number, size)?;
        if agents.contains(&Which::Cpu) {
            return Err(Status::INVALID_ARGUMENT);
        }
        let gpus = agents.iter().filter_map(|agent| agent.gpu());
        let homes = gpus.fold(0, |homes, gpu| homes | 1 << (gpu & 63));
        let homes = if agents.is_empty() { crate::memory::ALL_DEVICES } else { homes };
        let whole = allocation.size.next_multiple_of(PAGE);
        let base = self.memory.reserve(whole, PAGE, by.clone()).map_err(|_| Status::OUT_OF_RESOURCES)?;
        if self.memory.map_to(base, allocation.size, allocation.base, by).is_err() {
            self.memory.unreserve(base, whole);
            return Err(Status::OUT_OF_RESOURCES);
        }
        self.memory.set_access(base, homes, homes);
        let attached = Attached { size: allocation.size, pool: allocation.pool, _memory: pinned };
        self.lock().insert(base, attached);
        Ok(base)
    }

    /// Ends a mapping.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if none begins at the address.
    pub(crate) fn detach(&self, base: u64, by: Arc<str>) -> Outcome<()> {
        let gone = self.lock().remove(&base).ok_or(Status::INVALID_ARGUMENT)?;
        self.memory.unmap(base, by).map_err(|_| Status::INVALID_ARGUMENT)?;
        self.memory.unreserve(base, gone.size.next_multiple_of(PAGE));
        Ok(())
    }

    /// The mapping that contains an address: its base, its size and its pool.
    pub(crate) fn find(&self, address: u64) -> Option<(u64, u64, Pool)> {
        let state = self.lock();
        let (base, attached) = state.range(..=address).next_back()?;
        (address - base < attached.size).then_some((*base, attached.size, attached.pool))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Attached>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
