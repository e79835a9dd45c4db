// SPDX-License-Identifier: MIT OR Apache-2.0
//! Imported memory, which another library allocated: host memory that HIP registers, and device memory that HIP knows.

use std::{
    any::Any,
    mem,
    ops::Range,
    sync::{Arc, Condvar, Mutex, PoisonError},
    time::Duration,
};

use windlass_hal::{
    Code, Error, External, Location, Release, Result, callback_pool,
    driver::{self, HostPointer},
    edge::Domain,
};

use crate::{
    call::HostMemory,
    gpus::{Gpus, KeepOpen},
    sync::lock,
};

const PINNED: &str = "where an import of them lives, share its subspans; where another library made or pinned them, \
                      import their device address";

/// The host memory of the process whose registrations are ending, on threads of the callback pool.
static ENDING: Ending = Ending { ranges: Mutex::new(Vec::new()), ended: Condvar::new() };
/// The longest wait of an import for such an end.
const PATIENCE: Duration = Duration::from_secs(2);

struct Ending {
    ranges: Mutex<Vec<Range<u64>>>,
    ended: Condvar,
}

impl Ending {
    fn begin(&self, range: &Range<u64>) {
        lock(&self.ranges).push(range.clone());
    }

    fn end(&self, range: &Range<u64>) {
        let mut ranges = lock(&self.ranges);
        if let Some(index) = ranges.iter().position(|other| other == range) {
            ranges.swap_remove(index);
        }
        self.ended.notify_all();
    }

    /// Waits until no registration of these bytes is ending. An import cannot tell that its memory was given up a moment ago.
    fn wait(&self, range: &Range<u64>) {
        let overlaps = |other: &Range<u64>| other.start < range.end && range.start < other.end;
        let ranges = lock(&self.ranges);
        let waited = self.ended.wait_timeout_while(ranges, PATIENCE, |ranges| ranges.iter().any(overlaps));
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

/// An imported buffer.
pub(crate) struct Imported {
    gpus: Arc<Gpus>,
    _device: KeepOpen,
    address: u64,
    size: u64,
    /// Host memory, which is registered.
    host: Option<HostMemory>,
    /// The GPU whose own memory it is, by its number within the device.
    pub(crate) gpu: Option<usize>,
    release: Option<Release>,
}

impl Imported {
    /// Takes the memory.
    ///
    /// # Safety
    /// As for [`driver::RawDevice::import`].
    pub(crate) unsafe fn new(
        gpus: &Arc<Gpus>,
        device: KeepOpen,
        memory: External,
        release: Release,
    ) -> Result<Self> {
        let hip = &gpus.hip;
        let (address, host, gpu) = match memory {
            External::Host { pointer, size } => {
                ENDING.wait(&(memory.address()..memory.address().saturating_add(size)));
                // HIP would register them twice. Ending the first registration would then end the second one as well.
                for byte in [memory.address(), memory.address() + size - 1] {
                    if let Some((base, known)) = hip.address_range(byte)? {
                        return Err(Error::new(
                            Code::AlreadyExists,
                            format!("HIP knows {known} bytes at {base:#x}: {PINNED}"),
                        ));
                    }
                }
                // SAFETY: valid until `release` runs, which is after the registration has ended.
                unsafe { hip.register_host(pointer, size) }?;
                match hip.device_pointer(pointer) {
                    Ok(memory) => (memory.device, Some(memory), None),
                    Err(error) => {
                        // On this thread, because the memory is the caller's again. The device has never used it.
                        if !hip.unregister_host(pointer) {
                            mem::forget(release);
                        }
                        return Err(error);
                    }
                }
            }
            External::Device { address, size } => (address, None, Some(owner(gpus, address, size)?)),
            other => return Err(Error::unimplemented(format!("the HIP driver does not import {other:?}"))),
        };
        let (gpus, size, release) = (gpus.clone(), memory.size(), Some(release));
        Ok(Self { gpus, _device: device, address, size, host, gpu, release })
    }
}

/// The GPU that memory belongs to, if HIP knows all of it.
fn owner(gpus: &Gpus, address: u64, size: u64) -> Result<usize> {
    let unknown = |why: String| {
        Error::invalid_argument(format!(
            "HIP does not know {size} bytes at {address:#x} as memory of this device: {why}"
        ))
    };
    let noted = |error: Error| match error.code() {
        Code::InvalidArgument | Code::NotFound => unknown(error.to_string()),
        _ => error,
    };
    let ordinal = gpus.hip.device_of(address).map_err(noted)?;
    // For registered memory HIP may give the size and no base address.
    if let Some((base, known)) = gpus.hip.address_range(address)?
        && size > known.saturating_sub(if base == 0 { 0 } else { address.saturating_sub(base) })
    {
        return Err(unknown(format!("its allocation has {known} bytes at {base:#x}")));
    }
    let gpu = gpus.iter().find(|gpu| gpu.hip.ordinal() == ordinal);
    gpu.map(|gpu| gpu.index).ok_or_else(|| unknown(format!("it belongs to GPU {ordinal}")))
}

impl Drop for Imported {
    fn drop(&mut self) {
        let Some(release) = self.release.take() else { return };
        let (hip, host) = (self.gpus.hip.clone(), self.host);
        if hip.keeps_all() {
            return mem::forget(release);
        }
        let range = host
            .map(|memory| memory.host.addr().get() as u64)
            .map(|start| start..start.saturating_add(self.size));
        range.iter().for_each(|range| ENDING.begin(range));
        // On another thread: ending a registration may wait for the device, and `release` is the importer's code.
        callback_pool::spawn(Box::new(move || {
            let mut free = false;
            hip.give_back(|hip| free = host.is_none_or(|memory| hip.unregister_host(memory.host)));
            range.iter().for_each(|range| ENDING.end(range));
            match free {
                true => release.run(),
                // The device is lost, or HIP keeps the memory: the device may still write there.
                false => mem::forget(release),
            }
        }));
    }
}

// SAFETY: size, address and pointer are those of memory that stays valid until this object is dropped.
unsafe impl driver::RawBuffer for Imported {
    fn domain(&self) -> Domain {
        self.gpus.domain
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn device_address(&self) -> u64 {
        self.address
    }

    fn host_pointer(&self) -> Option<HostPointer> {
        // SAFETY: the importer vouched that it is valid for `size` bytes until `release` runs, and that no reference to it
        // exists.
        self.host.map(|memory| unsafe { HostPointer::new(memory.host) })
    }

    fn location(&self) -> Option<Location> {
        Some(match self.gpu {
            Some(gpu) if self.host.is_none() => Location::Rocm(self.gpus[gpu].hip.ordinal()),
            _ => Location::RocmHost,
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
