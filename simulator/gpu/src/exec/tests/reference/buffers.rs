// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buffers: the address of a lane's record and byte, the bounds of the buffer, and elements in a format.

use super::formats::Element;
use super::memory::{Space, Target, active, located as place_of};
use super::text::{Line, What, integer};
use super::{LANES, M0, Machine};

/// The operands of a buffer instruction, from its text.
struct Operands {
    /// Data in vector registers; `None` if it goes to LDS.
    data: Option<usize>,
    address: Option<usize>,
    resource: usize,
    scalar: u64,
}

fn parse(machine: &Machine, line: &Line<'_>) -> Operands {
    let at = usize::from(!line.has("lds"));
    let vector = |index: usize| match line.operands[index].what {
        What::Vector(number) => Some(number),
        _ => None,
    };
    let resource = match line.operands[at + 1].what {
        What::Scalar(number) => number,
        other => panic!("{other:?} in {line:?}"),
    };
    let scalar = match line.operands[at + 2].what {
        What::Scalar(number) => machine.s[number].into(),
        What::Constant(text) => integer(text) as u64,
        other => panic!("{other:?} in {line:?}"),
    };
    Operands { data: vector(0).filter(|_| at == 1), address: vector(at), resource, scalar }
}

/// Whether a lane's access crosses parts that a swizzled buffer keeps apart.
pub(super) fn crosses(machine: &Machine, line: &Line<'_>, size: usize) -> bool {
    let Operands { resource, .. } = parse(machine, line);
    machine.s[resource + 1] >> 31 == 1 && size > 4
}

/// A lane's address, and the number of the `size` bytes there that exist.
pub(super) fn located(machine: &Machine, line: &Line<'_>, lane: usize, size: usize) -> (u64, usize) {
    let Operands { address, resource, scalar, .. } = parse(machine, line);
    let words = &machine.s[resource..resource + 4];
    let register = |number: usize| address.map_or(0, |first| machine.v[first + number][lane]);
    let has_index = line.has("idxen");
    let with_lanes = words[3] >> 23 & 1 == 1;
    let mut stride = u64::from(words[1] >> 16 & 0x3fff);
    if with_lanes {
        stride += u64::from(words[3] >> 15 & 15) << 14;
    }
    let mut index = if has_index { u64::from(register(0)) } else { 0 };
    if with_lanes {
        index += lane as u64;
    }
    let mut offset = line.number("offset") as u32;
    if line.has("offen") {
        offset = offset.wrapping_add(register(usize::from(has_index)));
    }
    let offset = u64::from(offset);
    let swizzled = words[1] >> 31 == 1;
    let byte = if swizzled {
        // Groups of records; in each the records' first dwords, then their second ones.
        let together = 8u64 << (words[3] >> 21 & 3);
        let (group, member) = (index / together, index % together);
        group * together * stride + offset / 4 * 4 * together + member * 4 + offset % 4
    } else {
        index * stride + offset
    };
    let base = u64::from(words[0]) | u64::from(words[1] & 0xffff) << 32;
    let records = u64::from(words[2]);
    let available = if has_index && stride > 0 {
        let inside = index < records && (!swizzled || offset + size as u64 <= stride);
        if inside { size } else { 0 }
    } else {
        records.saturating_sub(offset + scalar).min(size as u64) as usize
    };
    (base + scalar + byte, available)
}

