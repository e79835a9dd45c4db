// SPDX-License-Identifier: MIT OR Apache-2.0
//! Copies and fills in the order of a stream.
//!
//! Memory of the host that is not registered is read and written by calls in the order of the stream, through pinned
//! memory of the device. So a copy sees the bytes that the work before it left there.
#![allow(unsafe_code)]

use std::{ffi::c_void, slice};

use facade::{Buffer, BufferParams, Error, Feature, HostCallFlags, Mapping, Pattern, Result};

use crate::{
    boundary::call,
    device::device,
    memory,
    order::stream_of,
    stream::{Stream, Work},
};

/// The most bytes of pinned memory that a copy takes. Longer ones go in pieces.
const PIECE: usize = 16 << 20;

/// The most bytes that are copied while the caller waits, where the stream is idle.
const AT_ONCE: usize = 1 << 20;

/// Memory of the host that an operation will read or write.
#[derive(Clone, Copy)]
struct HostMemory(*mut u8);

// SAFETY: the program keeps the memory and leaves it alone until the stream has passed the operation.
unsafe impl Send for HostMemory {}

impl HostMemory {
    fn at(self, offset: usize) -> Self {
        Self(self.0.wrapping_add(offset))
    }

    /// # Safety
    /// `size` bytes are valid for reads, and nobody writes them as long as the result is used.
    unsafe fn bytes<'a>(self, size: usize) -> &'a [u8] {
        // SAFETY: the same contract.
        unsafe { slice::from_raw_parts(self.0, size) }
    }
}

/// Copies bytes between any two of host and device, in the order of the stream. Memory of the host must stay as it is
/// until the stream has passed the copy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mgpuMemcpy(
    target: *mut c_void,
    source: *mut c_void,
    size: usize,
    stream: *mut c_void,
) {
    let attempt = || format!("mgpuMemcpy(to {target:p}, from {source:p}, {size} bytes, {stream:p})");
    call((), attempt, || {
        let stream = stream_of(stream)?;
        if size == 0 || target == source {
            return Ok(());
        }
        for (pointer, what) in [(target, "target"), (source, "source")] {
            if pointer.is_null() {
                return Err(Error::invalid_argument(format!("the {what} is null")));
            }
        }
        // SAFETY: the program keeps the memory until the stream has passed the copy.
        let find = |pointer: *mut c_void| unsafe { find(pointer.addr() as u64, size as u64) };
        let work = || Work::Copy(target.addr(), source.addr(), size);
        let (host_target, host_source) = (HostMemory(target.cast()), HostMemory(source.cast()));
        match (find(target)?, find(source)?) {
            (Some(target), Some(source)) => {
                stream.submit(work(), |queue, waits, signals| queue.copy(waits, signals, &source, &target))
            }
            (Some(target), None) if size <= AT_ONCE && stream.is_idle() => {
                // SAFETY: the source is valid for reads until the stream has passed this operation, and no work before
                // it is left that could write the source.
                let bytes = unsafe { host_source.bytes(size) };
                stream.submit(work(), |queue, waits, signals| queue.update(waits, signals, bytes, &target))
            }
            (Some(target), None) => in_pieces(size, |staging, offset, length| {
                let (from, into) = (host_source.at(offset), staging.mapping.clone());
                host_call(&stream, work(), move || {
                    let from = from;
                    // SAFETY: the source is valid for reads until the stream has passed this call.
                    into.write(0, unsafe { from.bytes(length) })
                })?;
                let (source, target) = (staging.part(length)?, target.subspan(offset as u64, length as u64)?);
                stream.submit(work(), |queue, waits, signals| queue.copy(waits, signals, &source, &target))
            }),
            (None, Some(source)) => in_pieces(size, |staging, offset, length| {
                let (source, target) = (source.subspan(offset as u64, length as u64)?, staging.part(length)?);
                stream
                    .submit(work(), |queue, waits, signals| queue.copy(waits, signals, &source, &target))?;
                let (from, into) = (staging.mapping.clone(), host_target.at(offset));
                host_call(&stream, work(), move || {
                    let into = into;
                    // SAFETY: the target is valid for writes until the stream has passed this call, and nothing else
                    // uses it in the meantime.
                    from.read(0, unsafe { slice::from_raw_parts_mut(into.0, length) })
                })
            }),
            (None, None) => host_call(&stream, work(), move || {
                let (into, from) = (host_target, host_source);
                // SAFETY: both are valid until the stream has passed this call; they may overlap.
                unsafe { std::ptr::copy(from.0, into.0, size) };
                Ok(())
            }),
        }
    });
}

