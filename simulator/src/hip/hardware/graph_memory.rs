// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory of a node of a graph: its addresses are known when the node is made, and each launch gives and frees it.

use std::sync::Arc;

use super::allocation::{self, Request};
use super::ledger::Origin;
use super::machine::Machine;
use crate::hip::objects::pool::Pool;
use crate::hip::words::code::Outcome;

/// The memory.
pub(crate) struct GraphMemory {
    machine: Arc<Machine>,
    pool: Arc<Pool>,
    pub(crate) base: u64,
    size: u64,
    call: Arc<str>,
}

impl GraphMemory {
    /// Memory for a node. It can be used from now on, since nothing runs between its making and the first launch.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`.
    pub(crate) fn new(
        machine: &Arc<Machine>,
        device: usize,
        size: u64,
        call: Arc<str>,
    ) -> Outcome<Arc<Self>> {
        let pool = Arc::new(Pool::private(device));
        let base = allocation::allocate(machine, device, Self::request(&pool, size, &call))?;
        Ok(Arc::new(Self { machine: machine.clone(), pool, base, size, call }))
    }

    fn request(pool: &Arc<Pool>, size: u64, call: &Arc<str>) -> Request {
        Request {
            size,
            origin: Origin::Pool,
            managed: false,
            flags: 0,
            pool: Some((pool.clone(), 0)),
            call: call.clone(),
        }
    }

    /// Gives the memory again, if it was freed.
    pub(crate) fn provide(&self) {
        allocation::reuse(&self.machine, &Self::request(&self.pool, self.size, &self.call));
    }

    pub(crate) fn device(&self) -> usize {
        self.pool.device
    }
}

impl std::fmt::Debug for GraphMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GraphMemory")
            .field("base", &self.base)
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

impl Drop for GraphMemory {
    fn drop(&mut self) {
        // Memory that the client has not freed stays until it does.
        self.pool.close();
        allocation::release_idle(&self.machine, &self.pool, 0);
    }
}
