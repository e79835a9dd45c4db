// SPDX-License-Identifier: MIT OR Apache-2.0
//! LDS instructions, and instructions that move data between lanes through the LDS hardware.

use crate::exec::families::transpose::transposed;
use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::handler::{Compilations, handler};
use crate::exec::machine::shape::{RegisterPlace, Shape, Width};
use crate::exec::machine::step::{Source, Step};
use crate::exec::machine::trouble::{AccessKind, Cause, Segment};
use crate::exec::machine::wave::VECTORS;
use crate::exec::operands::source::scalar32;
use crate::exec::operands::space::{Address, Addresses, InRegister, Space, load, store};
use crate::exec::values::row::{LANES, Row, each_lane, row};
use crate::isa::{Encoding, Inst, Op};
use crate::lane_mask::LaneMask;
use crate::memory::lanes::{LaneOffsets, Vectors};

/// The handler of an instruction of this family.
pub(crate) fn compilations(inst: &Inst) -> Option<Compilations> {
    if inst.encoding != Encoding::Ds || inst.mem.gds {
        return None;
    }
    let two = has_two_addresses(inst.op);
    Some(match (inst.op, Shape::of(inst.op)) {
        (Op::ds_bpermute_b32, _) => handler!(|core, step| pull(core, step)),
        (Op::ds_permute_b32, _) => Compilations::scalar(push),
        // From this pattern on, the patterns are orders of an FFT.
        (Op::ds_swizzle_b32, _) if inst.mem.offset >= 0xe000 => return None,
        (Op::ds_swizzle_b32, _) => Compilations::scalar(swizzle),
        (Op::ds_write_addtid_b32, _) => Compilations::scalar(write_by_lane),
        (Op::ds_read_addtid_b32, _) => Compilations::scalar(read_by_lane),
        (Op::ds_read_b64_tr_b8, _) => Compilations::scalar(|core, step| transposed(core, step, 8)),
        (Op::ds_read_b64_tr_b16, _) => Compilations::scalar(|core, step| transposed(core, step, 16)),
        (Op::ds_append | Op::ds_consume, _) => Compilations::scalar(count),
        (_, Shape::Load(Width::Dwords(1))) if two => {
            handler!(|core, step, vectors| read_two::<1>(core, step, vectors))
        }
        (_, Shape::Load(_)) if two => handler!(|core, step, vectors| read_two::<2>(core, step, vectors)),
        (_, Shape::Store(Width::Dwords(1))) if two => {
            handler!(|core, step, vectors| write_two::<1>(core, step, vectors))
        }
        (_, Shape::Store(_)) if two => handler!(|core, step, vectors| write_two::<2>(core, step, vectors)),
        (_, Shape::Atomic { .. }) if two => Compilations::scalar(exchange_two),
        (_, Shape::Load(Width::Dwords(1))) => {
            handler!(|core, step, vectors| read_dwords::<1>(core, step, vectors))
        }
        (_, Shape::Load(Width::Dwords(2))) => {
            handler!(|core, step, vectors| read_dwords::<2>(core, step, vectors))
        }
        (_, Shape::Load(Width::Dwords(4))) => {
            handler!(|core, step, vectors| read_dwords::<4>(core, step, vectors))
        }
        (_, Shape::Load(Width::Short(RegisterPlace::Unsigned))) => {
            handler!(|core, step| read(core, step, Width::Short(RegisterPlace::Unsigned)))
        }
        (_, Shape::Load(_)) => Compilations::scalar(read_any),
        (_, Shape::Store(Width::Dwords(1))) => {
            handler!(|core, step, vectors| write_dwords::<1>(core, step, vectors))
        }
        (_, Shape::Store(Width::Dwords(2))) => {
            handler!(|core, step, vectors| write_dwords::<2>(core, step, vectors))
        }
        (_, Shape::Store(Width::Dwords(4))) => {
            handler!(|core, step, vectors| write_dwords::<4>(core, step, vectors))
        }
        (_, Shape::Store(_)) => Compilations::scalar(write_any),
        (_, Shape::Atomic { .. }) => Compilations::scalar(atomic),
        _ => return None,
    })
}

