// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waits for words of memory, and writes of them, in stream order.

use std::ffi::{c_uint, c_void};
use std::sync::Arc;

use windlass_hip_sys::bindings::{hipError_t, hipStream_t};

use crate::hip::boundary::call::Call;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;
use crate::hip::work::item::Work;
use crate::hip::work::word::{AwaitedWord, Comparison, MemoryWord, Until};
use crate::packet::Edge;

/// The word at a pointer, which must be aligned and lie in memory that HIP knows.
pub(super) fn word_at(call: &Call, pointer: *mut c_void, size: u64) -> Outcome<MemoryWord> {
    let machine = &call.runtime.machine;
    let address = machine.ledger.device_address(pointer as u64);
    if !address.is_multiple_of(size) || machine.memory.span(address, size).is_err() {
        explain(format!(
            "{} of {size} bytes at {pointer:?}: no aligned word of memory that HIP allocated or registered",
            call.name
        ));
        return Err(Code::INVALID_VALUE);
    }
    Ok(MemoryWord { address, size })
}

fn wait(
    call: &Call,
    stream: hipStream_t,
    (pointer, size): (*mut c_void, u64),
    flags: c_uint,
    (value, mask): (u64, u64),
) -> Outcome<()> {
    let stream = call.working_stream(stream)?;
    let word = word_at(call, pointer, size)?;
    let comparison = Comparison::from_flags(flags).ok_or(Code::INVALID_VALUE)?;
    let until = Until { comparison, value, mask };
    let awaited = AwaitedWord { machine: call.runtime.machine.clone(), device: stream.device, word, until };
    call.runtime.enqueue(&stream, Work::Nothing, &[Edge::Condition(Arc::new(awaited))]).map(|_| ())
}

fn write(call: &Call, stream: hipStream_t, (pointer, size): (*mut c_void, u64), value: u64) -> Outcome<()> {
    let stream = call.working_stream(stream)?;
    let word = word_at(call, pointer, size)?;
    call.runtime.enqueue(&stream, Work::Write(word, value), &[]).map(|_| ())
}

pub(in crate::hip) unsafe extern "C" fn hipStreamWaitValue32(
    stream: hipStream_t,
    pointer: *mut c_void,
    value: u32,
    flags: c_uint,
    mask: u32,
) -> hipError_t {
    hip!(hipStreamWaitValue32, |call| wait(call, stream, (pointer, 4), flags, (value.into(), mask.into())))
}

pub(in crate::hip) unsafe extern "C" fn hipStreamWaitValue64(
    stream: hipStream_t,
    pointer: *mut c_void,
    value: u64,
    flags: c_uint,
    mask: u64,
) -> hipError_t {
    hip!(hipStreamWaitValue64, |call| wait(call, stream, (pointer, 8), flags, (value, mask)))
}

// HIP ignores the flags of a write.

pub(in crate::hip) unsafe extern "C" fn hipStreamWriteValue32(
    stream: hipStream_t,
    pointer: *mut c_void,
    value: u32,
    _flags: c_uint,
) -> hipError_t {
    hip!(hipStreamWriteValue32, |call| write(call, stream, (pointer, 4), value.into()))
}

pub(in crate::hip) unsafe extern "C" fn hipStreamWriteValue64(
    stream: hipStream_t,
    pointer: *mut c_void,
    value: u64,
    _flags: c_uint,
) -> hipError_t {
    hip!(hipStreamWriteValue64, |call| write(call, stream, (pointer, 8), value))
}
