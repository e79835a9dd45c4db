// SPDX-License-Identifier: MIT OR Apache-2.0
//! The arguments of a launch. The HAL gives a driver the packed block, and the library takes that, except where a slot
//! of a binding table supplies an address.

use std::ffi::c_void;

use windlass_hal::{
    Buffer, Error, FunctionInfo, ParameterKind, Patches, Result, SlotRequirement, WorkgroupCountRef,
};

use crate::{
    api::sized,
    bindings::*,
    buffer::{range_of, slot_of},
};

fn bytes(bytes: &[u8]) -> windlass_argument_t {
    windlass_argument_t {
        kind: WINDLASS_ARGUMENT_BYTES,
        bytes: bytes.as_ptr().cast::<c_void>(),
        size: bytes.len(),
        ..windlass_argument_t::default()
    }
}

fn range(range: windlass_buffer_ref_t) -> windlass_argument_t {
    windlass_argument_t { kind: WINDLASS_ARGUMENT_RANGE, range, ..windlass_argument_t::default() }
}

/// The packed block, and the buffers that it has addresses of.
pub(crate) fn packed<'a>(
    block: &[u8],
    resources: impl Iterator<Item = &'a Buffer>,
) -> Result<Vec<windlass_argument_t>> {
    let resources = resources.map(|buffer| Ok(range(range_of(buffer)?)));
    std::iter::once(Ok(bytes(block))).chain(resources).collect()
}

/// One argument for each parameter: the addresses in slots, in the buffers of the list, and the bytes of all others.
pub(crate) fn each(
    function: &FunctionInfo,
    block: &[u8],
    patches: Patches<'_>,
    buffers: &[Buffer],
    slots: &[SlotRequirement],
) -> Result<Vec<windlass_argument_t>> {
    let known = |at: u32| function.parameters.iter().any(|parameter| parameter.offset == at);
    if let Some(patch) = patches.iter().find(|patch| !known(patch.at)) {
        return Err(Error::unimplemented(format!("a slot's address at {} of an argument block", patch.at)));
    }
    function
        .parameters
        .iter()
        .map(|parameter| {
            let place = parameter.offset as usize..(parameter.offset + parameter.size) as usize;
            let given = &block[place];
            if let Some(patch) = patches.iter().find(|patch| patch.at == parameter.offset) {
                let offset = number(given);
                let length = slots[patch.slot as usize].length.saturating_sub(offset);
                return Ok(range(slot_of(patch.slot, offset, length)));
            }
            match parameter.kind {
                ParameterKind::Buffer => address(number(given), buffers),
                _ => Ok(bytes(given)),
            }
        })
        .collect()
}

fn address(address: u64, buffers: &[Buffer]) -> Result<windlass_argument_t> {
    if address == 0 {
        return Ok(windlass_argument_t { kind: WINDLASS_ARGUMENT_NULL, ..windlass_argument_t::default() });
    }
    let whole = |buffer: &Buffer| {
        let base = buffer.raw().device_address();
        (base..=base + buffer.raw().size()).contains(&address).then_some(base)
    };
    let found = buffers.iter().find_map(|buffer| Some((buffer, whole(buffer)?)));
    let (buffer, base) =
        found.ok_or_else(|| Error::internal(format!("no buffer of the list contains {address:#x}")))?;
    let mut part = range_of(buffer)?;
    part.offset = part.offset - buffer.offset() + (address - base);
    part.length = buffer.raw().size() - (address - base);
    Ok(range(part))
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The shape of a launch with a known workgroup count.
pub(crate) fn direct(
    workgroup_count: [u32; 3],
    workgroup_size: [u32; 3],
    dynamic_local_memory: u32,
    packed: bool,
) -> windlass_dispatch_config_t {
    windlass_dispatch_config_t {
        workgroup_count,
        workgroup_size,
        dynamic_local_memory,
        flags: if packed { WINDLASS_DISPATCH_RAW_ARGUMENTS } else { 0 },
        ..sized!(windlass_dispatch_config_t)
    }
}

/// The shape of a launch whose workgroup count is in memory.
pub(crate) fn indirect(
    count: windlass_buffer_ref_t,
    is_static: bool,
    workgroup_size: [u32; 3],
    dynamic_local_memory: u32,
    packed: bool,
) -> windlass_indirect_dispatch_config_t {
    let flag = |set: bool, flag: u32| if set { flag } else { 0 };
    windlass_indirect_dispatch_config_t {
        workgroup_count: count,
        workgroup_size,
        dynamic_local_memory,
        flags: flag(packed, WINDLASS_DISPATCH_RAW_ARGUMENTS)
            | flag(is_static, WINDLASS_DISPATCH_STATIC_PARAMETERS),
        ..sized!(windlass_indirect_dispatch_config_t)
    }
}

/// A workgroup count that this driver does not know.
pub(crate) fn unknown(count: WorkgroupCountRef<'_>) -> Error {
    Error::unimplemented(format!("the workgroup count {count:?}"))
}
