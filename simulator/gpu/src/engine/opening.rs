// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state in which the waves of a workgroup start: their registers, as the launch ABI of the part says.

use super::start::Start;
use crate::exec::values::row::LANES;
use crate::exec::{SCRATCH_WINDOW, Wave};
use crate::isa::Accumulation;
use crate::lane_mask::LaneMask;
use crate::part::{Scratch, WorkItemId, WorkgroupId};
use std::sync::Arc;

/// The numbers of registers of trap handlers, in which hardware puts the ids of the workgroup and of the wave in it.
const TTMP7: usize = 115;
const TTMP8: usize = 116;
const TTMP9: usize = 117;

/// The state in which the waves of a workgroup start.
pub(super) struct Opening<'a> {
    start: &'a Start,
    /// Work-items of the workgroup.
    extent: [u32; 3],
    /// Vector and accumulation registers of a wave.
    registers: [usize; 2],
    /// Scalar registers, with all that is the same for each wave.
    scalars: [u32; 128],
    /// The register with the offset of a wave's private memory.
    scratch: Option<usize>,
}

impl<'a> Opening<'a> {
    /// The state in which the waves of the workgroup with this id start.
    pub(super) fn new(start: &'a Start, workgroup: [u32; 3]) -> Self {
        let (rsrc1, rsrc3) = (start.descriptor.compute_pgm_rsrc1, start.descriptor.compute_pgm_rsrc3);
        let all = (((rsrc1 & 0x3f) + 1) * start.part.vgpr_granule_of_waves(start.wave_size)) as usize;
        let registers = match start.part.accumulation() {
            Accumulation::None => [all, 0],
            Accumulation::Apart => [all, all],
            Accumulation::Unified => {
                let first_agpr = ((rsrc3 & 0x3f) as usize + 1) * 4;
                [all.min(first_agpr), all.saturating_sub(first_agpr)]
            }
        };
        let extent = start.extent(workgroup);
        let mut opening = Self { start, extent, registers, scalars: [0; 128], scratch: None };
        opening.set_scalars(workgroup);
        opening
    }

    /// Work-items of the workgroup.
    fn items(&self) -> u32 {
        self.extent.iter().product()
    }

    /// Waves of the workgroup.
    pub(super) fn waves(&self) -> u32 {
        self.items().div_ceil(self.start.wave_size)
    }

    /// User registers in the order of the ABI, then the workgroup's id.
    fn set_scalars(&mut self, workgroup: [u32; 3]) {
        let start = self.start;
        let descriptor = &start.descriptor;
        let mut next = 0;
        let mut put = |words: &[u32]| {
            for &word in words {
                if next < 102 {
                    self.scalars[next] = word;
                    next += 1;
                }
            }
        };
        let pair = |value: u64| [value as u32, (value >> 32) as u32];
        let in_registers = start.part.scratch != Scratch::Architected;
        if descriptor.private_segment_buffer() {
            put(&if in_registers { scratch_resource(start.wave_size) } else { [0; 4] });
        }
        if descriptor.dispatch_ptr() {
            put(&pair(start.packet));
        }
        if descriptor.queue_ptr() {
            put(&pair(start.queue));
        }
        if descriptor.kernarg_segment_ptr() {
            put(&pair(start.arguments));
        }
        if descriptor.dispatch_id() {
            put(&[0; 2]);
        }
        if descriptor.flat_scratch_init() {
            put(&if in_registers { pair(SCRATCH_WINDOW) } else { [0; 2] });
        }
        if descriptor.private_segment_size() {
            put(&[start.private]);
        }
        put(&start.preloaded);
        if start.part.workgroup_id == WorkgroupId::TrapRegisters {
            for (number, word) in trap_registers(workgroup, descriptor.workgroup_id()[2]) {
                self.scalars[number] = word;
            }
            return;
        }
        // Workgroup ids follow the registers that are declared, used or not.
        let mut next = descriptor.user_sgpr_count() as usize;
        for (id, enabled) in workgroup.into_iter().zip(descriptor.workgroup_id()) {
            if enabled {
                self.scalars[next & 127] = id;
                next += 1;
            }
        }
        let enabled = |bit: u32| descriptor.compute_pgm_rsrc2 >> bit & 1 != 0;
        if in_registers && enabled(0) {
            // The description of the workgroup comes before it.
            self.scratch = Some((next + usize::from(enabled(10))) & 127);
        }
    }

