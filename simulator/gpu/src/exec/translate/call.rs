// SPDX-License-Identifier: MIT OR Apache-2.0
//! The border between translated code and Rust: entering a block, and the functions that blocks call.

use super::{End, Left};
use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::step::Step;
use crate::exec::machine::wave::Wave;
use crate::exec::values::row::{LANES, Row};
use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// A function that a block calls. It executes the step, and answers with a [`Flow`] or [`PANICKED`].
pub(super) type Callee = unsafe extern "sysv64" fn(&mut Core<'_>, &Step) -> u32;

/// A block's entry: the core, its wave, the wave's vector registers, the region's steps, and whether waves run abreast.
type Entry = unsafe extern "sysv64" fn(*mut Core<'_>, *mut Wave, *mut Row, *const Step, u64) -> u64;

/// The block ended before a step, which the interpreter executes.
pub(super) const STAY: u32 = 0x100;
/// The block ended before a step because it is long enough.
pub(super) const LIMIT: u32 = 0x101;
/// A handler panicked.
const PANICKED: u32 = 0x102;

const _: () = assert!(LANES == 64 && Flow::Next as u32 == 0);

/// A block's answer.
pub(super) fn packed(index: usize, answer: u32) -> u64 {
    u64::from(answer) << 32 | index as u64 & 0xffff_ffff
}

thread_local! {
    /// The panic of a handler, while it passes a block.
    static PANIC: RefCell<Option<Box<dyn Any + Send>>> = const { RefCell::new(None) };
}

/// Runs a block.
///
/// # Safety
/// The code is the translation of these steps, all lanes of the wave are active, and it is not unusual.
pub(super) unsafe fn run(entry: *mut u8, core: &mut Core<'_>, steps: &[Step], abreast: bool) -> Left {
    // SAFETY: `Code` holds a function of this type.
    let entry = unsafe { std::mem::transmute::<*mut u8, Entry>(entry) };
    let wave: *mut Wave = core.wave;
    let vectors = core.wave.v.as_mut_ptr();
    // SAFETY: the code touches the scalars of the wave and its vector registers within their bounds, and passes the core
    // and one of the steps to callees. Between two calls nothing else uses the wave.
    let packed = unsafe { entry(core, wave, vectors, steps.as_ptr(), abreast.into()) };
    let index = packed as u32 as usize;
    let end = match (packed >> 32) as u32 {
        STAY => End::Stay,
        LIMIT => End::Limit,
        PANICKED => {
            let panic = PANIC.take().unwrap_or_else(|| Box::new("a handler panicked"));
            resume_unwind(panic);
        }
        answer => End::Executed(flow(answer)),
    };
    Left { index, end }
}

fn flow(answer: u32) -> Flow {
    use Flow::*;
    let all = [Next, Branch, Jump, Yield, Again, Barrier, End, Stop];
    all.into_iter().find(|flow| *flow as u32 == answer).unwrap_or(Stop)
}

/// Executes a step by its handler.
///
/// # Safety
/// As for the handler.
pub(super) unsafe extern "sysv64" fn handler(core: &mut Core<'_>, step: &Step) -> u32 {
    // SAFETY: `Compilations::pick` chose the handler for this processor.
    guarded(|| unsafe { (step.run)(core, step) })
}

/// Keeps a panic, because it cannot pass the frame of a block.
#[inline(always)]
fn guarded(execute: impl FnOnce() -> Flow) -> u32 {
    match catch_unwind(AssertUnwindSafe(execute)) {
        Ok(flow) => flow as u32,
        Err(panic) => {
            PANIC.set(Some(panic));
            PANICKED
        }
    }
}
