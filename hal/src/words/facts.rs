// SPDX-License-Identifier: MIT OR Apache-2.0
//! Facts of processors and functions, for tuning and for reports. `None` stands for a fact that the device does not know.

/// The facts of one processor of a device. Units are in the names; a fact without one is a count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceFacts {
    /// Compute units, or threads of the CPU that run kernels.
    pub compute_units: Option<u32>,
    /// Work-items of a wave.
    pub wave_size: Option<u32>,
    /// Work-items that a compute unit holds at once.
    pub max_threads_per_compute_unit: Option<u32>,
    /// Dies or partitions of the processor that run workgroups (XCCs of AMD's GPUs).
    pub compute_dies: Option<u32>,
    /// The greatest clock rate of the compute units.
    pub core_clock_khz: Option<u32>,
    /// The greatest clock rate of the memory.
    pub memory_clock_khz: Option<u32>,
    /// The rate of the clock that kernels read as wall time.
    pub wall_clock_khz: Option<u32>,
    /// The width of the memory bus.
    pub memory_bus_bits: Option<u32>,
    /// The data cache of a compute unit.
    pub l1_cache_bytes: Option<u64>,
    /// The level-2 cache.
    pub l2_cache_bytes: Option<u64>,
    /// The level-3 cache.
    pub l3_cache_bytes: Option<u64>,
    /// Local memory (LDS) that one workgroup may have.
    pub local_memory_per_workgroup_bytes: Option<u32>,
    /// Local memory (LDS) that the workgroups of a compute unit share.
    pub local_memory_per_compute_unit_bytes: Option<u32>,
    /// Registers of 32 bits that one workgroup may have.
    pub registers_per_workgroup: Option<u32>,
    /// Registers of 32 bits that the workgroups of a compute unit share.
    pub registers_per_compute_unit: Option<u32>,
    /// Vector registers of 32 bits that one work-item may have.
    pub max_vector_registers: Option<u32>,
    /// The memory of the processor.
    pub total_memory_bytes: Option<u64>,
    /// The memory that nobody used at the time of the question, other processes included.
    pub free_memory_bytes: Option<u64>,
    /// Whether the processor uses the host's memory as its own.
    pub is_integrated: Option<bool>,
    /// Whether all workgroups of a launch can be made to run at once, so that they may wait for each other.
    pub cooperative_launch: Option<bool>,
}

/// The resources that a function's code takes, as the code says. Units are in the names; a fact without one is a count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionResources {
    /// Vector registers (VGPRs) of a work-item. Where vector and accumulation registers share one file (gfx90a, gfx942),
    /// this counts both.
    pub vector_registers: Option<u32>,
    /// Scalar registers (SGPRs) of a wave.
    pub scalar_registers: Option<u32>,
    /// Accumulation registers (AGPRs) of a work-item.
    pub accumulation_registers: Option<u32>,
    /// Private memory (scratch) of a work-item. A function with a dynamic stack may take more.
    pub private_memory_bytes: Option<u32>,
    /// Whether the size of the stack is not known before the launch.
    pub dynamic_stack: Option<bool>,
    /// Vector registers that the compiler stored in memory for lack of registers.
    pub spilled_vector_registers: Option<u32>,
    /// Scalar registers that the compiler stored in memory or in vector registers for lack of registers.
    pub spilled_scalar_registers: Option<u32>,
    /// Work-items of a wave that the code was compiled for.
    pub wave_size: Option<u32>,
}

/// How well workgroups of a function fill a processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Occupancy {
    /// The workgroups that a compute unit runs at once. 0 where not even one fits.
    pub workgroups_per_compute_unit: u32,
}

impl Occupancy {
    /// This many workgroups on a compute unit at once.
    pub fn new(workgroups_per_compute_unit: u32) -> Self {
        Self { workgroups_per_compute_unit }
    }
}

/// A workgroup size that fills a processor well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SuggestedWorkgroup {
    /// The work-items of a workgroup, in all dimensions together.
    pub threads: u32,
    /// The least number of such workgroups that keeps the whole processor busy.
    pub workgroups: u32,
}

impl SuggestedWorkgroup {
    /// Workgroups of `threads` work-items, of which `workgroups` fill the processor.
    pub fn new(threads: u32, workgroups: u32) -> Self {
        Self { threads, workgroups }
    }
}
