// SPDX-License-Identifier: MIT OR Apache-2.0
//! Handles by which memory and signals are shared. They work within one process: the machine is one process's, and a
//! handle of another process is told from one that is stale or invented.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::memory::Memory;

use super::abi::IpcHandle;
use super::agent::Which;
use super::call::Call;
use super::holding::{Holdings, Pinned};
use super::pool::Pool;
use super::status::{Outcome, Status};

/// The first word of a handle.
const MARK: u32 = 0x5749_4e44;
/// Mappings are reserved in pages.
const PAGE: u64 = 4096;

/// The kind of thing that a handle shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Shared {
    Memory = 1,
    Signal = 2,
}

/// The contents of a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) address: u64,
    /// Which of all that has lain at the address.
    pub(crate) number: u64,
}

impl Ticket {
    pub(crate) fn handle(self, of: Shared) -> IpcHandle {
        let halves = |word: u64| [word as u32, (word >> 32) as u32];
        let ([a, b], [c, d]) = (halves(self.address), halves(self.number));
        IpcHandle { handle: [MARK, of as u32, std::process::id(), 0, a, b, c, d] }
    }

    /// # Errors
    /// `INVALID_ARGUMENT` for what is no handle of such a thing, or another process's.
    pub(crate) fn read(call: &Call, handle: IpcHandle, of: Shared) -> Outcome<Self> {
        let [mark, kind, process, 0, a, b, c, d] = handle.handle else {
            return Err(Status::INVALID_ARGUMENT);
        };
        if mark != MARK || kind != of as u32 {
            return Err(Status::INVALID_ARGUMENT);
        }
        if process != std::process::id() {
            return call.refuse(
                Status::INVALID_ARGUMENT,
                &format!(
                    "the handle is of process {process}: each process has simulated GPUs of its own, so handles work in the \
                     process that made them"
                ),
            );
        }
        let whole = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
        Ok(Self { address: whole(a, b), number: whole(c, d) })
    }
}

/// The mappings of shared memory.
pub(crate) struct Attachments {
    memory: Arc<Memory>,
    state: Mutex<BTreeMap<u64, Attached>>,
}

/// Shared memory at an address of its own. It keeps the memory.
pub(crate) struct Attached {
    pub(crate) size: u64,
    pub(crate) pool: Pool,
    _memory: Pinned,
}

impl Attachments {
    pub(crate) fn new(memory: Arc<Memory>) -> Self {
        Self { memory, state: Mutex::default() }
    }

    /// Maps the memory of a handle to an address of its own, for these agents, or for all GPUs where there are none.
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
        let base = self.memory.reserve(whole, PAGE).map_err(|_| Status::OUT_OF_RESOURCES)?;
        if self.memory.map_to(base, allocation.size, allocation.base, by).is_err() {
            self.memory.unreserve(base, whole);
            return Err(Status::OUT_OF_RESOURCES);
        }
        self.memory.set_access(base, homes, true);
        let attached = Attached { size: allocation.size, pool: allocation.pool, _memory: pinned };
        self.lock().insert(base, attached);
        Ok(base)
    }

    /// Ends a mapping.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an address where none begins.
    pub(crate) fn detach(&self, base: u64, by: Arc<str>) -> Outcome<()> {
        let gone = self.lock().remove(&base).ok_or(Status::INVALID_ARGUMENT)?;
        self.memory.unmap(base, by).map_err(|_| Status::INVALID_ARGUMENT)?;
        self.memory.unreserve(base, gone.size.next_multiple_of(PAGE));
        Ok(())
    }

    /// The mapping that holds an address: its base, its size and whose memory it is.
    pub(crate) fn find(&self, address: u64) -> Option<(u64, u64, Pool)> {
        let state = self.lock();
        let (base, attached) = state.range(..=address).next_back()?;
        (address - base < attached.size).then_some((*base, attached.size, attached.pool))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Attached>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
