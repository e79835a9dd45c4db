// SPDX-License-Identifier: MIT OR Apache-2.0
//! The limits of a device's queues and memory.

use crate::words::{
    error::{Error, Result},
    function_info::FunctionInfo,
    heap::Heap,
    queue_affinity::QueueAffinity,
};

/// The limits of a device. Zero means that the device sets no limit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The number of queues, from 1 to 64. Queues are numbered from 0.
    pub queues: u32,
    /// The number of GPUs or other processors in the device. Each has its own memory and an equal share of the queues,
    /// in order. See [`physical_affinity`](Self::physical_affinity).
    pub physical_devices: u32,
    /// Work-items of a workgroup in each dimension.
    pub max_workgroup_size: [u32; 3],
    /// Work-items of a workgroup in all dimensions together.
    pub max_workgroup_threads: u32,
    /// Workgroups of a dispatch in each dimension.
    pub max_workgroup_count: [u32; 3],
    /// Local memory (LDS) of a workgroup in bytes, static and dynamic together.
    pub max_local_memory: u32,
    /// Work-items of a wave.
    pub wave_size: u32,
    /// Device memory in bytes.
    pub total_memory: u64,
    /// The alignment of allocations in bytes.
    pub allocation_alignment: u64,
    /// The kinds of memory. The best for dispatches comes first.
    pub heaps: Vec<Heap>,
}

impl Limits {
    /// The queues of one of the [`physical_devices`](Self::physical_devices), counted from 0. `None` where there are
    /// fewer.
    pub fn physical_affinity(&self, index: u32) -> Option<QueueAffinity> {
        let each = self.queues.checked_div(self.physical_devices).filter(|each| *each > 0)?;
        let bits = u64::MAX >> (64 - each.min(64));
        (index < self.physical_devices).then(|| QueueAffinity::from_bits(bits << (index * each).min(63)))
    }
}

impl Limits {
    /// Checks that the device can launch `count` workgroups of `size` work-items in x, y, z. `OUT_OF_RANGE` names the
    /// function and the count. The front calls this for a known count, and a driver when it has read the count of an
    /// indirect dispatch.
    pub fn check_workgroups(&self, function: &FunctionInfo, count: [u32; 3], size: [u32; 3]) -> Result<()> {
        let name = &function.name;
        for axis in 0..3 {
            let (count, most) = (count[axis], self.max_workgroup_count[axis]);
            let (width, widest) = (size[axis], self.max_workgroup_size[axis]);
            if (widest > 0 && width > widest) || (most > 0 && count > most) {
                return Err(Error::out_of_range(format!(
                    "`{name}`: {count} workgroups of {width} work-items in {}; the device allows {most} of {widest}",
                    ["x", "y", "z"][axis]
                )));
            }
            if u64::from(count) * u64::from(width) > u64::from(u32::MAX) {
                return Err(Error::out_of_range(format!(
                    "`{name}`: {count} workgroups of {width} work-items in {} are more than 2^32 - 1 in all",
                    ["x", "y", "z"][axis]
                )));
            }
        }
        Ok(())
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            queues: 1,
            physical_devices: 1,
            max_workgroup_size: [1024; 3],
            max_workgroup_threads: 1024,
            max_workgroup_count: [i32::MAX as u32, 65535, 65535],
            max_local_memory: 64 * 1024,
            wave_size: 64,
            total_memory: 0,
            allocation_alignment: 256,
            heaps: vec![Heap::device(u64::MAX, 256), Heap::host(u64::MAX, 256)],
        }
    }
}
