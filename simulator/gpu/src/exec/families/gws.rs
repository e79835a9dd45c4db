// SPDX-License-Identifier: MIT OR Apache-2.0
//! GWS instructions: barriers of all waves of a dispatch.

use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::gws::Barrier;
use crate::exec::machine::step::{Source, Step};
use crate::exec::machine::trouble::Cause;
use crate::exec::operands::source::scalar32;
use crate::isa::Op;

/// The handler of an instruction of this family.
pub(crate) fn handler(op: Op) -> Option<fn(&mut Core<'_>, &Step) -> Flow> {
    match op {
        Op::ds_gws_init => Some(|core, step| {
            with_barrier(core, step, |barrier, value, _| {
                *barrier = Barrier { missing: value, side: false };
                Flow::Next
            })
        }),
        Op::ds_gws_barrier => Some(|core, step| {
            with_barrier(core, step, |barrier, value, waits| match waits.take() {
                Some(side) if side == barrier.side => {
                    *waits = Some(side);
                    Flow::Again
                }
                Some(_) => Flow::Next,
                // The last wave opens the barrier, and sets the number of waves for the next time.
                None if barrier.missing == 0 => {
                    *barrier = Barrier { missing: value, side: !barrier.side };
                    Flow::Next
                }
                None => {
                    barrier.missing -= 1;
                    *waits = Some(barrier.side);
                    Flow::Again
                }
            })
        }),
        _ => None,
    }
}

/// Calls a function with the barrier that an instruction names, the value of the first active lane, and the side of the
/// barrier at which the wave waits.
fn with_barrier(
    core: &mut Core<'_>,
    step: &Step,
    then: impl FnOnce(&mut Barrier, u32, &mut Option<bool>) -> Flow,
) -> Flow {
    let Some(gws) = core.wave.gws.clone() else {
        let instructions = format!("{} on a queue that is not cooperative", step.inst.op.mnemonic());
        return core.stop(Cause::Unsupported { instructions });
    };
    let first = core.wave.exec().lanes().next();
    let value = match step.src[0] {
        Source::Vector(number) => first.map_or(0, |lane| core.wave.v[usize::from(number)][lane]),
        _ => 0,
    };
    let base = scalar32(core.wave, Source::Scalar(124)) >> 16;
    let number = base.wrapping_add(step.inst.mem.offset as u32) as usize;
    gws.with(number, |barrier| then(barrier, value, &mut core.wave.waits))
}
