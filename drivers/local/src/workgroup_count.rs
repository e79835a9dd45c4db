// SPDX-License-Identifier: MIT OR Apache-2.0
//! Workgroup counts in device memory, read when the work runs.

use std::sync::atomic::Ordering::Relaxed;

use windlass_hal::{Buffer, Error, Limits, Result, WorkgroupCountRef, driver, host_memory::bytes_of};

/// The workgroup count as of now. `None` if it has no workgroups.
pub(crate) fn resolve(
    count: WorkgroupCountRef<'_>,
    bindings: &[Buffer],
    (executable, function): (&dyn driver::RawExecutable, u32),
    size: [u32; 3],
    limits: &Limits,
) -> Result<Option<[u32; 3]>> {
    if let WorkgroupCountRef::Direct(count) = count {
        return Ok(Some(count));
    }
    checked(read(count, bindings)?, (executable, function), size, limits)
}

/// The count, or `None` if it has no workgroups. `OUT_OF_RANGE` if it exceeds the device's limits.
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

/// The three numbers in the count's buffer.
pub(crate) fn read(count: WorkgroupCountRef<'_>, bindings: &[Buffer]) -> Result<[u32; 3]> {
    let buffer =
        count.buffer(bindings).ok_or_else(|| Error::internal("a workgroup count outside its buffer"))?;
    let mut words = [0_u32; 3];
    for (index, byte) in bytes_of(&buffer)?.iter().take(12).enumerate() {
        words[index / 4] |= u32::from(byte.load(Relaxed)) << (8 * (index % 4));
    }
    Ok(words)
}
