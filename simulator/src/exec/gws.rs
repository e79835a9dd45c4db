// SPDX-License-Identifier: MIT OR Apache-2.0
//! The global wave sync: barriers of all waves of a dispatch, which the queue of the dispatch has.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::core::Core;
use super::lanes::scalar32;
use super::step::{Flow, Source, Step};
use crate::engine::Cause;
use crate::isa::Op;

/// Resources that an instruction can name.
const RESOURCES: usize = 64;

/// The barriers of a queue. What one dispatch sets, the next one finds.
#[derive(Debug)]
pub(crate) struct Gws {
    barriers: Mutex<[Barrier; RESOURCES]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Barrier {
    /// Waves that must come before the one that opens it.
    missing: u32,
    /// Turned each time that it opens.
    side: bool,
}

impl Default for Gws {
    fn default() -> Self {
        Self { barriers: Mutex::new([Barrier::default(); RESOURCES]) }
    }
}

impl Gws {
    fn lock(&self) -> MutexGuard<'_, [Barrier; RESOURCES]> {
        self.barriers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The handler of an instruction of this family.
pub(super) fn handler(op: Op) -> Option<fn(&mut Core<'_>, &Step) -> Flow> {
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
                // The last one opens it, and says how many the next time needs.
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

/// Calls a function with the barrier that an instruction names, the first active lane's value, and the side of the barrier
/// at which the wave waits.
fn with_barrier(
    core: &mut Core<'_>,
    step: &Step,
    then: impl FnOnce(&mut Barrier, u32, &mut Option<bool>) -> Flow,
) -> Flow {
    let Some(gws) = core.wave.gws.clone() else {
        let instructions = format!("{} on a queue that is not cooperative", step.inst.op.mnemonic());
        return core.stop(Cause::Unsupported { instructions });
    };
    let first = core.wave.exec().trailing_zeros() as usize;
    let value = match step.src[0] {
        Source::Vector(number) => core.wave.v[usize::from(number)].get(first).copied().unwrap_or(0),
        _ => 0,
    };
    let base = scalar32(core.wave, Source::Scalar(124)) >> 16;
    let resource = base.wrapping_add(step.inst.mem.offset as u32) as usize % RESOURCES;
    let mut barriers = gws.lock();
    then(&mut barriers[resource], value, &mut core.wave.waits)
}
