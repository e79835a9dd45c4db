// SPDX-License-Identifier: MIT OR Apache-2.0
//! Devices: their number, identity, peers and limits, and the current device.

use std::ffi::{c_char, c_int, c_uint};
use std::sync::atomic::Ordering;

use windlass_hip_sys::bindings::{
    hipDevice_t, hipDeviceP2PAttr, hipError_t, hipFuncCache_t, hipLimit_t, hipSharedMemConfig, hipUUID,
};

use crate::hip::words::code::Code;
use crate::hip::words::explanation::explain;

/// The link between any two devices, in HSA's numbers.
const XGMI: c_int = 4;

/// The largest stack of a work-item in bytes that AMD's runtime accepts, and the multiple that it rounds up to.
const STACK_LIMIT: usize = 131_004;
const STACK_STEP: usize = 16;

pub(in crate::hip) unsafe extern "C" fn hipGetDeviceCount(count: *mut c_int) -> hipError_t {
    // Options allow 64 devices at most.
    let status = hip!(hipGetDeviceCount, |call| {
        let devices = call.runtime.machine.devices.len();
        call.put(count, devices as c_int)?;
        if devices == 0 { Err(Code::NO_DEVICE) } else { Ok(()) }
    });
    // If no machine could be set up the body has not run, and HIP counts no devices.
    if status == hipError_t::hipErrorNoDevice && !count.is_null() {
        // SAFETY: not null, so the caller vouches for it.
        unsafe { count.write_unaligned(0) };
    }
    status
}

pub(in crate::hip) unsafe extern "C" fn hipGetDevice(device: *mut c_int) -> hipError_t {
    hip!(hipGetDevice, |call| call.put(device, call.thread.device.get() as c_int))
}

