// SPDX-License-Identifier: MIT OR Apache-2.0
//! The GPUs that can be simulated: one row of facts each.

use windlass_codeobject::TargetId;

mod rdna;

use crate::isa::{Accumulation, GFX90A, GFX900, GFX906, GFX908, GFX942, GFX950, InstructionSet};
use rdna::{
    GFX1010_PART, GFX1011_PART, GFX1012_PART, GFX1030_PART, GFX1031_PART, GFX1032_PART, GFX1100_PART,
    GFX1101_PART, GFX1102_PART, GFX1103_PART, GFX1150_PART, GFX1151_PART, GFX1200_PART, GFX1201_PART,
};

/// A GPU that can be simulated.
///
/// ```
/// use windlass_simulated_gpu::Part;
/// let part = Part::named("gfx90a").expect("it is simulated");
/// assert!(part.runs("gfx90a") && !part.runs("gfx942"));
/// assert!(Part::that_runs("gfx9-generic").is_some_and(|part| part.name() == "gfx906"));
/// assert!(Part::named("gfx1250").is_none());
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Part {
    /// The processor's name.
    name: &'static str,
    /// The states of the target's features, as in the target id.
    features: &'static str,
    /// The processors and generic targets whose code it runs, itself first.
    code: &'static [&'static str],
    /// The product name, or that of one of several products.
    pub product: &'static str,
    /// The instruction set of waves of each size that the part has, the usual size first.
    sets: &'static [&'static InstructionSet],
    /// How a wave finds its private memory.
    pub scratch: Scratch,
    /// The place of a work-item's id.
    pub work_item_id: WorkItemId,
    /// The place of a workgroup's id.
    pub workgroup_id: WorkgroupId,
    /// Vector registers are given to a wave of 64 lanes in groups of this many, and to a wave of 32 lanes in groups of twice as many.
    pub vgpr_granule: u32,
    /// The barrier of the waves of a grid.
    pub grid_barrier: GridBarrier,
    /// Waves in flight on a compute unit, at most.
    pub waves: u32,
    /// The units of a compute unit that execute waves.
    pub simd: Simd,
    /// LDS of a workgroup, in bytes.
    pub lds: u32,
    /// Compute units, unless a machine says otherwise.
    pub units: u32,
    /// The number of the architecture in HIP 5's properties.
    pub architecture: i32,
    /// Major and minor number of the compute capability.
    pub capability: [i32; 2],
    /// The device number on the PCI bus.
    pub chip: i32,
    /// Bytes of the cache of each level; of L2, the bytes of one cache.
    pub caches: [i32; 3],
    /// The clock of the compute units in kHz, as the hardware has it. `s_memtime` counts at it; no simulated work depends on it.
    pub clock: i32,
    /// The clock of the memory in kHz, as the hardware has it.
    pub memory_clock: i32,
    /// Bits of the memory bus.
    pub bus: i32,
    /// The largest images of the hardware. The simulator has no images.
    pub images: Images,
}

/// The largest images of a GPU in elements, all zero if it has none.
#[derive(Debug, PartialEq, Eq)]
pub struct Images {
    /// The side of an image of one or two dimensions.
    pub side: u32,
    /// The depth of an image of three dimensions; its width and height are at most `side`.
    pub depth: u32,
    /// Layers of an array.
    pub layers: u32,
    /// Elements of an image in a buffer.
    pub buffer: u32,
}

/// How a wave finds its private memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scratch {
    /// The hardware has its address.
    Architected,
    /// User registers hold a buffer resource and FLAT_SCRATCH of all waves. A register behind the workgroup's
    /// id holds the offset of the wave's memory. The kernel's first instructions add the two.
    Registers,
    /// The same, and FLAT_SCRATCH is a hardware register, which the kernel writes with `s_setreg_b32`.
    HardwareRegister,
}

/// The place of a work-item's id when a kernel starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkItemId {
    /// v0 holds x, y and z in ten bits each.
    Packed,
    /// v0 holds x, v1 y and v2 z.
    Registers,
}