/// Executes a format instruction, if it is one; `None` also if the format has no meaning for it.
pub(super) fn formatted(machine: &mut Machine, line: &Line<'_>, what: &str, load: bool) -> Option<()> {
    let (half, high, letters) = match (what.strip_prefix("d16_hi_"), what.strip_prefix("d16_")) {
        (Some(letters), _) => (true, true, letters),
        (_, Some(letters)) => (true, false, letters),
        _ => (false, false, what),
    };
    let Operands { data, resource, .. } = parse(machine, line);
    let described = machine.s[resource + 3];
    let typed = line.name.starts_with('t');
    let element = if typed {
        Element::written(line.modifier("format").unwrap_or(""))?
    } else {
        Element::described(described)?
    };
    // The sources of shader components: 0, 1, or 4 and up for components in memory.
    let selects: Vec<usize> = (0..4)
        .map(|at| match typed {
            false => (described >> (3 * at) & 7) as usize,
            true if at < element.widths.len() => 4 + at,
            true => 0,
        })
        .collect();
    if selects.iter().any(|select| [2, 3].contains(select)) {
        return None;
    }
    let firsts: Vec<u32> =
        element.widths.iter().scan(0, |end, width| Some(std::mem::replace(end, *end + width))).collect();
    // The register of a component, counted from the first, and its first bit.
    let place = |at: usize| match (half, high) {
        (true, true) => (0, 16),
        (true, false) => (at / 2, at % 2 * 16),
        _ => (at, 0),
    };
    let size = element.bytes();
    if crosses(machine, line, size) {
        return None;
    }
    let places: Vec<_> =
        active(machine).into_iter().map(|lane| (lane, located(machine, line, lane, size))).collect();
    // It is refused even without an active lane.
    if load {
        element.load(0, element.widths[0], half)?;
    } else {
        element.store(0, element.widths[0], half)?;
    }
    if load && selects[..letters.len()].iter().any(|&select| select >= 4 + element.widths.len()) {
        return None;
    }
    for (lane, (address, available)) in places {
        let exists = available >= size;
        let memory = |machine: &mut Machine, first: u32, width: u32| {
            let low = u64::from(first) / 8;
            let bits = machine.memory.load(
                Space::Global,
                lane,
                address + low,
                (width as usize / 8 + 2).min(size - low as usize),
            );
            bits >> (first % 8) & ((1 << width) - 1)
        };
        if load {
            for (at, select) in selects.iter().enumerate().take(letters.len()) {
                let value = match select {
                    0 => 0,
                    1 => element.one(half),
                    _ if !exists => 0,
                    select => {
                        let width = element.widths[select - 4];
                        let bits = memory(machine, firsts[select - 4], width);
                        element.load(bits, width, half)?
                    }
                };
                let Some(data) = data else {
                    let place =
                        u64::from(machine.s[M0] & 0xffff) + line.number("offset") as u64 + 4 * lane as u64;
                    machine.memory.store(Space::Lds, lane, place, 4, value);
                    continue;
                };
                let (register, shift) = place(at);
                let word = &mut machine.v[data + register][lane];
                // With SRAM ECC the first component of a register clears the rest of it.
                let kept = match (half, shift) {
                    (true, 0) if machine.part == "gfx900" => *word & 0xffff_0000,
                    (true, 16) if !high || machine.part == "gfx900" => *word & 0xffff,
                    _ => 0,
                };
                *word = kept | (value as u32) << shift;
            }
            continue;
        }
        let mut bytes = vec![0; size];
        for (component, width) in element.widths.iter().enumerate() {
            // The first component stands in for those that the instruction does not have.
            let from = selects.iter().position(|&select| select == 4 + component)?;
            let (register, shift) = place(if from < letters.len() { from } else { 0 });
            let word = u64::from(machine.v[data? + register][lane]);
            let value = if half { word >> shift & 0xffff } else { word };
            if !exists {
                continue;
            }
            let bits = element.store(value, *width, half)?;
            for bit in (0..*width).filter(|bit| bits >> bit & 1 == 1) {
                let at = firsts[component] + bit;
                bytes[at as usize / 8] |= 1u8 << (at % 8);
            }
        }
        for (at, byte) in (0..).zip(bytes).filter(|_| exists) {
            machine.memory.store(Space::Global, lane, address + at, 1, byte.into());
        }
    }
    Some(())
}

/// Loads into LDS: the lanes' dwords are consecutive.
pub(super) fn into_lds(machine: &mut Machine, line: &Line<'_>, values: [Option<u32>; LANES]) {
    let first = u64::from(machine.s[M0] & 0xffff).wrapping_add(line.number("offset") as u64);
    for (lane, value) in values.into_iter().enumerate() {
        if let Some(value) = value {
            machine.memory.store(Space::Lds, lane, first + 4 * lane as u64, 4, value.into());
        }
    }
}

/// A load of several dwords for each lane into LDS, lane behind lane. A byte that does not exist is zero.
pub(super) fn dwords_into_lds(
    machine: &mut Machine,
    line: &Line<'_>,
    space: &str,
    target: &Target,
    size: usize,
) -> Option<()> {
    let first = u64::from(machine.s[M0] & 0x3_ffff) + line.number("offset") as u64;
    for lane in active(machine) {
        let (address, available) = place_of(machine, line, space, target, (lane, size));
        for at in 0..size as u64 {
            let exists = (at as usize) < available;
            let byte = if exists { machine.memory.load(target.space, lane, address + at, 1) } else { 0 };
            machine.memory.store(Space::Lds, lane, first + (lane * size) as u64 + at, 1, byte);
        }
    }
    Some(())
}
