// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rows of RDNA's parts.

use super::{GridBarrier, IMAGES, Part, Scratch, Simd, WorkItemId, WorkgroupId};
use crate::isa::{
    GFX1010, GFX1010_WAVE64, GFX1011, GFX1011_WAVE64, GFX1030, GFX1030_WAVE64, GFX1100, GFX1100_WAVE64,
    GFX1150, GFX1150_WAVE64, GFX1201, GFX1201_WAVE64,
};

const SIMD_GFX1100: Simd =
    Simd { count: 4, waves: 16, vgprs: 1536, allocated_vgprs: 24, sgprs: None, is_paired: true };
/// Of gfx1102, gfx1103 and gfx1150 too.
const SIMD_GFX1030: Simd = Simd { vgprs: 1024, allocated_vgprs: 16, ..SIMD_GFX1100 };
const SIMD_GFX1010: Simd = Simd { waves: 20, allocated_vgprs: 8, ..SIMD_GFX1030 };

pub(super) const GFX1100_PART: Part = Part {
    name: "gfx1100",
    features: "",
    code: &["gfx1100", "gfx11-generic"],
    product: "RX 7900 XTX",
    sets: &[&GFX1100, &GFX1100_WAVE64],
    scratch: Scratch::Architected,
    work_item_id: WorkItemId::Packed,
    workgroup_id: WorkgroupId::UserRegisters,
    vgpr_granule: 4,
    grid_barrier: GridBarrier::Memory,
    waves: 32,
    simd: SIMD_GFX1100,
    lds: 64 << 10,
    units: 48,
    architecture: 1100,
    capability: [11, 0],
    chip: 0x744c,
    caches: [32 << 10, 6 << 20, 96 << 20],
    clock: 2_304_000,
    memory_clock: 1_249_000,
    bus: 384,
    images: IMAGES,
};

pub(super) const GFX1101_PART: Part = Part {
    name: "gfx1101",
    code: &["gfx1101", "gfx11-generic"],
    product: "RX 7800 XT",
    units: 30,
    architecture: 1101,
    chip: 0x747e,
    caches: [32 << 10, 4 << 20, 64 << 20],
    clock: 2_254_000,
    memory_clock: 1_219_000,
    bus: 256,
    ..GFX1100_PART
};

pub(super) const GFX1102_PART: Part = Part {
    name: "gfx1102",
    code: &["gfx1102", "gfx11-generic"],
    product: "RX 7600",
    simd: SIMD_GFX1030,
    units: 16,
    architecture: 1102,
    chip: 0x7480,
    caches: [32 << 10, 2 << 20, 32 << 20],
    clock: 2_250_000,
    memory_clock: 1_125_000,
    bus: 128,
    ..GFX1100_PART
};

pub(super) const GFX1103_PART: Part = Part {
    name: "gfx1103",
    code: &["gfx1103", "gfx11-generic"],
    product: "Radeon 780M",
    simd: SIMD_GFX1030,
    units: 6,
    architecture: 1103,
    chip: 0x15bf,
    caches: [32 << 10, 2 << 20, 0],
    clock: 2_700_000,
    memory_clock: 2_800_000,
    bus: 128,
    ..GFX1100_PART
};

pub(super) const GFX1150_PART: Part = Part {
    name: "gfx1150",
    code: &["gfx1150", "gfx11-generic"],
    product: "Radeon 890M",
    sets: &[&GFX1150, &GFX1150_WAVE64],
    simd: SIMD_GFX1030,
    units: 8,
    architecture: 1150,
    capability: [11, 5],
    chip: 0x150e,
    caches: [32 << 10, 2 << 20, 0],
    clock: 2_900_000,
    memory_clock: 937_000,
    bus: 128,
    ..GFX1100_PART
};

pub(super) const GFX1151_PART: Part = Part {
    name: "gfx1151",
    code: &["gfx1151", "gfx11-generic"],
    product: "Radeon 8060S",
    simd: SIMD_GFX1100,
    units: 20,
    architecture: 1151,
    chip: 0x1586,
    caches: [32 << 10, 2 << 20, 32 << 20],
    memory_clock: 1_000_000,
    bus: 256,
    ..GFX1150_PART
};