fn has_two_addresses(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        ds_read2_b32
            | ds_read2_b64
            | ds_read2st64_b32
            | ds_read2st64_b64
            | ds_write2_b32
            | ds_write2_b64
            | ds_write2st64_b32
            | ds_write2st64_b64
            | ds_wrxchg2_rtn_b32
            | ds_wrxchg2_rtn_b64
            | ds_wrxchg2st64_rtn_b32
            | ds_wrxchg2st64_rtn_b64
    )
}

/// Each lane's address in LDS plus `offset`. The sum wraps: compilers subtract in the register and add the
/// offset back.
#[inline(always)]
fn address(step: &Step, offset: u32) -> InRegister {
    let number = match step.src[0] {
        Source::Vector(number) => Some(number),
        _ => None,
    };
    InRegister { number, offset }
}

fn is_far(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        ds_read2st64_b32
            | ds_read2st64_b64
            | ds_write2st64_b32
            | ds_write2st64_b64
            | ds_wrxchg2st64_rtn_b32
            | ds_wrxchg2st64_rtn_b64
    )
}

/// Byte offsets of an instruction with two addresses.
pub(crate) fn two_offsets(step: &Step, part: Width) -> [u32; 2] {
    let unit = part.size() as u32 * if is_far(step.inst.op) { 64 } else { 1 };
    [step.inst.mem.offset as u32 * unit, u32::from(step.inst.mem.offset1) * unit]
}

/// Stops the wave if a lane's access of `size` bytes ends past the workgroup's limit.
#[inline(always)]
pub(crate) fn overrun(
    core: &mut Core<'_>,
    step: &Step,
    addresses: &impl Address,
    lanes: LaneMask,
    size: u64,
    kind: AccessKind,
) -> Option<Flow> {
    let limit = core.lds.limit();
    if limit == u64::MAX {
        return None;
    }
    let vectors = &core.wave.v;
    let mut greatest = 0;
    each_lane!(lanes, |lane| {
        greatest = greatest.max(addresses.of_lane(vectors, lane));
    });
    if lanes.is_empty() || greatest.saturating_add(size) <= limit {
        return None;
    }
    let ends_behind = |lane: &usize| {
        let address = addresses.of_lane(vectors, *lane);
        // LDS is allocated in larger units, so the bytes past the end exist.
        let end = if step.may_stick_out(address, size, kind) { limit.next_multiple_of(4) } else { limit };
        address.saturating_add(size) > end
    };
    let lane = lanes.lanes().find(ends_behind)?;
    let address = addresses.of_lane(vectors, lane);
    Some(core.stop_in(Segment::Lds(limit), Cause::IllegalAddress, Some(lane), address, size, kind))
}

/// Each lane's address plus `offset`, if more than one lane is active.
#[inline(always)]
fn addresses(core: &Core<'_>, step: &Step, offset: u32) -> Option<Row> {
    let exec = core.wave.exec();
    let Source::Vector(number) = step.src[0] else { return None };
    if exec.count() < 2 {
        return None;
    }
    let base = core.wave.row(number);
    Some(row!(|lane| base[lane].wrapping_add(offset)))
}

#[inline(always)]
fn read_dwords<const N: usize>(core: &mut Core<'_>, step: &Step, vectors: impl Vectors) -> Flow {
    let exec = core.wave.exec();
    let Some(offsets) = addresses(core, step, step.inst.mem.offset as u32) else {
        return read_any(core, step);
    };
    let Some(lanes) = LaneOffsets::<N>::new(&offsets, exec, vectors) else { return read_any(core, step) };
    let mut rows = [[0; LANES]; N];
    if !core.lds.load_lanes(&lanes, &mut rows, vectors) {
        return read_any(core, step);
    }
    core.wave.write_rows(step.dst, &rows, exec);
    Flow::Next
}

