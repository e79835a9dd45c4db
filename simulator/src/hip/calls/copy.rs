// SPDX-License-Identifier: MIT OR Apache-2.0
//! Copies.

use std::ffi::{c_int, c_void};

use windlass_hip_sys::bindings::{hipDeviceptr_t, hipError_t, hipMemcpyKind, hipStream_t};

use crate::hip::boundary::call::Call;
use crate::hip::boundary::target::Target;
use crate::hip::graphs::operation::{CopyWords, Operation};
use crate::hip::words::code::{Code, Outcome};
use crate::hip::work::item::Work;
use crate::packet::{CopyCall, Direction, Rows};

/// The moment at which the call returns. Since version 6 no call waits for a copy between devices' memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Return {
    WhenDone,
    WhenQueued,
}

pub(super) fn queue(call: &Call, stream: hipStream_t, copy: CopyCall, when: Return) -> Outcome<()> {
    let target = call.target(stream)?;
    if copy.to.1.is_empty() {
        return Ok(());
    }
    let mut transfer = call.runtime.machine.transfer(&copy)?;
    let stream = match &target {
        Target::Run(stream) => stream,
        Target::Record(capture, stream) if when == Return::WhenQueued => {
            return capture.add(stream, Operation::Copy(copy, CopyWords::Addresses));
        }
        Target::Record(capture, _) => return capture.refuse(call.name),
    };
    if when == Return::WhenQueued && transfer.reads_pageable_only() {
        // SAFETY: the client vouches for the source.
        unsafe { transfer.capture() }?;
    }
    let on_devices = call.runtime.machine.stays_on_devices(&[copy.to.0, copy.from.0]);
    let wait = (when == Return::WhenDone && !on_devices) || transfer.needs_waiting();
    let point = call.runtime.enqueue(stream, Work::Transfer(transfer), &[])?;
    if wait {
        call.runtime.scheduler.wait(&[point])?;
        call.runtime.machine.device(stream.device)?.check()?;
        stream.report()?;
    }
    Ok(())
}

/// `hipMemcpyKind` by its number.
pub(super) fn direction(kind: u32) -> Outcome<Direction> {
    Ok(match kind {
        0 => Direction::HostToHost,
        1 => Direction::HostToDevice,
        2 => Direction::DeviceToHost,
        // 1024 is hipMemcpyDeviceToDeviceNoCU.
        3 | 1024 => Direction::DeviceToDevice,
        4 => Direction::Any,
        _ => return Err(Code::INVALID_MEMCPY_DIRECTION),
    })
}

fn line(
    call: &Call,
    (to, from, size): (*mut c_void, *const c_void, usize),
    direction: Direction,
    stream: hipStream_t,
    when: Return,
) -> Outcome<()> {
    let rows = Rows::line(size as u64);
    queue(call, stream, CopyCall { to: (to as u64, rows), from: (from as u64, rows), direction }, when)
}

