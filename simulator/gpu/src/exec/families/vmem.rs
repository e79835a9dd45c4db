// SPDX-License-Identifier: MIT OR Apache-2.0
//! GLOBAL, FLAT and SCRATCH instructions.

use crate::exec::families::lds::{atomic_at, overrun};
use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::handler::{Compilations, handler};
use crate::exec::machine::shape::{RegisterPlace, Shape, Width};
use crate::exec::machine::step::{Source, Step};
use crate::exec::machine::trouble::{AccessKind, Cause, Segment};
use crate::exec::operands::source::{PRIVATE_APERTURE, SHARED_APERTURE, scalar32, scalar64};
use crate::exec::operands::space::{Addresses, Private, Space, load, store};
use crate::exec::operands::together;
use crate::exec::values::row::{LANES, mask};
use crate::isa::{Encoding, Inst, Op};
use crate::lane_mask::LaneMask;
use crate::memory::MemoryUse;
use crate::memory::access::Span;
use crate::memory::lanes::Vectors;

/// The handler of an instruction of this family.
pub(crate) fn compilations(inst: &Inst) -> Option<Compilations> {
    let shape = Shape::of(inst.op);
    let to_lds = inst.mem.lds;
    Some(match (inst.encoding, shape) {
        (_, Shape::None) => return None,
        (Encoding::Global, Shape::Load(_)) if to_lds => handler!(|core, step| global_to_lds(core, step)),
        (Encoding::Global, Shape::Load(_)) if adds_lane(inst.op) => Compilations::scalar(global_load_any),
        (Encoding::Global, Shape::Store(_)) if adds_lane(inst.op) => Compilations::scalar(global_store_any),
        (Encoding::Global, Shape::Load(part)) => match part {
            Width::Dwords(1) => handler!(|core, step, vectors| global_load::<1>(core, step, vectors)),
            Width::Dwords(2) => handler!(|core, step, vectors| global_load::<2>(core, step, vectors)),
            Width::Dwords(4) => handler!(|core, step, vectors| global_load::<4>(core, step, vectors)),
            _ => Compilations::scalar(global_load_any),
        },
        (Encoding::Global, Shape::Store(part)) => match part {
            Width::Dwords(1) => handler!(|core, step, vectors| global_store::<1>(core, step, vectors)),
            Width::Dwords(2) => handler!(|core, step, vectors| global_store::<2>(core, step, vectors)),
            Width::Dwords(4) => handler!(|core, step, vectors| global_store::<4>(core, step, vectors)),
            _ => Compilations::scalar(global_store_any),
        },
        (Encoding::Global, Shape::Atomic { .. }) => Compilations::scalar(global_atomic),
        (Encoding::Scratch, Shape::Load(_)) if to_lds => Compilations::scalar(scratch_to_lds),
        (Encoding::Scratch, Shape::Load(_)) => Compilations::scalar(scratch),
        (Encoding::Scratch, Shape::Store(_)) => Compilations::scalar(scratch),
        (Encoding::Flat, Shape::Load(_) | Shape::Store(_)) => Compilations::scalar(flat),
        (Encoding::Flat, Shape::Atomic { .. }) => Compilations::scalar(flat_atomic),
        _ => return None,
    })
}

/// Whether each lane accesses a dword of its own behind a scalar base.
fn adds_lane(op: Op) -> bool {
    matches!(op, Op::global_load_addtid_b32 | Op::global_store_addtid_b32)
}

/// Address of every lane: a scalar base with a 32-bit offset, or a 64-bit address.
#[inline(always)]
fn global_addresses(core: &Core<'_>, step: &Step) -> Addresses {
    let offset = i64::from(step.inst.mem.offset) as u64;
    let mut addresses = [0; LANES];
    match (step.src[2], step.src[0]) {
        (Source::None, Source::Vector(number)) => {
            let (low, high) = (core.wave.row(number), core.wave.row(number + 1));
            for lane in 0..LANES {
                let address = u64::from(low[lane]) | u64::from(high[lane]) << 32;
                addresses[lane] = address.wrapping_add(offset);
            }
        }
        (base, index) => {
            let base = scalar64(core.wave, base).wrapping_add(offset);
            match index {
                Source::Vector(number) => {
                    let row = core.wave.row(number);
                    for lane in 0..LANES {
                        addresses[lane] = base.wrapping_add(u64::from(row[lane]));
                    }
                }
                _ if adds_lane(step.inst.op) => {
                    addresses = std::array::from_fn(|lane| base.wrapping_add(4 * lane as u64));
                }
                _ => addresses = [base; LANES],
            }
        }
    }
    addresses
}

