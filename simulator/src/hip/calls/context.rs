// SPDX-License-Identifier: MIT OR Apache-2.0
//! Contexts. Every device has one permanent context. To make the context current makes the device current.

use std::ffi::{c_int, c_uint};

use windlass_hip_sys::bindings::{hipCtx_t, hipDevice_t, hipError_t};

use crate::hip::boundary::call::Call;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;

/// The device of a context.
fn device_of(call: &Call, context: hipCtx_t) -> Outcome<usize> {
    call.runtime.contexts.get(context as u64).map(|index| *index).ok_or(Code::INVALID_CONTEXT)
}

fn give(call: &Call, to: *mut hipCtx_t, device: usize) -> Outcome<()> {
    call.put(to, call.runtime.context(device)? as hipCtx_t)
}

/// AMD's HIP keeps the stack of contexts apart from the current device. Calls use the current device only.
fn push(call: &Call, device: usize) {
    call.thread.contexts.borrow_mut().push(device);
}

pub(in crate::hip) unsafe extern "C" fn hipDevicePrimaryCtxRetain(
    context: *mut hipCtx_t,
    device: hipDevice_t,
) -> hipError_t {
    hip!(hipDevicePrimaryCtxRetain, |call| {
        let device = call.device_at(device)?;
        give(call, context, device.index)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDevicePrimaryCtxRelease(device: hipDevice_t) -> hipError_t {
    // AMD's runtime accepts more releases than retains.
    hip!(hipDevicePrimaryCtxRelease, |call| call.device_at(device).map(|_| ()))
}

pub(in crate::hip) unsafe extern "C" fn hipDevicePrimaryCtxReset(device: hipDevice_t) -> hipError_t {
    // As in AMD's runtime the device keeps what it has: hipDeviceReset takes it away.
    hip!(hipDevicePrimaryCtxReset, |call| call.device_at(device).map(|_| ()))
}

pub(in crate::hip) unsafe extern "C" fn hipDevicePrimaryCtxSetFlags(
    device: hipDevice_t,
    _flags: c_uint,
) -> hipError_t {
    hip!(hipDevicePrimaryCtxSetFlags, |call| {
        call.device_at(device)?;
        // In AMD's runtime every context is always in use.
        Err(Code::CONTEXT_ALREADY_IN_USE)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDevicePrimaryCtxGetState(
    device: hipDevice_t,
    flags: *mut c_uint,
    active: *mut c_int,
) -> hipError_t {
    hip!(hipDevicePrimaryCtxGetState, |call| {
        let device = call.device_at(device)?;
        // The flags of hipSetDeviceFlags are others.
        call.put_if(flags, 0);
        call.put_if(active, c_int::from(device.is_active()));
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipCtxCreate(
    context: *mut hipCtx_t,
    _flags: c_uint,
    device: hipDevice_t,
) -> hipError_t {
    hip!(hipCtxCreate, |call| {
        let device = call.device_at(device)?.index;
        give(call, context, device)?;
        push(call, device);
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipCtxDestroy(context: hipCtx_t) -> hipError_t {
    hip!(hipCtxDestroy, |call| {
        let device = device_of(call, context).map_err(|_| Code::INVALID_VALUE)?;
        // The context belongs to the device and stays, but not on top of the thread's stack.
        call.thread.contexts.borrow_mut().pop_if(|top| *top == device);
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipCtxPushCurrent(context: hipCtx_t) -> hipError_t {
    hip!(hipCtxPushCurrent, |call| {
        let device = device_of(call, context)?;
        call.thread.device.set(device);
        push(call, device);
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipCtxPopCurrent(context: *mut hipCtx_t) -> hipError_t {
    hip!(hipCtxPopCurrent, |call| {
        let device = call.thread.contexts.borrow_mut().pop().ok_or(Code::INVALID_CONTEXT)?;
        call.put_if(context, call.runtime.context(device)? as hipCtx_t);
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipCtxSetCurrent(context: hipCtx_t) -> hipError_t {
    hip!(hipCtxSetCurrent, |call| {
        let device = if context.is_null() { None } else { Some(device_of(call, context)?) };
        call.thread.contexts.borrow_mut().pop();
        if let Some(device) = device {
            call.thread.device.set(device);
            push(call, device);
        }
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipCtxGetCurrent(context: *mut hipCtx_t) -> hipError_t {
    hip!(hipCtxGetCurrent, |call| give(call, context, call.thread.device.get()))
}

pub(in crate::hip) unsafe extern "C" fn hipCtxGetDevice(device: *mut hipDevice_t) -> hipError_t {
    hip!(hipCtxGetDevice, |call| call.put(device, call.thread.device.get() as hipDevice_t))
}

pub(in crate::hip) unsafe extern "C" fn hipCtxSynchronize() -> hipError_t {
    hip!(hipCtxSynchronize, |_| {
        explain("AMD's HIP does not support hipCtxSynchronize: use hipDeviceSynchronize".to_owned());
        Err(Code::NOT_SUPPORTED)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipCtxGetApiVersion(
    _context: hipCtx_t,
    _version: *mut c_uint,
) -> hipError_t {
    hip!(hipCtxGetApiVersion, |_| {
        explain("AMD's HIP does not support hipCtxGetApiVersion: use hipRuntimeGetVersion".to_owned());
        Err(Code::NOT_SUPPORTED)
    })
}

/// AMD's HIP ignores the context, and so every device may use every other by this call alone already.
pub(in crate::hip) unsafe extern "C" fn hipCtxEnablePeerAccess(
    _peer: hipCtx_t,
    _flags: c_uint,
) -> hipError_t {
    hip!(hipCtxEnablePeerAccess, |call| call.outside_captures())
}

pub(in crate::hip) unsafe extern "C" fn hipCtxDisablePeerAccess(_peer: hipCtx_t) -> hipError_t {
    hip!(hipCtxDisablePeerAccess, |call| call.outside_captures())
}
