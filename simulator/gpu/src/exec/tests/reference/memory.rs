// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loads, stores and read-modify-writes, byte by byte, in ascending order of lanes.

use super::buffers;
use super::integers::signed;
use super::real::{self, F16, F32, F64, Format, Round};
use super::rules::OperandKind;
use super::scalar_memory;
use super::text::{Line, What, integer};
use super::values::Register;
use super::{LANES, M0, Machine};
use std::cmp::Ordering;

const BF16: Format = Format { exponent: 8, mantissa: 7 };

/// The target of an access.
#[derive(Clone, Copy)]
pub(super) enum Space {
    Lds,
    Global,
    Scratch,
}

/// The memories of a machine.
#[derive(Clone, Default)]
pub(crate) struct Memories {
    pub(crate) lds: Vec<u8>,
    pub(crate) global: Vec<u8>,
    /// Address of the first global byte.
    pub(crate) base: u64,
    /// One memory for each lane.
    pub(crate) scratch: Vec<Vec<u8>>,
    /// High halves of the addresses of LDS, and of those of private memory, for FLAT instructions.
    pub(crate) apertures: [u64; 2],
}

impl Memories {
    /// The target of a flat access.
    fn aperture(&self, address: u64) -> (Space, u64) {
        let within = address & 0xffff_ffff;
        match address >> 32 {
            high if high == self.apertures[0] => (Space::Lds, within),
            high if high == self.apertures[1] => (Space::Scratch, within),
            _ => (Space::Global, address),
        }
    }

    fn place(&mut self, space: Space, lane: usize, address: u64, size: usize) -> Option<&mut [u8]> {
        let (bytes, start) = match space {
            Space::Lds => (&mut self.lds, address),
            Space::Global => (&mut self.global, address.checked_sub(self.base)?),
            Space::Scratch => (&mut self.scratch[lane], address),
        };
        let start = usize::try_from(start).ok()?;
        bytes.get_mut(start..start.checked_add(size)?)
    }

