// SPDX-License-Identifier: MIT OR Apache-2.0
//! Device memory of other processes, at addresses of this one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::ledger::{Holding, Ledger, Origin};
use crate::hip::objects::pool::Pool;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;
use crate::memory::sharing::{Content, SharedFile, Ticket};
use crate::memory::{ALL_DEVICES, Memory, Physical};

/// Mappings begin on pages.
const PAGE: u64 = 4096;

/// The memory of other processes that clients have opened, by the address that HIP gave for it.
#[derive(Default)]
pub(crate) struct Imports(Mutex<BTreeMap<u64, Import>>);

struct Import {
    ticket: Ticket,
    /// The first address of the mapping, and the bytes of addresses that it takes.
    base: u64,
    reserved: u64,
    /// How often it was opened.
    count: usize,
    _physical: Physical,
}

impl Imports {
    /// Opens the memory of a ticket for a device. Without a pool a ticket that is open gives the same address again.
    ///
    /// # Errors
    /// `INVALID_DEVICE_POINTER` for memory that is gone, `OUT_OF_MEMORY`.
    pub(crate) fn open(
        &self,
        (memory, ledger): (&Memory, &Ledger),
        device: usize,
        ticket: Ticket,
        pool: Option<Arc<Pool>>,
        by: Arc<str>,
    ) -> Outcome<u64> {
        let mut imports = self.lock();
        let again = |(_, import): &(&u64, &mut Import)| import.ticket == ticket;
        if pool.is_none()
            && let Some((address, import)) = imports.iter_mut().find(again)
            && ledger.find(*address).is_some_and(|holding| holding.pool.is_none())
        {
            import.count += 1;
            return Ok(*address);
        }
        let file = SharedFile::open(Content::Memory, &ticket).map_err(|reason| {
            explain(format!("{by}: {reason}"));
            Code::INVALID_DEVICE_POINTER
        })?;
        if ticket.size == 0 || ticket.size > file.size || ticket.offset >= ticket.size {
            return Err(Code::INVALID_DEVICE_POINTER);
        }
        let reserved = ticket.size.next_multiple_of(PAGE);
        let base = memory.reserve(reserved, PAGE, by.clone()).map_err(|_| Code::OUT_OF_MEMORY)?;
        let physical = Physical::of(file, reserved);
        if memory.map_physical(base, ticket.size, &physical, 0, by).is_err() {
            memory.unreserve(base, reserved);
            return Err(Code::OUT_OF_MEMORY);
        }
        memory.set_access(base, ALL_DEVICES, ALL_DEVICES);
        let address = base + ticket.offset;
        ledger.enter(Holding {
            base: address,
            device_base: address,
            size: ticket.size - ticket.offset,
            device,
            origin: Origin::Imported,
            managed: false,
            flags: 0,
            pool,
            leaves: false,
        });
        imports.insert(address, Import { ticket, base, reserved, count: 1, _physical: physical });
        Ok(address)
    }

    /// Closes memory that was opened as often. Whether it is closed now; `None` if it is no such memory.
    pub(crate) fn close(
        &self,
        (memory, ledger): (&Memory, &Ledger),
        address: u64,
        by: Arc<str>,
    ) -> Option<bool> {
        let mut imports = self.lock();
        let import = imports.get_mut(&address)?;
        import.count -= 1;
        if import.count > 0 {
            return Some(false);
        }
        let gone = imports.remove(&address)?;
        ledger.remove(address, |holding| holding.origin == Origin::Imported);
        gone.end(memory, by);
        Some(true)
    }

    /// Ends the mapping of memory whose holding is gone already.
    pub(crate) fn end(&self, memory: &Memory, address: u64, by: Arc<str>) {
        let gone = self.lock().remove(&address);
        if let Some(gone) = gone {
            gone.end(memory, by);
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Import>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Import {
    fn end(self, memory: &Memory, by: Arc<str>) {
        if let Err(error) = memory.unmap(self.base, by) {
            tracing::error!(target: "windlass::sim", %error, "imported memory and the map disagree");
        }
        memory.unreserve(self.base, self.reserved);
    }
}
