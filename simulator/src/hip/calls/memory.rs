// SPDX-License-Identifier: MIT OR Apache-2.0
//! Device, managed and host memory: allocation, release, registration, and the free amount.

use std::ffi::{c_uint, c_void};

use windlass_hip_sys::bindings::hipError_t;

use crate::hip::boundary::call::Call;
use crate::hip::hardware::allocation::{self, Request};
use crate::hip::hardware::ledger::{Holding, Origin};
use crate::hip::words::code::{Code, Outcome};
use crate::memory::MemoryError;
use crate::options::Lock;

/// Rows of pitched memory start at multiples of this, in bytes.
const PITCH: usize = 256;

/// Functions that leave the client's pointer unchanged if there is no memory.
const KEEPS_POINTER: &[&str] = &["hipMalloc", "hipExtMallocWithFlags", "hipMallocHost"];
/// The functions that do so in HIP 5 only.
const KEPT_POINTER: &[&str] = &["hipHostAlloc", "hipMallocManaged"];

fn take(call: &Call, pointer: *mut *mut c_void, size: usize, origin: Origin, flags: u32) -> Outcome<()> {
    request(call, pointer, size, origin, flags, false)
}

fn request(
    call: &Call,
    pointer: *mut *mut c_void,
    size: usize,
    origin: Origin,
    flags: u32,
    managed: bool,
) -> Outcome<()> {
    // Before HIP 7 managed memory may be allocated beside a capture.
    if !managed || call.runtime.options.hip >= (7, 0) {
        call.outside_captures()?;
    }
    if pointer.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let device = call.device()?.index;
    let request = Request { size: size as u64, origin, managed, flags, pool: None, call: call.describe() };
    let address = allocation::allocate(&call.runtime.machine, device, request).inspect_err(|_| {
        // If there is no memory, most functions write a null pointer.
        let keeps =
            KEEPS_POINTER.contains(&call.name) || !call.is_since(6) && KEPT_POINTER.contains(&call.name);
        if !keeps {
            call.put_if(pointer, std::ptr::null_mut());
        }
    })?;
    call.put(pointer, address as *mut c_void)
}

/// Frees the allocation that starts at a pointer, after all queued work that could use it.
fn give_back(call: &Call, pointer: *mut c_void, admits: impl Fn(&Holding) -> bool + Copy) -> Outcome<()> {
    call.outside_captures()?;
    if pointer.is_null() {
        return Ok(());
    }
    let base = pointer as u64;
    let ledger = &call.runtime.machine.ledger;
    let holding = ledger.find(base).filter(|holding| holding.base == base && admits(holding));
    let holding = holding.ok_or(Code::INVALID_VALUE)?;
    let device = holding.device;
    if holding.leaves {
        // A stream holds the work that frees it.
        call.runtime.machine.device(device)?.check()?;
        return Err(Code::INVALID_VALUE);
    }
    // Every device can use host memory.
    let devices = &call.runtime.machine.devices;
    for device in devices {
        call.runtime.synchronize(device.index)?;
    }
    // Another thread may have freed it meanwhile.
    let stays = |holding: &Holding| admits(holding) && !holding.leaves;
    let holding = ledger.remove(base, stays).ok_or(Code::INVALID_VALUE)?;
    allocation::settle(&call.runtime.machine, &holding, call.describe());
    call.runtime.machine.device(device)?.check()
}

pub(in crate::hip) unsafe extern "C" fn hipMalloc(pointer: *mut *mut c_void, size: usize) -> hipError_t {
    hip!(hipMalloc, |call| take(call, pointer, size, Origin::Device, 0))
}

