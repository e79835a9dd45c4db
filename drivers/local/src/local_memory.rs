// SPDX-License-Identifier: MIT OR Apache-2.0
//! Local memory: one allocation of each thread, for the workgroups that the thread runs.

use std::cell::Cell;

use windlass_hal::{Error, Result};

/// The alignment in bytes.
const ALIGNMENT: usize = 64;

thread_local! {
    static KEPT: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Calls `run` with `size` bytes of arbitrary content at a multiple of 64. The bytes belong to the calling thread
/// alone until `run` returns.
pub(crate) fn with<R>(size: usize, run: impl FnOnce(&mut [u8]) -> Result<R>) -> Result<R> {
    if size == 0 {
        return run(&mut []);
    }
    let mut bytes = KEPT.try_with(Cell::take).unwrap_or_default();
    let total = size + ALIGNMENT;
    if bytes.len() < total {
        bytes.try_reserve_exact(total - bytes.len()).map_err(|_| {
            Error::resource_exhausted(format!("the host has no {size} bytes of local memory"))
        })?;
        bytes.resize(total, 0xcd);
    }
    let start = bytes.as_ptr().addr().wrapping_neg() % ALIGNMENT;
    let result = run(bytes.get_mut(start..start + size).unwrap_or_default());
    let _ = KEPT.try_with(|kept| kept.set(bytes));
    result
}
