// SPDX-License-Identifier: MIT OR Apache-2.0
//! Permutations of lanes: within rows of sixteen, between neighbouring rows, and between the halves of a wave.

use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::handler::Compilations;
use crate::exec::machine::step::{Source, Step};
use crate::exec::operands::source::scalar32;
use crate::exec::values::row::{LANES, mask, row};
use crate::isa::Op;
use crate::lane_mask::LaneMask;

/// The handler of an instruction of this family.
pub(crate) fn compilations(op: Op) -> Option<Compilations> {
    Some(Compilations::scalar(match op {
        Op::v_permlane16_b32 => |core, step| in_rows(core, step, 0),
        Op::v_permlanex16_b32 => |core, step| in_rows(core, step, 16),
        Op::v_permlane16_var_b32 => |core, step| by_lanes(core, step, 0),
        Op::v_permlanex16_var_b32 => |core, step| by_lanes(core, step, 16),
        Op::v_permlane16_swap_b32 => |core, step| swapped(core, step, 16),
        Op::v_permlane32_swap_b32 => |core, step| swapped(core, step, 32),
        Op::v_permlane64_b32 => |core, step| {
            // A wave of 32 lanes has one half.
            if let Source::Vector(from) = step.src[0]
                && core.wave.size() == LANES
            {
                let values = *core.wave.row(from);
                let exec = core.wave.exec();
                core.wave.write_row(step.dst, &row!(|lane| values[lane ^ 32]), exec);
            }
            Flow::Next
        },
        _ => return None,
    }))
}

/// Each lane reads from its own row, or from the other of a pair of rows, the lane that its four bits of the second and third
/// source select.
fn in_rows(core: &mut Core<'_>, step: &Step, other_row: usize) -> Flow {
    let selects = [1, 2]
        .map(|index| u64::from(scalar32(core.wave, step.src[index])))
        .into_iter()
        .rfold(0, |all, word| all << 32 | word);
    permuted(core, step, other_row, |lane| (selects >> (4 * (lane & 15)) & 15) as usize)
}

/// The same by the four low bits that the second source has in the lane.
fn by_lanes(core: &mut Core<'_>, step: &Step, other_row: usize) -> Flow {
    let selects = match step.src[1] {
        Source::Vector(number) => *core.wave.row(number),
        source => [scalar32(core.wave, source); LANES],
    };
    permuted(core, step, other_row, |lane| (selects[lane] & 15) as usize)
}

/// Each lane reads from its own row, or from the other of a pair of rows, the lane that `select` gives it.
fn permuted(core: &mut Core<'_>, step: &Step, other_row: usize, select: impl Fn(usize) -> usize) -> Flow {
    let from = match step.src[0] {
        Source::Vector(number) => *core.wave.row(number),
        source => [scalar32(core.wave, source); LANES],
    };
    let exec = core.wave.exec();
    let mods = &step.inst.mods;
    let (fetches_inactive, bounded) = (mods.op_sel & 1 != 0, mods.op_sel & 2 != 0);
    let readable = if fetches_inactive { LaneMask::WAVE64 } else { exec };
    let source = |lane: usize| (lane ^ other_row) & !15 | select(lane);
    let result = row!(|lane| if readable.has(source(lane)) { from[source(lane)] } else { 0 });
    // Without an active source a lane keeps its value, or gets zero if the instruction is bounded.
    let sourced = mask!(|lane| readable.has(source(lane)));
    core.wave.write_row(step.dst, &result, if bounded { exec } else { exec & sourced });
    Flow::Next
}

/// Exchanges the second one of each two groups of `size` lanes of the destination with the first one of the source. A lane whose
/// partner is inactive keeps its value, or gets zero if the instruction is bounded, unless inactive lanes are sources.
fn swapped(core: &mut Core<'_>, step: &Step, size: usize) -> Flow {
    let Source::Vector(other) = step.src[0] else { return Flow::Next };
    let (high, low) = (*core.wave.row(step.dst), *core.wave.row(other));
    let exec = core.wave.exec();
    let mods = &step.inst.mods;
    let (fetches_inactive, bounded) = (mods.op_sel & 1 != 0, mods.op_sel & 2 != 0);
    let readable = if fetches_inactive { LaneMask::WAVE64 } else { exec };
    let value = |from: &[u32; LANES], lane: usize| if readable.has(lane) { from[lane] } else { 0 };
    let writable = |wanted: bool, lane: usize| {
        let partner = lane ^ size;
        (lane & size != 0) == wanted && (bounded || readable.has(partner))
    };
    let written = |wanted: bool| mask!(|lane| writable(wanted, lane)) & exec;
    let to_high = row!(|lane| value(&low, lane ^ size));
    let to_low = row!(|lane| value(&high, lane ^ size));
    core.wave.write_row(step.dst, &to_high, written(true));
    core.wave.write_row(other, &to_low, written(false));
    Flow::Next
}