#[inline(always)]
fn write_dwords<const N: usize>(core: &mut Core<'_>, step: &Step, vectors: impl Vectors) -> Flow {
    let Source::Vector(data) = step.src[1] else { return Flow::Next };
    let Some(offsets) = addresses(core, step, step.inst.mem.offset as u32) else {
        return write_any(core, step);
    };
    let Some(lanes) = LaneOffsets::<N>::new(&offsets, core.wave.exec(), vectors) else {
        return write_any(core, step);
    };
    match core.lds.store_lanes(&lanes, core.wave.rows(data), vectors) {
        Some(()) => Flow::Next,
        None => write_any(core, step),
    }
}

#[inline(always)]
fn read(core: &mut Core<'_>, step: &Step, part: Width) -> Flow {
    let addresses = address(step, step.inst.mem.offset as u32);
    let exec = core.wave.exec();
    if let Some(stop) = overrun(core, step, &addresses, exec, part.size(), AccessKind::Read) {
        return stop;
    }
    load(&*core.lds, &mut core.wave.v, step.dst, part, &addresses, exec);
    Flow::Next
}

#[inline(never)]
pub(crate) fn read_any(core: &mut Core<'_>, step: &Step) -> Flow {
    match step.shape {
        Shape::Load(part) => read(core, step, part),
        _ => Flow::Next,
    }
}

#[inline(always)]
fn read_two<const N: usize>(core: &mut Core<'_>, step: &Step, vectors: impl Vectors) -> Flow {
    let [first, second] = two_offsets(step, Width::Dwords(N as u8));
    let (Some(first), Some(second)) = (addresses(core, step, first), addresses(core, step, second)) else {
        return read_two_any(core, step);
    };
    let exec = core.wave.exec();
    let (Some(first), Some(second)) =
        (LaneOffsets::<N>::new(&first, exec, vectors), LaneOffsets::<N>::new(&second, exec, vectors))
    else {
        return read_two_any(core, step);
    };
    let mut rows = [[[0; LANES]; N]; 2];
    let [first_rows, second_rows] = &mut rows;
    if !core.lds.load_lanes(&first, first_rows, vectors)
        || !core.lds.load_lanes(&second, second_rows, vectors)
    {
        return read_two_any(core, step);
    }
    core.wave.write_rows(step.dst, first_rows, exec);
    core.wave.write_rows(step.dst + N as u16, second_rows, exec);
    Flow::Next
}

/// As `read_two`, lane by lane.
#[inline(never)]
fn read_two_any(core: &mut Core<'_>, step: &Step) -> Flow {
    let Shape::Load(part) = step.shape else { return Flow::Next };
    let offsets = two_offsets(step, part);
    let exec = core.wave.exec();
    for offset in offsets {
        if let Some(stop) = overrun(core, step, &address(step, offset), exec, part.size(), AccessKind::Read) {
            return stop;
        }
    }
    match part {
        Width::Dwords(1) => read_pair::<1>(core, step, offsets),
        _ => read_pair::<2>(core, step, offsets),
    }
    Flow::Next
}

/// Reads `N` dwords at each of two addresses.
#[inline(always)]
fn read_pair<const N: usize>(core: &mut Core<'_>, step: &Step, offsets: [u32; 2]) {
    let exec = core.wave.exec();
    let vectors = &mut core.wave.v;
    let number = |half: usize, index: usize| (usize::from(step.dst) + half * N + index) & (VECTORS - 1);
    // The second address is in the same register as the first, which a destination may overwrite.
    let source = address(step, 0);
    each_lane!(exec, |lane| {
        let base = source.of_lane(vectors, lane) as u32;
        for (half, offset) in offsets.into_iter().enumerate() {
            let dwords = core.lds.load_dwords::<N>(base.wrapping_add(offset).into());
            for index in 0..N {
                vectors[number(half, index)][lane] = dwords[index];
            }
        }
    });
}

#[inline(always)]
fn write(core: &mut Core<'_>, step: &Step, part: Width) -> Flow {
    let Source::Vector(data) = step.src[1] else { return Flow::Next };
    let addresses = address(step, step.inst.mem.offset as u32);
    let exec = core.wave.exec();
    if let Some(stop) = overrun(core, step, &addresses, exec, part.size(), AccessKind::Write) {
        return stop;
    }
    store(core.lds, &core.wave.v, data, part, &addresses, exec);
    Flow::Next
}

