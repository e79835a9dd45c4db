// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device that fits wanted properties best.

use std::ffi::c_int;

use windlass_hip_sys::bindings::{hipDeviceProp_tR0000, hipDeviceProp_tR0600, hipError_t};

use super::properties::{new_layout, old_layout};
use crate::hip::boundary::call::Call;
use crate::hip::words::code::{Code, Outcome};

/// The properties that count, in either layout. A property of zero is not wanted.
macro_rules! wishes {
    ($wanted:expr, $offered:expr) => {{
        let (wanted, offered) = ($wanted, $offered);
        [
            wish(wanted.major, offered.major),
            wish(wanted.minor, offered.minor),
            wish(wanted.totalGlobalMem, offered.totalGlobalMem),
            wish(wanted.sharedMemPerBlock, offered.sharedMemPerBlock),
            wish(wanted.maxThreadsPerBlock, offered.maxThreadsPerBlock),
            wish(wanted.totalConstMem, offered.totalConstMem),
            wish(wanted.multiProcessorCount, offered.multiProcessorCount),
            wish(wanted.maxThreadsPerMultiProcessor, offered.maxThreadsPerMultiProcessor),
            wish(wanted.memoryClockRate, offered.memoryClockRate),
            wish(wanted.memoryBusWidth, offered.memoryBusWidth),
            wish(wanted.l2CacheSize, offered.l2CacheSize),
            wish(wanted.regsPerBlock, offered.regsPerBlock),
            wish(wanted.maxSharedMemoryPerMultiProcessor, offered.maxSharedMemoryPerMultiProcessor),
            wish(wanted.warpSize, offered.warpSize),
        ]
    }};
}

/// Whether a device offers at least what is wanted; `None` if nothing is.
fn wish<T: PartialOrd + Default>(wanted: T, offered: T) -> Option<bool> {
    (wanted != T::default()).then(|| offered >= wanted)
}

/// Gives the first device that fulfils all wishes, which is the same for all devices of one kind; without one, device 0.
fn choose<const N: usize>(
    call: &Call,
    device: *mut c_int,
    wishes: impl Fn(usize) -> Outcome<[Option<bool>; N]>,
) -> Outcome<()> {
    for index in 0..call.runtime.machine.devices.len() {
        let fulfilled = wishes(index)?;
        if fulfilled.contains(&Some(true)) && !fulfilled.contains(&Some(false)) {
            return call.put(device, index as c_int);
        }
    }
    call.put(device, 0)
}

fn choose_old(call: &Call, device: *mut c_int, wanted: *const hipDeviceProp_tR0000) -> Outcome<()> {
    if device.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let wanted = call.get(wanted)?;
    choose(call, device, |index| {
        let device = call.runtime.machine.device(index)?;
        Ok(wishes!(&wanted, &old_layout(&new_layout(call, device), device)))
    })
}

pub(in crate::hip) unsafe extern "C" fn hipChooseDeviceR0600(
    device: *mut c_int,
    wanted: *const hipDeviceProp_tR0600,
) -> hipError_t {
    hip!(hipChooseDeviceR0600, |call| {
        if device.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let wanted = call.get(wanted)?;
        choose(call, device, |index| {
            Ok(wishes!(&wanted, &new_layout(call, call.runtime.machine.device(index)?)))
        })
    })
}

pub(in crate::hip) unsafe extern "C" fn hipChooseDeviceR0000(
    device: *mut c_int,
    wanted: *const hipDeviceProp_tR0000,
) -> hipError_t {
    hip!(hipChooseDeviceR0000, |call| choose_old(call, device, wanted))
}

pub(in crate::hip) unsafe extern "C" fn hipChooseDevice(
    device: *mut c_int,
    wanted: *const hipDeviceProp_tR0000,
) -> hipError_t {
    hip!(hipChooseDevice, |call| choose_old(call, device, wanted))
}
