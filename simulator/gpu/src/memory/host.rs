// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host's mapping of an address, for messages about kernels that followed a host pointer.

#[cfg(target_os = "linux")]
use super::arena::PAGE;

/// The mapping at an address of this process: `[stack]`, `[heap]`, a file's name, or an unnamed mapping.
/// `None` where the host has no readable memory, or does not report it.
#[cfg(target_os = "linux")]
pub(super) fn mapping(address: u64) -> Option<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        let (from, to) = fields.next()?.split_once('-')?;
        let from = u64::from_str_radix(from, 16).ok()?;
        let to = u64::from_str_radix(to, 16).ok()?;
        let readable = fields.next()?.starts_with('r');
        let name = fields.nth(3).unwrap_or("no name");
        let name = name.rsplit('/').next().unwrap_or(name);
        ((from..to).contains(&address) && readable).then(|| name.to_owned())
    })
}

/// Whether all of a range is mapped, which a driver needs to pin it.
#[cfg(target_os = "linux")]
pub(super) fn is_mapped(start: u64, len: u64) -> bool {
    use rustix::mm::{MsyncFlags, msync};
    let first = start & !(PAGE - 1);
    let Some(end) = start.checked_add(len).and_then(|end| end.checked_next_multiple_of(PAGE)) else {
        return false;
    };
    // SAFETY: without `SYNC` and `INVALIDATE` the system only looks for gaps.
    unsafe { msync(first as *mut _, (end - first) as usize, MsyncFlags::ASYNC) }.is_ok()
}

/// This system does not report mappings.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_mapped(_start: u64, _len: u64) -> bool {
    true
}

/// This system does not report mappings.
#[cfg(not(target_os = "linux"))]
pub(super) fn mapping(_address: u64) -> Option<String> {
    None
}
