// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory of a node of a graph: its addresses are known when the node is made, and each launch gives and frees it.

use std::sync::Arc;

use super::allocation::{self, Request};
use super::ledger::Origin;
use super::machine::Machine;
use crate::hip::objects::pool::{GraphShare, Pool};
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;

/// The memory.
pub(crate) struct GraphMemory {
    machine: Arc<Machine>,
    pool: Arc<Pool>,
    pub(crate) base: u64,
    pub(crate) size: u64,
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
        let owner = machine.device(device)?;
        if size > owner.capacity {
            explain(format!("{call}: {size} bytes are more than the device has"));
            return Err(Code::OUT_OF_MEMORY);
        }
        let share = GraphShare::new(owner.graph_reserve.clone(), owner.budget.clone());
        let pool = Arc::new(Pool::private(device, share));
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

    /// Whether a launch gave the memory, and nobody has freed it since.
    pub(crate) fn is_given(&self) -> bool {
        self.pool.is_given()
    }

    /// Gives the memory, again if it was freed.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`.
    pub(crate) fn provide(&self) -> Outcome<()> {
        self.count()?;
        allocation::reuse(&self.machine, &Self::request(&self.pool, self.size, &self.call));
        Ok(())
    }

    /// Counts the memory as given. Memory that the device's pools keep may be all that is missing.
    fn count(&self) -> Outcome<()> {
        for pool in self.machine.keepers.of_device(self.device()) {
            if self.pool.give(self.size).is_ok() {
                return Ok(());
            }
            allocation::release_idle(&self.machine, &pool, 0);
        }
        self.pool.give(self.size)
    }

    /// Undoes [`provide`](Self::provide), for a launch that does not take place.
    pub(crate) fn withdraw(&self) {
        // Memory that work was to free is free already.
        if let Some(holding) = self.machine.ledger.remove(self.base, |holding| !holding.leaves) {
            allocation::settle(&self.machine, &holding, self.call.clone());
        }
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
        // Memory that a launch gave and the client has not freed stays until it does.
        self.pool.close();
        if !self.pool.is_given() {
            self.withdraw();
        }
        allocation::release_idle(&self.machine, &self.pool, 0);
    }
}
