// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of a wave: registers, modes and private memory.

use crate::exec::machine::gws::Gws;
use crate::exec::machine::outside::Outside;
use crate::exec::machine::trouble::Finding;
use crate::exec::values::row::{GROUPS, Group, LANES, POISON, Row};
use crate::isa::Operand;
use crate::lane_mask::LaneMask;
use crate::part::Part;
use std::cell::Cell;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Vector registers and accumulation registers of one wave: v0..v255, then a0..a255.
pub(crate) const VECTORS: usize = 512;
/// The number of a0 in this file of registers.
pub(crate) const FIRST_AGPR: u16 = 256;

/// First address of the 4 GiB where buffer resources and FLAT_SCRATCH place the private memory of waves. A resource
/// holds 48 bits, and hosts use 47 of them.
pub(crate) const SCRATCH_WINDOW: u64 = 0xfffe << 32;

const FLAT_SCRATCH: usize = 102;
const VCC: usize = 106;
const M0: usize = 124;
const EXEC: usize = 126;

/// Float mode of a wave, as in the low byte of the hardware's MODE register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mode {
    /// The register, with all bits.
    pub(crate) bits: u32,
}

impl Mode {
    /// The bits that select the rules for NaN.
    const IEEE: u32 = 0x300;

    /// The mode of a set without bits for the rules for NaN. Clamping turns NaN into zero; outputs are scaled where denormals are
    /// flushed, as without IEEE's rules.
    fn without_ieee(bits: u32) -> Self {
        let ieee = if bits & 0xf0 == 0xf0 { 0x200 } else { 0 };
        Self { bits: bits & !Self::IEEE | 0x100 | ieee }
    }

    /// The register as a set has it.
    pub(crate) fn register(self, has_ieee: bool) -> u32 {
        if has_ieee { self.bits } else { self.bits & !Self::IEEE }
    }

    /// Rounding of f32, 0 to nearest even.
    pub(crate) fn round32(self) -> u32 {
        self.bits & 3
    }

    /// Rounding of f16 and f64, 0 to nearest even.
    pub(crate) fn round64(self) -> u32 {
        self.bits >> 2 & 3
    }

    /// Whether f32 denormals are read as zero.
    pub(crate) fn flush_in32(self) -> bool {
        self.bits & 0x10 == 0
    }

    /// Whether f32 denormals are written as zero.
    pub(crate) fn flush_out32(self) -> bool {
        self.bits & 0x20 == 0
    }

    /// Whether f16 and f64 denormals are read as zero.
    pub(crate) fn flush_in64(self) -> bool {
        self.bits & 0x40 == 0
    }

    /// Whether f16 and f64 denormals are written as zero.
    pub(crate) fn flush_out64(self) -> bool {
        self.bits & 0x80 == 0
    }

    /// Whether float operations take the slow path, because rounding, denormals or the rules for NaN are
    /// unusual.
    pub(crate) fn is_unusual(self) -> bool {
        self.bits & 0x2ff != 0x2f0
    }

    /// Whether IEEE's rules hold: the minimum or maximum with a signalling NaN is that NaN, made quiet.
    pub(crate) fn ieee(self) -> bool {
        self.bits & 0x200 != 0
    }

    /// Whether the conversion of a too large number to a float of eight bits gives the greatest float instead of NaN.
    pub(crate) fn saturates(self) -> bool {
        self.bits >> 23 & 1 != 0
    }

    /// Whether clamping turns NaN into zero.
    pub(crate) fn dx10_clamp(self) -> bool {
        self.bits & 0x100 != 0
    }
}

/// Whether a wave can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaveStatus {
    /// The wave can continue.
    Ready,
    /// The wave waits for the other waves of its workgroup.
    Barrier,
    /// The wave has ended.
    Ended,
}

/// The vector registers of a wave as groups of lanes.
#[derive(Clone, Copy)]
pub(crate) struct Groups<'a> {
    registers: &'a [Cell<Group>],
    splats: &'a [Cell<Group>],
}

impl<'a> Groups<'a> {
    /// The groups of a register.
    #[inline(always)]
    pub(crate) fn register(self, number: u16) -> &'a [Cell<Group>] {
        &self.registers[(usize::from(number) & (VECTORS - 1)) * GROUPS..][..GROUPS]
    }

    /// The groups of the row that [`Wave::splat`] has filled for a scalar source.
    #[inline(always)]
    pub(crate) fn splat(self, source: usize) -> &'a [Cell<Group>] {
        &self.splats[source * GROUPS..][..GROUPS]
    }
}

