// SPDX-License-Identifier: MIT OR Apache-2.0
//! Overwrites memory after its alloca and before its dealloca. Its contents are undefined then, so a use outside of
//! its lifetime shows.

use std::sync::{Arc, Weak};

use windlass_hal::{
    Buffer, Operation, Pattern, Point, QueueAffinity, Result, Semaphore,
    driver::{self, RawDevice},
    pending,
};

use crate::pass::Pass;

/// The byte of the poison.
const POISON: u8 = 0xa7;

/// The most bytes of a buffer that are overwritten, to save time on huge buffers.
const MOST: u64 = 1 << 16;

/// Submits an alloca, followed by the poison.
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
    // The alloca was accepted, so a later error must fail the signals.
    raw.pass(affinity, &[there], signals, fill).unwrap_or_else(|error| pending::fail(signals, &error));
    Ok(())
}

/// Submits a dealloca, preceded by the poison.
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

/// Deallocated allocations with remaining handles. Their memory may have another owner by now.
#[derive(Default)]
pub(super) struct Released(Vec<Weak<dyn driver::RawBuffer>>);

impl Released {
    /// Records that a buffer's memory was freed. `false` if it was freed before.
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
