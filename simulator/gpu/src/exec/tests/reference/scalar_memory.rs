// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scalar memory: accesses of the whole wave.

use super::Machine;
use super::memory::{Space, scalar, updated};
use super::text::{Line, What};

/// Executes an instruction of scalar memory, if it is one.
pub(super) fn execute(machine: &mut Machine, line: &Line<'_>) -> Option<()> {
    if line.name.starts_with("s_atc_") || line.name.starts_with("s_dcache_") {
        return Some(());
    }
    if let Some((_, what)) = line.name.split_once("atomic_") {
        return scalar_atomic(machine, line, what);
    }
    let count: usize = match line.name.rsplit_once("dword")?.1 {
        "" => 1,
        count => count.strip_prefix('x')?.parse().ok()?,
    };
    let (What::Scalar(data), What::Scalar(base)) = (line.operands[0].what, line.operands[1].what) else {
        return None;
    };
    let buffer = line.name.contains("_buffer_");
    let immediate = line.number("offset") as u64;
    let offset = scalar(machine, line, 2).wrapping_add(immediate) & !3;
    let start = machine.pair(base) & if buffer { 0xffff_ffff_ffff } else { !3 };
    let words: Vec<u32> = (0..count).map(|at| machine.s[data + at]).collect();
    for (at, word) in words.into_iter().enumerate() {
        let within = offset.wrapping_add(4 * at as u64);
        let address = start.wrapping_add(within);
        let outside = buffer && within + 4 > u64::from(machine.s[base + 2]);
        if line.name.contains("_store_") {
            if outside {
                continue;
            }
            machine.memory.store(Space::Global, 0, address, 4, word.into());
        } else if outside {
            machine.s[data + at] = 0;
        } else {
            machine.s[data + at] = machine.memory.load(Space::Global, 0, address, 4) as u32;
        }
    }
    Some(())
}

/// A read-modify-write of the whole wave.
fn scalar_atomic(machine: &mut Machine, line: &Line<'_>, what: &str) -> Option<()> {
    let (What::Scalar(data), What::Scalar(base)) = (line.operands[0].what, line.operands[1].what) else {
        return None;
    };
    let buffer = line.name.contains("_buffer_");
    let wide = what.ends_with("_x2");
    let size = if wide { 8 } else { 4 };
    let word = |machine: &Machine, at: usize| {
        if wide { machine.pair(data + 2 * at) } else { machine.s[data + at].into() }
    };
    let (a, b) = (word(machine, 0), if what.starts_with("cmpswap") { word(machine, 1) } else { 0 });
    let offset = scalar(machine, line, 2).wrapping_add(line.number("offset") as u64) & !3;
    let mut old = 0;
    if !buffer || offset + size as u64 <= machine.s[base + 2].into() {
        let start = machine.pair(base) & if buffer { 0xffff_ffff_ffff } else { !3 };
        let address = start.wrapping_add(offset);
        old = machine.memory.load(Space::Global, 0, address, size);
        let new = updated(what, old, a, b, wide)?;
        machine.memory.store(Space::Global, 0, address, size, new);
    }
    if line.has("glc") {
        machine.s[data] = old as u32;
        if wide {
            machine.s[data + 1] = (old >> 32) as u32;
        }
    }
    Some(())
}
