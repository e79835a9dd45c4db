// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers and attributes of streams, the compute units that they use, and memory that is attached to them.

use std::ffi::{c_uint, c_ulonglong, c_void};
use std::sync::Arc;

use windlass_hip_sys::bindings::{
    hipError_t, hipLaunchAttributeID as Attribute, hipLaunchAttributeValue, hipStream_t,
    hipSynchronizationPolicy,
};

use crate::hip::boundary::call::Call;
use crate::hip::hardware::device::Device;
use crate::hip::objects::stream::Stream;
use crate::hip::words::code::{Code, Outcome};
use crate::packet::Role;

/// Bits of one word of a mask of compute units.
const BITS: u32 = u32::BITS;

/// A stream by its handle, for functions that answer `INVALID_HANDLE` to a handle of no stream.
fn find(call: &Call, stream: hipStream_t) -> Outcome<Arc<Stream>> {
    call.stream(stream).map_err(|code| match code {
        Code::CONTEXT_IS_DESTROYED => Code::INVALID_HANDLE,
        code => code,
    })
}

pub(in crate::hip) unsafe extern "C" fn hipStreamGetId(
    stream: hipStream_t,
    id: *mut c_ulonglong,
) -> hipError_t {
    hip!(hipStreamGetId, |call| {
        if id.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        call.put(id, find(call, stream)?.id)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipStreamGetAttribute(
    stream: hipStream_t,
    attribute: Attribute,
    value: *mut hipLaunchAttributeValue,
) -> hipError_t {
    hip!(hipStreamGetAttribute, |call| {
        if value.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let stream = find(call, stream)?;
        // The value is a union, of which the attribute alone is written.
        match attribute {
            Attribute::hipLaunchAttributeSynchronizationPolicy => {
                call.put(value.cast::<u32>(), stream.policy())
            }
            Attribute::hipLaunchAttributePriority => call.put(value.cast::<i32>(), stream.priority),
            _ => Err(Code::INVALID_VALUE),
        }
    })
}

pub(in crate::hip) unsafe extern "C" fn hipStreamSetAttribute(
    stream: hipStream_t,
    attribute: Attribute,
    value: *const hipLaunchAttributeValue,
) -> hipError_t {
    hip!(hipStreamSetAttribute, |call| {
        if value.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let found = find(call, stream)?;
        if let Some(capture) = call.runtime.captures.of_stream(&found) {
            return capture.refuse(call.name);
        }
        let policies = hipSynchronizationPolicy::hipSyncPolicyAuto.0
            ..=hipSynchronizationPolicy::hipSyncPolicyBlockingSync.0;
        match attribute {
            Attribute::hipLaunchAttributeSynchronizationPolicy => {
                let policy = call.get(value.cast::<u32>())?;
                if !policies.contains(&policy) {
                    return Err(Code::INVALID_VALUE);
                }
                found.set_policy(policy);
                Ok(())
            }
            _ => Err(Code::INVALID_VALUE),
        }
    })
}

pub(in crate::hip) unsafe extern "C" fn hipStreamCopyAttributes(
    to: hipStream_t,
    from: hipStream_t,
) -> hipError_t {
    hip!(hipStreamCopyAttributes, |call| {
        let (from, to) = (find(call, from)?, find(call, to)?);
        // The only attribute that can be set.
        to.set_policy(from.policy());
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipExtStreamCreateWithCUMask(
    stream: *mut hipStream_t,
    words: u32,
    mask: *const u32,
) -> hipError_t {
    hip!(hipExtStreamCreateWithCUMask, |call| {
        if stream.is_null() {
            return Err(Code::INVALID_HANDLE);
        }
        if words == 0 || mask.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let device = call.device()?;
        // Words behind the device's units choose nothing.
        let count = words.min(words_of(device));
        let units = (0..count as usize).map(|word| call.get(mask.wrapping_add(word)));
        let units: Vec<u32> = units.collect::<Outcome<_>>()?;
        // Units of its own need a hardware queue of its own.
        let queue = call.runtime.scheduler.create_exclusive_queue(device.index, Role::Blocking, 0);
        let made = Arc::new(Stream::on_units(queue, units));
        let Some(handle) = call.runtime.streams.insert(made.clone()) else {
            call.runtime.scheduler.close_queue(&made);
            return Err(Code::OUT_OF_MEMORY);
        };
        made.set_name(handle.get());
        call.put(stream, handle.get() as hipStream_t)
    })
}

/// The words of a mask of all compute units of a device.
fn words_of(device: &Device) -> u32 {
    device.units.div_ceil(BITS)
}

/// The mask of all compute units of a device.
fn all_units(device: &Device) -> Vec<u32> {
    let word = |index: u32| match device.units - index * BITS {
        left @ 0..BITS => (1 << left) - 1,
        _ => u32::MAX,
    };
    (0..words_of(device)).map(word).collect()
}

pub(in crate::hip) unsafe extern "C" fn hipExtStreamGetCUMask(
    stream: hipStream_t,
    words: u32,
    mask: *mut u32,
) -> hipError_t {
    hip!(hipExtStreamGetCUMask, |call| {
        if mask.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let chosen = find(call, stream)?;
        let device = call.runtime.machine.device(chosen.device)?;
        if words < words_of(device) {
            return Err(Code::INVALID_VALUE);
        }
        let all = all_units(device);
        let chosen: Vec<u32> = chosen.units.iter().zip(&all).map(|(chosen, all)| chosen & all).collect();
        // No choice is all of them, and so is a choice of none.
        let told = if chosen.iter().all(|word| *word == 0) { all } else { chosen };
        told.iter().enumerate().try_for_each(|(index, word)| call.put(mask.wrapping_add(index), *word))
    })
}

pub(in crate::hip) unsafe extern "C" fn hipStreamAttachMemAsync(
    stream: hipStream_t,
    pointer: *mut c_void,
    length: usize,
    flags: c_uint,
) -> hipError_t {
    /// hipMemAttachGlobal, hipMemAttachHost, hipMemAttachSingle.
    const FLAGS: [c_uint; 3] = [1, 2, SINGLE];
    const SINGLE: c_uint = 4;
    hip!(hipStreamAttachMemAsync, |call| {
        if pointer.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        call.stream(stream)?;
        if !FLAGS.contains(&flags) || flags == SINGLE && stream.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // Every stream can use managed memory, attached or not, on AMD's GPUs too.
        let holding = call.runtime.machine.ledger.find(pointer as u64).ok_or(Code::INVALID_VALUE)?;
        let whole = length == 0 || length as u64 == holding.size;
        if holding.managed && !whole { Err(Code::INVALID_VALUE) } else { Ok(()) }
    })
}