/// The buffer of bytes that the device can use: memory of this library, or of another one that uses the same device.
/// `None` for memory of the host.
///
/// # Safety
/// If the bytes are memory of the device, they stay allocated until the stream has passed the operation.
unsafe fn find(address: u64, size: u64) -> Result<Option<Buffer>> {
    if let Some(buffer) = memory::find(address, size)? {
        return Ok(Some(buffer));
    }
    let device = device()?;
    if device.info().lacks.iter().any(|lack| lack.feature == Feature::ImportDevice) {
        return Ok(None);
    }
    // SAFETY: the same contract. The device refuses an address that is not its own.
    Ok(unsafe { device.import_device_address(&BufferParams::device(), address, size, || ()) }.ok())
}

/// Pinned memory between the host and the device.
struct Staging {
    buffer: Buffer,
    mapping: Mapping,
}

impl Staging {
    fn part(&self, length: usize) -> Result<Buffer> {
        self.buffer.subspan(0, length as u64)
    }
}

/// Goes through `size` bytes in pieces, with pinned memory that holds one.
fn in_pieces(size: usize, mut piece: impl FnMut(&Staging, usize, usize) -> Result<()>) -> Result<()> {
    let buffer = device()?.allocate(&BufferParams::host(), size.min(PIECE) as u64)?;
    let staging = Staging { mapping: buffer.map()?, buffer };
    (0..size).step_by(PIECE).try_for_each(|offset| piece(&staging, offset, PIECE.min(size - offset)))
}

fn host_call(stream: &Stream, work: Work, body: impl FnOnce() -> Result<()> + Send + 'static) -> Result<()> {
    stream.submit(work, |queue, waits, signals| {
        queue.host_call(waits, signals, HostCallFlags::NONE, move |_| body())
    })
}

/// Writes `count` words of four bytes, in the order of the stream.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuMemset32(target: *mut c_void, value: u32, count: usize, stream: *mut c_void) {
    let attempt = || format!("mgpuMemset32({target:p}, {value:#x}, {count} words, {stream:p})");
    call((), attempt, || fill(target, value, value.into(), 4, count, stream));
}

/// Writes `count` words of two bytes, in the order of the stream.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuMemset16(target: *mut c_void, value: u16, count: usize, stream: *mut c_void) {
    let attempt = || format!("mgpuMemset16({target:p}, {value:#x}, {count} words, {stream:p})");
    call((), attempt, || fill(target, value.into(), value.into(), 2, count, stream));
}

fn fill(
    target: *mut c_void,
    value: u32,
    pattern: Pattern,
    word: usize,
    count: usize,
    stream: *mut c_void,
) -> Result<()> {
    let stream = stream_of(stream)?;
    if count == 0 {
        return Ok(());
    }
    let size = count.checked_mul(word).ok_or_else(|| {
        Error::out_of_range(format!("{count} words of {word} bytes are more than an address space has"))
    })?;
    // SAFETY: the program keeps the memory until the stream has passed the fill.
    let buffer = unsafe { find(target.addr() as u64, size as u64) }?.ok_or_else(|| {
        Error::invalid_argument(format!(
            "{target:p} is neither memory of mgpuMemAlloc nor registered by mgpuMemHostRegister"
        ))
    })?;
    stream.submit(Work::Fill(target.addr(), value, word as u32, count), |queue, waits, signals| {
        queue.fill(waits, signals, &buffer, pattern)
    })
}