    /// Little-endian; zero outside.
    pub(super) fn load(&mut self, space: Space, lane: usize, address: u64, size: usize) -> u64 {
        let bytes = self.place(space, lane, address, size);
        bytes.map_or(0, |bytes| bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    pub(super) fn store(&mut self, space: Space, lane: usize, address: u64, size: usize, value: u64) {
        if let Some(bytes) = self.place(space, lane, address, size) {
            bytes.copy_from_slice(&value.to_le_bytes()[..size]);
        }
    }
}

pub(super) fn operands(line: &Line<'_>) -> Vec<(Register, OperandKind)> {
    line.operands
        .iter()
        .filter_map(|operand| Some((Register::from_operand(operand)?, OperandKind::B32)))
        .collect()
}

fn vector(line: &Line<'_>, index: usize) -> usize {
    match line.operands[index].what {
        What::Vector(number) => number,
        other => panic!("{other:?} in {line:?}"),
    }
}

pub(super) fn scalar(machine: &Machine, line: &Line<'_>, index: usize) -> u64 {
    match line.operands[index].what {
        What::Scalar(number) => machine.s[number].into(),
        What::Constant(text) => integer(text) as u64,
        _ => 0,
    }
}

/// Executes a memory instruction, if it is one.
pub(super) fn execute(machine: &mut Machine, line: &Line<'_>) -> Option<()> {
    if line.name == "ds_nop" {
        return Some(());
    }
    if line.name.starts_with("s_") {
        return scalar_memory::execute(machine, line);
    }
    if let Some(name) = line.name.strip_prefix("ds_") {
        if crossing(machine, line, name).is_some() {
            return Some(());
        }
        return lds(machine, line, name);
    }
    let (space, rest) = line.name.split_once('_')?;
    let (action, what) = rest.split_once('_')?;
    if let Some(what) = what.strip_prefix("format_") {
        return buffers::formatted(machine, line, what, action == "load");
    }
    if line.has("lds") || what.starts_with("lds_") {
        return lds_load(machine, line, space, what.trim_start_matches("lds_"));
    }
    match action {
        "load" => vector_access(machine, line, space, what, true),
        "store" => vector_access(machine, line, space, what, false),
        _ => vector_atomic(machine, line, space, what),
    }
}

/// Bytes in memory, whether the sign is repeated, and the half of the register if it is one.
fn part(name: &str) -> Option<(usize, bool, Option<u32>)> {
    let half = if name.ends_with("_d16_hi") {
        Some(1)
    } else if name.ends_with("_d16") {
        Some(0)
    } else {
        None
    };
    let (size, sign) = match name.split('_').next()? {
        "ubyte" | "byte" | "u8" | "b8" => (1, false),
        "sbyte" | "i8" => (1, true),
        "ushort" | "short" | "u16" | "b16" => (2, false),
        "sshort" | "i16" => (2, true),
        "dword" | "b32" => (4, false),
        "dwordx2" | "b64" => (8, false),
        "dwordx3" | "b96" => (12, false),
        "dwordx4" | "b128" => (16, false),
        _ => return None,
    };
    Some((size, sign, half))
}

/// Moves one lane's data. Only `available` bytes exist; a load gives zero for the others.
fn transfer(
    machine: &mut Machine,
    (space, lane, address): (Space, usize, u64),
    register: usize,
    name: &str,
    load: bool,
    available: usize,
) -> Option<()> {
    let (size, sign, half) = part(name)?;
    for (at, start) in (0..size).step_by(4).enumerate() {
        let bytes = (size - start).min(4);
        let exists = start + bytes <= available;
        let place = address.wrapping_add(start as u64);
        if !load {
            let old = machine.v[register + at][lane];
            let value = if half == Some(1) { old >> 16 } else { old };
            if exists {
                machine.memory.store(space, lane, place, bytes, value.into());
            }
            continue;
        }
        let mut value = if exists { machine.memory.load(space, lane, place, bytes) as u32 } else { 0 };
        if sign {
            value = signed(value.into(), 8 * bytes as u32) as u32;
        }
        // With SRAM ECC a half that is loaded comes with zeros in the other half.
        let old = if machine.part == "gfx900" { machine.v[register + at][lane] } else { 0 };
        machine.v[register + at][lane] = match half {
            Some(0) => value & 0xffff | old & 0xffff_0000,
            Some(_) => value << 16 | old & 0xffff,
            None => value,
        };
    }
    Some(())
}

pub(super) fn active(machine: &Machine) -> Vec<usize> {
    (0..LANES).filter(|lane| machine.exec() >> lane & 1 != 0).collect()
}

fn lds(machine: &mut Machine, line: &Line<'_>, name: &str) -> Option<()> {
    let (action, what) = name.split_once('_')?;
    let far = action.ends_with("st64");
    let two = action.contains('2');
    let offset = line.number("offset") as u32;
    if matches!(action, "read" | "write") {
        let load = action == "read";
        let (address, data) =
            if load { (vector(line, 1), vector(line, 0)) } else { (vector(line, 0), vector(line, 1)) };
        for lane in active(machine) {
            let at = machine.v[address][lane].wrapping_add(offset);
            transfer(machine, (Space::Lds, lane, at.into()), data, what, load, 16)?;
        }
        return Some(());
    }
    let wide = what.ends_with("64");
    let size = if wide { 8 } else { 4 };
    if two {
        let unit = size as u32 * if far { 64 } else { 1 };
        let offsets = [line.number("offset0") as u32 * unit, line.number("offset1") as u32 * unit];
        let load = action.starts_with("read");
        if action.starts_with("write") {
            // All lanes' first words go before the second ones.
            for (half, offset) in offsets.into_iter().enumerate() {
                for lane in active(machine) {
                    let address = u64::from(machine.v[vector(line, 0)][lane].wrapping_add(offset));
                    let value = word(machine, vector(line, 1 + half), lane, wide);
                    machine.memory.store(Space::Lds, lane, address, size, value);
                }
            }
            return Some(());
        }
        for lane in active(machine) {
            let base = machine.v[vector(line, 1)][lane];
            let mut old = [0; 2];
            for (half, offset) in offsets.into_iter().enumerate() {
                let address = u64::from(base.wrapping_add(offset));
                old[half] = machine.memory.load(Space::Lds, lane, address, size);
                if !load {
                    let data = vector(line, 2 + half);
                    let value = word(machine, data, lane, wide);
                    machine.memory.store(Space::Lds, lane, address, size, value);
                }
            }
            let dst = vector(line, 0);
            for (half, value) in old.into_iter().enumerate() {
                set_word(machine, dst + half * size / 4, lane, wide, value);
            }
        }
        return Some(());
    }
    // pk_add_rtn_bf16, min_f32, cmpst_rtn_b64
    let returns = name.contains("_rtn");
    let name = name.replace("_rtn", "");
    let first = usize::from(returns);
    let takes_two = ["cmpst", "mskor", "wrap"].iter().any(|start| name.starts_with(start));
    for lane in active(machine) {
        let address = u64::from(machine.v[vector(line, first)][lane].wrapping_add(offset));
        let a = word(machine, vector(line, first + 1), lane, wide);
        let b = if takes_two { word(machine, vector(line, first + 2), lane, wide) } else { 0 };
        let old = machine.memory.load(Space::Lds, lane, address, size);
        let new = updated(&name, old, a, b, wide)?;
        machine.memory.store(Space::Lds, lane, address, size, new);
        if returns {
            set_word(machine, vector(line, 0), lane, wide, old);
        }
    }
    Some(())
}

fn word(machine: &Machine, register: usize, lane: usize, wide: bool) -> u64 {
    let high = if wide { machine.v[register + 1][lane] } else { 0 };
    u64::from(machine.v[register][lane]) | u64::from(high) << 32
}

fn set_word(machine: &mut Machine, register: usize, lane: usize, wide: bool, value: u64) {
    machine.v[register][lane] = value as u32;
    if wide {
        machine.v[register + 1][lane] = (value >> 32) as u32;
    }
}

/// The new value of a read-modify-write, by its name in LDS or in memory.
pub(super) fn updated(name: &str, old: u64, a: u64, b: u64, wide: bool) -> Option<u64> {
    let bits = if wide { 64 } else { 32 };
    let mask = u64::MAX >> (64 - bits);
    let name = name.strip_suffix("_x2").unwrap_or(name);
    let name = name
        .trim_end_matches("_u32")
        .trim_end_matches("_u64")
        .trim_end_matches("_b32")
        .trim_end_matches("_b64");
    let less = |x: u64, y: u64| signed(x, bits) < signed(y, bits);
    let float = if wide { F64 } else { F32 };
    let halves = |format: Format| {
        (0..2).fold(0, |out, half| {
            let part = |value: u64| value >> (16 * half) & 0xffff;
            out | sum(format, part(old), part(a)) << (16 * half)
        })
    };
    let value = match name {
        "swap" | "wrxchg" => a,
        "cmpswap" => {
            if old == b {
                a
            } else {
                old
            }
        }
        "cmpst" => {
            if old == a {
                b
            } else {
                old
            }
        }
        "cmpst_f32" | "cmpst_f64" => {
            if real::order(float, old, a) == Some(Ordering::Equal) {
                b
            } else {
                old
            }
        }
        "add" => old.wrapping_add(a),
        "sub" => old.wrapping_sub(a),
        "rsub" => a.wrapping_sub(old),
        "smin" | "min_i32" | "min_i64" => {
            if less(a, old) {
                a
            } else {
                old
            }
        }
        "smax" | "max_i32" | "max_i64" => {
            if less(old, a) {
                a
            } else {
                old
            }
        }
        "umin" | "min" => old.min(a),
        "umax" | "max" => old.max(a),
        "and" => old & a,
        "or" => old | a,
        "xor" => old ^ a,
        "inc" => {
            if old >= a {
                0
            } else {
                old + 1
            }
        }
        "dec" => {
            if old == 0 || old > a {
                a
            } else {
                old - 1
            }
        }
        "wrap" => {
            if old >= a {
                old - a
            } else {
                old.wrapping_add(b)
            }
        }
        "mskor" => old & !a | b,
        "add_f32" | "add_f64" => sum(float, old, a),
        "min_f32" | "min_f64" => extreme(float, old, a, Ordering::Less),
        "max_f32" | "max_f64" => extreme(float, old, a, Ordering::Greater),
        "pk_add_f16" => halves(F16),
        "pk_add_bf16" => halves(BF16),
        _ => return None,
    };
    Some(value & mask)
}

/// A sum. If both are NaNs, memory's counts, made quiet.
fn sum(format: Format, old: u64, a: u64) -> u64 {
    match [old, a].into_iter().find(|&value| format.is_nan(value)) {
        Some(nan) => nan | format.quiet(),
        None => real::add(format, Round::Nearest, old, a),
    }
}

/// The minimum or maximum by IEEE's rules of 2008: a number wins over a quiet NaN, and a signalling NaN over
/// all.
fn extreme(format: Format, old: u64, a: u64, wanted: Ordering) -> u64 {
    if let Some(nan) = [old, a].into_iter().find(|&value| format.is_signalling(value)) {
        return nan | format.quiet();
    }
    match real::order(format, a, old) {
        _ if format.is_nan(old) => a,
        Some(order) if order == wanted => a,
        // -0 is less than +0.
        Some(Ordering::Equal) if format.is_negative(a) == (wanted == Ordering::Less) => a,
        _ => old,
    }
}

/// LDS instructions that move data between lanes or compute addresses of their own.
fn crossing(machine: &mut Machine, line: &Line<'_>, name: &str) -> Option<()> {
    let lanes = active(machine);
    let offset =
        line.modifier("offset").filter(|text| !text.starts_with("swizzle")).map_or(0, integer) as u32;
    let m0 = machine.s[M0] & 0xffff;
    let mut results = vec![None; LANES];
    match name {
        "permute_b32" => {
            let mut sent = [0; LANES];
            for &lane in &lanes {
                let to = machine.v[vector(line, 1)][lane].wrapping_add(offset) / 4 % 64;
                sent[to as usize] = machine.v[vector(line, 2)][lane];
            }
            lanes.iter().for_each(|&lane| results[lane] = Some(sent[lane]));
        }
        "bpermute_b32" => {
            for &lane in &lanes {
                let from = (machine.v[vector(line, 1)][lane].wrapping_add(offset) / 4 % 64) as usize;
                results[lane] =
                    Some(if lanes.contains(&from) { machine.v[vector(line, 2)][from] } else { 0 });
            }
        }
        "swizzle_b32" => {
            for &lane in &lanes {
                let from = swizzled(line.modifier("offset")?, lane);
                results[lane] =
                    Some(if lanes.contains(&from) { machine.v[vector(line, 1)][from] } else { 0 });
            }
        }
        "append" | "consume" => {
            let address = u64::from(m0 + offset);
            let old = machine.memory.load(Space::Lds, 0, address, 4) as u32;
            let count = lanes.len() as u32;
            let new = if name == "append" { old.wrapping_add(count) } else { old.wrapping_sub(count) };
            machine.memory.store(Space::Lds, 0, address, 4, new.into());
            lanes.iter().for_each(|&lane| results[lane] = Some(old));
        }
        "read_addtid_b32" => {
            for &lane in &lanes {
                let address = u64::from(m0 + offset) + 4 * lane as u64;
                results[lane] = Some(machine.memory.load(Space::Lds, lane, address, 4) as u32);
            }
        }
        "write_addtid_b32" => {
            for &lane in &lanes {
                let address = u64::from(m0 + offset) + 4 * lane as u64;
                let value = machine.v[vector(line, 0)][lane].into();
                machine.memory.store(Space::Lds, lane, address, 4, value);
            }
            return Some(());
        }
        _ => return None,
    }
    for lane in lanes {
        if let Some(value) = results[lane] {
            machine.v[vector(line, 0)][lane] = value;
        }
    }
    Some(())
}

/// The source lane of a swizzle, from LLVM's text of its pattern.
fn swizzled(pattern: &str, lane: usize) -> usize {
    let (group, at) = (lane & 32, lane & 31);
    let inner = pattern.trim_start_matches("swizzle(").trim_end_matches(')');
    let mut parts = inner.split(',');
    let name = parts.next().unwrap_or("");
    let numbers: Vec<usize> = parts.map(|part| integer(part) as usize).collect();
    match name {
        "SWAP" => group | at ^ numbers[0],
        "REVERSE" => group | (at / numbers[0] * numbers[0] + numbers[0] - 1 - at % numbers[0]),
        "BROADCAST" => group | (at / numbers[0] * numbers[0] + numbers[1]),
        "QUAD_PERM" => lane & !3 | numbers[lane & 3],
        // A rotation: the low bits of the mask stay, the count is above it, then the direction.
        _ => {
            let bits = integer(name) as usize;
            let (mask, count, down) = (bits & 31, bits >> 5 & 31, bits >> 10 & 1 != 0);
            let moved = if down { at + 32 - count } else { at + count } & 31;
            group | at & mask | moved & !mask
        }
    }
}

/// Operands of an instruction of vector memory: data, then the address.
pub(super) struct Target {
    pub(super) space: Space,
    /// Operand numbers: address, scalar base or offset.
    address: usize,
    data: usize,
}

impl Target {
    fn parse(line: &Line<'_>, space: &str, load: bool, atomic: bool) -> Self {
        let returns = atomic && line.has("sc0") && space != "buffer";
        let (address, data) = match (space, load || returns) {
            ("buffer", _) => (1, 0),
            (_, _) if returns => (1, 2),
            (_, true) => (1, 0),
            (_, false) => (0, 1),
        };
        let space = if space == "scratch" { Space::Scratch } else { Space::Global };
        Self { space, address, data }
    }
}

/// A lane's address, and the number of the `size` bytes that the lane may access.
pub(super) fn located(
    machine: &Machine,
    line: &Line<'_>,
    space: &str,
    target: &Target,
    (lane, size): (usize, usize),
) -> (u64, usize) {
    if space == "buffer" {
        return buffers::located(machine, line, lane, size);
    }
    let offset = line.number("offset") as u64;
    let address = &line.operands[target.address];
    let low = match address.what {
        What::Vector(number) => machine.v[number][lane].into(),
        _ => 0u64,
    };
    let full = |number: usize| word(machine, number, lane, true);
    match space {
        "flat" => (full(vector(line, target.address)).wrapping_add(offset), 16),
        "global" => match (line.operands.last().map(|operand| operand.what), address.what) {
            (Some(What::Other("off")), What::Vector(number)) => (full(number).wrapping_add(offset), 16),
            (Some(What::Scalar(number)), _) => {
                (machine.pair(number).wrapping_add(low).wrapping_add(offset), 16)
            }
            other => panic!("{other:?} in {line:?}"),
        },
        "scratch" => {
            let scalar = match line.operands.last().map(|operand| operand.what) {
                Some(What::Scalar(number)) => machine.s[number].into(),
                _ => 0,
            };
            ((low.wrapping_add(scalar).wrapping_add(offset)) & 0xffff_ffff, 16)
        }
        _ => panic!("{line:?}"),
    }
}

/// Loads from memory into LDS: one dword for each lane.
fn lds_load(machine: &mut Machine, line: &Line<'_>, space: &str, what: &str) -> Option<()> {
    let (size, sign, _) = part(what)?;
    let target = Target { address: 0, ..Target::parse(line, space, true, false) };
    if size > 4 {
        return buffers::dwords_into_lds(machine, line, space, &target, size);
    }
    let mut values = [None; LANES];
    for lane in active(machine) {
        let (address, available) = located(machine, line, space, &target, (lane, size));
        let value = if available < size { 0 } else { machine.memory.load(target.space, lane, address, size) };
        values[lane] = Some(if sign { signed(value, 8 * size as u32) as u32 } else { value as u32 });
    }
    buffers::into_lds(machine, line, values);
    Some(())
}

fn vector_access(machine: &mut Machine, line: &Line<'_>, space: &str, what: &str, load: bool) -> Option<()> {
    let target = Target::parse(line, space, load, false);
    let data = vector(line, target.data);
    let size = part(what)?.0;
    if space == "buffer" && buffers::crosses(machine, line, size) {
        return None;
    }
    // All addresses are read before a register changes.
    let places: Vec<_> = active(machine)
        .into_iter()
        .map(|lane| (lane, located(machine, line, space, &target, (lane, size))))
        .collect();
    for (lane, (address, available)) in places {
        let (space, address) = match space {
            "flat" => machine.memory.aperture(address),
            _ => (target.space, address),
        };
        transfer(machine, (space, lane, address), data, what, load, available)?;
    }
    Some(())
}

fn vector_atomic(machine: &mut Machine, line: &Line<'_>, space: &str, what: &str) -> Option<()> {
    let returns = line.has("sc0");
    let target = Target::parse(line, space, false, true);
    let wide = what.ends_with("_x2") || what.ends_with("f64");
    let size = if wide { 8 } else { 4 };
    let data = vector(line, target.data);
    let mut results = Vec::new();
    for lane in active(machine) {
        let (address, available) = located(machine, line, space, &target, (lane, size));
        let a = word(machine, data, lane, wide);
        let b = if what.starts_with("cmpswap") { word(machine, data + size / 4, lane, wide) } else { 0 };
        if available < size {
            results.push((lane, 0));
            continue;
        }
        let (space, address) = match space {
            "flat" => machine.memory.aperture(address),
            _ => (target.space, address),
        };
        let old = machine.memory.load(space, lane, address, size);
        let new = updated(what, old, a, b, wide)?;
        machine.memory.store(space, lane, address, size, new);
        results.push((lane, old));
    }
    if returns {
        for (lane, old) in results {
            set_word(machine, vector(line, 0), lane, wide, old);
        }
    }
    Some(())
}