/// The place of a workgroup's id when a kernel starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkgroupId {
    /// Scalar registers behind those of the user, for each dimension that the kernel asks for.
    UserRegisters,
    /// TTMP9 holds x, TTMP7 y and z in its halves. TTMP8 holds the number of the wave in its bits 25 to 29.
    TrapRegisters,
}

/// The units of a compute unit that execute waves, as clr counts them for HIP's occupancy (rocdevice.cpp).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Simd {
    /// In a compute unit that HIP reports.
    pub count: u32,
    /// Waves of each at once, at most. A unit of gfx900 has room for ten, but a compute unit starts no more than 32.
    pub waves: u32,
    /// Vector registers of each, for waves of the usual size.
    pub vgprs: u32,
    /// The vector registers that such a wave gets are a multiple of this. [`Part::vgpr_granule`] is how a kernel's descriptor
    /// counts them.
    pub allocated_vgprs: u32,
    /// Scalar registers of each, if waves share them.
    pub sgprs: Option<u32>,
    /// Whether HIP reports pairs of compute units (WGPs), of which a kernel may be compiled to use one unit, and HSA the units.
    pub is_paired: bool,
}

impl Simd {
    /// The compute units of one that HIP reports.
    pub fn units(&self) -> u32 {
        if self.is_paired { 2 } else { 1 }
    }
}

/// The barrier of the waves of a grid, in AMD's device library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GridBarrier {
    /// By counters in memory.
    Memory,
    /// By `ds_gws_barrier`.
    Instructions,
}

/// The largest images until gfx90a.
const IMAGES: Images = Images { side: 16_384, depth: 8192, layers: 8192, buffer: u32::MAX };

const SIMD_GFX9: Simd =
    Simd { count: 4, waves: 8, vgprs: 256, allocated_vgprs: 4, sgprs: Some(800), is_paired: false };
const SIMD_GFX90A: Simd = Simd { vgprs: 512, allocated_vgprs: 8, ..SIMD_GFX9 };

const GFX942_PART: Part = Part {
    name: "gfx942",
    features: ":sramecc+:xnack-",
    code: &["gfx942", "gfx9-4-generic"],
    product: "MI300X",
    sets: &[&GFX942],
    scratch: Scratch::Architected,
    work_item_id: WorkItemId::Packed,
    workgroup_id: WorkgroupId::UserRegisters,
    vgpr_granule: 8,
    grid_barrier: GridBarrier::Memory,
    waves: 32,
    simd: SIMD_GFX90A,
    lds: 64 << 10,
    units: 304,
    architecture: 942,
    capability: [9, 4],
    chip: 0x74a1,
    caches: [32 << 10, 4 << 20, 256 << 20],
    clock: 2_100_000,
    memory_clock: 1_300_000,
    bus: 8192,
    images: Images { side: 0, depth: 0, layers: 0, buffer: 0 },
};

const GFX950_PART: Part = Part {
    name: "gfx950",
    code: &["gfx950", "gfx9-4-generic"],
    product: "MI355X",
    sets: &[&GFX950],
    lds: 160 << 10,
    units: 256,
    architecture: 950,
    capability: [9, 5],
    chip: 0x75a3,
    clock: 2_400_000,
    memory_clock: 2_000_000,
    ..GFX942_PART
};

const GFX90A_PART: Part = Part {
    name: "gfx90a",
    features: ":sramecc+:xnack-",
    code: &["gfx90a"],
    product: "MI250X",
    sets: &[&GFX90A],
    scratch: Scratch::Registers,
    work_item_id: WorkItemId::Packed,
    workgroup_id: WorkgroupId::UserRegisters,
    vgpr_granule: 8,
    grid_barrier: GridBarrier::Instructions,
    waves: 32,
    simd: SIMD_GFX90A,
    lds: 64 << 10,
    units: 110,
    architecture: 910,
    capability: [9, 0],
    chip: 0x7408,
    caches: [16 << 10, 8 << 20, 0],
    clock: 1_700_000,
    memory_clock: 1_600_000,
    bus: 4096,
    images: IMAGES,
};