/// The state of one wave.
pub(crate) struct Wave {
    /// Scalar registers by hardware number, VCC, M0 and EXEC included.
    pub(crate) s: [u32; 128],
    /// Vector registers, then accumulation registers.
    pub(crate) v: Box<[Row; VECTORS]>,
    /// All lanes of the wave: 64, or the first 32. A wave of 32 lanes leaves the rest of each row unused.
    lanes: LaneMask,
    /// The scalar condition code.
    pub(crate) scc: bool,
    /// Float mode.
    pub(crate) mode: Mode,
    /// Whether MODE selects the rules for NaN.
    pub(crate) has_ieee_mode: bool,
    /// Whether every vector instruction takes the slow path, because of an unusual mode or of indexing.
    pub(crate) unusual: bool,
    /// The mask that `lane_mask` was made from.
    spread: LaneMask,
    /// All ones in active lanes.
    lane_mask: Row,
    /// Rows for scalar sources, one for each source of an instruction.
    splats: [Row; 3],
    /// Private memory: one row per dword of a lane's segment.
    pub(crate) scratch: Vec<Row>,
    /// Bytes of private memory that each lane has.
    pub(crate) scratch_size: u32,
    /// The address in [`SCRATCH_WINDOW`] where the wave's private memory begins, if its code has to compute that
    /// address.
    pub(crate) scratch_base: Option<u64>,
    /// FLAT_SCRATCH, if it is a hardware register. Otherwise it is a pair of scalar registers.
    pub(crate) hardware_flat_scratch: Option<u64>,
    /// Indexing by M0 (`s_set_gpr_idx_on`): a mask of operands (bits 0..=2 sources, bit 3 destination), and the index.
    pub(crate) indexing: Option<(u8, u8)>,
    /// Whether it can run.
    pub(crate) status: WaveStatus,
    /// Whether it has read shared memory since it last let the other waves catch up.
    pub(crate) has_read: bool,
    /// The phase of the workgroup's barrier that the wave waits for the end of, if it has signalled apart.
    pub(crate) phase: Option<u64>,
    /// The barriers of a cooperative queue.
    pub(crate) gws: Option<Arc<Gws>>,
    /// The side of such a barrier at which the wave waits.
    pub(crate) waits: Option<bool>,
    /// The runtime behind the dispatch.
    pub(crate) outside: Option<Arc<dyn Outside>>,
    /// The clock of compute units in kHz.
    pub(crate) clock: u32,
    /// Number in its workgroup.
    pub(crate) number: u32,
    /// Instructions executed.
    pub(crate) instructions: u64,
    /// Accesses that are reported but did not stop the wave.
    pub(crate) findings: Vec<Finding>,
}

impl Wave {
    /// A wave without meaningful state.
    pub(crate) fn new() -> Self {
        Self {
            s: [0; 128],
            v: Box::new([[POISON; LANES]; VECTORS]),
            lanes: LaneMask::WAVE64,
            scc: false,
            mode: Mode { bits: 0 },
            has_ieee_mode: true,
            unusual: false,
            spread: LaneMask::WAVE64,
            lane_mask: [!0; LANES],
            splats: [[0; LANES]; 3],
            scratch: Vec::new(),
            scratch_size: 0,
            scratch_base: None,
            hardware_flat_scratch: None,
            indexing: None,
            status: WaveStatus::Ended,
            has_read: false,
            phase: None,
            gws: None,
            waits: None,
            outside: None,
            clock: 1_000_000,
            number: 0,
            instructions: 0,
            findings: Vec::new(),
        }
    }

    /// Resets the state. Only the registers of the next kernel are cleared, and of them only the wave's lanes. The caller sets the
    /// rest: barriers, runtime, clock, modes, number and size of private memory are still those of an earlier dispatch.
    pub(crate) fn reset(&mut self, scalars: &[u32; 128], vgprs: usize, agprs: usize) {
        let first_agpr = usize::from(FIRST_AGPR);
        let (vectors, accumulation) = self.v.split_at_mut(first_agpr);
        poison(&mut vectors[..vgprs.min(first_agpr)], self.lanes);
        poison(&mut accumulation[..agprs.min(VECTORS - first_agpr)], self.lanes);
        self.s = *scalars;
        self.scc = false;
        self.indexing = None;
        self.scratch.clear();
        self.scratch_base = None;
        self.hardware_flat_scratch = None;
        self.has_read = false;
        self.phase = None;
        self.waits = None;
        self.instructions = 0;
        self.findings.clear();
    }

