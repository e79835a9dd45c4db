// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buffers: accesses through a [`Resource`] in four scalar registers, which holds the size of the buffer. Past
//! its end, loads give zero and stores have no effect, dword by dword. Compilers rely on that.

use crate::exec::families::resource::Resource;
use crate::exec::families::vmem::{atomic, lds_targets, one_span, private, to_lds, with_spans};
use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::handler::{Compilations, handler};
use crate::exec::machine::shape::{Shape, Width};
use crate::exec::machine::step::{Source, Step};
use crate::exec::machine::trouble::{AccessKind, Cause};
use crate::exec::machine::wave::Wave;
use crate::exec::operands::source::scalar32;
use crate::exec::operands::space::{Addresses, Space, load, store};
use crate::exec::values::row::LANES;
use crate::isa::{Encoding, Inst};
use crate::lane_mask::LaneMask;
use crate::memory::MemoryUse;

/// The handler of an instruction of this family.
pub(crate) fn compilations(inst: &Inst) -> Option<Compilations> {
    if inst.encoding != Encoding::Mubuf {
        return None;
    }
    Some(match Shape::of(inst.op) {
        Shape::Load(_) if inst.mem.lds => Compilations::scalar(buffer_to_lds),
        Shape::Load(Width::Dwords(1)) => handler!(|core, step| buffer_load(core, step, Width::Dwords(1))),
        Shape::Load(Width::Dwords(4)) => handler!(|core, step| buffer_load(core, step, Width::Dwords(4))),
        Shape::Load(_) => Compilations::scalar(buffer_load_any),
        Shape::Store(Width::Dwords(1)) => handler!(|core, step| buffer_store(core, step, Width::Dwords(1))),
        Shape::Store(Width::Dwords(4)) => handler!(|core, step| buffer_store(core, step, Width::Dwords(4))),
        Shape::Store(_) => Compilations::scalar(buffer_store_any),
        Shape::Atomic { .. } => Compilations::scalar(buffer_atomic),
        Shape::LoadFormat(_) | Shape::StoreFormat(_) | Shape::None => return None,
    })
}

/// The accesses of the lanes of a buffer instruction.
pub(crate) struct LaneAccesses {
    pub(crate) addresses: Addresses,
    /// Lanes whose whole access lies in the buffer.
    pub(crate) whole: LaneMask,
    /// For each other lane, the bytes that lie in the buffer; empty if no lane has any.
    pub(crate) partial: Vec<(usize, u64)>,
    /// The kind of the accesses.
    pub(crate) reach: Reach,
}

/// The kind of the accesses of a buffer instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Accesses to device memory.
    Memory,
    /// Accesses larger than the bytes that a swizzled buffer keeps together.
    Crossing,
    /// Accesses to private memory, at offsets from its start.
    Private,
}

/// Bytes of private memory that stay together.
const ELEMENT: u64 = 4;

/// Executes accesses to private memory, or stops the wave at an access that is not simulated.
#[inline(never)]
pub(crate) fn elsewhere(core: &mut Core<'_>, step: &Step, accesses: &LaneAccesses) -> Flow {
    let found = Resource::read(core.wave, step, 2).base();
    let scalar = scalar32(core.wave, step.src[3]);
    let plain = matches!(step.shape, Shape::Load(_) | Shape::Store(_)) && !step.inst.mem.lds;
    let what = match (accesses.reach, core.wave.scratch_base) {
        (Reach::Private, Some(expected))
            if !accesses.whole.is_empty() && found + u64::from(scalar) < expected =>
        {
            return core.stop(Cause::PrivateBase { holder: "a buffer resource", found, expected });
        }
        (Reach::Private, _) if !u64::from(scalar).is_multiple_of(ELEMENT * core.wave.size() as u64) => {
            "a scalar offset in private memory that is not a multiple of the dwords of all lanes"
        }
        (Reach::Private, _) if plain => return private(core, step, &accesses.addresses, accesses.whole),
        (Reach::Private, _) => "private memory by this instruction",
        _ => "more than a dword of a swizzled buffer",
    };
    let instructions = format!("{} ({what})", step.inst.disassemble(step.offset.into()));
    core.stop(Cause::Unsupported { instructions })
}

/// The lanes' offsets in private memory. The kernel derives the resource from the one in its first registers.
#[inline(never)]
fn private_accesses(wave: &Wave, step: &Step, resource: &Resource, base: u64, size: u64) -> LaneAccesses {
    // Both the resource and the scalar offset count the bytes of all lanes.
    let scalar = u64::from(scalar32(wave, step.src[3]));
    let start = resource.base().wrapping_add(scalar).wrapping_sub(base) / wave.size() as u64;
    let mem = &step.inst.mem;
    let mut addresses = [0; LANES];
    for (lane, address) in addresses.iter_mut().enumerate() {
        let own = match step.src[0] {
            Source::Vector(number) if mem.offen => wave.row(number)[lane],
            _ => 0,
        };
        *address = start.wrapping_add(u64::from(own.wrapping_add(mem.offset as u32)));
    }
    let reach = if size > ELEMENT { Reach::Crossing } else { Reach::Private };
    LaneAccesses { addresses, whole: wave.exec(), partial: Vec::new(), reach }
}

