// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loads and stores of dwords in device memory whose lanes all lie in one allocation: one check for the whole wave. All
//! others are left to the lane by lane access of the families.

use crate::exec::machine::core::Core;
use crate::exec::machine::step::{Source, Step};
use crate::exec::machine::wave::Wave;
use crate::exec::operands::source::scalar64;
use crate::exec::values::row::{LANES, Row};
use crate::lane_mask::LaneMask;
use crate::memory::MemoryUse;
use crate::memory::groups::GroupOffsets;
use crate::memory::lanes::{LaneOffsets, Vectors};

/// Whether a register has the same word in some lanes.
#[inline(always)]
fn is_uniform(row: &Row, word: u32, lanes: LaneMask) -> bool {
    let mut differing = 0;
    for (row, lanes) in row.as_chunks::<32>().0.iter().zip(lanes.halves()) {
        for (lane, other) in row.iter().enumerate() {
            differing |= (word ^ other) & 0u32.wrapping_sub(lanes >> lane & 1);
        }
    }
    differing == 0
}

/// A scalar base, and the register with an offset of each lane. Of 64-bit addresses, the high halves must be the same.
#[inline(always)]
fn base_and_offsets<'a>(
    wave: &'a Wave,
    step: &Step,
    exec: LaneMask,
    vectors: impl Vectors,
) -> Option<(u64, &'a Row)> {
    let constant = i64::from(step.inst.mem.offset) as u64;
    let Source::Vector(number) = step.src[0] else { return None };
    let base = match step.src[2] {
        Source::None => {
            let highs = wave.row(number + 1);
            let high = highs[exec.first()];
            let uniform = match exec {
                LaneMask::WAVE64 => vectors.is_spaced(highs, 0),
                LaneMask::WAVE32 => vectors.is_spaced(highs.first_chunk::<32>()?, 0),
                _ => is_uniform(highs, high, exec),
            };
            if !uniform {
                return None;
            }
            u64::from(high) << 32
        }
        base => scalar64(wave, base),
    };
    Some((base.wrapping_add(constant), wave.row(number)))
}

/// The only active lane, and its address.
#[inline(always)]
fn only_lane(core: &Core<'_>, step: &Step, exec: LaneMask) -> Option<(usize, u64)> {
    let lane = exec.first();
    let Source::Vector(number) = step.src[0] else { return None };
    let low = u64::from(core.wave.row(number)[lane]);
    let start = match step.src[2] {
        Source::None => low | u64::from(core.wave.row(number + 1)[lane]) << 32,
        base => scalar64(core.wave, base).wrapping_add(low),
    };
    (exec.count() == 1).then(|| (lane, start.wrapping_add(i64::from(step.inst.mem.offset) as u64)))
}

/// Loads `N` dwords of each active lane. `false` if nothing was done.
#[inline(always)]
pub(crate) fn load<const N: usize>(core: &mut Core<'_>, step: &Step, vectors: impl Vectors) -> bool {
    let (exec, memory) = (core.wave.exec(), core.memory);
    if memory.tracks_writes() {
        return false;
    }
    if let Some((lane, address)) = only_lane(core, step, exec) {
        let span = memory.span_through(core.windows, address, 4 * N as u64, MemoryUse::Read);
        let Some(span) = span else { return false };
        for (index, word) in (0..).zip(span.load_dwords::<N>(address)) {
            core.wave.row_mut(step.dst + index)[lane] = word;
        }
        return true;
    }
    let Some((base, offsets)) = base_and_offsets(core.wave, step, exec, vectors) else { return false };
    let Some(lanes) = LaneOffsets::<N>::new(offsets, exec, vectors) else { return false };
    let first = base.wrapping_add(lanes.least().into());
    let span = memory.span_through(core.windows, first, lanes.len(), MemoryUse::Read);
    let Some(span) = span else { return false };
    span.look_ahead(core.windows.distance(step.offset, first));
    let mut rows = [[0; LANES]; N];
    if !lanes.load(&span, &mut rows, vectors) {
        return false;
    }
    core.wave.write_rows(step.dst, &rows, exec);
    true
}

/// Loads a dword of each lane. All lanes are active, in so many groups of eight. `false` if nothing was done.
#[inline(always)]
pub(crate) fn load_whole<const GROUPS: usize>(
    core: &mut Core<'_>,
    step: &Step,
    vectors: impl Vectors,
) -> bool {
    let memory = core.memory;
    if memory.tracks_writes() {
        return false;
    }
    let exec = const { if 8 * GROUPS == 32 { LaneMask::WAVE32 } else { LaneMask::WAVE64 } };
    let Some((base, offsets)) = base_and_offsets(core.wave, step, exec, vectors) else { return false };
    let Some(lanes) = GroupOffsets::<GROUPS>::new(offsets, vectors) else { return false };
    let first = base.wrapping_add(lanes.least().into());
    let span = memory.span_through(core.windows, first, lanes.len(), MemoryUse::Read);
    let Some(span) = span else { return false };
    span.look_ahead(core.windows.distance(step.offset, first));
    lanes.load(&span, core.wave.row_mut(step.dst), vectors)
}

/// Stores a dword of each lane from the register `data`. All lanes are active, in so many groups of eight. `false` if nothing
/// was done.
#[inline(always)]
pub(crate) fn store_whole<const GROUPS: usize>(
    core: &mut Core<'_>,
    step: &Step,
    data: u16,
    vectors: impl Vectors,
) -> bool {
    let memory = core.memory;
    if memory.tracks_writes() {
        return false;
    }
    let exec = const { if 8 * GROUPS == 32 { LaneMask::WAVE32 } else { LaneMask::WAVE64 } };
    let Some((base, offsets)) = base_and_offsets(core.wave, step, exec, vectors) else { return false };
    let Some(lanes) = GroupOffsets::<GROUPS>::new(offsets, vectors) else { return false };
    let first = base.wrapping_add(lanes.least().into());
    let span = memory.span_through(core.windows, first, lanes.len(), MemoryUse::Write);
    span.is_some_and(|span| lanes.store(&span, core.wave.row(data), vectors))
}

/// Stores `N` dwords of each active lane, from the registers from `data` on. `false` if nothing was done.
#[inline(always)]
pub(crate) fn store<const N: usize>(
    core: &mut Core<'_>,
    step: &Step,
    data: u16,
    vectors: impl Vectors,
) -> bool {
    let (exec, memory) = (core.wave.exec(), core.memory);
    if memory.tracks_writes() {
        return false;
    }
    if let Some((lane, address)) = only_lane(core, step, exec) {
        let span = memory.span_through(core.windows, address, 4 * N as u64, MemoryUse::Write);
        let Some(span) = span else { return false };
        let mut dwords = [0; N];
        for (index, word) in (0..).zip(&mut dwords) {
            *word = core.wave.row(data + index)[lane];
        }
        span.store_dwords(address, dwords);
        return true;
    }
    let Some((base, offsets)) = base_and_offsets(core.wave, step, exec, vectors) else { return false };
    let Some(lanes) = LaneOffsets::<N>::new(offsets, exec, vectors) else { return false };
    let first = base.wrapping_add(lanes.least().into());
    let Some(span) = memory.span_through(core.windows, first, lanes.len(), MemoryUse::Write) else {
        return false;
    };
    lanes.store(&span, core.wave.rows(data), vectors).is_some()
}
