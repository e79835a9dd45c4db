// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hints for managed memory, and questions about ranges of memory.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use windlass_hip_sys::bindings::{
    hipDeviceptr_t, hipError_t, hipMemLocation, hipMemLocationType, hipMemRangeAttribute,
    hipMemRangeHandleType, hipMemoryAdvise, hipStream_t,
};

use crate::hip::boundary::call::Call;
use crate::hip::hardware::hints::{Advice, NOWHERE};
use crate::hip::hardware::ledger::Holding;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;
use crate::hip::work::item::Work;
use crate::memory::AllocationKind;

/// `hipCpuDeviceId`.
const HOST: i32 = -1;

/// The allocation that holds a range of bytes, and the offsets of the range in it.
fn range(call: &Call, pointer: *const c_void, count: usize) -> Outcome<(Holding, u64, u64)> {
    let holding = call.runtime.machine.ledger.find(pointer as u64).ok_or(Code::INVALID_VALUE)?;
    let start = holding.device_address(pointer as u64) - holding.device_base;
    let end = start.checked_add(count as u64).ok_or(Code::INVALID_VALUE)?;
    if count > 0 && end <= holding.size { Ok((holding, start, end)) } else { Err(Code::INVALID_VALUE) }
}

/// As [`range`], of managed memory.
fn managed_range(call: &Call, pointer: *const c_void, count: usize) -> Outcome<(Holding, u64, u64)> {
    range(call, pointer, count)
        .and_then(|found| if found.0.managed { Ok(found) } else { Err(Code::INVALID_VALUE) })
}

/// A place by the number of a device, or of the host.
fn place(call: &Call, device: c_int) -> Outcome<i32> {
    if device != HOST {
        call.device_at(device)?;
    }
    Ok(device)
}

fn place_of(call: &Call, location: hipMemLocation) -> Outcome<i32> {
    match location.type_ {
        hipMemLocationType::hipMemLocationTypeDevice => {
            call.device_at(location.id)?;
            Ok(location.id)
        }
        // The host has one node.
        hipMemLocationType::hipMemLocationTypeHost
        | hipMemLocationType::hipMemLocationTypeHostNuma
        | hipMemLocationType::hipMemLocationTypeHostNumaCurrent => Ok(HOST),
        _ => Err(Code::INVALID_VALUE),
    }
}

fn prefetch(
    call: &Call,
    (pointer, count): (*const c_void, usize),
    place: impl FnOnce() -> Outcome<i32>,
    stream: hipStream_t,
) -> Outcome<()> {
    let stream = call.working_stream(stream)?;
    let (holding, start, end) = managed_range(call, pointer, count)?;
    let place = place()?;
    // Every device can use managed memory already.
    call.runtime.enqueue(&stream, Work::Nothing, &[])?;
    call.runtime.machine.ledger.hints(holding.base, |hints| {
        hints.advise(start, end, |advice| advice.prefetched = place);
    });
    Ok(())
}

pub(in crate::hip) unsafe extern "C" fn hipMemPrefetchAsync(
    pointer: *const c_void,
    count: usize,
    device: c_int,
    stream: hipStream_t,
) -> hipError_t {
    hip!(hipMemPrefetchAsync, |call| prefetch(call, (pointer, count), || place(call, device), stream))
}

pub(in crate::hip) unsafe extern "C" fn hipMemPrefetchAsync_v2(
    pointer: *const c_void,
    count: usize,
    location: hipMemLocation,
    flags: c_uint,
    stream: hipStream_t,
) -> hipError_t {
    hip!(hipMemPrefetchAsync_v2, |call| match flags {
        0 => prefetch(call, (pointer, count), || place_of(call, location), stream),
        _ => Err(Code::INVALID_VALUE),
    })
}

/// The change that an advice makes, and whether it names a place.
fn change_of(advice: hipMemoryAdvise, place: i32) -> Outcome<impl Fn(&mut Advice)> {
    type A = hipMemoryAdvise;
    if !matches!(advice.0, 1..=6 | 100 | 101) {
        return Err(Code::INVALID_VALUE);
    }
    Ok(move |facts: &mut Advice| match advice {
        A::hipMemAdviseSetReadMostly => facts.read_mostly = true,
        A::hipMemAdviseUnsetReadMostly => facts.read_mostly = false,
        A::hipMemAdviseSetPreferredLocation => facts.preferred = place,
        A::hipMemAdviseUnsetPreferredLocation => facts.preferred = NOWHERE,
        A::hipMemAdviseSetAccessedBy => {
            facts.accessed_by.insert(place);
        }
        A::hipMemAdviseUnsetAccessedBy => {
            facts.accessed_by.remove(&place);
        }
        A::hipMemAdviseSetCoarseGrain => facts.coarse = true,
        _ => facts.coarse = false,
    })
}

fn advise(
    call: &Call,
    (pointer, count): (*const c_void, usize),
    advice: hipMemoryAdvise,
    place: impl FnOnce() -> Outcome<i32>,
) -> Outcome<()> {
    let (holding, start, end) = managed_range(call, pointer, count)?;
    // Since HIP 6 these are for all places, and any number will do.
    let everywhere =
        [hipMemoryAdvise::hipMemAdviseSetReadMostly, hipMemoryAdvise::hipMemAdviseUnsetReadMostly];
    let place = if call.is_since(6) && everywhere.contains(&advice) { HOST } else { place()? };
    let change = change_of(advice, place)?;
    call.runtime.machine.ledger.hints(holding.base, |hints| hints.advise(start, end, change));
    Ok(())
}