/// Least and greatest address of the active lanes.
#[inline(always)]
fn bounds(addresses: &Addresses, mask: LaneMask) -> (u64, u64) {
    let (mut least, mut greatest) = (u64::MAX, 0);
    if mask == LaneMask::WAVE64 {
        for &address in addresses {
            least = least.min(address);
            greatest = greatest.max(address);
        }
    } else {
        for lane in mask.lanes() {
            least = least.min(addresses[lane]);
            greatest = greatest.max(addresses[lane]);
        }
    }
    (least, greatest)
}

/// The allocation that contains the accesses of all lanes in `mask`, if there is one. There nearly always is,
/// so handlers call this first and access the allocation inline, compiled for their processor and data.
/// `None` if memory tracks writes: then each lane's access is noted.
#[inline(always)]
pub(crate) fn one_span<'m>(
    core: &mut Core<'m>,
    addresses: &Addresses,
    mask: LaneMask,
    size: u64,
    usage: MemoryUse,
) -> Option<Span<'m>> {
    if core.memory.tracks_writes() {
        return None;
    }
    let (least, greatest) = bounds(addresses, mask);
    let len = greatest.checked_sub(least)?.checked_add(size)?;
    core.memory.span_through(core.windows, least, len, usage)
}

/// Runs `f` on the allocation that contains the accesses of the lanes in `mask`: once if it is the same for
/// all, else once for each lane. If a lane's access lies in no allocation, the wave stops and nothing is
/// accessed.
#[inline(always)]
pub(crate) fn with_spans(
    core: &mut Core<'_>,
    step: &Step,
    addresses: &Addresses,
    mask: LaneMask,
    size: u64,
    kind: AccessKind,
    mut f: impl FnMut(&mut Core<'_>, Span<'_>, LaneMask),
) -> Flow {
    if mask.is_empty() {
        return Flow::Next;
    }
    let usage = if kind == AccessKind::Read { MemoryUse::Read } else { MemoryUse::Write };
    if let Some(span) = one_span(core, addresses, mask, size, usage) {
        f(core, span, mask);
        return Flow::Next;
    }
    let memory = core.memory;
    // All lanes are checked before the first access, so that a fault leaves memory unchanged.
    for lane in mask.lanes() {
        core.lane = Some(lane);
        let span = core.span(step, addresses[lane], size, kind);
        core.lane = None;
        if span.is_none() {
            return core.refuse(Some(lane), addresses[lane], size, kind);
        }
    }
    if memory.tracks_writes() {
        note_accesses(core, step, addresses, mask, size, kind);
    }
    for lane in mask.lanes() {
        if let Some(span) = core.span(step, addresses[lane], size, kind) {
            f(core, span, LaneMask::of_lane(lane));
        }
    }
    Flow::Next
}

#[cold]
#[inline(never)]
fn note_accesses(
    core: &mut Core<'_>,
    step: &Step,
    addresses: &Addresses,
    lanes: LaneMask,
    size: u64,
    kind: AccessKind,
) {
    for lane in lanes.lanes() {
        core.note_access(step, Some(lane), addresses[lane], size, kind);
    }
}

#[inline(always)]
fn global_load<const N: usize>(core: &mut Core<'_>, step: &Step, vectors: impl Vectors) -> Flow {
    if together::load::<N>(core, step, vectors) { Flow::Next } else { global_load_any(core, step) }
}

#[inline(always)]
fn global_store<const N: usize>(core: &mut Core<'_>, step: &Step, vectors: impl Vectors) -> Flow {
    let Source::Vector(data) = step.src[1] else { return Flow::Next };
    if together::store::<N>(core, step, data, vectors) { Flow::Next } else { global_store_any(core, step) }
}

/// A load of any part, lane by lane.
#[inline(never)]
fn global_load_any(core: &mut Core<'_>, step: &Step) -> Flow {
    let Shape::Load(part) = step.shape else { return Flow::Next };
    let addresses = global_addresses(core, step);
    let exec = core.wave.exec();
    with_spans(core, step, &addresses, exec, part.size(), AccessKind::Read, |core, span, mask| {
        load(&span, &mut core.wave.v, step.dst, part, &addresses, mask);
    })
}

/// A store of any part, lane by lane.
#[inline(never)]
fn global_store_any(core: &mut Core<'_>, step: &Step) -> Flow {
    let (Shape::Store(part), Source::Vector(data)) = (step.shape, step.src[1]) else { return Flow::Next };
    let addresses = global_addresses(core, step);
    let exec = core.wave.exec();
    with_spans(core, step, &addresses, exec, part.size(), AccessKind::Write, |core, mut span, mask| {
        store(&mut span, &core.wave.v, data, part, &addresses, mask);
    })
}

