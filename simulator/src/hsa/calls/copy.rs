// SPDX-License-Identifier: MIT OR Apache-2.0
//! Copies and fills.

use std::ffi::c_void;

use crate::hsa::abi::{Agent, Dim3, PitchedPointer, Signal};
use crate::hsa::call::{Call, hsa};
use crate::hsa::status::{Outcome, Status};
use crate::packet::{Rows, Transfer};

pub unsafe extern "C" fn hsa_memory_copy(to: *mut c_void, from: *const c_void, size: usize) -> Status {
    hsa!(hsa_memory_copy, |call| {
        if to.is_null() || from.is_null() {
            return Err(Status::INVALID_ARGUMENT);
        }
        if size == 0 {
            return Ok(());
        }
        let transfer = call.runtime.line(to as u64, from as u64, size as u64)?;
        transfer.run(&call.runtime.memory).map_err(|_| Status::ERROR)
    })
}

pub unsafe extern "C" fn hsa_amd_memory_async_copy(
    to: *mut c_void,
    to_agent: Agent,
    from: *const c_void,
    from_agent: Agent,
    size: usize,
    count: u32,
    dependencies: *const Signal,
    completion: Signal,
) -> Status {
    hsa!(hsa_amd_memory_async_copy, |call| {
        line(call, (to, to_agent), (from, from_agent), size, (count, dependencies), completion)
    })
}

pub unsafe extern "C" fn hsa_amd_memory_async_copy_on_engine(
    to: *mut c_void,
    to_agent: Agent,
    from: *const c_void,
    from_agent: Agent,
    size: usize,
    count: u32,
    dependencies: *const Signal,
    completion: Signal,
    engine: u32,
    _force: bool,
) -> Status {
    hsa!(hsa_amd_memory_async_copy_on_engine, |call| {
        if engine & !ENGINES != 0 || !engine.is_power_of_two() {
            return Err(Status::INVALID_ARGUMENT);
        }
        line(call, (to, to_agent), (from, from_agent), size, (count, dependencies), completion)
    })
}

/// The copy engines of a GPU, a bit each.
const ENGINES: u32 = 0b1111;

fn line(
    call: &Call,
    (to, to_agent): (*mut c_void, Agent),
    (from, from_agent): (*const c_void, Agent),
    size: usize,
    (count, dependencies): (u32, *const Signal),
    completion: Signal,
) -> Outcome<()> {
    call.runtime.agent(to_agent)?;
    call.runtime.agent(from_agent)?;
    if to.is_null() || from.is_null() {
        return Err(Status::INVALID_ARGUMENT);
    }
    let transfer = call.runtime.line(to as u64, from as u64, size as u64)?;
    begin(call, transfer, (count, dependencies), completion)
}

/// Begins a copy once each signal of a list is zero.
fn begin(
    call: &Call,
    transfer: Transfer,
    (count, dependencies): (u32, *const Signal),
    completion: Signal,
) -> Outcome<()> {
    let dependencies = call.list(dependencies, count)?;
    call.runtime.copy(transfer, &dependencies, completion)
}

pub unsafe extern "C" fn hsa_amd_memory_copy_engine_status(to: Agent, from: Agent, mask: *mut u32) -> Status {
    hsa!(hsa_amd_memory_copy_engine_status, |call| {
        call.runtime.agent(to)?;
        call.runtime.agent(from)?;
        call.put(mask, ENGINES)
    })
}

pub unsafe extern "C" fn hsa_amd_memory_async_copy_rect(
    to: *const PitchedPointer,
    to_offset: *const Dim3,
    from: *const PitchedPointer,
    from_offset: *const Dim3,
    range: *const Dim3,
    agent: Agent,
    direction: u32,
    count: u32,
    dependencies: *const Signal,
    completion: Signal,
) -> Status {
    hsa!(hsa_amd_memory_async_copy_rect, |call| {
        call.runtime.gpu(agent)?;
        if direction > 3 {
            return Err(Status::INVALID_ARGUMENT);
        }
        let range = call.read(range)?;
        let to = side(call.read(to)?, call.read(to_offset)?, range)?;
        let from = side(call.read(from)?, call.read(from_offset)?, range)?;
        begin(call, call.runtime.transfer(to, from)?, (count, dependencies), completion)
    })
}

/// One side of a copy of rows: offsets and range are in bytes, rows and slices.
fn side(pointer: PitchedPointer, offset: Dim3, range: Dim3) -> Outcome<(u64, Rows)> {
    let (pitch, slice) = (pointer.pitch as u64, pointer.slice as u64);
    let invalid = || Status::INVALID_ARGUMENT;
    let rows = Rows::new(range.x.into(), range.y.into(), pitch).map_err(|_| invalid())?;
    let rows = rows.in_planes(range.z.into(), slice).map_err(|_| invalid())?;
    let of_rows = u64::from(offset.y).checked_mul(pitch).ok_or_else(invalid)?;
    let of_slices = u64::from(offset.z).checked_mul(slice).ok_or_else(invalid)?;
    let offset = u64::from(offset.x).checked_add(of_rows).and_then(|sum| sum.checked_add(of_slices));
    let start = (pointer.base as u64).checked_add(offset.ok_or_else(invalid)?).ok_or_else(invalid)?;
    Ok((start, rows))
}

pub unsafe extern "C" fn hsa_amd_memory_fill(pointer: *mut c_void, value: u32, count: usize) -> Status {
    hsa!(hsa_amd_memory_fill, |call| {
        if pointer.is_null() || !(pointer as u64).is_multiple_of(4) {
            return Err(Status::INVALID_ARGUMENT);
        }
        let bytes = (count as u64).checked_mul(4).ok_or(Status::INVALID_ARGUMENT)?;
        let filled = call.runtime.memory.fill(pointer as u64, &value.to_le_bytes(), bytes);
        filled.map_err(|error| {
            tracing::error!(target: "windlass::sim", "hsa_amd_memory_fill: {error}");
            Status::INVALID_ARGUMENT
        })
    })
}
