// SPDX-License-Identifier: MIT OR Apache-2.0
//! Workgroup counts that are in memory: read here, when the work runs.

use std::sync::atomic::Ordering::Relaxed;

use windlass_hal::{Buffer, Error, Limits, Result, WorkgroupCount, driver, host_memory::bytes_of};

/// How many workgroups to run now; `None` if there are none.
pub(crate) fn resolve(
    count: &WorkgroupCount,
    bindings: &[Buffer],
    (executable, function): (&dyn driver::RawExecutable, u32),
    size: [u32; 3],
    limits: &Limits,
) -> Result<Option<[u32; 3]>> {
    if let WorkgroupCount::Direct(count) = count {
        return Ok(Some(*count));
    }
    checked(read(count, bindings)?, (executable, function), size, limits)
}

/// The count, if it launches anything. `OUT_OF_RANGE` where the device cannot take it.
pub(crate) fn checked(
    count: [u32; 3],
    (executable, function): (&dyn driver::RawExecutable, u32),
    size: [u32; 3],
    limits: &Limits,
) -> Result<Option<[u32; 3]>> {
    if count.contains(&0) {
        return Ok(None);
    }
    let info = executable.functions().get(function as usize);
    let info = info.ok_or_else(|| Error::internal(format!("the executable has no function {function}")))?;
    limits
        .check_workgroups(info, count, size)
        .map_err(|error| error.context(format!("indirect count {count:?}")))?;
    Ok(Some(count))
}

/// The three numbers that a count's buffer holds.
pub(crate) fn read(count: &WorkgroupCount, bindings: &[Buffer]) -> Result<[u32; 3]> {
    let buffer =
        count.buffer(bindings).ok_or_else(|| Error::internal("a workgroup count outside its buffer"))?;
    let mut words = [0_u32; 3];
    for (index, byte) in bytes_of(&buffer)?.iter().take(12).enumerate() {
        words[index / 4] |= u32::from(byte.load(Relaxed)) << (8 * (index % 4));
    }
    Ok(words)
}