const GFX908_PART: Part = Part {
    name: "gfx908",
    features: ":sramecc+:xnack-",
    code: &["gfx908"],
    product: "MI100",
    sets: &[&GFX908],
    scratch: Scratch::Registers,
    work_item_id: WorkItemId::Registers,
    workgroup_id: WorkgroupId::UserRegisters,
    vgpr_granule: 4,
    grid_barrier: GridBarrier::Instructions,
    waves: 40,
    simd: SIMD_GFX9,
    lds: 64 << 10,
    units: 120,
    architecture: 908,
    capability: [9, 0],
    chip: 0x738c,
    caches: [16 << 10, 8 << 20, 0],
    clock: 1_502_000,
    memory_clock: 1_200_000,
    bus: 4096,
    images: IMAGES,
};

const GFX906_PART: Part = Part {
    name: "gfx906",
    features: ":sramecc+:xnack-",
    code: &["gfx906", "gfx9-generic"],
    product: "MI50",
    sets: &[&GFX906],
    scratch: Scratch::Registers,
    work_item_id: WorkItemId::Registers,
    workgroup_id: WorkgroupId::UserRegisters,
    vgpr_granule: 4,
    grid_barrier: GridBarrier::Instructions,
    waves: 40,
    simd: SIMD_GFX9,
    lds: 64 << 10,
    units: 60,
    architecture: 906,
    capability: [9, 0],
    chip: 0x66a1,
    caches: [16 << 10, 4 << 20, 0],
    clock: 1_725_000,
    memory_clock: 1_000_000,
    bus: 4096,
    images: IMAGES,
};

const GFX900_PART: Part = Part {
    name: "gfx900",
    features: ":xnack-",
    code: &["gfx900", "gfx9-generic"],
    product: "MI25",
    sets: &[&GFX900],
    scratch: Scratch::Registers,
    work_item_id: WorkItemId::Registers,
    workgroup_id: WorkgroupId::UserRegisters,
    vgpr_granule: 4,
    grid_barrier: GridBarrier::Instructions,
    waves: 40,
    simd: SIMD_GFX9,
    lds: 64 << 10,
    units: 64,
    architecture: 900,
    capability: [9, 0],
    chip: 0x6860,
    caches: [16 << 10, 4 << 20, 0],
    clock: 1_500_000,
    memory_clock: 945_000,
    bus: 2048,
    images: IMAGES,
};

/// The simulated parts. The first is the default.
static PARTS: [Part; 20] = [
    GFX942_PART,
    GFX950_PART,
    GFX90A_PART,
    GFX908_PART,
    GFX906_PART,
    GFX900_PART,
    GFX1100_PART,
    GFX1101_PART,
    GFX1102_PART,
    GFX1103_PART,
    GFX1150_PART,
    GFX1151_PART,
    GFX1030_PART,
    GFX1031_PART,
    GFX1032_PART,
    GFX1010_PART,
    GFX1011_PART,
    GFX1012_PART,
    GFX1201_PART,
    GFX1200_PART,
];
/// The parts whose machines can be started with retries of page faults (XNACK), in that mode. A kernel can be compiled for one
/// mode.
static WITH_XNACK: [Part; 3] = [
    Part { features: ":sramecc+:xnack+", ..GFX942_PART },
    Part { features: ":sramecc+:xnack+", ..GFX950_PART },
    Part { features: ":sramecc+:xnack+", ..GFX90A_PART },
];

impl Part {
    /// Work-items of a workgroup, at most.
    pub const WORKGROUP: u32 = 1024;
    /// Ticks of the wall clock in a second, which `s_memrealtime` reads.
    pub const WALL_CLOCK: u32 = 100_000_000;
    /// The revision of the chip.
    pub const REVISION: u32 = 1;

