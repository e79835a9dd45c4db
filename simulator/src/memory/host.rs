// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an address means to the host, for messages about kernels that followed a host pointer.

#[cfg(target_os = "linux")]
use super::arena::PAGE;

/// What is mapped at an address of this process: `[stack]`, `[heap]`, a file's name, or nothing that has a name. `None`
/// where the host cannot read it either, or cannot be asked.
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

/// Whether all of a range is mapped, which is what a driver needs to pin it.
#[cfg(target_os = "linux")]
pub(super) fn is_mapped(start: u64, len: u64) -> bool {
    use rustix::mm::{MsyncFlags, msync};
    let first = start & !(PAGE - 1);
    let Some(end) = start.checked_add(len).and_then(|end| end.checked_next_multiple_of(PAGE)) else {
        return false;
    };
    // SAFETY: without `SYNC` and `INVALIDATE` the system does nothing but look for gaps.
    unsafe { msync(first as *mut _, (end - first) as usize, MsyncFlags::ASYNC) }.is_ok()
}

/// Nothing is known of the host's addresses here.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_mapped(_start: u64, _len: u64) -> bool {
    true
}

/// Nothing is known of the host's addresses here.
#[cfg(not(target_os = "linux"))]
pub(super) fn mapping(_address: u64) -> Option<String> {
    None
}