fn global_atomic(core: &mut Core<'_>, step: &Step) -> Flow {
    let addresses = global_addresses(core, step);
    let exec = core.wave.exec();
    atomic(core, step, &addresses, exec)
}

/// Atomics at the lanes' addresses in device memory.
pub(crate) fn atomic(core: &mut Core<'_>, step: &Step, addresses: &Addresses, lanes: LaneMask) -> Flow {
    let (Shape::Atomic { rmw, wide }, Source::Vector(data)) = (step.shape, step.src[1]) else {
        return Flow::Next;
    };
    let size = if wide { 8 } else { 4 };
    let returns = !step.inst.dst.is_none();
    if let Some(lane) = lanes.lanes().find(|&lane| !addresses[lane].is_multiple_of(size)) {
        return core.stop_access(
            Cause::MisalignedAtomic,
            Some(lane),
            addresses[lane],
            size,
            AccessKind::Atomic,
        );
    }
    with_spans(core, step, addresses, lanes, size, AccessKind::Atomic, |core, span, mask| {
        for lane in mask.lanes() {
            let word = |index: u16| core.wave.row(data + index)[lane];
            if wide {
                let pair = |first| u64::from(word(first)) | u64::from(word(first + 1)) << 32;
                let (a, b) = (pair(0), if rmw.takes_two() { pair(2) } else { 0 });
                let old = span.update64(addresses[lane], |old| rmw.apply64(old, a, b));
                if returns {
                    core.wave.row_mut(step.dst)[lane] = old as u32;
                    core.wave.row_mut(step.dst + 1)[lane] = (old >> 32) as u32;
                }
            } else {
                let (a, b) = (word(0), if rmw.takes_two() { word(1) } else { 0 });
                let old = span.update32(addresses[lane], |old| rmw.apply32(old, a, b));
                if returns {
                    core.wave.row_mut(step.dst)[lane] = old;
                }
            }
        }
    })
}

/// Loads from device memory into LDS: lane by lane, one dword apart.
#[inline(always)]
fn global_to_lds(core: &mut Core<'_>, step: &Step) -> Flow {
    let Shape::Load(part) = step.shape else { return Flow::Next };
    let addresses = global_addresses(core, step);
    let exec = core.wave.exec();
    to_lds(core, step, &addresses, exec, part)
}

/// The LDS addresses of a load into LDS: consecutive dwords from M0 plus the instruction's offset.
///
/// # Errors
/// The stop, if one of them ends past the workgroup's limit.
pub(crate) fn lds_targets(core: &mut Core<'_>, step: &Step, lanes: LaneMask) -> Result<Addresses, Flow> {
    let base = u64::from(core.wave.m0() & step.inst.set.lds_offsets)
        .wrapping_add(i64::from(step.inst.mem.offset) as u64);
    let size = lds_size(step);
    let targets: Addresses = std::array::from_fn(|lane| base.wrapping_add(lane as u64 * size));
    match overrun(core, step, &targets, lanes, size, AccessKind::Write) {
        Some(stop) => Err(stop),
        None => Ok(targets),
    }
}

/// The bytes that a load into LDS writes for a lane.
fn lds_size(step: &Step) -> u64 {
    match step.shape {
        Shape::Load(Width::Dwords(count)) => u64::from(count) * 4,
        _ => 4,
    }
}

/// The dword that a load into LDS writes for a part.
fn extended(space: &impl Space, lane: usize, address: u64, part: Width) -> u32 {
    match part {
        Width::Byte(RegisterPlace::Signed) => space.load8(lane, address) as i8 as u32,
        Width::Byte(_) => space.load8(lane, address).into(),
        Width::Short(RegisterPlace::Signed) => space.load16(lane, address) as i16 as u32,
        Width::Short(_) => space.load16(lane, address).into(),
        Width::Dwords(_) => space.load32(lane, address),
    }
}

/// Loads from device memory into LDS.
pub(crate) fn to_lds(
    core: &mut Core<'_>,
    step: &Step,
    addresses: &Addresses,
    lanes: LaneMask,
    part: Width,
) -> Flow {
    let targets = match lds_targets(core, step, lanes) {
        Ok(targets) => targets,
        Err(stop) => return stop,
    };
    with_spans(core, step, addresses, lanes, part.size(), AccessKind::Read, |core, span, mask| {
        for lane in mask.lanes() {
            let value = extended(&span, lane, addresses[lane], part);
            core.lds.store32(lane, targets[lane], value);
            for more in (4..part.size()).step_by(4) {
                let value = span.load32(lane, addresses[lane] + more);
                core.lds.store32(lane, targets[lane] + more, value);
            }
        }
    })
}