    /// Every part, the default first.
    pub fn all() -> &'static [Part] {
        &PARTS
    }

    /// The part of a processor's name, if it is simulated.
    pub fn named(name: &str) -> Option<&'static Part> {
        PARTS.iter().find(|part| part.name == name)
    }

    /// The part of a target such as `gfx90a` or `gfx90a:xnack+`, which has each feature that is named.
    pub fn of_target(target: &TargetId) -> Option<&'static Part> {
        Self::in_every_mode().find(|part| target.processor() == part.name && part.runs_target(target))
    }

    /// Every part in every mode.
    pub fn in_every_mode() -> impl Iterator<Item = &'static Part> {
        PARTS.iter().chain(&WITH_XNACK)
    }

    /// The shortest target that means the part in its mode: `gfx90a`, `gfx90a:sramecc+:xnack+`.
    pub fn spelling(&self) -> String {
        let usual = PARTS.iter().any(|part| part == self);
        if usual { self.name.to_owned() } else { self.target_id() }
    }

    /// The part that runs the code of a processor or of a generic target.
    pub fn that_runs(code: &str) -> Option<&'static Part> {
        PARTS.iter().find(|part| part.runs(code))
    }

    /// The processor, without features: `gfx942`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The device name that every runtime reports.
    pub fn title(&self) -> String {
        format!("Simulated {} ({})", self.product, self.name)
    }

    /// The processor with the features that the part has: `gfx942:sramecc+:xnack-`.
    pub fn target_id(&self) -> String {
        format!("{}{}", self.name, self.features)
    }

    /// Whether the part runs the code of a processor or of a generic target, given without features.
    pub fn runs(&self, code: &str) -> bool {
        self.code.contains(&code)
    }

    /// Whether the part runs code for a target: each feature that the target states has the part's state.
    pub fn runs_target(&self, target: &TargetId) -> bool {
        let has = |(name, on): (&str, bool)| {
            let sign = if on { '+' } else { '-' };
            self.features.split(':').any(|own| own.strip_suffix(sign) == Some(name))
        };
        self.runs(target.processor()) && target.features().all(has)
    }

    /// The instruction set of waves of the usual size.
    pub fn instructions(&self) -> &'static InstructionSet {
        self.sets[0]
    }

    /// The instruction set of waves of each size that the part has, the usual size first.
    pub(crate) fn sets(&self) -> &'static [&'static InstructionSet] {
        self.sets
    }

    /// Lanes of a wave of the usual size. HIP calls it the warp size.
    pub fn wave_size(&self) -> u32 {
        self.instructions().wave_size()
    }

    /// Lanes of a wave, for each size that the part has, the usual one first.
    pub fn wave_sizes(&self) -> impl Iterator<Item = u32> {
        self.sets.iter().map(|set| set.wave_size())
    }

    /// The instruction set of waves of a size.
    pub(crate) fn set_of_waves(&self, size: u32) -> Option<&'static InstructionSet> {
        self.sets.iter().copied().find(|set| set.wave_size() == size)
    }

    /// Vector registers are given to a wave of a size in groups of this many.
    pub(crate) fn vgpr_granule_of_waves(&self, size: u32) -> u32 {
        self.vgpr_granule * (64 / size.max(1))
    }

    /// The accumulation registers of the part.
    pub(crate) fn accumulation(&self) -> Accumulation {
        self.instructions().accumulation
    }

    /// The names of all parts, for messages: `gfx942, gfx90a and gfx908`.
    pub fn names() -> String {
        let names = PARTS.iter().map(|part| part.name).collect::<Vec<_>>();
        names
            .split_last()
            .map_or_else(String::new, |(last, others)| format!("{} and {last}", others.join(", ")))
    }

    /// Vector registers that a work-item can have, with accumulation registers if they are of the same file.
    pub fn registers_of_work_item(&self) -> u32 {
        if self.accumulation() == Accumulation::Unified { 512 } else { 256 }
    }

    /// Work-items in flight on a compute unit, at most.
    pub fn work_items_of_unit(&self) -> u32 {
        self.waves * self.wave_size()
    }
}

impl Default for &'static Part {
    fn default() -> Self {
        &PARTS[0]
    }
}