    /// A copy of the registers, flags and modes.
    #[cfg(test)]
    pub(crate) fn clone_for_test(&self) -> Self {
        let mut copy = Self::new();
        copy.s = self.s;
        copy.v.clone_from(&self.v);
        copy.lanes = self.lanes;
        copy.scc = self.scc;
        copy.set_indexing(self.indexing);
        copy.has_ieee_mode = self.has_ieee_mode;
        copy.set_mode(self.mode.bits);
        copy.scratch.clone_from(&self.scratch);
        copy.scratch_size = self.scratch_size;
        copy.scratch_base = self.scratch_base;
        copy.hardware_flat_scratch = self.hardware_flat_scratch;
        copy
    }

    /// Whether it waits at a barrier that lets all waves pass once all wait there.
    pub(crate) fn waits_for_all(&self) -> bool {
        self.status == WaveStatus::Barrier && self.phase.is_none()
    }

    /// The number of lanes, 32 or 64.
    #[inline(always)]
    pub(crate) fn size(&self) -> usize {
        self.lanes.count() as usize
    }

    /// Makes it a wave of 32 or of 64 lanes.
    pub(crate) fn set_size(&mut self, size: u32) {
        self.lanes = if size == 32 { LaneMask::WAVE32 } else { LaneMask::WAVE64 };
    }

    /// All lanes.
    #[inline(always)]
    pub(crate) fn lanes(&self) -> LaneMask {
        self.lanes
    }

    /// EXEC.
    #[inline(always)]
    pub(crate) fn exec(&self) -> LaneMask {
        self.mask(EXEC)
    }

    /// Sets EXEC.
    #[inline(always)]
    pub(crate) fn set_exec(&mut self, mask: LaneMask) {
        self.set_mask(Operand::EXEC, mask);
    }

    /// The lane mask in the scalar registers from a number on: one register for 32 lanes, two for 64.
    #[inline(always)]
    pub(crate) fn mask(&self, first: usize) -> LaneMask {
        LaneMask::of_bits(self.pair(first)) & self.lanes
    }

    /// Writes a lane mask to one or two scalar registers.
    #[inline(always)]
    pub(crate) fn set_mask(&mut self, register: Operand, mask: LaneMask) {
        if self.lanes == LaneMask::WAVE64 {
            self.set_pair(register, mask.bits());
        } else {
            self.set_scalar(register, mask.bits() as u32);
        }
    }

    /// FLAT_SCRATCH.
    pub(crate) fn flat_scratch(&self) -> u64 {
        self.hardware_flat_scratch.unwrap_or_else(|| self.pair(FLAT_SCRATCH))
    }

    /// VCC.
    #[inline(always)]
    pub(crate) fn vcc(&self) -> LaneMask {
        self.mask(VCC)
    }

    /// M0.
    #[inline(always)]
    pub(crate) fn m0(&self) -> u32 {
        self.s[M0]
    }

    /// The register pair that starts at a number. At the end of the file the second register wraps to s0; no
    /// valid instruction encodes that.
    #[inline(always)]
    pub(crate) fn pair(&self, first: usize) -> u64 {
        u64::from(self.s[first & 127]) | u64::from(self.s[(first + 1) & 127]) << 32
    }

    /// Writes a scalar register.
    #[inline(always)]
    pub(crate) fn set_scalar(&mut self, register: Operand, value: u32) {
        if let Operand::Sgpr(number) = register {
            self.s[usize::from(number) & 127] = value;
        }
    }

    /// Writes a scalar register pair.
    #[inline(always)]
    pub(crate) fn set_pair(&mut self, register: Operand, value: u64) {
        if let Operand::Sgpr(number) = register {
            self.s[usize::from(number) & 127] = value as u32;
            self.s[(usize::from(number) + 1) & 127] = (value >> 32) as u32;
        }
    }

    /// A vector register, by its number in [`Wave::v`].
    #[inline(always)]
    pub(crate) fn row(&self, number: u16) -> &Row {
        &self.v[usize::from(number) & (VECTORS - 1)]
    }

    /// A vector register, to be written.
    #[inline(always)]
    pub(crate) fn row_mut(&mut self, number: u16) -> &mut Row {
        &mut self.v[usize::from(number) & (VECTORS - 1)]
    }

