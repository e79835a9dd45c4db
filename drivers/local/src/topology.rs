// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host as a processor: its place, and its facts as Linux tells them. Other systems tell nothing.

use std::fs;

use windlass_hal::{DeviceFacts, TopologyNode};

const CPU: &str = "/sys/devices/system/cpu/cpu0";

/// The host. It is near one NUMA node only if the machine has no other.
pub(crate) fn node() -> TopologyNode {
    let mut node = TopologyNode::host(0);
    let online = fs::read_to_string("/sys/devices/system/node/online").unwrap_or_default();
    node.numa_node = online.trim().parse().ok();
    node
}

/// The facts of a device with this many threads and these bytes of memory, free and in all.
pub(crate) fn facts(threads: usize, (free, total): (u64, u64)) -> DeviceFacts {
    let mut facts = DeviceFacts::default();
    // Without threads of its own, the device runs work on the thread that submits it.
    facts.compute_units = u32::try_from(threads.max(1)).ok();
    facts.wave_size = Some(1);
    facts.max_threads_per_compute_unit = Some(1);
    facts.core_clock_khz = number(&format!("{CPU}/cpufreq/cpuinfo_max_freq"));
    facts.l1_cache_bytes = cache(1);
    facts.l2_cache_bytes = cache(2);
    facts.l3_cache_bytes = cache(3);
    facts.free_memory_bytes = Some(free);
    facts.total_memory_bytes = Some(total);
    facts.is_integrated = Some(true);
    facts
}

fn number(file: &str) -> Option<u32> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// The data cache of a level, in bytes.
fn cache(level: u32) -> Option<u64> {
    let found = (0..16).map(|index| format!("{CPU}/cache/index{index}")).find(|folder| {
        let kind = fs::read_to_string(format!("{folder}/type")).unwrap_or_default();
        number(&format!("{folder}/level")) == Some(level) && kind.trim() != "Instruction"
    })?;
    let size = fs::read_to_string(format!("{found}/size")).ok()?;
    let size = size.trim();
    match size.strip_suffix('K') {
        Some(size) => size.parse::<u64>().ok()?.checked_mul(1024),
        None => size.strip_suffix('M')?.parse::<u64>().ok()?.checked_mul(1024 * 1024),
    }
}