#[inline(always)]
pub(crate) fn accesses(core: &Core<'_>, step: &Step, size: u64) -> LaneAccesses {
    let wave = &*core.wave;
    let resource = Resource::read(wave, step, 2);
    let scalar = u64::from(scalar32(wave, step.src[3]));
    let mem = &step.inst.mem;
    // The sum with a lane's offset has 32 bits: compilers rely on its wrapping.
    let constant = mem.offset as u32;
    let exec = wave.exec();
    let mut addresses = [0; LANES];
    if let (Source::Vector(number), true, false, false, 0) =
        (step.src[0], mem.offen, mem.idxen, resource.adds_lane(), resource.stride())
        && resource.counts_bytes()
    {
        // Compilers of tensor programs emit this form: raw buffers with an offset.
        let row = wave.row(number);
        let start = resource.base().wrapping_add(scalar);
        let limit = resource.records().saturating_sub(scalar.saturating_add(size - 1));
        let mut whole = 0;
        for lane in 0..LANES {
            let offset = u64::from(row[lane].wrapping_add(constant));
            addresses[lane] = start.wrapping_add(offset);
            whole |= u64::from(offset < limit) << lane;
        }
        if LaneMask::of_bits(whole) & exec == exec && !resource.is_swizzled() {
            return LaneAccesses { addresses, whole: exec, partial: Vec::new(), reach: Reach::Memory };
        }
    }
    accesses_by_lane(wave, step, size, &resource, scalar)
}

#[inline(never)]
fn accesses_by_lane(wave: &Wave, step: &Step, size: u64, resource: &Resource, scalar: u64) -> LaneAccesses {
    let mem = &step.inst.mem;
    let constant = mem.offset as u32;
    let exec = wave.exec();
    let mut addresses = [0; LANES];
    if let Some(base) = wave.scratch_base
        && resource.is_private(wave)
        && !mem.idxen
    {
        return private_accesses(wave, step, resource, base, size);
    }
    let (mut whole, mut partial) = (LaneMask::default(), Vec::new());
    for lane in exec.lanes() {
        let word = |place: u16| match step.src[0] {
            Source::Vector(number) => wave.row(number + place)[lane],
            _ => 0,
        };
        let mut index = if mem.idxen { u64::from(word(0)) } else { 0 };
        if resource.adds_lane() {
            index += lane as u64;
        }
        let offset = constant.wrapping_add(if mem.offen { word(mem.idxen.into()) } else { 0 }).into();
        addresses[lane] = resource.address(index, offset, scalar);
        match resource.available(index, mem.idxen, offset, scalar, size) {
            available if available == size => whole |= LaneMask::of_lane(lane),
            available => partial.push((lane, available)),
        }
    }
    let reach =
        if resource.is_swizzled() && size > resource.element() { Reach::Crossing } else { Reach::Memory };
    LaneAccesses { addresses, whole, partial, reach }
}

#[inline(always)]
fn buffer_load(core: &mut Core<'_>, step: &Step, part: Width) -> Flow {
    let found = accesses(core, step, part.size());
    if found.reach != Reach::Memory {
        return elsewhere(core, step, &found);
    }
    if found.partial.is_empty()
        && let Some(span) = one_span(core, &found.addresses, found.whole, part.size(), MemoryUse::Read)
    {
        load(&span, &mut core.wave.v, step.dst, part, &found.addresses, found.whole);
        return Flow::Next;
    }
    load_by_span(core, step, part, &found)
}

/// Finishes a load from several allocations, or from the end of the buffer.
#[inline(never)]
fn load_by_span(core: &mut Core<'_>, step: &Step, part: Width, accesses: &LaneAccesses) -> Flow {
    let LaneAccesses { addresses, whole, partial, .. } = accesses;
    let flow =
        with_spans(core, step, addresses, *whole, part.size(), AccessKind::Read, |core, span, mask| {
            load(&span, &mut core.wave.v, step.dst, part, addresses, mask);
        });
    if flow != Flow::Next || partial.is_empty() {
        return flow;
    }
    outside(core, step, part, addresses, partial)
}

fn buffer_load_any(core: &mut Core<'_>, step: &Step) -> Flow {
    match step.shape {
        Shape::Load(part) => buffer_load(core, step, part),
        _ => Flow::Next,
    }
}