    /// Writes a word to all lanes of the row for a scalar source.
    #[inline(always)]
    pub(crate) fn splat(&mut self, source: usize, word: u32) {
        let row = &mut self.splats[source];
        // A loop mostly repeats its constants.
        if row[0] != word {
            *row = [word; LANES];
        }
    }

    /// The vector registers, and the rows for scalar sources. They are read and written in groups of lanes, and one register
    /// may be both source and destination.
    #[inline(always)]
    pub(crate) fn groups(&mut self) -> Groups<'_> {
        let registers = Cell::from_mut(self.v.as_flattened_mut().as_chunks_mut().0).as_slice_of_cells();
        let splats = Cell::from_mut(self.splats.as_flattened_mut().as_chunks_mut().0).as_slice_of_cells();
        Groups { registers, splats }
    }

    /// The vector registers from a number on.
    #[inline(always)]
    pub(crate) fn rows<const N: usize>(&self, first: u16) -> [&Row; N] {
        let mut rows = [self.row(first); N];
        for (number, row) in (first..).zip(&mut rows) {
            *row = self.row(number);
        }
        rows
    }

    /// Writes the lanes of the registers from a number on that `mask` selects.
    #[inline(always)]
    pub(crate) fn write_rows<const N: usize>(&mut self, first: u16, rows: &[Row; N], mask: LaneMask) {
        for (number, row) in (first..).zip(rows) {
            self.write_row(number, row, mask);
        }
    }

    /// Writes the lanes of a register that `mask` selects.
    #[inline(always)]
    pub(crate) fn write_row(&mut self, number: u16, values: &Row, mask: LaneMask) {
        let row = &mut self.v[usize::from(number) & (VECTORS - 1)];
        match mask {
            LaneMask::WAVE64 => {
                *row = *values;
                return;
            }
            LaneMask::WAVE32 => {
                row[..32].copy_from_slice(&values[..32]);
                return;
            }
            _ => {}
        }
        if mask != self.spread {
            self.spread = mask;
            spread(mask, &mut self.lane_mask);
        }
        for lane in 0..LANES {
            row[lane] ^= (row[lane] ^ values[lane]) & self.lane_mask[lane];
        }
    }

    /// Replaces the float mode.
    pub(crate) fn set_mode(&mut self, bits: u32) {
        self.mode = if self.has_ieee_mode { Mode { bits } } else { Mode::without_ieee(bits) };
        self.unusual = self.mode.is_unusual() || self.indexing.is_some();
    }

    /// Turns register indexing on or off.
    pub(crate) fn set_indexing(&mut self, indexing: Option<(u8, u8)>) {
        self.indexing = indexing;
        self.unusual = self.mode.is_unusual() || indexing.is_some();
    }

    /// The time in nanoseconds, on the clock of the runtime or since the first call in this process.
    fn nanoseconds(&self) -> u64 {
        if let Some(outside) = &self.outside {
            return outside.nanoseconds();
        }
        static START: OnceLock<Instant> = OnceLock::new();
        u64::try_from(START.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// The time in ticks of the compute units' clock.
    pub(crate) fn ticks(&self) -> u64 {
        (u128::from(self.nanoseconds()) * u128::from(self.clock) / 1_000_000) as u64
    }

    /// The same time in ticks of the wall clock.
    pub(crate) fn wall_clock(&self) -> u64 {
        const NANOSECONDS: u64 = 1_000_000_000 / Part::WALL_CLOCK as u64;
        self.nanoseconds() / NANOSECONDS
    }
}

/// Fills the lanes of registers with poison.
fn poison(rows: &mut [Row], lanes: LaneMask) {
    // Half rows are of a known length and apart from each other, so this is a few stores for each, and no call.
    for half in rows.iter_mut().filter_map(|row| row.first_chunk_mut::<32>()) {
        half.fill(POISON);
    }
    if lanes == LaneMask::WAVE64 {
        for half in rows.iter_mut().filter_map(|row| row.last_chunk_mut::<32>()) {
            half.fill(POISON);
        }
    }
}

/// Copies each lane's bit of the mask to all bits of the lane's word.
#[inline(never)]
fn spread(mask: LaneMask, words: &mut Row) {
    for (lane, word) in words.iter_mut().enumerate() {
        *word = 0u32.wrapping_sub(mask.has(lane).into());
    }
}
