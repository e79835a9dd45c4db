// SPDX-License-Identifier: MIT OR Apache-2.0
//! Facts of processors and of functions, and occupancy.

use std::{mem::MaybeUninit, ptr::NonNull};

use facade::QueueAffinity;

use crate::{
    boundary::fallible,
    device::windlass_device_t,
    error::windlass_error_t,
    executable::windlass_function_t,
    handle::used,
    memory::{Growing, out, write_struct},
    unknown::{bytes, flag, number},
};

/// The facts of one processor of a device. WINDLASS_UNKNOWN, or WINDLASS_UNKNOWN_BYTES, stands for a fact that the device
/// does not know. A fact without a unit in its name is a count.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_device_facts_t {
    /// sizeof this struct, set by the caller: windlass_device_facts_init does so.
    pub struct_size: usize,
    /// Compute units, or threads of the CPU that run kernels.
    pub compute_units: u32,
    /// Work-items of a wave.
    pub wave_size: u32,
    /// Work-items that a compute unit holds at once.
    pub max_threads_per_compute_unit: u32,
    /// Dies or partitions of the processor that run workgroups.
    pub compute_dies: u32,
    /// The greatest clock rate of the compute units.
    pub core_clock_khz: u32,
    /// The greatest clock rate of the memory.
    pub memory_clock_khz: u32,
    /// The rate of the clock that kernels read as wall time.
    pub wall_clock_khz: u32,
    /// The width of the memory bus.
    pub memory_bus_bits: u32,
    /// Local memory (LDS) that one workgroup may have.
    pub local_memory_per_workgroup_bytes: u32,
    /// Local memory (LDS) that the workgroups of a compute unit share.
    pub local_memory_per_compute_unit_bytes: u32,
    /// Registers of 32 bits that one workgroup may have.
    pub registers_per_workgroup: u32,
    /// Registers of 32 bits that the workgroups of a compute unit share.
    pub registers_per_compute_unit: u32,
    /// Vector registers of 32 bits that one work-item may have.
    pub max_vector_registers: u32,
    /// Whether the processor uses the host's memory as its own: 0, 1 or WINDLASS_UNKNOWN.
    pub is_integrated: u32,
    /// Whether all workgroups of a launch can be made to run at once: 0, 1 or WINDLASS_UNKNOWN.
    pub cooperative_launch: u32,
    /// Zero.
    pub reserved: u32,
    /// The data cache of a compute unit.
    pub l1_cache_bytes: u64,
    /// The level-2 cache.
    pub l2_cache_bytes: u64,
    /// The level-3 cache.
    pub l3_cache_bytes: u64,
    /// The memory of the processor.
    pub total_memory_bytes: u64,
    /// The memory that nobody uses now, other processes included.
    pub free_memory_bytes: u64,
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_device_facts_t {
    const NAME: &'static str = "windlass_device_facts_t";
}

/// The facts of one of the device's processors, counted from 0 as windlass_device_physical_affinity counts them.
/// OUT_OF_RANGE if there are fewer.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_device_facts(
    device: Option<NonNull<windlass_device_t>>,
    physical_device: u32,
    facts: *mut windlass_device_facts_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let of = used(device)?.device.facts(physical_device)?;
        let value = windlass_device_facts_t {
            struct_size: size_of::<windlass_device_facts_t>(),
            compute_units: number(of.compute_units),
            wave_size: number(of.wave_size),
            max_threads_per_compute_unit: number(of.max_threads_per_compute_unit),
            compute_dies: number(of.compute_dies),
            core_clock_khz: number(of.core_clock_khz),
            memory_clock_khz: number(of.memory_clock_khz),
            wall_clock_khz: number(of.wall_clock_khz),
            memory_bus_bits: number(of.memory_bus_bits),
            local_memory_per_workgroup_bytes: number(of.local_memory_per_workgroup_bytes),
            local_memory_per_compute_unit_bytes: number(of.local_memory_per_compute_unit_bytes),
            registers_per_workgroup: number(of.registers_per_workgroup),
            registers_per_compute_unit: number(of.registers_per_compute_unit),
            max_vector_registers: number(of.max_vector_registers),
            is_integrated: flag(of.is_integrated),
            cooperative_launch: flag(of.cooperative_launch),
            reserved: 0,
            l1_cache_bytes: bytes(of.l1_cache_bytes),
            l2_cache_bytes: bytes(of.l2_cache_bytes),
            l3_cache_bytes: bytes(of.l3_cache_bytes),
            total_memory_bytes: bytes(of.total_memory_bytes),
            free_memory_bytes: bytes(of.free_memory_bytes),
        };
        // SAFETY: the contract in the header covers that of `write_struct`.
        unsafe { write_struct(facts, &value) }
    })
}

/// The queues of a mask, or all of them for 0.
fn affinity(queues: u64) -> QueueAffinity {
    if queues == 0 { QueueAffinity::ANY } else { QueueAffinity::from_bits(queues) }
}

/// How many workgroups of `threads` work-items in all, each with `dynamic_local_memory` bytes of local memory beside the
/// function's own, a compute unit runs at once; 0 if not even one fits. On a device of several GPUs the answer is for
/// the first one that has a queue of `queues`, bit n for queue n, or 0 for any. OUT_OF_RANGE for no work-items, and for
/// more than can be launched. UNIMPLEMENTED where the device lacks WINDLASS_FEATURE_OCCUPANCY.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_function_occupancy(
    function: Option<NonNull<windlass_function_t>>,
    queues: u64,
    threads: u32,
    dynamic_local_memory: u32,
    workgroups_per_compute_unit: Option<&mut MaybeUninit<u32>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let place = out("workgroups_per_compute_unit", workgroups_per_compute_unit)?;
        let function = used(function)?.function.clone();
        let found = function.occupancy_on(affinity(queues), threads, dynamic_local_memory)?;
        place.write(found.workgroups_per_compute_unit);
        Ok(())
    })
}

/// A workgroup size that fills a processor with this function: the work-items of a workgroup in all dimensions together,
/// and the least number of such workgroups that keeps the processor busy. The parameters and errors are those of
/// windlass_function_occupancy.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_function_suggested_workgroup(
    function: Option<NonNull<windlass_function_t>>,
    queues: u64,
    dynamic_local_memory: u32,
    threads: Option<&mut MaybeUninit<u32>>,
    workgroups: Option<&mut MaybeUninit<u32>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let (threads, workgroups) = (out("threads", threads)?, out("workgroups", workgroups)?);
        let function = used(function)?.function.clone();
        let found = function.suggested_workgroup_on(affinity(queues), dynamic_local_memory)?;
        threads.write(found.threads);
        workgroups.write(found.workgroups);
        Ok(())
    })
}
