// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buffers against the reference: formats of instructions and resources, records of every stride, swizzled or
//! not, with and without an index, at their ends and past them.

use super::reference::{Machine, Memories};
use super::semantics::{
    EXECS, GLOBAL, LDS, SCRATCH, Shared, compare_access, finite, random, rows, run, scratch_by_lane,
};
use crate::exec::families;
use crate::exec::machine::wave::Wave;
use crate::isa;
use crate::lane_mask::LaneMask;
use crate::memory::AllocationKind;

/// The last word of a resource for a format instruction: the format, and the selects of the components.
fn description(next: &mut impl FnMut() -> u64) -> u32 {
    let data = (next() % 15) as u32;
    let number = [7, 7, 4, 5, 0, 1, 2, 3, 6][next() as usize % 9];
    let components = [0, 1, 1, 2, 1, 2, 3, 3, 4, 4, 4, 2, 4, 3, 4][data as usize];
    let selects: [u32; 4] = match next() % 8 {
        // Zero and one for missing components.
        0..=3 => std::array::from_fn(|at| if at < components { 4 + at as u32 } else { (at == 3).into() }),
        // The first and the third change places.
        4 | 5 => [2, 1, 0, 3].map(|at| if at < components { 4 + at as u32 } else { 0 }),
        6 => [4, 4, 4, 1],
        _ => std::array::from_fn(|_| next() as u32 & 7),
    };
    let order = selects.iter().rev().fold(0, |word, select| word << 3 | select);
    data << 15 | number << 12 | order
}

fn state(seed: usize, text: &str, base: u64) -> (Wave, Memories) {
    let mut next = random(0x7654_3210_fedc_ba98 ^ (seed as u64) << 20);
    let mut wave = Wave::new();
    let formatted = text.contains("_format_");
    for number in 0..64 {
        wave.v[number].fill_with(|| {
            let bits = next();
            match bits % 4 {
                // Singles, some of them equal to halves, on either side of the limits of fixed point.
                0 if formatted => {
                    ((bits >> 8) as u32 % 0x900) << 16 | 0x3b00_0000 | (bits >> 40) as u32 & 0x8000_0000
                }
                1 if formatted => (bits >> 8) as u32 & 0x83ff,
                2 if formatted => (bits >> 8) as u32,
                _ => finite(&mut next),
            }
        });
    }
    // A store of singles as halves is refused if it would have to round.
    if text.contains("store_format_x") && next().is_multiple_of(2) {
        for number in 10..16 {
            wave.v[number]
                .fill_with(|| ((next() as u32 % 0x400) << 13 | 0x3f80_0000) ^ (next() as u32 & 1) << 31);
        }
    }
    wave.set_exec(LaneMask::of_bits(EXECS[seed % EXECS.len()]));
    wave.set_mode(0x3f0);
    wave.s[124] = 512;
    let start = base + 64;
    let stride = [0, 4, 8, 12, 16, 20, 64][next() as usize % 7];
    let swizzled = stride != 0 && next().is_multiple_of(2);
    let records = if text.contains("idxen") && stride != 0 { 40 + next() % 30 } else { 1500 + next() % 64 };
    wave.s[8] = start as u32;
    wave.s[9] = (start >> 32) as u32 & 0xffff | (stride as u32) << 16 | u32::from(swizzled) << 31;
    wave.s[10] = records as u32;
    let index_stride = (next() as u32 & 3) << 21;
    wave.s[11] = index_stride
        | match formatted {
            true => description(&mut next),
            false => 0x7000 | u32::from(next().is_multiple_of(4)) << 23,
        };
    wave.s[20] = 4 * (next() as u32 % 16);
    let wide = text.contains("atomic") && (text.contains("_x2") || text.contains("f64"));
    let unit = if wide { 8 } else { 4 };
    if wide {
        wave.s[9] &= !(7 << 16);
        wave.s[20] &= !7;
    }
    for lane in 0..64 {
        // An index, an offset, or both.
        let index = next() as u32 % 80;
        let offset = next() as u32 % if stride == 0 { 1600 } else { stride as u32 + 8 } / unit * unit;
        let (first, second) = if text.contains("idxen") { (index, offset) } else { (offset, 0) };
        wave.v[4][lane] = first;
        wave.v[5][lane] = second;
        if next().is_multiple_of(32) {
            wave.v[4][lane] = first | 0x8000_0000;
        }
    }
    if text.contains("atomic") {
        wave.s[9] &= 0x7fff_ffff;
    }
    wave.scratch_size = SCRATCH as u32;
    let mut bytes = |size: usize| (0..size / 4).flat_map(|_| finite(&mut next).to_le_bytes()).collect();
    let memories = Memories {
        lds: bytes(LDS),
        global: bytes(GLOBAL),
        base,
        scratch: scratch_by_lane(&wave),
        ..Memories::default()
    };
    (wave, memories)
}

#[test]
fn buffers_of_records_and_formats() {
    let (compared, refused) = check_buffers(&isa::GFX942, rows(include_str!("cases/buffer.txt")));
    assert!(compared > 2000 && refused > 1500, "{compared} compared, {refused} refused");
}

/// Runs a list of buffer instructions. Returns how many accesses were compared, and how many refused.
pub(super) fn check_buffers(
    set: &'static isa::InstructionSet,
    list: impl Iterator<Item = (Vec<u32>, &'static str)>,
) -> (usize, usize) {
    let mut shared = Shared::new();
    shared.lds.reset(LDS);
    let base = shared.memory.allocate(GLOBAL as u64, 256, AllocationKind::Device, "test").unwrap();
    let mut failures = Vec::new();
    let (mut compared, mut refused) = (0, 0);
    for (number, (words, text)) in list.enumerate() {
        let inst = set.decode(&words).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(inst.to_string(), text, "{words:08x?}");
        let rounds = if text.starts_with("tbuffer") { 3 } else { 12 };
        for round in 0..rounds {
            let (wave, memories) = state(number * 16 + round, text, base);
            let mut machine = Machine::copy_of(&wave, inst.set.name());
            machine.memory = memories.clone();
            if machine.execute(text).is_err() {
                // A format without a meaning is refused, at launch if the instruction holds it.
                refused += 1;
                let why = run(&mut wave.clone_for_test(), inst, true, &mut shared);
                let named = match (families::compilations(&inst), why) {
                    (Err(_), _) => true,
                    (Ok(_), Err(why)) => why.contains("Unsupported"),
                    _ => false,
                };
                if !named {
                    failures.push(format!("{text}: not refused, described {:#x}", wave.s[11]));
                }
            } else if let Err(why) = compare_access(inst, text, &wave, memories, &mut shared) {
                failures.push(format!("{why}; described {:x?}", &wave.s[8..12]));
            } else {
                compared += 1;
                continue;
            }
            if failures.len() > 60 {
                break;
            }
        }
    }
    let shown = &failures[..failures.len().min(60)];
    assert!(failures.is_empty(), "{} rows differ:\n{}", failures.len(), shown.join("\n"));
    (compared, refused)
}