/// The offset of every lane in private memory.
fn scratch_addresses(core: &Core<'_>, step: &Step) -> Addresses {
    let mut base = i64::from(step.inst.mem.offset) as u32;
    if step.src[2] != Source::None {
        base = base.wrapping_add(scalar32(core.wave, step.src[2]));
    }
    let mut addresses = [u64::from(base); LANES];
    if let Source::Vector(number) = step.src[0] {
        let row = core.wave.row(number);
        for lane in 0..LANES {
            addresses[lane] = u64::from(base.wrapping_add(row[lane]));
        }
    }
    addresses
}

fn scratch(core: &mut Core<'_>, step: &Step) -> Flow {
    let addresses = scratch_addresses(core, step);
    let exec = core.wave.exec();
    match flat_scratch_is_set(core, exec) {
        Ok(()) => private(core, step, &addresses, exec),
        Err(stop) => stop,
    }
}

/// Loads from private memory into LDS.
fn scratch_to_lds(core: &mut Core<'_>, step: &Step) -> Flow {
    let Shape::Load(part) = step.shape else { return Flow::Next };
    let addresses = scratch_addresses(core, step);
    let exec = core.wave.exec();
    let targets = match lds_targets(core, step, exec) {
        Ok(targets) => targets,
        Err(stop) => return stop,
    };
    let ready = flat_scratch_is_set(core, exec)
        .and_then(|()| reserve(core, &addresses, exec, part.size(), AccessKind::Read));
    if let Err(stop) = ready {
        return stop;
    }
    let space = Private(&mut core.wave.scratch);
    for lane in exec.lanes() {
        let value = extended(&space, lane, addresses[lane], part);
        core.lds.store32(lane, targets[lane], value);
    }
    Flow::Next
}

/// Checks that FLAT_SCRATCH holds the base of the wave's private memory, if the wave's first instructions have to
/// compute it.
///
/// # Errors
/// The stop, if it holds another value and any lane uses it.
fn flat_scratch_is_set(core: &mut Core<'_>, lanes: LaneMask) -> Result<(), Flow> {
    let found = core.wave.flat_scratch();
    match core.wave.scratch_base {
        Some(expected) if !lanes.is_empty() && found != expected => {
            Err(core.stop(Cause::PrivateBase { holder: "FLAT_SCRATCH", found, expected }))
        }
        _ => Ok(()),
    }
}

/// Grows private memory for accesses.
///
/// # Errors
/// The stop, if one of them ends past a lane's private memory.
fn reserve(
    core: &mut Core<'_>,
    addresses: &Addresses,
    lanes: LaneMask,
    size: u64,
    kind: AccessKind,
) -> Result<(), Flow> {
    if lanes.is_empty() {
        return Ok(());
    }
    let limit = u64::from(core.wave.scratch_size);
    let (_, greatest) = bounds(addresses, lanes);
    if greatest + size > limit {
        let beyond = lanes.lanes().find(|&lane| addresses[lane] + size > limit);
        let address = beyond.map_or(greatest, |lane| addresses[lane]);
        let segment = Segment::Scratch(limit);
        return Err(core.stop_in(segment, Cause::IllegalAddress, beyond, address, size, kind));
    }
    Private(&mut core.wave.scratch).grow(greatest + size);
    Ok(())
}

/// Loads or stores in private memory, at offsets from its start.
pub(crate) fn private(core: &mut Core<'_>, step: &Step, addresses: &Addresses, lanes: LaneMask) -> Flow {
    let (part, kind) = match step.shape {
        Shape::Load(part) => (part, AccessKind::Read),
        Shape::Store(part) => (part, AccessKind::Write),
        _ => return Flow::Next,
    };
    if let Err(stop) = reserve(core, addresses, lanes, part.size(), kind) {
        return stop;
    }
    let wave = &mut *core.wave;
    let mut space = Private(&mut wave.scratch);
    match (kind, step.src[1]) {
        (AccessKind::Read, _) => load(&space, &mut wave.v, step.dst, part, addresses, lanes),
        (_, Source::Vector(data)) => store(&mut space, &wave.v, data, part, addresses, lanes),
        _ => {}
    }
    Flow::Next
}