pub(in crate::hip) unsafe extern "C" fn hipMemcpy(
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    hip!(hipMemcpy, |call| {
        let direction = direction(kind.0)?;
        line(call, (to, from, size), direction, std::ptr::null_mut(), Return::WhenDone)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemcpyAsync(
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> hipError_t {
    hip!(hipMemcpyAsync, |call| {
        let direction = direction(kind.0)?;
        line(call, (to, from, size), direction, stream, Return::WhenQueued)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemcpyWithStream(
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> hipError_t {
    hip!(hipMemcpyWithStream, |call| {
        let direction = direction(kind.0)?;
        line(call, (to, from, size), direction, stream, Return::WhenDone)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemcpyHtoD(
    to: hipDeviceptr_t,
    from: *const c_void,
    size: usize,
) -> hipError_t {
    hip!(hipMemcpyHtoD, |call| line(
        call,
        (to, from, size),
        Direction::HostToDevice,
        std::ptr::null_mut(),
        Return::WhenDone
    ))
}

pub(in crate::hip) unsafe extern "C" fn hipMemcpyDtoH(
    to: *mut c_void,
    from: hipDeviceptr_t,
    size: usize,
) -> hipError_t {
    hip!(hipMemcpyDtoH, |call| line(
        call,
        (to, from, size),
        Direction::DeviceToHost,
        std::ptr::null_mut(),
        Return::WhenDone
    ))
}

pub(in crate::hip) unsafe extern "C" fn hipMemcpyDtoD(
    to: hipDeviceptr_t,
    from: hipDeviceptr_t,
    size: usize,
) -> hipError_t {
    hip!(hipMemcpyDtoD, |call| line(
        call,
        (to, from, size),
        Direction::DeviceToDevice,
        std::ptr::null_mut(),
        Return::WhenDone
    ))
}

pub(in crate::hip) unsafe extern "C" fn hipMemcpyHtoDAsync(
    to: hipDeviceptr_t,
    from: *const c_void,
    size: usize,
    stream: hipStream_t,
) -> hipError_t {
    hip!(hipMemcpyHtoDAsync, |call| line(
        call,
        (to, from, size),
        Direction::HostToDevice,
        stream,
        Return::WhenQueued
    ))
}

pub(in crate::hip) unsafe extern "C" fn hipMemcpyDtoHAsync(
    to: *mut c_void,
    from: hipDeviceptr_t,
    size: usize,
    stream: hipStream_t,
) -> hipError_t {
    hip!(hipMemcpyDtoHAsync, |call| line(
        call,
        (to, from, size),
        Direction::DeviceToHost,
        stream,
        Return::WhenQueued
    ))
}

pub(in crate::hip) unsafe extern "C" fn hipMemcpyDtoDAsync(
    to: hipDeviceptr_t,
    from: hipDeviceptr_t,
    size: usize,
    stream: hipStream_t,
) -> hipError_t {
    hip!(hipMemcpyDtoDAsync, |call| line(
        call,
        (to, from, size),
        Direction::DeviceToDevice,
        stream,
        Return::WhenQueued
    ))
}

pub(in crate::hip) unsafe extern "C" fn hipMemcpyPeer(
    to: *mut c_void,
    to_device: c_int,
    from: *const c_void,
    from_device: c_int,
    size: usize,
) -> hipError_t {
    hip!(hipMemcpyPeer, |call| {
        call.device_at(to_device)?;
        call.device_at(from_device)?;
        line(call, (to, from, size), Direction::DeviceToDevice, std::ptr::null_mut(), Return::WhenDone)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemcpyPeerAsync(
    to: *mut c_void,
    to_device: c_int,
    from: *const c_void,
    from_device: c_int,
    size: usize,
    stream: hipStream_t,
) -> hipError_t {
    hip!(hipMemcpyPeerAsync, |call| {
        call.device_at(to_device)?;
        call.device_at(from_device)?;
        line(call, (to, from, size), Direction::DeviceToDevice, stream, Return::WhenQueued)
    })
}

/// One side of a copy of rows: address and pitch.
type Pitched<T> = (T, usize);

fn rows(
    call: &Call,
    to: Pitched<*mut c_void>,
    from: Pitched<*const c_void>,
    (width, height): (usize, usize),
    kind: hipMemcpyKind,
    stream: hipStream_t,
    when: Return,
) -> Outcome<()> {
    let direction = direction(kind.0)?;
    // As in AMD's runtime, a single row is no wider than a pitch either.
    if height > 0 && width > to.1.min(from.1) {
        return Err(Code::INVALID_PITCH_VALUE);
    }
    let side = |pitch: usize| Rows::new(width as u64, height as u64, pitch as u64);
    let copy = CopyCall { to: (to.0 as u64, side(to.1)?), from: (from.0 as u64, side(from.1)?), direction };
    queue(call, stream, copy, when)
}

pub(in crate::hip) unsafe extern "C" fn hipMemcpy2D(
    to: *mut c_void,
    to_pitch: usize,
    from: *const c_void,
    from_pitch: usize,
    width: usize,
    height: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    hip!(hipMemcpy2D, |call| {
        let null = std::ptr::null_mut();
        rows(call, (to, to_pitch), (from, from_pitch), (width, height), kind, null, Return::WhenDone)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemcpy2DAsync(
    to: *mut c_void,
    to_pitch: usize,
    from: *const c_void,
    from_pitch: usize,
    width: usize,
    height: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> hipError_t {
    hip!(hipMemcpy2DAsync, |call| {
        rows(call, (to, to_pitch), (from, from_pitch), (width, height), kind, stream, Return::WhenQueued)
    })
}

/// The direction of a copy to or from a variable. Since HIP 6 AMD's runtime requires it.
fn direction_of_symbol(call: &Call, kind: hipMemcpyKind) -> Outcome<Direction> {
    let to = call.name.starts_with("hipMemcpyToSymbol");
    let told = match kind {
        hipMemcpyKind::hipMemcpyHostToDevice => to,
        hipMemcpyKind::hipMemcpyDeviceToHost => !to,
        hipMemcpyKind::hipMemcpyDeviceToDevice => true,
        _ => false,
    };
    if call.is_since(6) && !told {
        return Err(Code::INVALID_MEMCPY_DIRECTION);
    }
    direction(kind.0)
}

/// The address at an offset in the variable that a host symbol stands for, with `size` bytes checked.
pub(super) fn symbol(call: &Call, symbol: *const c_void, size: usize, offset: usize) -> Outcome<u64> {
    let device = call.device()?.index;
    let (address, length) = call.runtime.compiled.variable(device, symbol as u64)?;
    let end = offset.checked_add(size).ok_or(Code::INVALID_VALUE)? as u64;
    if end > length { Err(Code::INVALID_VALUE) } else { Ok(address + offset as u64) }
}

pub(in crate::hip) unsafe extern "C" fn hipMemcpyToSymbol(
    variable: *const c_void,
    from: *const c_void,
    size: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    hip!(hipMemcpyToSymbol, |call| {
        let to = symbol(call, variable, size, offset)? as *mut c_void;
        let null = std::ptr::null_mut();
        line(call, (to, from, size), direction_of_symbol(call, kind)?, null, Return::WhenDone)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemcpyFromSymbol(
    to: *mut c_void,
    variable: *const c_void,
    size: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    hip!(hipMemcpyFromSymbol, |call| {
        let from = symbol(call, variable, size, offset)? as *const c_void;
        let null = std::ptr::null_mut();
        line(call, (to, from, size), direction_of_symbol(call, kind)?, null, Return::WhenDone)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemcpyToSymbolAsync(
    variable: *const c_void,
    from: *const c_void,
    size: usize,
    offset: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> hipError_t {
    hip!(hipMemcpyToSymbolAsync, |call| {
        let to = symbol(call, variable, size, offset)? as *mut c_void;
        line(call, (to, from, size), direction_of_symbol(call, kind)?, stream, Return::WhenQueued)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemcpyFromSymbolAsync(
    to: *mut c_void,
    variable: *const c_void,
    size: usize,
    offset: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> hipError_t {
    hip!(hipMemcpyFromSymbolAsync, |call| {
        let from = symbol(call, variable, size, offset)? as *const c_void;
        line(call, (to, from, size), direction_of_symbol(call, kind)?, stream, Return::WhenQueued)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGetSymbolAddress(
    address: *mut *mut c_void,
    variable: *const c_void,
) -> hipError_t {
    hip!(hipGetSymbolAddress, |call| {
        if address.is_null() && call.is_since(6) {
            return Err(Code::INVALID_VALUE);
        }
        let place = symbol(call, variable, 0, 0)?;
        call.put(address, place as *mut c_void)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGetSymbolSize(
    size: *mut usize,
    variable: *const c_void,
) -> hipError_t {
    hip!(hipGetSymbolSize, |call| {
        if size.is_null() && call.is_since(6) {
            return Err(Code::INVALID_VALUE);
        }
        let device = call.device()?.index;
        let (_, length) = call.runtime.compiled.variable(device, variable as u64)?;
        call.put(size, length as usize)
    })
}
