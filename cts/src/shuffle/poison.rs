// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that is written over when its time begins and before it ends: its contents are undefined there, and a use
//! outside of that time shows.

use std::sync::{Arc, Weak};

use windlass_hal::{
    Buffer, Operation, Pattern, Point, QueueAffinity, Result, Semaphore,
    driver::{self, RawDevice},
    pending,
};

use crate::pass::Pass;

/// What memory is written over with.
const POISON: u8 = 0xa7;

/// How much of a buffer is written over: huge ones are not worth the time.
const MOST: u64 = 1 << 16;

/// Submits an alloca with the poison behind it.
pub(super) fn alloca(
    raw: &dyn RawDevice,
    affinity: QueueAffinity,
    waits: &[Point],
    signals: &[Point],
    buffer: Buffer,
) -> Result<()> {
    let Some(fill) = fill(&buffer) else {
        return raw.pass(affinity, waits, signals, Operation::Alloca { buffer });
    };
    let there = Semaphore::new(0).at(1);
    raw.pass(affinity, waits, std::slice::from_ref(&there), Operation::Alloca { buffer })?;
    // The alloca was accepted: from here on it is the signals that fail.
    raw.pass(affinity, &[there], signals, fill).unwrap_or_else(|error| pending::fail(signals, &error));
    Ok(())
}

/// Submits a dealloca with the poison before it.
pub(super) fn dealloca(
    raw: &dyn RawDevice,
    affinity: QueueAffinity,
    waits: &[Point],
    signals: &[Point],
    buffer: Buffer,
) -> Result<()> {
    let Some(fill) = fill(&buffer) else {
        return raw.pass(affinity, waits, signals, Operation::Dealloca { buffer });
    };
    let over = Semaphore::new(0).at(1);
    raw.pass(affinity, waits, std::slice::from_ref(&over), fill)?;
    raw.pass(affinity, &[over], signals, Operation::Dealloca { buffer })
        .unwrap_or_else(|error| pending::fail(signals, &error));
    Ok(())
}

fn fill(buffer: &Buffer) -> Option<Operation> {
    let target = buffer.subspan(0, buffer.len().min(MOST)).ok().filter(|target| !target.is_empty())?;
    Some(Operation::Fill { target, pattern: Pattern::from(POISON) })
}

/// The allocations that were given back while handles remain: their memory may be somebody else's by now.
#[derive(Default)]
pub(super) struct Released(Vec<Weak<dyn driver::RawBuffer>>);

impl Released {
    /// Notes that a buffer's memory is given back; `false` if it was before.
    pub(super) fn insert(&mut self, buffer: &Buffer) -> bool {
        let buffer = Arc::downgrade(buffer.raw());
        self.0.retain(|known| known.strong_count() > 0);
        let first = !self.0.iter().any(|known| known.ptr_eq(&buffer));
        if first {
            self.0.push(buffer);
        }
        first
    }
}
