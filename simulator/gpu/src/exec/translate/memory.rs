// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loads and stores of a dword of all lanes, and scalar loads, which blocks call in place of the handler.

use super::call::{Callee, handler};
use crate::exec::families::{load_scalars, two_offsets};
use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::shape::Width;
use crate::exec::machine::step::{Source, Step};
use crate::exec::operands::together;
use crate::isa::{Encoding, Op};
use crate::memory::groups::GroupOffsets;
use crate::memory::lanes::Avx2;

/// The function that executes a load or a store of a wave, if it has one besides its handler.
pub(super) fn callee(step: &Step, wave_size: u32) -> Option<Callee> {
    match step.inst.op {
        Op::s_load_dword => return Some(scalar::<1>),
        Op::s_load_dwordx2 => return Some(scalar::<2>),
        Op::s_load_dwordx3 => return Some(scalar::<3>),
        Op::s_load_dwordx4 => return Some(scalar::<4>),
        Op::s_load_dwordx8 => return Some(scalar::<8>),
        Op::s_load_dwordx16 => return Some(scalar::<16>),
        _ => {}
    }
    if wave_size == 32 { of_groups::<4>(step) } else { of_groups::<8>(step) }
}

/// The function for waves of so many groups of eight lanes.
fn of_groups<const GROUPS: usize>(step: &Step) -> Option<Callee> {
    if !matches!(step.src[0], Source::Vector(_)) || step.inst.mem.lds || step.inst.mem.gds {
        return None;
    }
    match (step.inst.encoding, step.inst.op) {
        (Encoding::Global, Op::global_load_dword) => Some(global::<GROUPS>),
        (Encoding::Global, Op::global_store_dword) => Some(global_store::<GROUPS>),
        (Encoding::Ds, Op::ds_read_b32) => Some(read::<GROUPS>),
        (Encoding::Ds, Op::ds_read2_b32) => Some(read_two::<GROUPS>),
        (Encoding::Ds, Op::ds_write_b32) => Some(write::<GROUPS>),
        (Encoding::Ds, Op::ds_write2_b32) => Some(write_two::<GROUPS>),
        _ => None,
    }
}

/// `s_load_dword` and its kind.
///
/// # Safety
/// As for [`handler`].
unsafe extern "sysv64" fn scalar<const N: usize>(core: &mut Core<'_>, step: &Step) -> u32 {
    if load_scalars::<N>(core, step) {
        return Flow::Next as u32;
    }
    // SAFETY: by contract.
    unsafe { handler(core, step) }
}

/// `global_load_dword`.
///
/// # Safety
/// The processor has AVX2 and the other features, and all lanes are active, in so many groups.
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
unsafe extern "sysv64" fn global<const GROUPS: usize>(core: &mut Core<'_>, step: &Step) -> u32 {
    // SAFETY: by contract.
    if together::load_whole::<GROUPS>(core, step, unsafe { Avx2::new() }) {
        return Flow::Next as u32;
    }
    // SAFETY: by contract.
    unsafe { handler(core, step) }
}

/// `global_store_dword`.
///
/// # Safety
/// As for [`global`].
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
unsafe extern "sysv64" fn global_store<const GROUPS: usize>(core: &mut Core<'_>, step: &Step) -> u32 {
    if let Source::Vector(data) = step.src[1]
        // SAFETY: by contract.
        && together::store_whole::<GROUPS>(core, step, data, unsafe { Avx2::new() })
    {
        return Flow::Next as u32;
    }
    // SAFETY: by contract.
    unsafe { handler(core, step) }
}

/// `ds_read_b32`.
///
/// # Safety
/// As for [`global`].
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
unsafe extern "sysv64" fn read<const GROUPS: usize>(core: &mut Core<'_>, step: &Step) -> u32 {
    if from_lds::<GROUPS, _>(core, step, [step.inst.mem.offset as u32]) {
        return Flow::Next as u32;
    }
    // SAFETY: by contract.
    unsafe { handler(core, step) }
}

/// `ds_read2_b32`.
///
/// # Safety
/// As for [`global`].
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
unsafe extern "sysv64" fn read_two<const GROUPS: usize>(core: &mut Core<'_>, step: &Step) -> u32 {
    if from_lds::<GROUPS, _>(core, step, two_offsets(step, Width::Dwords(1))) {
        return Flow::Next as u32;
    }
    // SAFETY: by contract.
    unsafe { handler(core, step) }
}

/// Loads a dword at each distance into registers that follow each other. `false` if the handler is to execute the step.
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn from_lds<const GROUPS: usize, const N: usize>(
    core: &mut Core<'_>,
    step: &Step,
    distances: [u32; N],
) -> bool {
    // SAFETY: the caller has AVX2.
    let vectors = unsafe { Avx2::new() };
    let Source::Vector(number) = step.src[0] else { return false };
    let Some(lanes) = GroupOffsets::<GROUPS>::new(core.wave.row(number), vectors) else { return false };
    // The first load may overwrite the addresses, which the handler would need for the second.
    if !distances.iter().all(|distance| core.lds.holds_whole(&lanes, *distance)) {
        return false;
    }
    (0..).zip(distances).all(|(index, distance)| {
        core.lds.load_whole(&lanes, distance, core.wave.row_mut(step.dst + index), vectors)
    })
}

/// `ds_write_b32`.
///
/// # Safety
/// As for [`global`].
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
unsafe extern "sysv64" fn write<const GROUPS: usize>(core: &mut Core<'_>, step: &Step) -> u32 {
    if to_lds::<GROUPS, _>(core, step, [(step.src[1], step.inst.mem.offset as u32)]) {
        return Flow::Next as u32;
    }
    // SAFETY: by contract.
    unsafe { handler(core, step) }
}

/// `ds_write2_b32`.
///
/// # Safety
/// As for [`global`].
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
unsafe extern "sysv64" fn write_two<const GROUPS: usize>(core: &mut Core<'_>, step: &Step) -> u32 {
    let [first, second] = two_offsets(step, Width::Dwords(1));
    if to_lds::<GROUPS, _>(core, step, [(step.src[1], first), (step.src[2], second)]) {
        return Flow::Next as u32;
    }
    // SAFETY: by contract.
    unsafe { handler(core, step) }
}

/// Stores the dwords of registers, each at its distance. `false` if nothing was done.
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn to_lds<const GROUPS: usize, const N: usize>(
    core: &mut Core<'_>,
    step: &Step,
    data: [(Source, u32); N],
) -> bool {
    // SAFETY: the caller has AVX2.
    let vectors = unsafe { Avx2::new() };
    let Source::Vector(number) = step.src[0] else { return false };
    let Some(lanes) = GroupOffsets::<GROUPS>::new(core.wave.row(number), vectors) else { return false };
    let known = data.iter().all(|(source, distance)| {
        matches!(source, Source::Vector(_)) && core.lds.holds_whole(&lanes, *distance)
    });
    known
        && data.into_iter().all(|(source, distance)| {
            let Source::Vector(from) = source else { return false };
            core.lds.store_whole(&lanes, distance, core.wave.row(from), vectors)
        })
}
