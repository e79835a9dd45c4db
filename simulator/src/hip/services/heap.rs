// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that the kernels of a device allocate: with `malloc`, `free`, `new` and `delete`.
//!
//! The device library divides slabs of 2 MiB among small allocations, and keeps account of them in an object that starts
//! as zeros. It asks the host for slabs and for large allocations.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::hip::objects::budget::Budget;
use crate::memory::{AllocationKind, Memory, MemoryError};

/// Bytes of the device library's object.
const OBJECT: u64 = 128 << 10;
/// A slab. The device library finds its start by its alignment.
const SLAB: u64 = 2 << 20;
/// The alignment of other allocations. The device library tells them from small ones by it.
const PAGE: u64 = 4096;

/// The heap of a device.
pub(crate) struct Heap {
    memory: Arc<Memory>,
    budget: Arc<Budget>,
    device: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Address of the device library's object; made when a kernel first needs it.
    object: Option<u64>,
    /// Sizes of what kernels allocated, by address.
    live: BTreeMap<u64, u64>,
}

impl Heap {
    pub(crate) fn new(memory: Arc<Memory>, budget: Arc<Budget>, device: usize) -> Self {
        Self { memory, budget, device, state: Mutex::default() }
    }

    /// The address of the device library's object.
    pub(super) fn object(&self) -> Result<u64, MemoryError> {
        let mut state = self.lock();
        if let Some(object) = state.object {
            return Ok(object);
        }
        // Launch memory starts as zeros and is no part of the program's memory.
        let object = self.memory.allocate(OBJECT, PAGE, AllocationKind::Launch, "the heap of kernels")?;
        state.object = Some(object);
        Ok(object)
    }

    /// Allocates memory for a kernel; null if there is none left.
    pub(super) fn allocate(&self, size: u64) -> u64 {
        // Whole pages, as the memory takes them.
        let Some(size) = size.checked_next_multiple_of(PAGE).filter(|size| *size > 0) else { return 0 };
        if self.budget.take(size).is_err() {
            return 0;
        }
        let align = if size == SLAB { SLAB } else { PAGE };
        let owner = format!("malloc or new in a kernel, device {}", self.device);
        match self.memory.allocate(size, align, AllocationKind::Device, owner) {
            Ok(address) => {
                self.memory.set_homes(address, 1 << (self.device & 63));
                self.lock().live.insert(address, size);
                address
            }
            Err(error) => {
                self.budget.give_back(size);
                tracing::debug!(target: "windlass::sim", size, %error, "no memory for a kernel's malloc");
                0
            }
        }
    }

    /// Frees memory of [`allocate`](Self::allocate). Whether there was such memory.
    pub(super) fn free(&self, address: u64) -> bool {
        let Some(size) = self.lock().live.remove(&address) else { return false };
        self.release(address, size, "free or delete in a kernel");
        true
    }

    /// Frees everything, on behalf of a call. No kernel of the device runs.
    pub(crate) fn reset(&self, by: &Arc<str>) {
        let State { object, live } = std::mem::take(&mut *self.lock());
        for (address, size) in live {
            self.release(address, size, by.as_ref());
        }
        if let Some(Err(error)) = object.map(|object| self.memory.free(object)) {
            tracing::error!(target: "windlass::sim", %error, "the heap of kernels was not freed");
        }
    }

    fn release(&self, address: u64, size: u64, by: &str) {
        if let Err(error) = self.memory.free_as(address, Some(by.into())) {
            tracing::error!(target: "windlass::sim", %error, "memory of a kernel's malloc was not freed");
        }
        self.budget.give_back(size);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
