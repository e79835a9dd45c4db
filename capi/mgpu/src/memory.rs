// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory that the device can use, by address: allocations, and host memory that is registered.
//!
//! The device may know memory of the host by another address. Such memory is in the table by both. A launch replaces the
//! host's address among its arguments.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use facade::{Buffer, Code, Error, Mapping, Result};

use crate::returned::Returned;

/// Memory that the device can use.
pub(crate) struct Memory {
    pub(crate) buffer: Buffer,
    pub(crate) origin: Origin,
}

/// The origin of memory.
pub(crate) enum Origin {
    /// An allocation of the device, at the device's address.
    Device,
    /// An allocation that the host reaches too, at the host's address.
    Shared {
        /// Keeps the memory mapped.
        _mapping: Mapping,
    },
    /// Memory of the host, with the sign that the device has let go of it.
    Registered(Arc<Returned>),
    /// Memory of the host, at the device's address.
    View,
}

impl Origin {
    /// The kind of memory, for messages.
    fn kind(&self) -> &'static str {
        match self {
            Self::Device => "device memory",
            Self::Shared { .. } => "memory that host and device share",
            Self::Registered(_) => "registered host memory",
            Self::View => "the device's view of host memory",
        }
    }
}

/// The number of views in the table.
static VIEWS: AtomicUsize = AtomicUsize::new(0);

static TABLE: RwLock<BTreeMap<u64, Memory>> = RwLock::new(BTreeMap::new());

/// The memory that `address` lies in, with its start.
fn around(table: &BTreeMap<u64, Memory>, address: u64) -> Option<(u64, &Memory)> {
    let (start, memory) = table.range(..=address).next_back()?;
    (address - start < memory.buffer.len()).then_some((*start, memory))
}

/// Adds memory. `ALREADY_EXISTS` where a part of it is known.
pub(crate) fn add(start: u64, memory: Memory) -> Result<()> {
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    check_new(&table, start, memory.buffer.len())?;
    let buffer = memory.buffer.clone();
    table.insert(start, memory);
    if buffer.device_address() != start {
        VIEWS.fetch_add(1, Ordering::Release);
        table.insert(buffer.device_address(), Memory { buffer, origin: Origin::View });
    }
    Ok(())
}

/// `ALREADY_EXISTS` where a part of this range is known.
pub(crate) fn check_unknown(start: u64, size: u64) -> Result<()> {
    check_new(&TABLE.read().unwrap_or_else(PoisonError::into_inner), start, size)
}

fn check_new(table: &BTreeMap<u64, Memory>, start: u64, size: u64) -> Result<()> {
    let last = start.saturating_add(size.saturating_sub(1));
    let known =
        around(table, start).or_else(|| table.range(start..=last).next().map(|(at, memory)| (*at, memory)));
    match known {
        None => Ok(()),
        Some((at, memory)) => Err(Error::new(
            Code::AlreadyExists,
            format!(
                "{size} bytes at {start:#x} overlap {} bytes of {} at {at:#x}",
                memory.buffer.len(),
                memory.origin.kind()
            ),
        )),
    }
}

/// Removes the memory that starts at an address, if `fits` accepts its origin.
pub(crate) fn remove(start: u64, fits: impl FnOnce(&Origin) -> bool, wanted: &str) -> Result<Memory> {
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    match around(&table, start) {
        Some((at, memory)) if at == start && fits(&memory.origin) => {}
        Some((at, memory)) => {
            return Err(Error::invalid_argument(format!(
                "{start:#x} is not the start of {wanted}: it lies in {} bytes of {} at {at:#x}",
                memory.buffer.len(),
                memory.origin.kind()
            )));
        }
        None => {
            return Err(Error::not_found(format!(
                "{start:#x} is not the start of {wanted}, or it was released before"
            )));
        }
    }
    let memory = table.remove(&start).ok_or_else(|| Error::internal("memory vanished under the lock"))?;
    if memory.buffer.device_address() != start {
        VIEWS.fetch_sub(1, Ordering::Release);
        table.remove(&memory.buffer.device_address());
    }
    Ok(memory)
}

/// The buffer of `size` bytes at an address. `None` for addresses that the device does not know; `OUT_OF_RANGE` where
/// the bytes begin in memory of the device and end behind it.
pub(crate) fn find(address: u64, size: u64) -> Result<Option<Buffer>> {
    let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
    let Some((start, memory)) = around(&table, address) else { return Ok(None) };
    let range = memory.buffer.subspan(address - start, size);
    range.map(Some).map_err(|_| {
        Error::out_of_range(format!(
            "{size} bytes at {address:#x} leave the {} bytes of {} at {start:#x}",
            memory.buffer.len(),
            memory.origin.kind()
        ))
    })
}

/// The device's address of memory that the host knows at another one; every other number is itself.
pub(crate) fn translated(address: u64) -> u64 {
    if VIEWS.load(Ordering::Acquire) == 0 {
        return address;
    }
    let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
    let known = around(&table, address).filter(|(_, memory)| !matches!(memory.origin, Origin::View));
    known.map_or(address, |(start, memory)| memory.buffer.device_address() + (address - start))
}