#[inline(never)]
fn write_any(core: &mut Core<'_>, step: &Step) -> Flow {
    match step.shape {
        Shape::Store(part) => write(core, step, part),
        _ => Flow::Next,
    }
}

#[inline(always)]
fn write_two<const N: usize>(core: &mut Core<'_>, step: &Step, vectors: impl Vectors) -> Flow {
    let (Source::Vector(first), Source::Vector(second)) = (step.src[1], step.src[2]) else {
        return Flow::Next;
    };
    let [at_first, at_second] = two_offsets(step, Width::Dwords(N as u8));
    let (Some(at_first), Some(at_second)) =
        (addresses(core, step, at_first), addresses(core, step, at_second))
    else {
        return write_two_any(core, step);
    };
    let exec = core.wave.exec();
    let (Some(at_first), Some(at_second)) =
        (LaneOffsets::<N>::new(&at_first, exec, vectors), LaneOffsets::<N>::new(&at_second, exec, vectors))
    else {
        return write_two_any(core, step);
    };
    if !core.lds.holds(&at_first) || !core.lds.holds(&at_second) {
        return write_two_any(core, step);
    }
    for (data, lanes) in [(first, at_first), (second, at_second)] {
        if core.lds.store_lanes(&lanes, core.wave.rows(data), vectors).is_none() {
            return write_two_any(core, step);
        }
    }
    Flow::Next
}

/// As `write_two`, lane by lane.
#[inline(never)]
fn write_two_any(core: &mut Core<'_>, step: &Step) -> Flow {
    let (Source::Vector(first), Source::Vector(second), Shape::Store(part)) =
        (step.src[1], step.src[2], step.shape)
    else {
        return Flow::Next;
    };
    let exec = core.wave.exec();
    for offset in two_offsets(step, part) {
        if let Some(stop) = overrun(core, step, &address(step, offset), exec, part.size(), AccessKind::Write)
        {
            return stop;
        }
    }
    for (data, offset) in [first, second].into_iter().zip(two_offsets(step, part)) {
        let addresses = address(step, offset);
        store(core.lds, &core.wave.v, data, part, &addresses, exec);
    }
    Flow::Next
}

fn atomic(core: &mut Core<'_>, step: &Step) -> Flow {
    let addresses = address(step, step.inst.mem.offset as u32);
    let exec = core.wave.exec();
    atomic_at(core, step, step.src[1], &addresses, exec).unwrap_or(Flow::Next)
}

/// A read-modify-write of LDS. It is atomic, because the waves of a workgroup take turns on one thread. The
/// operands are in `data` and, in LDS instructions with two, in `src[2]`. Stops the wave at an illegal
/// address.
pub(crate) fn atomic_at(
    core: &mut Core<'_>,
    step: &Step,
    data: Source,
    addresses: &impl Address,
    lanes: LaneMask,
) -> Option<Flow> {
    let Shape::Atomic { rmw, wide } = step.shape else { return None };
    let Source::Vector(first) = data else { return None };
    let size = if wide { 8 } else { 4 };
    let stop = overrun(core, step, addresses, lanes, size, AccessKind::Atomic);
    if stop.is_some() {
        return stop;
    }
    let misaligned = |lane: &usize| !addresses.of_lane(&core.wave.v, *lane).is_multiple_of(size);
    if let Some(lane) = lanes.lanes().find(misaligned) {
        let (segment, at) = (
            Segment::Lds(core.lds.limit().min(core.lds.len() as u64)),
            addresses.of_lane(&core.wave.v, lane),
        );
        let cause = Cause::MisalignedAtomic;
        return Some(core.stop_in(segment, cause, Some(lane), at, size, AccessKind::Atomic));
    }
    let second = match step.src[2] {
        Source::Vector(number) if step.inst.encoding == Encoding::Ds => number,
        _ => first + if wide { 2 } else { 1 },
    };
    let returns = !step.inst.dst.is_none();
    for lane in lanes.lanes() {
        let word = |number: u16| core.wave.row(number)[lane];
        let address = addresses.of_lane(&core.wave.v, lane);
        if wide {
            let pair = |number: u16| u64::from(word(number)) | u64::from(word(number + 1)) << 32;
            let (a, b) = (pair(first), if rmw.takes_two() { pair(second) } else { 0 });
            let old = u64::from_le_bytes(core.lds.load(address));
            core.lds.store(address, rmw.apply64(old, a, b).to_le_bytes());
            if returns {
                core.wave.row_mut(step.dst)[lane] = old as u32;
                core.wave.row_mut(step.dst + 1)[lane] = (old >> 32) as u32;
            }
        } else {
            let (a, b) = (word(first), if rmw.takes_two() { word(second) } else { 0 });
            let old = core.lds.load32(lane, address);
            core.lds.store32(lane, address, rmw.apply32(old, a, b));
            if returns {
                core.wave.row_mut(step.dst)[lane] = old;
            }
        }
    }
    None
}

