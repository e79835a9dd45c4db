// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory that a device keeps for its graphs. Nodes take from it, and memory that they free stays with it until the client
//! trims it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::hip::objects::budget::Budget;
use crate::hip::words::code::Outcome;

/// The bytes for graphs of a device.
#[derive(Debug, Default)]
pub(crate) struct GraphReserve(Mutex<Bytes>);

#[derive(Debug, Default)]
struct Bytes {
    used: u64,
    most_used: u64,
    /// Taken from the device: in use, or kept.
    reserved: u64,
    most_reserved: u64,
}

impl GraphReserve {
    /// Counts memory that a launch gives, and takes from the budget what is not kept.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`.
    pub(crate) fn take(&self, size: u64, budget: &Budget) -> Outcome<()> {
        let mut bytes = self.lock();
        let used = bytes.used.saturating_add(size);
        if used > bytes.reserved {
            budget.take(used - bytes.reserved)?;
            bytes.reserved = used;
        }
        bytes.used = used;
        bytes.most_used = bytes.most_used.max(used);
        bytes.most_reserved = bytes.most_reserved.max(bytes.reserved);
        Ok(())
    }

    /// Counts memory that is freed.
    pub(crate) fn free(&self, size: u64) {
        let mut bytes = self.lock();
        bytes.used = bytes.used.saturating_sub(size);
    }

    /// Gives back what is kept.
    pub(crate) fn trim(&self, budget: &Budget) {
        let mut bytes = self.lock();
        budget.give_back(bytes.reserved.saturating_sub(bytes.used));
        bytes.reserved = bytes.used;
    }

    /// The value of a `hipGraphMemAttributeType`; `None` for a number that HIP does not have.
    pub(crate) fn attribute(&self, number: u32) -> Option<u64> {
        let bytes = self.lock();
        let each = [bytes.used, bytes.most_used, bytes.reserved, bytes.most_reserved];
        each.get(number as usize).copied()
    }

    /// Sets an attribute: a mark to zero, from where it rises to the present size.
    pub(crate) fn set_attribute(&self, number: u32, value: u64) -> Option<()> {
        let mut bytes = self.lock();
        match (number, value) {
            (1, 0) => bytes.most_used = bytes.used,
            (3, 0) => bytes.most_reserved = bytes.reserved,
            _ => return None,
        }
        Some(())
    }

    fn lock(&self) -> MutexGuard<'_, Bytes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