    /// Sets up the wave with this number.
    pub(super) fn prepare(&self, wave: &mut Wave, number: u32) {
        let start = self.start;
        let [vgprs, agprs] = self.registers;
        wave.set_size(start.wave_size);
        wave.reset(&self.scalars, vgprs, agprs);
        wave.has_ieee_mode = start.part.instructions().has_ieee_mode();
        wave.set_mode(start.mode);
        wave.scratch_size = start.private;
        wave.number = number;
        keep_or_replace(&mut wave.gws, start.gws.as_ref());
        keep_or_replace(&mut wave.outside, start.outside.as_ref());
        wave.clock = start.clock;
        if start.part.scratch != Scratch::Architected {
            wave.scratch_base = Some(SCRATCH_WINDOW + u64::from(self.scratch_offset(number)));
        }
        wave.hardware_flat_scratch = (start.part.scratch == Scratch::HardwareRegister).then_some(0);
        if let Some(register) = self.scratch {
            wave.s[register] = self.scratch_offset(number);
        }
        if start.part.workgroup_id == WorkgroupId::TrapRegisters {
            wave.s[TTMP8] = wave_id(number);
        }
        let first = number * start.wave_size;
        let lanes = self.items().saturating_sub(first).min(start.wave_size);
        wave.set_exec(LaneMask::first_lanes(lanes));
        self.set_work_items(wave, first);
    }

    /// The ids of the work-items in a wave, of which the first lane's has a number in its workgroup.
    fn set_work_items(&self, wave: &mut Wave, first: u32) {
        let start = self.start;
        let dimensions = start.descriptor.workitem_id_dimensions() as usize;
        let lanes = LANES.min(start.wave_size as usize);
        let [x, y, _] = self.extent.map(|extent| extent.max(1));
        let mut place = [first % x, first / x % y, first / x / y];
        // Packed dimensions that the kernel did not ask for read as zero, because code does not mask them.
        let packed = |[x, y, z]: [u32; 3]| match dimensions {
            0 | 1 => x,
            2 => x | y << 10,
            _ => x | y << 10 | z << 20,
        };
        if x - place[0] >= start.wave_size {
            // The wave is in one line.
            match start.part.work_item_id {
                WorkItemId::Packed => count_up(&mut wave.row_mut(0)[..lanes], packed(place)),
                WorkItemId::Registers => {
                    for (register, id) in (0..).zip(place).take(dimensions) {
                        let row = &mut wave.row_mut(register)[..lanes];
                        if register == 0 { count_up(row, id) } else { row.fill(id) }
                    }
                }
            }
            return;
        }
        for lane in 0..lanes {
            match start.part.work_item_id {
                WorkItemId::Packed => wave.row_mut(0)[lane] = packed(place),
                WorkItemId::Registers => {
                    for (register, id) in (0..).zip(place).take(dimensions) {
                        wave.row_mut(register)[lane] = id;
                    }
                }
            }
            place[0] += 1;
            if place[0] == x {
                place = [0, place[1] + 1, place[2]];
                if place[1] == y {
                    place = [0, 0, place[2] + 1];
                }
            }
        }
    }

    /// The offset of one wave in the private memory of all waves. It is never zero, so that a kernel that
    /// does not add it faults.
    fn scratch_offset(&self, wave: u32) -> u32 {
        // It fits: a lane has at most 1 MiB and a workgroup at most 32 waves.
        (wave + 1) * self.start.private.next_multiple_of(16) * 64
    }
}

/// Gives a wave the object of its dispatch. Threads share its reference count, so a wave that has it already leaves that alone.
fn keep_or_replace<T: ?Sized>(held: &mut Option<Arc<T>>, given: Option<&Arc<T>>) {
    if held.as_ref().map(Arc::as_ptr) != given.map(Arc::as_ptr) {
        *held = given.cloned();
    }
}

/// The buffer resource of private memory: the dwords of a wave's lanes lie side by side, and a lane adds its number. It has
/// no end; the end of each wave's memory is checked instead.
fn scratch_resource(lanes: u32) -> [u32; 4] {
    let lanes = if lanes == 64 { 3 } else { 2 };
    // Elements of 4 bytes; the lane is added.
    let swizzle = 1 << 19 | lanes << 21 | 1 << 23;
    [SCRATCH_WINDOW as u32, (SCRATCH_WINDOW >> 32) as u32 | 1 << 31, u32::MAX, swizzle]
}

/// Numbers from `first` on.
fn count_up(lanes: &mut [u32], first: u32) {
    for (lane, id) in lanes.iter_mut().zip(first..) {
        *lane = id;
    }
}

/// The registers of trap handlers with the id of a workgroup, where a kernel has z or not.
fn trap_registers([x, y, z]: [u32; 3], has_z: bool) -> [(usize, u32); 2] {
    // Without z, y has the whole register.
    let rest = if has_z { y & 0xffff | z << 16 } else { y };
    [(TTMP7, rest), (TTMP9, x)]
}

/// The id of a wave in its workgroup, as TTMP8 has it.
fn wave_id(number: u32) -> u32 {
    number << 25
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trap_registers_hold_the_ids_of_the_workgroup_and_of_the_wave() {
        let in_three = trap_registers([70_000, 3, 5], true);
        assert_eq!(in_three, [(TTMP7, 3 | 5 << 16), (TTMP9, 70_000)]);
        assert_eq!(trap_registers([1, 70_000, 0], false)[0], (TTMP7, 70_000));
        assert_eq!(wave_id(31), 31 << 25);
    }
}