fn exchange_two(core: &mut Core<'_>, step: &Step) -> Flow {
    let (Shape::Atomic { wide, .. }, Source::Vector(first), Source::Vector(second)) =
        (step.shape, step.src[1], step.src[2])
    else {
        return Flow::Next;
    };
    let part = Width::Dwords(if wide { 2 } else { 1 });
    let exec = core.wave.exec();
    let [at_first, at_second] = two_offsets(step, part).map(|offset| address(step, offset));
    for addresses in [&at_first, &at_second] {
        if let Some(stop) = overrun(core, step, addresses, exec, part.size(), AccessKind::Atomic) {
            return stop;
        }
    }
    let dwords = if wide { 2 } else { 1 };
    for lane in exec.lanes() {
        let mut old = [0; 4];
        for (half, (data, addresses)) in [(first, &at_first), (second, &at_second)].into_iter().enumerate() {
            for index in 0..dwords {
                let address = addresses.of_lane(&core.wave.v, lane) + 4 * index as u64;
                old[half * dwords + index] = core.lds.load32(lane, address);
                core.lds.store32(lane, address, core.wave.row(data + index as u16)[lane]);
            }
        }
        for (index, word) in (0..).zip(&old[..2 * dwords]) {
            core.wave.row_mut(step.dst + index)[lane] = *word;
        }
    }
    Flow::Next
}

/// `ds_bpermute`: every lane reads from the lane that its address selects; inactive lanes give zero.
#[inline(always)]
fn pull(core: &mut Core<'_>, step: &Step) -> Flow {
    let (Source::Vector(address), Source::Vector(data)) = (step.src[0], step.src[1]) else {
        return Flow::Next;
    };
    let (exec, among) = (core.wave.exec(), step.inst.set.permuted_lanes());
    let offset = step.inst.mem.offset as u32;
    let (index, data) = (core.wave.row(address), core.wave.row(data));
    let result = row!(|lane| {
        let from = lane & !(among - 1) | (index[lane].wrapping_add(offset) / 4) as usize & (among - 1);
        if exec.has(from) { data[from] } else { 0 }
    });
    core.wave.write_row(step.dst, &result, exec);
    Flow::Next
}

/// `ds_permute`: every active lane sends to the lane that its address selects. The highest sender wins; lanes
/// without a sender get zero.
fn push(core: &mut Core<'_>, step: &Step) -> Flow {
    let (Source::Vector(address), Source::Vector(data)) = (step.src[0], step.src[1]) else {
        return Flow::Next;
    };
    let (exec, among) = (core.wave.exec(), step.inst.set.permuted_lanes());
    let offset = step.inst.mem.offset as u32;
    let mut result: Row = [0; LANES];
    for lane in exec.lanes() {
        let selected = (core.wave.row(address)[lane].wrapping_add(offset) / 4) as usize;
        let to = lane & !(among - 1) | selected & (among - 1);
        result[to] = core.wave.row(data)[lane];
    }
    core.wave.write_row(step.dst, &result, exec);
    Flow::Next
}

