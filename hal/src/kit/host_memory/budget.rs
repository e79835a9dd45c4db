// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bytes that a device of host memory may take, and those that it has taken.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use crate::{
    driver::accounts::Accounts,
    words::{
        buffer_params::MemoryType,
        error::{Error, Result},
    },
};

/// The bytes of a device.
#[derive(Debug)]
pub(super) struct Budget {
    total: u64,
    taken: AtomicU64,
    advice: &'static str,
    accounts: Accounts,
}

impl Budget {
    pub(super) fn new(total: u64, advice: &'static str) -> Self {
        Self { total, taken: AtomicU64::new(0), advice, accounts: Accounts::default() }
    }

    /// The bytes that nothing has taken, and all of them.
    pub(super) fn free_and_total(&self) -> (u64, u64) {
        (self.total.saturating_sub(self.taken.load(Relaxed)), self.total)
    }

    pub(super) fn accounts(&self) -> &Accounts {
        &self.accounts
    }
}

/// Bytes of the budget, which come back when it is dropped.
pub(super) struct Claim {
    budget: Arc<Budget>,
    memory_type: MemoryType,
    size: u64,
}

impl Claim {
    pub(super) fn new(budget: &Arc<Budget>, memory_type: MemoryType, size: u64) -> Result<Self> {
        let total = budget.total;
        let fits = |taken: u64| taken.checked_add(size).filter(|taken| *taken <= total);
        budget.taken.fetch_update(Relaxed, Relaxed, fits).map_err(|taken| {
            Error::resource_exhausted(format!(
                "{size} bytes of a device with {} free of {total}; {}",
                total - taken,
                budget.advice
            ))
        })?;
        budget.accounts.reserve(memory_type, size);
        Ok(Self { budget: budget.clone(), memory_type, size })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.budget.taken.fetch_sub(self.size, Relaxed);
        self.budget.accounts.unreserve(self.memory_type, self.size);
    }
}
