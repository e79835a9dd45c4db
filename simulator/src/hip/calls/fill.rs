// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fills.

use std::ffi::{c_int, c_uchar, c_uint, c_ushort, c_void};

use windlass_hip_sys::bindings::{hipDeviceptr_t, hipError_t, hipStream_t};

use crate::hip::boundary::call::Call;
use crate::hip::boundary::target::Target;
use crate::hip::graphs::operation::Operation;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::work::item::Work;
use crate::packet::{FillCall, Pattern, Rows};

/// One row of `count` repetitions of a pattern.
fn times(pattern: Pattern, count: usize) -> Outcome<Rows> {
    let width = count.checked_mul(pattern.size).ok_or(Code::INVALID_VALUE)?;
    Ok(Rows::line(width as u64))
}

/// Rows of `width` repetitions of a pattern.
fn elements(pattern: Pattern, width: usize, height: usize, pitch: usize) -> Outcome<Rows> {
    let width = width.checked_mul(pattern.size).ok_or(Code::INVALID_VALUE)?;
    rows(width, height, pitch)
}

/// Rows of `width` bytes. One row needs a pitch as several do.
fn rows(width: usize, height: usize, pitch: usize) -> Outcome<Rows> {
    if width != 0 && height != 0 && pitch < width {
        return Err(Code::INVALID_PITCH_VALUE);
    }
    Ok(Rows::new(width as u64, height as u64, pitch as u64)?)
}

/// Queues a fill. Without a stream it goes to the null stream, and the call waits for it. Since version 6 no call waits for
/// a fill of a device's memory, as no copy to the host could show the difference.
fn fill(
    call: &Call,
    to: *mut c_void,
    rows: Rows,
    pattern: Pattern,
    stream: Option<hipStream_t>,
) -> Outcome<()> {
    let target = call.target(stream.unwrap_or(std::ptr::null_mut()))?;
    if rows.is_empty() {
        return Ok(());
    }
    let wanted = FillCall { address: to as u64, rows, pattern };
    let fill = call.runtime.machine.fill(&wanted)?;
    let queue = match target {
        Target::Run(queue) => queue,
        Target::Record(capture, queue) => {
            let [pitch, _] = rows.pitches();
            return capture.add(&queue, Operation::Fill(wanted, pitch));
        }
    };
    let point = call.runtime.enqueue(&queue, Work::Fill(fill), &[])?;
    if stream.is_none() && !call.runtime.machine.stays_on_devices(&[wanted.address]) {
        call.runtime.scheduler.wait(&[point])?;
        call.runtime.machine.device(queue.device)?.check()?;
        queue.report()?;
    }
    Ok(())
}

/// The lowest byte counts, as in C.
fn byte(value: c_int) -> Pattern {
    Pattern { value: u32::from(value as u8), size: 1 }
}

pub(in crate::hip) unsafe extern "C" fn hipMemset(to: *mut c_void, value: c_int, size: usize) -> hipError_t {
    hip!(hipMemset, |call| fill(call, to, times(byte(value), size)?, byte(value), None))
}

pub(in crate::hip) unsafe extern "C" fn hipMemsetAsync(
    to: *mut c_void,
    value: c_int,
    size: usize,
    stream: hipStream_t,
) -> hipError_t {
    hip!(hipMemsetAsync, |call| fill(call, to, times(byte(value), size)?, byte(value), Some(stream)))
}

pub(in crate::hip) unsafe extern "C" fn hipMemsetD8(
    to: hipDeviceptr_t,
    value: c_uchar,
    count: usize,
) -> hipError_t {
    let pattern = Pattern { value: value.into(), size: 1 };
    hip!(hipMemsetD8, |call| fill(call, to, times(pattern, count)?, pattern, None))
}

pub(in crate::hip) unsafe extern "C" fn hipMemsetD8Async(
    to: hipDeviceptr_t,
    value: c_uchar,
    count: usize,
    stream: hipStream_t,
) -> hipError_t {
    let pattern = Pattern { value: value.into(), size: 1 };
    hip!(hipMemsetD8Async, |call| fill(call, to, times(pattern, count)?, pattern, Some(stream)))
}

pub(in crate::hip) unsafe extern "C" fn hipMemsetD16(
    to: hipDeviceptr_t,
    value: c_ushort,
    count: usize,
) -> hipError_t {
    let pattern = Pattern { value: value.into(), size: 2 };
    hip!(hipMemsetD16, |call| fill(call, to, times(pattern, count)?, pattern, None))
}

