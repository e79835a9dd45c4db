// SPDX-License-Identifier: MIT OR Apache-2.0
//! The blocks of a region: counts arrivals, translates at hot steps, and enters.

use super::code::Code;
use super::{Left, block, call};
use crate::exec::machine::core::Core;
use crate::exec::machine::step::Step;
use crate::exec::values::wide::has_wide_vectors;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::sync::{Mutex, Once, PoisonError};

/// The number of arrivals at a step that has no translation.
const NEVER: u32 = u32::MAX;

/// The blocks of a region, by their first step.
pub(crate) struct Blocks {
    /// Lanes of the waves that run the region.
    wave_size: u32,
    slots: Box<[Slot]>,
    /// The code that the slots point to.
    code: Mutex<Vec<Code>>,
}

#[derive(Default)]
struct Slot {
    arrivals: AtomicU32,
    /// The block that begins here; null if there is none.
    entry: AtomicPtr<u8>,
}

impl Blocks {
    /// For a region of this many steps, which waves of a size run.
    pub(crate) fn new(steps: usize, wave_size: u32) -> Self {
        let count =
            if has_wide_vectors() && steps * size_of::<Step>() <= i32::MAX as usize { steps } else { 0 };
        let slots = (0..count).map(|_| Slot::default()).collect();
        Self { wave_size, slots, code: Mutex::default() }
    }

    /// Runs the block at a step, once the interpreter has arrived there more than `cold` times. `None` if nothing was
    /// run.
    #[inline]
    pub(crate) fn enter(
        &self,
        core: &mut Core<'_>,
        steps: &[Step],
        index: usize,
        abreast: bool,
        cold: u32,
    ) -> Option<Left> {
        let slot = self.slots.get(index)?;
        let mut entry = slot.entry.load(Ordering::Acquire);
        if entry.is_null() {
            let arrivals = slot.arrivals.load(Ordering::Relaxed);
            if arrivals == NEVER {
                return None;
            }
            if arrivals < cold {
                slot.arrivals.store(arrivals + 1, Ordering::Relaxed);
                return None;
            }
            entry = self.translate(slot, steps, index)?;
        }
        if core.wave.exec() != core.wave.lanes() || core.wave.unusual {
            return None;
        }
        // SAFETY: the slot's code was made from the steps of this region, and the wave was just checked.
        Some(unsafe { call::run(entry, core, steps, abreast) })
    }

    /// Whether a block begins at a step.
    #[cfg(test)]
    pub(crate) fn begins_at(&self, index: usize) -> bool {
        self.slots.get(index).is_some_and(|slot| !slot.entry.load(Ordering::Acquire).is_null())
    }

    #[cold]
    #[inline(never)]
    fn translate(&self, slot: &Slot, steps: &[Step], index: usize) -> Option<*mut u8> {
        let mut held = self.code.lock().unwrap_or_else(PoisonError::into_inner);
        let known = slot.entry.load(Ordering::Acquire);
        if !known.is_null() {
            return Some(known);
        }
        match Code::new(&block::translate(steps, index, self.wave_size)) {
            Ok(code) => {
                let entry = code.entry();
                held.push(code);
                slot.entry.store(entry, Ordering::Release);
                Some(entry)
            }
            Err(error) => {
                static TOLD: Once = Once::new();
                TOLD.call_once(|| {
                    tracing::warn!(target: "windlass::sim", %error, "instructions are interpreted, not translated");
                });
                slot.arrivals.store(NEVER, Ordering::Relaxed);
                None
            }
        }
    }
}
