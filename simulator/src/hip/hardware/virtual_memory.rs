// SPDX-License-Identifier: MIT OR Apache-2.0
//! Virtual memory of HIP: memory of devices without addresses, by handle, and its mappings.

use std::sync::{Arc, Mutex, PoisonError};

use super::allocation;
use super::ledger::{Holding, Origin};
use super::machine::Machine;
use crate::handles::{HandleKind, Handles};
use crate::hip::words::code::{Code, Outcome};
use crate::memory::mappings::{MappingError, Mappings};
use crate::memory::sharing::SharedFile;
use crate::memory::{self, Memory};

/// The pages that HIP recommends, and the least ones: 2 MiB, as MI200 and MI300 have them. AMD's HIP answers the same number
/// for both.
pub(crate) const GRANULARITY: u64 = 2 << 20;

/// `hipMemHandleTypeNone` and `hipMemHandleTypePosixFileDescriptor`.
const NOT_SHARED: u32 = 0;
const FILE_DESCRIPTOR: u32 = 1;

/// The reservations, the memory and the mappings of one simulator.
pub(crate) struct VirtualMemory {
    machine: Arc<Machine>,
    handles: Handles<Physical>,
    mappings: Mappings<Physical>,
}

/// Memory of a device without addresses. It is freed with its handle and its last mapping.
pub(crate) struct Physical {
    machine: Arc<Machine>,
    pub(crate) device: usize,
    /// `hipMemAllocationHandleType` that the client asked for.
    pub(crate) shared_as: u32,
    /// Whether its device counts it. Memory of other processes counts there.
    counted: bool,
    bytes: memory::Physical,
    owned: Mutex<Owned>,
}

/// The handle of memory, and how many times the client has yet to release it. The memory has no handle at zero.
#[derive(Default)]
struct Owned {
    handle: u64,
    times: u64,
}

impl AsRef<memory::Physical> for Physical {
    fn as_ref(&self) -> &memory::Physical {
        &self.bytes
    }
}

impl Drop for Physical {
    fn drop(&mut self) {
        if let Ok(device) = self.machine.device(self.device)
            && self.counted
        {
            device.give_back(self.bytes.size);
        }
    }
}

impl From<MappingError> for Code {
    fn from(error: MappingError) -> Self {
        match error {
            MappingError::NoAddresses | MappingError::Failed => Self::OUT_OF_MEMORY,
            MappingError::Occupied => Self::UNKNOWN,
            MappingError::NotReserved | MappingError::NotMapped => Self::INVALID_VALUE,
        }
    }
}

impl VirtualMemory {
    pub(crate) fn new(machine: Arc<Machine>, salt: u64) -> Self {
        let handles = Handles::new(HandleKind::VmemHandle, salt);
        Self { handles, mappings: Mappings::new(machine.memory.clone()), machine }
    }

    /// Whether a version of HIP has virtual memory on this system. AMD's HIP 5 exports the functions, and has it on Windows
    /// only.
    pub(crate) fn is_there(hip: (u32, u32)) -> bool {
        hip >= (6, 0) && Memory::HAS_PHYSICAL
    }

    /// Reserves addresses. The numbers are checked.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`.
    pub(crate) fn reserve(&self, size: u64, align: u64, by: Arc<str>) -> Outcome<u64> {
        Ok(self.mappings.reserve(size, align.max(GRANULARITY), by)?)
    }

    /// Releases a reservation.
    ///
    /// # Errors
    /// `INVALID_VALUE` unless it is one, `UNKNOWN` if it has a mapping, as AMD's HIP answers.
    pub(crate) fn unreserve(&self, base: u64, size: u64) -> Outcome<()> {
        Ok(self.mappings.unreserve(base, size)?)
    }

    /// Memory of a device. Its handle.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`.
    pub(crate) fn create(&self, device: usize, size: u64, shared_as: u32) -> Outcome<u64> {
        allocation::take(&self.machine, self.machine.device(device)?, size)?;
        let memory = &self.machine.memory;
        let made = if shared_as == NOT_SHARED { memory.physical(size) } else { memory.shareable(size) };
        let bytes = made.map_err(|error| {
            tracing::error!(target: "windlass::sim", %error, "no memory without addresses");
            if let Ok(device) = self.machine.device(device) {
                device.give_back(size);
            }
            Code::OUT_OF_MEMORY
        })?;
        let (machine, owned) = (self.machine.clone(), Mutex::default());
        self.handle(&Arc::new(Physical { machine, device, shared_as, counted: true, bytes, owned }))
    }