pub(in crate::hip) unsafe extern "C" fn hipExtMallocWithFlags(
    pointer: *mut *mut c_void,
    size: usize,
    flags: c_uint,
) -> hipError_t {
    // Default, fine-grained, signal memory, uncached, contiguous. The host reaches the three in the middle.
    hip!(hipExtMallocWithFlags, |call| match flags {
        // Signal memory holds one signal.
        2 if size != 8 => Err(Code::INVALID_VALUE),
        3.. if !call.is_since(6) => Err(Code::INVALID_VALUE),
        0..=4 => take(call, pointer, size, Origin::Device, flags),
        _ => Err(Code::INVALID_VALUE),
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMallocManaged(
    pointer: *mut *mut c_void,
    size: usize,
    flags: c_uint,
) -> hipError_t {
    hip!(hipMallocManaged, |call| match flags {
        _ if size == 0 => Err(Code::INVALID_VALUE),
        // Attached to all devices, or to the host at first.
        1 | 2 => request(call, pointer, size, Origin::Device, flags, true),
        _ => Err(Code::INVALID_VALUE),
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMallocPitch(
    pointer: *mut *mut c_void,
    pitch: *mut usize,
    width: usize,
    height: usize,
) -> hipError_t {
    hip!(hipMallocPitch, |call| {
        let row = width.checked_next_multiple_of(PITCH).ok_or(Code::OUT_OF_MEMORY)?;
        let size = row.checked_mul(height).ok_or(Code::OUT_OF_MEMORY)?;
        if pointer.is_null() || pitch.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        if size == 0 {
            return call.put(pointer, std::ptr::null_mut());
        }
        call.put(pitch, row)?;
        take(call, pointer, size, Origin::Device, 0)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipFree(pointer: *mut c_void) -> hipError_t {
    let own = |holding: &Holding| match holding.origin {
        Origin::Device | Origin::Pool => true,
        // Other memory of other processes is closed.
        Origin::Imported => holding.pool.is_some(),
        _ => false,
    };
    hip!(hipFree, |call| give_back(call, pointer, own))
}

/// Portable, mapped, write-combined.
const PORTABLE_FLAGS: u32 = 0x7;
/// These, uncached, by NUMA node, coherent, not coherent.
const HOST_FLAGS: u32 = PORTABLE_FLAGS | 0x1000_0000 | 0x2000_0000 | 0x4000_0000 | 0x8000_0000;

fn take_host(call: &Call, pointer: *mut *mut c_void, size: usize, flags: u32) -> Outcome<()> {
    let both_ways = flags & 0xc000_0000 == 0xc000_0000;
    if both_ways && call.name == "hipHostMalloc" {
        call.put_if(pointer, std::ptr::null_mut());
    }
    if flags & !HOST_FLAGS != 0 || both_ways {
        return Err(Code::INVALID_VALUE);
    }
    take(call, pointer, size, Origin::Host, flags)
}

pub(in crate::hip) unsafe extern "C" fn hipHostMalloc(
    pointer: *mut *mut c_void,
    size: usize,
    flags: c_uint,
) -> hipError_t {
    hip!(hipHostMalloc, |call| take_host(call, pointer, size, flags))
}

pub(in crate::hip) unsafe extern "C" fn hipHostAlloc(
    pointer: *mut *mut c_void,
    size: usize,
    flags: c_uint,
) -> hipError_t {
    hip!(hipHostAlloc, |call| {
        // AMD's own flags are for hipHostMalloc and hipExtHostAlloc, since the latter is there.
        if flags > PORTABLE_FLAGS && call.runtime.options.hip >= (6, 3) {
            return Err(Code::INVALID_VALUE);
        }
        take_host(call, pointer, size, flags)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMallocHost(pointer: *mut *mut c_void, size: usize) -> hipError_t {
    hip!(hipMallocHost, |call| take_host(call, pointer, size, 0))
}

pub(in crate::hip) unsafe extern "C" fn hipHostFree(pointer: *mut c_void) -> hipError_t {
    hip!(hipHostFree, |call| give_back(call, pointer, |holding| holding.origin == Origin::Host))
}

pub(in crate::hip) unsafe extern "C" fn hipFreeHost(pointer: *mut c_void) -> hipError_t {
    hip!(hipFreeHost, |call| give_back(call, pointer, |holding| holding.origin == Origin::Host))
}

pub(in crate::hip) unsafe extern "C" fn hipHostRegister(
    pointer: *mut c_void,
    size: usize,
    flags: c_uint,
) -> hipError_t {
    hip!(hipHostRegister, |call| {
        call.outside_captures()?;
        let device = call.device()?.index;
        /// Portable, mapped, memory of a device, read only.
        const FLAGS: u32 = 0xf;
        if pointer.is_null() || flags & !FLAGS != 0 {
            return Err(Code::INVALID_VALUE);
        }
        if size == 0 || size as u64 > call.device()?.capacity {
            return Err(if call.is_since(6) { Code::INVALID_VALUE } else { Code::OUT_OF_MEMORY });
        }
        let machine = &call.runtime.machine;
        let base = pointer as u64;
        if machine.ledger.overlaps(base, size as u64) {
            return Err(Code::HOST_MEMORY_ALREADY_REGISTERED);
        }
        let owner = format!("{}, device {device}", call.describe());
        let size = size as u64;
        let registered = match call.runtime.options.lock {
            // SAFETY: the client vouches for the range until hipHostUnregister, which ends the registration.
            Some(Lock::Apart) => unsafe { machine.memory.register_host_apart(pointer.cast(), size, owner) },
            // SAFETY: as above.
            Some(Lock::Same) | None => unsafe { machine.memory.register_host(pointer.cast(), size, owner) },
        };
        let device_base = registered.map_err(|error| match error {
            MemoryError::OutOfMemory { .. } => Code::OUT_OF_MEMORY,
            _ => Code::INVALID_VALUE,
        })?;
        machine.ledger.enter(Holding {
            base,
            device_base,
            size,
            device,
            origin: Origin::Registered,
            managed: false,
            flags,
            pool: None,
            leaves: false,
        });
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipHostUnregister(pointer: *mut c_void) -> hipError_t {
    hip!(hipHostUnregister, |call| {
        if pointer.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let registered = |holding: &Holding| holding.origin == Origin::Registered;
        give_back(call, pointer, registered).map_err(|code| match code {
            Code::INVALID_VALUE => Code::HOST_MEMORY_NOT_REGISTERED,
            code => code,
        })
    })
}

pub(in crate::hip) unsafe extern "C" fn hipHostGetDevicePointer(
    device_pointer: *mut *mut c_void,
    host_pointer: *mut c_void,
    flags: c_uint,
) -> hipError_t {
    hip!(hipHostGetDevicePointer, |call| {
        if flags != 0 || host_pointer.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let holding = call.runtime.machine.ledger.find(host_pointer as u64).ok_or(Code::INVALID_VALUE)?;
        if !holding.is_host_accessible() {
            return Err(Code::INVALID_VALUE);
        }
        call.put(device_pointer, holding.device_address(host_pointer as u64) as *mut c_void)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipHostGetFlags(
    flags: *mut c_uint,
    host_pointer: *mut c_void,
) -> hipError_t {
    hip!(hipHostGetFlags, |call| {
        let holding = call.runtime.machine.ledger.find(host_pointer as u64);
        // HIP 5 answers the flags of registered memory too.
        let tells = |origin| origin == Origin::Host || origin == Origin::Registered && !call.is_since(6);
        let holding = holding.filter(|holding| tells(holding.origin));
        call.put(flags, holding.ok_or(Code::INVALID_VALUE)?.flags)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> hipError_t {
    hip!(hipMemGetInfo, |call| {
        let device = call.device()?;
        call.put_if(free, device.capacity.saturating_sub(device.used()) as usize);
        call.put_if(total, device.capacity as usize);
        Ok(())
    })
}