pub(super) const GFX1030_PART: Part = Part {
    name: "gfx1030",
    features: "",
    code: &["gfx1030", "gfx10-3-generic"],
    product: "RX 6900 XT",
    sets: &[&GFX1030, &GFX1030_WAVE64],
    scratch: Scratch::HardwareRegister,
    work_item_id: WorkItemId::Registers,
    workgroup_id: WorkgroupId::UserRegisters,
    vgpr_granule: 4,
    grid_barrier: GridBarrier::Instructions,
    waves: 32,
    simd: SIMD_GFX1030,
    lds: 64 << 10,
    units: 40,
    architecture: 1030,
    capability: [10, 3],
    chip: 0x73bf,
    caches: [16 << 10, 4 << 20, 128 << 20],
    clock: 2_250_000,
    memory_clock: 1_000_000,
    bus: 256,
    images: IMAGES,
};

pub(super) const GFX1031_PART: Part = Part {
    name: "gfx1031",
    code: &["gfx1031", "gfx10-3-generic"],
    product: "RX 6700 XT",
    units: 20,
    architecture: 1031,
    chip: 0x73df,
    caches: [16 << 10, 3 << 20, 96 << 20],
    clock: 2_581_000,
    bus: 192,
    ..GFX1030_PART
};

pub(super) const GFX1032_PART: Part = Part {
    name: "gfx1032",
    code: &["gfx1032", "gfx10-3-generic"],
    product: "RX 6600 XT",
    units: 16,
    architecture: 1032,
    chip: 0x73ff,
    caches: [16 << 10, 2 << 20, 32 << 20],
    clock: 2_589_000,
    bus: 128,
    ..GFX1030_PART
};

pub(super) const GFX1010_PART: Part = Part {
    name: "gfx1010",
    features: ":xnack-",
    code: &["gfx1010", "gfx10-1-generic"],
    product: "RX 5700 XT",
    sets: &[&GFX1010, &GFX1010_WAVE64],
    waves: 40,
    simd: SIMD_GFX1010,
    units: 20,
    architecture: 1010,
    capability: [10, 1],
    chip: 0x731f,
    caches: [16 << 10, 4 << 20, 0],
    clock: 1_905_000,
    memory_clock: 875_000,
    bus: 256,
    ..GFX1030_PART
};

pub(super) const GFX1011_PART: Part = Part {
    name: "gfx1011",
    code: &["gfx1011", "gfx10-1-generic"],
    product: "Radeon Pro V520",
    sets: &[&GFX1011, &GFX1011_WAVE64],
    units: 18,
    architecture: 1011,
    chip: 0x7362,
    clock: 1_600_000,
    memory_clock: 1_000_000,
    bus: 2048,
    ..GFX1010_PART
};

pub(super) const GFX1012_PART: Part = Part {
    name: "gfx1012",
    code: &["gfx1012", "gfx10-1-generic"],
    product: "RX 5500 XT",
    units: 11,
    architecture: 1012,
    chip: 0x7340,
    caches: [16 << 10, 2 << 20, 0],
    clock: 1_845_000,
    memory_clock: 875_000,
    bus: 128,
    ..GFX1011_PART
};

pub(super) const GFX1201_PART: Part = Part {
    name: "gfx1201",
    features: "",
    code: &["gfx1201", "gfx12-generic"],
    product: "RX 9070 XT",
    sets: &[&GFX1201, &GFX1201_WAVE64],
    scratch: Scratch::Architected,
    work_item_id: WorkItemId::Packed,
    workgroup_id: WorkgroupId::TrapRegisters,
    vgpr_granule: 4,
    grid_barrier: GridBarrier::Memory,
    waves: 32,
    simd: SIMD_GFX1100,
    lds: 64 << 10,
    units: 32,
    architecture: 1201,
    capability: [12, 0],
    chip: 0x7550,
    caches: [32 << 10, 8 << 20, 64 << 20],
    clock: 2_570_000,
    memory_clock: 1_258_000,
    bus: 256,
    images: IMAGES,
};

pub(super) const GFX1200_PART: Part = Part {
    name: "gfx1200",
    code: &["gfx1200", "gfx12-generic"],
    product: "RX 9060 XT",
    units: 16,
    architecture: 1200,
    chip: 0x7590,
    caches: [32 << 10, 4 << 20, 32 << 20],
    clock: 2_740_000,
    bus: 128,
    ..GFX1201_PART
};