    /// Memory of another process, for a device. Its handle.
    ///
    /// # Errors
    /// `INVALID_VALUE` for memory that is not made of whole pages, `OUT_OF_MEMORY`.
    pub(crate) fn import(&self, device: usize, file: SharedFile) -> Outcome<u64> {
        let size = file.size;
        if size == 0 || !size.is_multiple_of(GRANULARITY) {
            return Err(Code::INVALID_VALUE);
        }
        let (machine, bytes) = (self.machine.clone(), memory::Physical::of(file, size));
        let (shared_as, counted, owned) = (FILE_DESCRIPTOR, false, Mutex::default());
        self.handle(&Arc::new(Physical { machine, device, shared_as, counted, bytes, owned }))
    }

    /// Memory by its handle.
    ///
    /// # Errors
    /// `INVALID_VALUE`.
    pub(crate) fn physical(&self, handle: u64) -> Outcome<Arc<Physical>> {
        self.handles.get(handle).ok_or(Code::INVALID_VALUE)
    }

    /// Gives a handle up. It ends once it was released as many times as it was given.
    ///
    /// # Errors
    /// `INVALID_VALUE`.
    pub(crate) fn release(&self, handle: u64) -> Outcome<()> {
        let physical = self.physical(handle)?;
        let mut owned = physical.owned.lock().unwrap_or_else(PoisonError::into_inner);
        if owned.handle != handle || owned.times == 0 {
            return Err(Code::INVALID_VALUE);
        }
        owned.times -= 1;
        if owned.times == 0 {
            drop(self.handles.remove(handle));
        }
        Ok(())
    }

    /// The handle of the memory that is mapped at an address, once more. Memory whose handle ended gets a new one.
    ///
    /// # Errors
    /// `INVALID_VALUE` if nothing is mapped there, `OUT_OF_MEMORY`.
    pub(crate) fn retain(&self, address: u64) -> Outcome<u64> {
        self.handle(&self.mappings.physical(address).ok_or(Code::INVALID_VALUE)?)
    }

    /// Maps the first bytes of memory to reserved addresses.
    ///
    /// # Errors
    /// `INVALID_VALUE` for addresses that are not reserved or have a mapping, and for more bytes than there are.
    pub(crate) fn map(&self, base: u64, size: u64, handle: u64, by: Arc<str>) -> Outcome<()> {
        let physical = self.physical(handle)?;
        if size > physical.bytes.size {
            return Err(Code::INVALID_VALUE);
        }
        let device = physical.device;
        let mapped = self.mappings.map(base, size, physical, 0, by);
        mapped.map_err(|error| match error {
            MappingError::Occupied => Code::INVALID_VALUE,
            error => error.into(),
        })?;
        self.machine.ledger.enter(Holding {
            base,
            device_base: base,
            size,
            device,
            origin: Origin::Mapped,
            managed: false,
            flags: 0,
            pool: None,
            leaves: false,
        });
        Ok(())
    }

    /// The device whose memory is mapped at an address.
    ///
    /// # Errors
    /// `INVALID_VALUE` if nothing is mapped there.
    pub(crate) fn device_at(&self, address: u64) -> Outcome<usize> {
        Ok(self.mappings.physical(address).ok_or(Code::INVALID_VALUE)?.device)
    }

    /// Ends a mapping.
    ///
    /// # Errors
    /// `INVALID_VALUE` unless it is one.
    pub(crate) fn unmap(&self, base: u64, size: u64, by: Arc<str>) -> Outcome<()> {
        let gone = self.mappings.unmap(base, size, by)?;
        self.machine.ledger.remove(base, |holding| holding.origin == Origin::Mapped);
        drop(gone);
        Ok(())
    }

    /// Sets the access of devices to the mappings in a range.
    ///
    /// # Errors
    /// `INVALID_VALUE` if the range is not mapped throughout.
    pub(crate) fn set_access(&self, base: u64, size: u64, access: &[(usize, u32)]) -> Outcome<()> {
        Ok(self.mappings.set_access(base, size, access)?)
    }

    /// The access of a device at an address.
    ///
    /// # Errors
    /// `INVALID_VALUE` if nothing is mapped there.
    pub(crate) fn access(&self, address: u64, device: usize) -> Outcome<u32> {
        self.mappings.access(address, device).ok_or(Code::INVALID_VALUE)
    }

    /// Gives up all memory of a device that is reset.
    pub(crate) fn reset(&self, device: usize, by: &Arc<str>) {
        let gone = self.mappings.unmap_where(by, |physical| physical.device == device);
        for (base, _) in gone {
            self.machine.ledger.remove(base, |holding| holding.origin == Origin::Mapped);
        }
        drop(self.handles.remove_where(|physical| physical.device == device));
    }

    /// The handle of memory, which the client has to release once more.
    fn handle(&self, physical: &Arc<Physical>) -> Outcome<u64> {
        let mut owned = physical.owned.lock().unwrap_or_else(PoisonError::into_inner);
        if owned.times == 0 {
            owned.handle = self.handles.insert(physical.clone()).ok_or(Code::OUT_OF_MEMORY)?.get();
        }
        owned.times = owned.times.saturating_add(1);
        Ok(owned.handle)
    }
}