pub(in crate::hip) unsafe extern "C" fn hipMemAdvise(
    pointer: *const c_void,
    count: usize,
    advice: hipMemoryAdvise,
    device: c_int,
) -> hipError_t {
    hip!(hipMemAdvise, |call| advise(call, (pointer, count), advice, || place(call, device)))
}

pub(in crate::hip) unsafe extern "C" fn hipMemAdvise_v2(
    pointer: *const c_void,
    count: usize,
    advice: hipMemoryAdvise,
    location: hipMemLocation,
) -> hipError_t {
    hip!(hipMemAdvise_v2, |call| advise(call, (pointer, count), advice, || place_of(call, location)))
}

/// Writes one attribute of a range.
fn tell(
    call: &Call,
    (data, size): (*mut c_void, usize),
    attribute: hipMemRangeAttribute,
    (pointer, count): (*const c_void, usize),
) -> Outcome<()> {
    type A = hipMemRangeAttribute;
    const NUMBER: usize = size_of::<i32>();
    let (holding, start, end) = range(call, pointer, count)?;
    if !holding.managed {
        // Memory that does not migrate has only this one.
        let kind = call.runtime.machine.memory.lookup(holding.device_base).map(|info| info.kind);
        let coarse = matches!(kind, Some(AllocationKind::Device | AllocationKind::Mapped));
        return match attribute {
            A::hipMemRangeAttributeCoherencyMode if size == NUMBER => {
                call.put(data.cast::<u32>(), coarse.into())
            }
            _ => Err(Code::INVALID_VALUE),
        };
    }
    let advice = call.runtime.machine.ledger.hints(holding.base, |hints| hints.common(start, end));
    let number = match attribute {
        A::hipMemRangeAttributeReadMostly => advice.read_mostly.into(),
        A::hipMemRangeAttributePreferredLocation => advice.preferred,
        A::hipMemRangeAttributeLastPrefetchLocation => advice.prefetched,
        A::hipMemRangeAttributeCoherencyMode => advice.coarse.into(),
        A::hipMemRangeAttributeAccessedBy if size.is_multiple_of(NUMBER) => {
            // Devices first, as AMD's HIP asks for them; then the host. Places without one of them name none.
            let host = advice.accessed_by.contains(&HOST).then_some(HOST);
            let devices = advice.accessed_by.iter().copied().filter(|place| *place != HOST);
            let places = devices.chain(host).chain(std::iter::repeat(NOWHERE));
            return places
                .take(size / NUMBER)
                .enumerate()
                .try_for_each(|(index, place)| call.put(data.cast::<i32>().wrapping_add(index), place));
        }
        _ => return Err(Code::INVALID_VALUE),
    };
    if size == NUMBER { call.put(data.cast::<i32>(), number) } else { Err(Code::INVALID_VALUE) }
}

pub(in crate::hip) unsafe extern "C" fn hipMemRangeGetAttribute(
    data: *mut c_void,
    size: usize,
    attribute: hipMemRangeAttribute,
    pointer: *const c_void,
    count: usize,
) -> hipError_t {
    hip!(hipMemRangeGetAttribute, |call| {
        if data.is_null() || size == 0 || pointer.is_null() || count == 0 {
            return Err(Code::INVALID_VALUE);
        }
        tell(call, (data, size), attribute, (pointer, count))
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemRangeGetAttributes(
    data: *mut *mut c_void,
    sizes: *mut usize,
    attributes: *mut hipMemRangeAttribute,
    attribute_count: usize,
    pointer: *const c_void,
    count: usize,
) -> hipError_t {
    hip!(hipMemRangeGetAttributes, |call| {
        let lists = data.is_null() || sizes.is_null() || attributes.is_null();
        if lists || attribute_count == 0 || pointer.is_null() || count == 0 {
            return Err(Code::INVALID_VALUE);
        }
        managed_range(call, pointer, count)?;
        for index in 0..attribute_count {
            let place = call.get(data.wrapping_add(index))?;
            let size = call.get(sizes.wrapping_add(index))?;
            let attribute = call.get(attributes.wrapping_add(index))?;
            if place.is_null() {
                return Err(Code::INVALID_VALUE);
            }
            tell(call, (place, size), attribute, (pointer, count))?;
        }
        Ok(())
    })
}

/// A kernel driver alone makes DMA-BUFs, so the answer is that of AMD's HIP where the driver makes none.
pub(in crate::hip) unsafe extern "C" fn hipMemGetHandleForAddressRange(
    _handle: *mut c_void,
    pointer: hipDeviceptr_t,
    size: usize,
    kind: hipMemRangeHandleType,
    flags: c_ulonglong,
) -> hipError_t {
    hip!(hipMemGetHandleForAddressRange, |call| {
        let kinds = kind == hipMemRangeHandleType::hipMemRangeHandleTypeDmaBufFd;
        if !pointer.is_null() && size != 0 && kinds && flags == 0 {
            range(call, pointer, size)?;
            explain(
                "no DMA-BUF is made of simulated memory, which no other driver reaches: share it by hipIpcGetMemHandle or \
                 hipMemExportToShareableHandle"
                    .to_owned(),
            );
        }
        Err(Code::INVALID_VALUE)
    })
}