fn swizzle(core: &mut Core<'_>, step: &Step) -> Flow {
    let Source::Vector(data) = step.src[0] else { return Flow::Next };
    let exec = core.wave.exec();
    let values = *core.wave.row(data);
    let pattern = step.inst.mem.offset as u32 as usize;
    let result = row!(|lane| {
        let from = swizzle_source(pattern, lane);
        if exec.has(from) { values[from] } else { 0 }
    });
    core.wave.write_row(step.dst, &result, exec);
    Flow::Next
}

/// The lane that a lane reads from in `ds_swizzle_b32`.
fn swizzle_source(pattern: usize, lane: usize) -> usize {
    if pattern >= 0xc000 {
        // Rotation within 32 lanes.
        let (mask, count) = (pattern & 31, pattern >> 5 & 31);
        let by = if pattern >> 10 & 1 == 0 { count } else { 32 - count };
        return lane & 32 | lane & mask | (lane & 31).wrapping_add(by) & 31 & !mask;
    }
    if pattern & 0x8000 != 0 {
        return lane & !3 | pattern >> (2 * (lane & 3)) & 3;
    }
    let (and, or, xor) = (pattern & 31, pattern >> 5 & 31, pattern >> 10 & 31);
    lane & 32 | (((lane & 31) & and | or) ^ xor)
}

/// The address of every lane: consecutive dwords.
fn addresses_by_lane(core: &Core<'_>, step: &Step) -> Addresses {
    let base = u64::from(core.wave.m0() & 0xffff) + u64::from(step.inst.mem.offset as u32);
    std::array::from_fn(|lane| base + 4 * lane as u64)
}

fn write_by_lane(core: &mut Core<'_>, step: &Step) -> Flow {
    let Source::Vector(data) = step.src[1] else { return Flow::Next };
    let (addresses, exec) = (addresses_by_lane(core, step), core.wave.exec());
    if let Some(stop) = overrun(core, step, &addresses, exec, 4, AccessKind::Write) {
        return stop;
    }
    for lane in exec.lanes() {
        let value = core.wave.row(data)[lane];
        core.lds.store32(lane, addresses[lane], value);
    }
    Flow::Next
}

fn read_by_lane(core: &mut Core<'_>, step: &Step) -> Flow {
    let (addresses, exec) = (addresses_by_lane(core, step), core.wave.exec());
    if let Some(stop) = overrun(core, step, &addresses, exec, 4, AccessKind::Read) {
        return stop;
    }
    for lane in exec.lanes() {
        let value = core.lds.load32(lane, addresses[lane]);
        core.wave.row_mut(step.dst)[lane] = value;
    }
    Flow::Next
}

/// `ds_append` and `ds_consume`: a counter at M0 moves by the number of active lanes; each of them gets the
/// old value.
fn count(core: &mut Core<'_>, step: &Step) -> Flow {
    let exec = core.wave.exec();
    let address = u64::from(scalar32(core.wave, Source::Scalar(124)) & 0xffff) + step.inst.mem.offset as u64;
    if let Some(stop) =
        overrun(core, step, &[address; LANES], exec & LaneMask::of_lane(exec.first()), 4, AccessKind::Atomic)
    {
        return stop;
    }
    let old = core.lds.load32(0, address);
    let lanes = exec.count();
    let new = if step.inst.op == Op::ds_append { old.wrapping_add(lanes) } else { old.wrapping_sub(lanes) };
    core.lds.store32(0, address, new);
    core.wave.write_row(step.dst, &[old; LANES], exec);
    Flow::Next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swizzle_patterns() {
        // SWAP,1 and BROADCAST,4,2 and REVERSE,4 in LLVM's words, then QUAD_PERM,3,2,1,0.
        let lanes = |pattern| (0..8).map(|lane| swizzle_source(pattern, lane)).collect::<Vec<_>>();
        assert_eq!(lanes(0x041f), [1, 0, 3, 2, 5, 4, 7, 6]);
        assert_eq!(lanes(0x005c), [2, 2, 2, 2, 6, 6, 6, 6]);
        assert_eq!(lanes(0x0c1f), [3, 2, 1, 0, 7, 6, 5, 4]);
        assert_eq!(lanes(0x801b), [3, 2, 1, 0, 7, 6, 5, 4]);
        assert_eq!(swizzle_source(0x041f, 40), 41);
    }
}