pub(in crate::hip) unsafe extern "C" fn hipMemsetD16Async(
    to: hipDeviceptr_t,
    value: c_ushort,
    count: usize,
    stream: hipStream_t,
) -> hipError_t {
    let pattern = Pattern { value: value.into(), size: 2 };
    hip!(hipMemsetD16Async, |call| fill(call, to, times(pattern, count)?, pattern, Some(stream)))
}

pub(in crate::hip) unsafe extern "C" fn hipMemsetD32(
    to: hipDeviceptr_t,
    value: c_int,
    count: usize,
) -> hipError_t {
    let pattern = Pattern { value: value as u32, size: 4 };
    hip!(hipMemsetD32, |call| fill(call, to, times(pattern, count)?, pattern, None))
}

pub(in crate::hip) unsafe extern "C" fn hipMemsetD32Async(
    to: hipDeviceptr_t,
    value: c_int,
    count: usize,
    stream: hipStream_t,
) -> hipError_t {
    let pattern = Pattern { value: value as u32, size: 4 };
    hip!(hipMemsetD32Async, |call| fill(call, to, times(pattern, count)?, pattern, Some(stream)))
}

pub(in crate::hip) unsafe extern "C" fn hipMemset2D(
    to: *mut c_void,
    pitch: usize,
    value: c_int,
    width: usize,
    height: usize,
) -> hipError_t {
    hip!(hipMemset2D, |call| fill(call, to, rows(width, height, pitch)?, byte(value), None))
}

pub(in crate::hip) unsafe extern "C" fn hipMemset2DAsync(
    to: *mut c_void,
    pitch: usize,
    value: c_int,
    width: usize,
    height: usize,
    stream: hipStream_t,
) -> hipError_t {
    hip!(hipMemset2DAsync, |call| fill(call, to, rows(width, height, pitch)?, byte(value), Some(stream)))
}

pub(in crate::hip) unsafe extern "C" fn hipMemsetD2D8(
    to: hipDeviceptr_t,
    pitch: usize,
    value: c_uchar,
    width: usize,
    height: usize,
) -> hipError_t {
    let pattern = Pattern { value: value.into(), size: 1 };
    hip!(hipMemsetD2D8, |call| fill(call, to, elements(pattern, width, height, pitch)?, pattern, None))
}

pub(in crate::hip) unsafe extern "C" fn hipMemsetD2D8Async(
    to: hipDeviceptr_t,
    pitch: usize,
    value: c_uchar,
    width: usize,
    height: usize,
    stream: hipStream_t,
) -> hipError_t {
    let pattern = Pattern { value: value.into(), size: 1 };
    hip!(hipMemsetD2D8Async, |call| {
        fill(call, to, elements(pattern, width, height, pitch)?, pattern, Some(stream))
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemsetD2D16(
    to: hipDeviceptr_t,
    pitch: usize,
    value: c_ushort,
    width: usize,
    height: usize,
) -> hipError_t {
    let pattern = Pattern { value: value.into(), size: 2 };
    hip!(hipMemsetD2D16, |call| fill(call, to, elements(pattern, width, height, pitch)?, pattern, None))
}

pub(in crate::hip) unsafe extern "C" fn hipMemsetD2D16Async(
    to: hipDeviceptr_t,
    pitch: usize,
    value: c_ushort,
    width: usize,
    height: usize,
    stream: hipStream_t,
) -> hipError_t {
    let pattern = Pattern { value: value.into(), size: 2 };
    hip!(hipMemsetD2D16Async, |call| {
        fill(call, to, elements(pattern, width, height, pitch)?, pattern, Some(stream))
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemsetD2D32(
    to: hipDeviceptr_t,
    pitch: usize,
    value: c_uint,
    width: usize,
    height: usize,
) -> hipError_t {
    let pattern = Pattern { value, size: 4 };
    hip!(hipMemsetD2D32, |call| fill(call, to, elements(pattern, width, height, pitch)?, pattern, None))
}

pub(in crate::hip) unsafe extern "C" fn hipMemsetD2D32Async(
    to: hipDeviceptr_t,
    pitch: usize,
    value: c_uint,
    width: usize,
    height: usize,
    stream: hipStream_t,
) -> hipError_t {
    let pattern = Pattern { value, size: 4 };
    hip!(hipMemsetD2D32Async, |call| {
        fill(call, to, elements(pattern, width, height, pitch)?, pattern, Some(stream))
    })
}
