// SPDX-License-Identifier: MIT OR Apache-2.0
//! The workgroups of a kernel that fit into a compute unit at once, as HIP counts them from waves, registers and LDS (clr,
//! hip_platform.cpp, `ihipOccupancyMaxActiveBlocksPerMultiprocessor`). The bounds that a kernel was compiled with do not count.

use windlass_simulated_gpu::engine::Kernel;

use crate::hip::hardware::device::limits;

/// The room of a compute unit for the workgroups of a kernel.
pub(crate) struct Occupancy {
    /// The work-items for which waves and registers suffice.
    work_items: u32,
    /// Work-items of a wave.
    wave_size: u32,
    /// The workgroups for which LDS suffices.
    by_lds: u32,
    /// The compute units of the kernel's mode in one of those that the device reports.
    units: u32,
}

impl Occupancy {
    /// Counts for workgroups that have so many bytes of dynamic LDS each.
    pub(crate) fn new(kernel: &Kernel, dynamic_lds: u64) -> Self {
        let part = kernel.module().part();
        // clr counts in waves of the usual size for other kernels too, and rounds to 24 registers as if it were a power of two.
        let (simd, wave_size) = (&part.simd, part.wave_size());
        let vgprs = kernel.vgprs().saturating_add(simd.allocated_vgprs - 1) & !(simd.allocated_vgprs - 1);
        let by_vgprs = simd.vgprs.checked_div(vgprs).unwrap_or(u32::MAX);
        let sgprs = kernel.sgprs().saturating_add(15) & !15;
        let by_sgprs = simd.sgprs.and_then(|all| all.checked_div(sgprs));
        let waves = simd.waves.min(by_vgprs).min(by_sgprs.unwrap_or(u32::MAX));
        let modes = if kernel.is_for_both_units() { 1 } else { simd.units() };
        let lds = dynamic_lds.saturating_add(kernel.static_lds().into());
        let by_lds = u64::from(part.lds).checked_div(lds).unwrap_or(u64::MAX);
        Self {
            work_items: simd.count / modes * waves * wave_size,
            wave_size,
            by_lds: u32::try_from(by_lds).unwrap_or(u32::MAX),
            units: modes,
        }
    }

    /// The resident workgroups of `block_size` work-items, in one compute unit.
    pub(crate) fn blocks(&self, block_size: u32) -> u32 {
        if block_size == 0 || block_size > limits::THREADS_PER_BLOCK {
            return 0;
        }
        (self.work_items / block_size.next_multiple_of(self.wave_size)).min(self.by_lds)
    }

    /// The largest workgroup up to a limit, and the workgroups of this size that fill the `units` of a device.
    pub(crate) fn best(&self, limit: u32, units: u32) -> (u32, u32) {
        let block_size = self.work_items.min(limit.next_multiple_of(self.wave_size));
        let blocks = self.work_items.checked_div(block_size).unwrap_or(0).min(self.by_lds);
        (block_size, blocks.saturating_mul(units.saturating_mul(self.units)))
    }
}