pub(in crate::hip) unsafe extern "C" fn hipSetDevice(device: c_int) -> hipError_t {
    hip!(hipSetDevice, |call| {
        call.thread.device.set(call.device_at(device)?.index);
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDeviceGet(device: *mut hipDevice_t, ordinal: c_int) -> hipError_t {
    hip!(hipDeviceGet, |call| {
        call.device_at(ordinal)?;
        match device.is_null() && !call.is_since(6) {
            true => Err(Code::INVALID_DEVICE),
            false => call.put(device, ordinal),
        }
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDeviceGetName(
    name: *mut c_char,
    length: c_int,
    device: hipDevice_t,
) -> hipError_t {
    hip!(hipDeviceGetName, |call| {
        let text = call.device_at(device)?.name();
        // HIP 5 does not cut the name.
        if !call.is_since(6) && usize::try_from(length).is_ok_and(|length| length <= text.len()) {
            return Err(Code::INVALID_VALUE);
        }
        call.put_string(name, length, &text)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDeviceGetUuid(
    uuid: *mut hipUUID,
    device: hipDevice_t,
) -> hipError_t {
    hip!(hipDeviceGetUuid, |call| {
        let bytes = call.device_at(device)?.uuid().map(|byte| byte as c_char);
        call.put(uuid, hipUUID { bytes })
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDeviceGetPCIBusId(
    id: *mut c_char,
    length: c_int,
    device: c_int,
) -> hipError_t {
    hip!(hipDeviceGetPCIBusId, |call| {
        let name = call.device_at(device)?.pci_bus_id();
        // A part of an address is useless.
        if usize::try_from(length).is_ok_and(|length| length <= name.len()) {
            return Err(Code::INVALID_VALUE);
        }
        call.put_string(id, length, &name)
    })
}

/// Domain, bus, device and function of a text such as `0000:c1:00.0`. As AMD's runtime reads it, leading zeros may be absent, and
/// text may follow.
fn pci_address(text: &str) -> Option<[u32; 4]> {
    let mut rest = text;
    let mut number = |digits: usize, end: &str| {
        let length = rest.bytes().take(digits).take_while(u8::is_ascii_hexdigit).count();
        let value = u32::from_str_radix(&rest[..length], 16).ok()?;
        rest = rest[length..].strip_prefix(end)?;
        Some(value)
    };
    Some([number(4, ":")?, number(2, ":")?, number(2, ".")?, number(1, "")?])
}

pub(in crate::hip) unsafe extern "C" fn hipDeviceGetByPCIBusId(
    device: *mut c_int,
    id: *const c_char,
) -> hipError_t {
    hip!(hipDeviceGetByPCIBusId, |call| {
        let id = pci_address(&call.get_string(id)?);
        let mut devices = call.runtime.machine.devices.iter();
        let found = devices.find(|device| id.is_some() && pci_address(&device.pci_bus_id()) == id);
        call.put(device, found.ok_or(Code::INVALID_DEVICE)?.index as c_int)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDeviceTotalMem(
    bytes: *mut usize,
    device: hipDevice_t,
) -> hipError_t {
    hip!(hipDeviceTotalMem, |call| call.put(bytes, call.device_at(device)?.capacity as usize))
}

pub(in crate::hip) unsafe extern "C" fn hipDeviceComputeCapability(
    major: *mut c_int,
    minor: *mut c_int,
    device: hipDevice_t,
) -> hipError_t {
    hip!(hipDeviceComputeCapability, |call| {
        let [of_major, of_minor] = call.device_at(device)?.part.capability;
        if major.is_null() || minor.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        call.put(major, of_major)?;
        call.put(minor, of_minor)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDeviceSynchronize() -> hipError_t {
    hip!(hipDeviceSynchronize, |call| {
        let device = call.any_device()?;
        // HIP 6 refuses the call beside captures of other devices too.
        call.runtime.captures.check_device(device.index, call.runtime.options.hip.0 == 6)?;
        call.runtime.synchronize(device.index)?;
        call.runtime.release_pools(device.index);
        device.report()
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDeviceReset() -> hipError_t {
    hip!(hipDeviceReset, |call| call.runtime.reset(call.any_device()?.index, call.describe()))
}

pub(in crate::hip) unsafe extern "C" fn hipGetDeviceFlags(flags: *mut c_uint) -> hipError_t {
    hip!(hipGetDeviceFlags, |call| call.put(flags, call.any_device()?.flags.load(Ordering::Relaxed)))
}

pub(in crate::hip) unsafe extern "C" fn hipSetDeviceFlags(flags: c_uint) -> hipError_t {
    hip!(hipSetDeviceFlags, |call| {
        // Spin, yield and blocking exclude each other. The flags for mapped host memory and resizing go with each.
        if !matches!(flags & 0x7, 0 | 1 | 2 | 4) || flags & !0x1f != 0 {
            return Err(Code::INVALID_VALUE);
        }
        // HIP keeps the way to wait alone.
        call.any_device()?.flags.store(flags & 0x7, Ordering::Relaxed);
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDeviceGetLimit(
    value: *mut usize,
    limit: hipLimit_t,
) -> hipError_t {
    hip!(hipDeviceGetLimit, |call| {
        if value.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let bytes = match limit {
            hipLimit_t::hipLimitStackSize if call.is_since(6) => call.any_device()?.stack_limit(),
            // HIP 5 has no heap on the device and answers the size of its memory.
            hipLimit_t::hipLimitMallocHeapSize if !call.is_since(6) => call.any_device()?.capacity as usize,
            hipLimit_t::hipLimitMallocHeapSize => call.any_device()?.heap.load(Ordering::Relaxed),
            hipLimit_t::hipLimitPrintfFifoSize => return Err(Code::UNSUPPORTED_LIMIT),
            // HIP 6 and 7 answer numbers below the first limit and above the last with different errors.
            limit if limit.0.cast_signed() < 0 || !call.is_since(6) => return Err(Code::UNSUPPORTED_LIMIT),
            _ => return Err(Code::INVALID_VALUE),
        };
        call.put(value, bytes)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDeviceGetCacheConfig(config: *mut hipFuncCache_t) -> hipError_t {
    hip!(hipDeviceGetCacheConfig, |call| call.put(config, hipFuncCache_t::hipFuncCachePreferNone))
}

pub(in crate::hip) unsafe extern "C" fn hipDeviceSetCacheConfig(config: hipFuncCache_t) -> hipError_t {
    // AMD's hardware has no such choice; its runtime accepts and ignores it.
    hip!(hipDeviceSetCacheConfig, |_| if config.0 <= 3 { Ok(()) } else { Err(Code::INVALID_VALUE) })
}

pub(in crate::hip) unsafe extern "C" fn hipDeviceGetSharedMemConfig(
    config: *mut hipSharedMemConfig,
) -> hipError_t {
    hip!(hipDeviceGetSharedMemConfig, |call| call
        .put(config, hipSharedMemConfig::hipSharedMemBankSizeFourByte))
}

pub(in crate::hip) unsafe extern "C" fn hipDeviceSetSharedMemConfig(
    config: hipSharedMemConfig,
) -> hipError_t {
    hip!(hipDeviceSetSharedMemConfig, |_| if config.0 <= 2 { Ok(()) } else { Err(Code::INVALID_VALUE) })
}

pub(in crate::hip) unsafe extern "C" fn hipDeviceGetStreamPriorityRange(
    least: *mut c_int,
    greatest: *mut c_int,
) -> hipError_t {
    hip!(hipDeviceGetStreamPriorityRange, |call| {
        call.put_if(least, 1);
        call.put_if(greatest, -1);
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDeviceCanAccessPeer(
    can: *mut c_int,
    device: c_int,
    peer: c_int,
) -> hipError_t {
    hip!(hipDeviceCanAccessPeer, |call| {
        // AMD's runtime checks for equal numbers first, even if they are no device's.
        if device == peer && !can.is_null() {
            return call.put(can, 0);
        }
        call.device_at(device)?;
        call.device_at(peer)?;
        call.put(can, 1)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDeviceEnablePeerAccess(peer: c_int, flags: c_uint) -> hipError_t {
    hip!(hipDeviceEnablePeerAccess, |call| {
        let (device, peer) = (call.device()?, call.device_at(peer)?);
        if flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        if device.index == peer.index {
            return Err(Code::INVALID_DEVICE);
        }
        device.enable_peer(peer.index)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDeviceDisablePeerAccess(peer: c_int) -> hipError_t {
    hip!(hipDeviceDisablePeerAccess, |call| {
        let (device, peer) = (call.any_device()?, call.device_at(peer)?);
        if device.index == peer.index {
            return Err(Code::INVALID_DEVICE);
        }
        device.disable_peer(peer.index)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDeviceGetP2PAttribute(
    value: *mut c_int,
    attribute: hipDeviceP2PAttr,
    device: c_int,
    peer: c_int,
) -> hipError_t {
    hip!(hipDeviceGetP2PAttribute, |call| {
        let (device, peer) = (call.device_at(device)?.index, call.device_at(peer)?.index);
        if device == peer {
            return Err(Code::INVALID_DEVICE);
        }
        let answer = match attribute {
            hipDeviceP2PAttr::hipDevP2PAttrPerformanceRank => XGMI,
            // HIP 5 answers the link here too.
            hipDeviceP2PAttr::hipDevP2PAttrNativeAtomicSupported if !call.is_since(6) => XGMI,
            hipDeviceP2PAttr::hipDevP2PAttrAccessSupported
            | hipDeviceP2PAttr::hipDevP2PAttrNativeAtomicSupported
            | hipDeviceP2PAttr::hipDevP2PAttrHipArrayAccessSupported => 1,
            _ => return Err(Code::INVALID_VALUE),
        };
        call.put(value, answer)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDeviceSetLimit(limit: hipLimit_t, value: usize) -> hipError_t {
    // As in AMD's HIP, the heap's limit is the size that it begins with: it grows as long as the device has memory. There
    // is no buffer for printf on the device.
    hip!(hipDeviceSetLimit, |call| match limit {
        hipLimit_t::hipLimitStackSize if value > STACK_LIMIT => Err(Code::INVALID_VALUE),
        hipLimit_t::hipLimitStackSize => {
            call.any_device()?.set_stack_limit(value.next_multiple_of(STACK_STEP));
            Ok(())
        }
        hipLimit_t::hipLimitMallocHeapSize if call.is_since(6) => {
            let device = call.any_device()?;
            if value as u64 >= device.capacity {
                return Err(Code::INVALID_VALUE);
            }
            device.heap.store(value, Ordering::Relaxed);
            Ok(())
        }
        hipLimit_t::hipLimitPrintfFifoSize | hipLimit_t::hipLimitMallocHeapSize =>
            Err(Code::UNSUPPORTED_LIMIT),
        _ => Err(Code::INVALID_VALUE),
    })
}

pub(in crate::hip) unsafe extern "C" fn hipExtGetLinkTypeAndHopCount(
    device: c_int,
    peer: c_int,
    link: *mut u32,
    hops: *mut u32,
) -> hipError_t {
    hip!(hipExtGetLinkTypeAndHopCount, |call| {
        if device < 0 || peer < 0 {
            return Err(Code::INVALID_VALUE);
        }
        let (device, peer) = (call.device_at(device)?.index, call.device_at(peer)?.index);
        if device == peer {
            return Err(Code::INVALID_VALUE);
        }
        call.put(link, XGMI as u32)?;
        call.put(hops, 1)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipSetValidDevices(
    _devices: *mut c_int,
    _count: c_int,
) -> hipError_t {
    hip!(hipSetValidDevices, |_| {
        explain("AMD's HIP does not support hipSetValidDevices: set HIP_VISIBLE_DEVICES".to_owned());
        Err(Code::NOT_SUPPORTED)
    })
}