/// Finishes a load for the lanes whose access lies outside of the buffer, partly or wholly.
#[cold]
fn outside(
    core: &mut Core<'_>,
    step: &Step,
    part: Width,
    addresses: &Addresses,
    partial: &[(usize, u64)],
) -> Flow {
    let nothing = crate::memory::access::Span::EMPTY;
    for &(lane, available) in partial {
        let lane_mask = LaneMask::of_lane(lane);
        load(&nothing, &mut core.wave.v, step.dst, part, addresses, lane_mask);
        if available == 0 {
            continue;
        }
        let some = Width::Dwords((available / 4) as u8);
        let flow =
            with_spans(core, step, addresses, lane_mask, available, AccessKind::Read, |core, span, mask| {
                load(&span, &mut core.wave.v, step.dst, some, addresses, mask);
            });
        if flow != Flow::Next {
            return flow;
        }
    }
    Flow::Next
}

fn buffer_store_any(core: &mut Core<'_>, step: &Step) -> Flow {
    match step.shape {
        Shape::Store(part) => buffer_store(core, step, part),
        _ => Flow::Next,
    }
}

#[inline(always)]
fn buffer_store(core: &mut Core<'_>, step: &Step, part: Width) -> Flow {
    let Source::Vector(data) = step.src[1] else { return Flow::Next };
    let found = accesses(core, step, part.size());
    if found.reach != Reach::Memory {
        return elsewhere(core, step, &found);
    }
    if found.partial.is_empty()
        && let Some(mut span) = one_span(core, &found.addresses, found.whole, part.size(), MemoryUse::Write)
    {
        store(&mut span, &core.wave.v, data, part, &found.addresses, found.whole);
        return Flow::Next;
    }
    store_by_span(core, step, part, data, &found)
}

/// Finishes a store to several allocations, or to the end of the buffer.
#[inline(never)]
fn store_by_span(core: &mut Core<'_>, step: &Step, part: Width, data: u16, accesses: &LaneAccesses) -> Flow {
    let LaneAccesses { addresses, whole, partial, .. } = accesses;
    let mut flow =
        with_spans(core, step, addresses, *whole, part.size(), AccessKind::Write, |core, mut span, mask| {
            store(&mut span, &core.wave.v, data, part, addresses, mask);
        });
    for &(lane, available) in partial {
        if flow != Flow::Next || available == 0 {
            continue;
        }
        let some = Width::Dwords((available / 4) as u8);
        flow = with_spans(
            core,
            step,
            addresses,
            LaneMask::of_lane(lane),
            available,
            AccessKind::Write,
            |core, mut span, mask| {
                store(&mut span, &core.wave.v, data, some, addresses, mask);
            },
        );
    }
    flow
}

fn buffer_atomic(core: &mut Core<'_>, step: &Step) -> Flow {
    let Shape::Atomic { wide, .. } = step.shape else { return Flow::Next };
    let found = accesses(core, step, if wide { 8 } else { 4 });
    if found.reach != Reach::Memory {
        return elsewhere(core, step, &found);
    }
    let LaneAccesses { addresses, whole, partial, .. } = found;
    if !step.inst.dst.is_none() {
        for (lane, _) in partial {
            core.wave.row_mut(step.dst)[lane] = 0;
            if wide {
                core.wave.row_mut(step.dst + 1)[lane] = 0;
            }
        }
    }
    atomic(core, step, &addresses, whole)
}

fn buffer_to_lds(core: &mut Core<'_>, step: &Step) -> Flow {
    let Shape::Load(part) = step.shape else { return Flow::Next };
    let found = accesses(core, step, part.size());
    if found.reach != Reach::Memory {
        return elsewhere(core, step, &found);
    }
    let LaneAccesses { addresses, whole, partial, .. } = found;
    let lanes = partial.iter().fold(whole, |mask, (lane, _)| mask | LaneMask::of_lane(*lane));
    let targets = match lds_targets(core, step, lanes) {
        Ok(targets) => targets,
        Err(stop) => return stop,
    };
    for (lane, _) in &partial {
        for at in (0..part.size().max(4)).step_by(4) {
            core.lds.store(targets[*lane] + at, 0u32.to_le_bytes());
        }
    }
    // Of several dwords, those that lie in the buffer are loaded.
    for dwords in (4..part.size()).step_by(4) {
        let some = partial.iter().filter(|(_, available)| available / 4 * 4 == dwords);
        let mask = some.fold(LaneMask::default(), |mask, (lane, _)| mask | LaneMask::of_lane(*lane));
        let flow = with_spans(core, step, &addresses, mask, dwords, AccessKind::Read, |core, span, mask| {
            for lane in mask.lanes() {
                for at in (0..dwords).step_by(4) {
                    core.lds.store32(lane, targets[lane] + at, span.load32(lane, addresses[lane] + at));
                }
            }
        });
        if flow != Flow::Next {
            return flow;
        }
    }
    to_lds(core, step, &addresses, whole, part)
}
