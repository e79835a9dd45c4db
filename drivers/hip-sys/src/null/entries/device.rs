// SPDX-License-Identifier: MIT OR Apache-2.0
//! Initialisation, devices and their properties.

use std::sync::atomic::Ordering;

use super::entry::{INVALID_VALUE, Outcome, current_device, entry_points, finish, put, put_text};
use crate::bindings::*;
use crate::null::call::Call;
use crate::null::calls::Function;
use crate::null::instance::Instance;

/// The version that the null HIP reports: that of the bindings.
const VERSION: c_int = 7 * 10_000_000 + 100_000;
const INVALID_DEVICE: hipError_t = hipError_t::hipErrorInvalidDevice;

fn checked(call: &Call<'_>, device: c_int) -> Outcome {
    match u32::try_from(device) {
        Ok(device) if device < call.instance.options.devices => Ok(()),
        _ => Err(INVALID_DEVICE),
    }
}

/// Sixteen characters, as HIP gives them.
fn unique_id(device: c_int) -> [u8; 16] {
    let mut bytes = [b'0'; 16];
    for (byte, shift) in bytes.iter_mut().rev().zip((0..64).step_by(4)) {
        let digit = (i64::from(device) + 1) >> shift & 0xf;
        *byte = b"0123456789abcdef".get(usize::try_from(digit).unwrap_or(0)).copied().unwrap_or(b'0');
    }
    bytes
}

/// gfx9 processors have waves of 64 lanes, later ones of 32.
fn wave_size(arch: &str) -> c_int {
    if arch.starts_with("gfx9") { 64 } else { 32 }
}

const COMPUTE_UNITS: c_int = 304;
const LDS_BYTES: u32 = 64 * 1024;
const MAX_THREADS: c_int = 1024;

fn attribute(instance: &Instance, attribute: hipDeviceAttribute_t, device: c_int) -> c_int {
    match attribute {
        hipDeviceAttribute_t::hipDeviceAttributeWarpSize => wave_size(&instance.options.arch),
        hipDeviceAttribute_t::hipDeviceAttributeMultiprocessorCount => COMPUTE_UNITS,
        hipDeviceAttribute_t::hipDeviceAttributeMaxThreadsPerBlock
        | hipDeviceAttribute_t::hipDeviceAttributeMaxBlockDimX
        | hipDeviceAttribute_t::hipDeviceAttributeMaxBlockDimY
        | hipDeviceAttribute_t::hipDeviceAttributeMaxBlockDimZ => MAX_THREADS,
        hipDeviceAttribute_t::hipDeviceAttributeMaxGridDimX => c_int::MAX,
        hipDeviceAttribute_t::hipDeviceAttributeMaxGridDimY
        | hipDeviceAttribute_t::hipDeviceAttributeMaxGridDimZ => 65535,
        hipDeviceAttribute_t::hipDeviceAttributeMaxSharedMemoryPerBlock
        | hipDeviceAttribute_t::hipDeviceAttributeMaxSharedMemoryPerMultiprocessor => LDS_BYTES.cast_signed(),
        hipDeviceAttribute_t::hipDeviceAttributeMaxThreadsPerMultiProcessor => 2048,
        hipDeviceAttribute_t::hipDeviceAttributeConcurrentKernels
        | hipDeviceAttribute_t::hipDeviceAttributeCanMapHostMemory
        | hipDeviceAttribute_t::hipDeviceAttributeUnifiedAddressing => 1,
        hipDeviceAttribute_t::hipDeviceAttributePciBusId => device.saturating_add(1),
        _ => 0,
    }
}

fn copy_name<const N: usize>(target: &mut [c_char; N], text: &str) {
    for (target, byte) in target.iter_mut().take(N - 1).zip(text.bytes()) {
        *target = c_char::from_ne_bytes([byte]);
    }
}

fn properties_r0600(instance: &Instance, device: c_int) -> hipDeviceProp_tR0600 {
    let mut properties = hipDeviceProp_tR0600::default();
    copy_name(&mut properties.name, NAME);
    copy_name(&mut properties.gcnArchName, &instance.options.arch);
    properties.uuid = uuid(device);
    properties.totalGlobalMem = instance.options.memory_bytes;
    properties.sharedMemPerBlock = LDS_BYTES as usize;
    properties.warpSize = wave_size(&instance.options.arch);
    properties.maxThreadsPerBlock = MAX_THREADS;
    properties.maxThreadsDim = [MAX_THREADS; 3];
    properties.maxGridSize = [c_int::MAX, 65535, 65535];
    properties.multiProcessorCount = COMPUTE_UNITS;
    properties.pciBusID = device.saturating_add(1);
    properties
}

fn properties_r0000(instance: &Instance, device: c_int) -> hipDeviceProp_tR0000 {
    let mut properties = hipDeviceProp_tR0000::default();
    copy_name(&mut properties.name, NAME);
    copy_name(&mut properties.gcnArchName, &instance.options.arch);
    properties.totalGlobalMem = instance.options.memory_bytes;
    properties.sharedMemPerBlock = LDS_BYTES as usize;
    properties.warpSize = wave_size(&instance.options.arch);
    properties.maxThreadsPerBlock = MAX_THREADS;
    properties.maxThreadsDim = [MAX_THREADS; 3];
    properties.maxGridSize = [c_int::MAX, 65535, 65535];
    properties.multiProcessorCount = COMPUTE_UNITS;
    properties.pciBusID = device.saturating_add(1);
    properties
}

const NAME: &str = "Null HIP device";

fn uuid(device: c_int) -> hipUUID {
    hipUUID { bytes: unique_id(device).map(|byte| c_char::from_ne_bytes([byte])) }
}