/// The lanes whose address is in LDS, and those whose address is in private memory.
fn apertures(addresses: &Addresses, exec: LaneMask) -> (LaneMask, LaneMask) {
    let shared = mask!(|lane| addresses[lane] >> 32 == SHARED_APERTURE >> 32);
    let private = mask!(|lane| addresses[lane] >> 32 == PRIVATE_APERTURE >> 32);
    (shared & exec, private & exec)
}

fn flat(core: &mut Core<'_>, step: &Step) -> Flow {
    let addresses = global_addresses(core, step);
    let exec = core.wave.exec();
    let (in_lds, in_private) = apertures(&addresses, exec);
    let offsets = addresses.map(|address| address & 0xffff_ffff);
    let (size, kind) = match step.shape {
        Shape::Store(part) => (part.size(), AccessKind::Write),
        Shape::Load(part) => (part.size(), AccessKind::Read),
        _ => return Flow::Next,
    };
    if let Some(stop) = overrun(core, step, &offsets, in_lds, size, kind) {
        return stop;
    }
    let flow = match step.shape {
        Shape::Load(part) => {
            let in_global = exec & !in_lds & !in_private;
            // The first part may overwrite the address registers; all addresses are computed by now.
            load(&*core.lds, &mut core.wave.v, step.dst, part, &offsets, in_lds);
            with_spans(
                core,
                step,
                &addresses,
                in_global,
                part.size(),
                AccessKind::Read,
                |core, span, mask| {
                    load(&span, &mut core.wave.v, step.dst, part, &addresses, mask);
                },
            )
        }
        Shape::Store(part) => {
            let Source::Vector(data) = step.src[1] else { return Flow::Next };
            let in_global = exec & !in_lds & !in_private;
            store(core.lds, &core.wave.v, data, part, &offsets, in_lds);
            with_spans(
                core,
                step,
                &addresses,
                in_global,
                part.size(),
                AccessKind::Write,
                |core, mut span, mask| {
                    store(&mut span, &core.wave.v, data, part, &addresses, mask);
                },
            )
        }
        _ => Flow::Next,
    };
    if flow != Flow::Next || in_private.is_empty() {
        return flow;
    }
    match flat_scratch_is_set(core, in_private) {
        Ok(()) => private(core, step, &offsets, in_private),
        Err(stop) => stop,
    }
}

fn flat_atomic(core: &mut Core<'_>, step: &Step) -> Flow {
    let addresses = global_addresses(core, step);
    let exec = core.wave.exec();
    let (in_lds, in_private) = apertures(&addresses, exec);
    let offsets = addresses.map(|address| address & 0xffff_ffff);
    if let Some(stop) = atomic_at(core, step, step.src[1], &offsets, in_lds) {
        return stop;
    }
    match atomic(core, step, &addresses, exec & !in_lds & !in_private) {
        Flow::Next => private_atomic(core, step, &offsets, in_private),
        stop => stop,
    }
}

/// A read-modify-write of private memory, which belongs to one lane.
fn private_atomic(core: &mut Core<'_>, step: &Step, addresses: &Addresses, lanes: LaneMask) -> Flow {
    let (Shape::Atomic { rmw, wide }, Source::Vector(data)) = (step.shape, step.src[1]) else {
        return Flow::Next;
    };
    let size = if wide { 8 } else { 4 };
    let stray = lanes.lanes().find(|&lane| !addresses[lane].is_multiple_of(size));
    if let Some(lane) = stray.or_else(|| lanes.lanes().next().filter(|_| wide)) {
        // The dwords of a lane are not contiguous, so compilers emit only 32-bit atomics.
        let segment = Segment::Scratch(core.wave.scratch_size.into());
        let cause = if stray.is_some() { Cause::MisalignedAtomic } else { Cause::IllegalAddress };
        return core.stop_in(segment, cause, Some(lane), addresses[lane], size, AccessKind::Atomic);
    }
    let ready = flat_scratch_is_set(core, lanes)
        .and_then(|()| reserve(core, addresses, lanes, size, AccessKind::Atomic));
    if let Err(stop) = ready {
        return stop;
    }
    for lane in lanes.lanes() {
        let (a, b) = (core.wave.row(data)[lane], core.wave.row(data + 1)[lane]);
        let mut space = Private(&mut core.wave.scratch);
        let old = space.load32(lane, addresses[lane]);
        space.store32(lane, addresses[lane], rmw.apply32(old, a, b));
        if !step.inst.dst.is_none() {
            core.wave.row_mut(step.dst)[lane] = old;
        }
    }
    Flow::Next
}