entry_points! {
    fill:
    fn hipInit(call, _flags: c_uint) {
        Ok(())
    }
    fn hipDriverGetVersion(call, version: *mut c_int) {
        // SAFETY: the caller's pointer, as HIP documents it.
        unsafe { put(version, VERSION) }
    }
    fn hipRuntimeGetVersion(call, version: *mut c_int) {
        // SAFETY: the caller's pointer, as HIP documents it.
        unsafe { put(version, VERSION) }
    }
    fn hipPeekAtLastError(call) {
        match call.place.last_error.load(Ordering::Relaxed) {
            0 => Ok(()),
            status => Err(hipError_t(status)),
        }
    }
    fn hipGetDeviceCount(call, count: *mut c_int) {
        let devices = c_int::try_from(call.instance.options.devices).unwrap_or(c_int::MAX);
        // SAFETY: the caller's pointer, as HIP documents it.
        unsafe { put(count, devices) }?;
        if devices == 0 { Err(hipError_t::hipErrorNoDevice) } else { Ok(()) }
    }
    fn hipGetDevice(call, device: *mut c_int) {
        // SAFETY: the caller's pointer, as HIP documents it.
        unsafe { put(device, current_device(&call)) }
    }
    fn hipSetDevice(call, device: c_int) {
        checked(&call, device)?;
        call.place.device.store(device, Ordering::Relaxed);
        Ok(())
    }
    fn hipDeviceGet(call, device: *mut hipDevice_t, ordinal: c_int) {
        checked(&call, ordinal)?;
        // SAFETY: the caller's pointer, as HIP documents it.
        unsafe { put(device, ordinal) }
    }
    fn hipDeviceGetName(call, name: *mut c_char, length: c_int, device: hipDevice_t) {
        checked(&call, device)?;
        // SAFETY: the caller's buffer of this length.
        unsafe { put_text(name, usize::try_from(length).unwrap_or(0), NAME) }
    }
    fn hipDeviceGetUuid(call, target: *mut hipUUID, device: hipDevice_t) {
        checked(&call, device)?;
        // SAFETY: the caller's pointer, as HIP documents it.
        unsafe { put(target, uuid(device)) }
    }
    fn hipDeviceGetPCIBusId(call, target: *mut c_char, length: c_int, device: c_int) {
        checked(&call, device)?;
        let text = format!("0000:{:02x}:00.0", device.saturating_add(1));
        // SAFETY: the caller's buffer of this length.
        unsafe { put_text(target, usize::try_from(length).unwrap_or(0), &text) }
    }
    fn hipDeviceGetByPCIBusId(call, device: *mut c_int, id: *const c_char) {
        if id.is_null() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the caller's C string.
        let id = unsafe { std::ffi::CStr::from_ptr(id) }.to_str().unwrap_or_default();
        let bus = id.strip_prefix("0000:").and_then(|rest| rest.strip_suffix(":00.0"));
        let bus = bus.and_then(|bus| c_int::from_str_radix(bus, 16).ok()).ok_or(INVALID_VALUE)?;
        checked(&call, bus.saturating_sub(1))?;
        // SAFETY: the caller's pointer, as HIP documents it.
        unsafe { put(device, bus - 1) }
    }
    fn hipDeviceGetAttribute(call, value: *mut c_int, which: hipDeviceAttribute_t, device: c_int) {
        checked(&call, device)?;
        // SAFETY: the caller's pointer, as HIP documents it.
        unsafe { put(value, attribute(call.instance, which, device)) }
    }
    fn hipDeviceTotalMem(call, bytes: *mut usize, device: hipDevice_t) {
        checked(&call, device)?;
        // SAFETY: the caller's pointer, as HIP documents it.
        unsafe { put(bytes, call.instance.options.memory_bytes) }
    }
    fn hipGetDevicePropertiesR0600(call, properties: *mut hipDeviceProp_tR0600, device: c_int) {
        checked(&call, device)?;
        // SAFETY: the caller's pointer, as HIP documents it.
        unsafe { put(properties, properties_r0600(call.instance, device)) }
    }
    fn hipGetDevicePropertiesR0000(call, properties: *mut hipDeviceProp_tR0000, device: c_int) {
        checked(&call, device)?;
        // SAFETY: the caller's pointer, as HIP documents it.
        unsafe { put(properties, properties_r0000(call.instance, device)) }
    }
    fn hipGetDeviceProperties(call, properties: *mut hipDeviceProp_tR0000, device: c_int) {
        checked(&call, device)?;
        // SAFETY: the caller's pointer, as HIP documents it.
        unsafe { put(properties, properties_r0000(call.instance, device)) }
    }
    fn hipDeviceSynchronize(call) {
        let timeline = &call.instance.timeline;
        timeline.wait(timeline.latest());
        Ok(())
    }
    fn hipDeviceGetStreamPriorityRange(call, least: *mut c_int, greatest: *mut c_int) {
        // SAFETY: the caller's pointers, as HIP documents them.
        unsafe {
            put(least, 0)?;
            put(greatest, -1)
        }
    }
    fn hipDeviceCanAccessPeer(call, can: *mut c_int, device: c_int, peer: c_int) {
        checked(&call, device)?;
        checked(&call, peer)?;
        // SAFETY: the caller's pointer, as HIP documents it.
        unsafe { put(can, c_int::from(device != peer)) }
    }
    fn hipDeviceEnablePeerAccess(call, peer: c_int, flags: c_uint) {
        checked(&call, peer)?;
        if flags != 0 || peer == current_device(&call) { Err(INVALID_VALUE) } else { Ok(()) }
    }
    fn hipDeviceDisablePeerAccess(call, peer: c_int) {
        checked(&call, peer)
    }
}
