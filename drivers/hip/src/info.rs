// SPDX-License-Identifier: MIT OR Apache-2.0
//! The description and the limits of a device, as HIP reports them.

use windlass_hal::{DeviceFacts, DeviceInfo, Feature, Heap, Lack, Limits, Result};
use windlass_hip_sys::{Found, bindings::hipDeviceAttribute_t as Attribute};

use crate::{allocator::ALIGNMENT, hip::Hip};

pub(crate) fn device_info(hip: &Hip, uri: String) -> Result<DeviceInfo> {
    let origin = hip.api.origin();
    let mut info = DeviceInfo::default();
    info.uri = uri;
    info.name = hip.name()?;
    info.architecture = hip.properties()?.0;
    info.uuid = hip.uuid();
    info.executable_formats = vec![match hip.quirks.newest_code_object {
        Some(newest) => format!("hsaco-v{newest}"),
        None => "hsaco".to_owned(),
    }];
    info.library = Some(origin.to_string());
    info.simulated = origin.simulated;
    info.reports_faults = hip.api.diagnoses_faults();
    if hip.quirks.completion_actions_crash {
        let reason = "this version of HIP ends the process on launching kernels that call functions of other code objects";
        info.lacks.push(Lack::new(Feature::Linking, reason));
    }
    if hip.quirks.queries_wait_for_others {
        let reason = "in AMD's HIP 5, the query of an event waits for the work of the other library";
        info.lacks.push(Lack::new(Feature::ExternalTimepoints, reason));
    }
    let looks_up = hip.api.has(windlass_hip_sys::Feature::AddressLookup);
    if !looks_up {
        let reason =
            "the HIP library does not export both of hipPointerGetAttributes and hipMemGetAddressRange";
        info.lacks.push(Lack::new(Feature::ImportHost, reason));
        info.lacks.push(Lack::new(Feature::ImportDevice, reason));
    } else if !hip.api.has(windlass_hip_sys::Feature::HostRegistration) {
        let reason = "the HIP library does not export both of hipHostRegister and hipHostUnregister";
        info.lacks.push(Lack::new(Feature::ImportHost, reason));
    }
    if !hip.api.has(windlass_hip_sys::Feature::Occupancy) {
        let reason = "the HIP library does not export all functions of occupancy";
        info.lacks.push(Lack::new(Feature::Occupancy, reason));
    }
    if origin.found == Found::InProcess && hip.api.rccl().is_none() {
        info.lacks.push(Lack::new(Feature::Collectives, "this HIP is in the process and has no RCCL"));
    }
    if let Some(reason) = hip.lacks_virtual_memory() {
        info.lacks.push(Lack::new(Feature::VirtualMemory, reason));
    }
    Ok(info)
}

/// The facts of a GPU. HIP answers 0 for a number that it does not know.
pub(crate) fn facts(hip: &Hip) -> DeviceFacts {
    let number = |attribute| hip.attribute(attribute).filter(|number| *number > 0);
    let flag = |attribute| hip.attribute(attribute).map(|value| value != 0);
    let mut facts = DeviceFacts::default();
    facts.compute_units = number(Attribute::hipDeviceAttributeMultiprocessorCount);
    facts.wave_size = number(Attribute::hipDeviceAttributeWarpSize);
    facts.max_threads_per_compute_unit = number(Attribute::hipDeviceAttributeMaxThreadsPerMultiProcessor);
    facts.compute_dies = number(Attribute::hipDeviceAttributeNumberOfXccs);
    facts.core_clock_khz = number(Attribute::hipDeviceAttributeClockRate);
    facts.memory_clock_khz = number(Attribute::hipDeviceAttributeMemoryClockRate);
    facts.wall_clock_khz = number(Attribute::hipDeviceAttributeWallClockRate);
    facts.memory_bus_bits = number(Attribute::hipDeviceAttributeMemoryBusWidth);
    facts.l2_cache_bytes = number(Attribute::hipDeviceAttributeL2CacheSize).map(u64::from);
    facts.local_memory_per_workgroup_bytes = number(Attribute::hipDeviceAttributeMaxSharedMemoryPerBlock);
    // AMD's HIP counts hipDeviceAttributeSharedMemPerMultiprocessor over all compute units.
    facts.local_memory_per_compute_unit_bytes =
        number(Attribute::hipDeviceAttributeMaxSharedMemoryPerMultiprocessor);
    facts.registers_per_workgroup = number(Attribute::hipDeviceAttributeMaxRegistersPerBlock);
    facts.registers_per_compute_unit = number(Attribute::hipDeviceAttributeMaxRegistersPerMultiprocessor);
    facts.max_vector_registers = number(Attribute::hipDeviceAttributeMaxAvailableVgprsPerThread);
    (facts.free_memory_bytes, facts.total_memory_bytes) = hip.memory().unzip();
    facts.is_integrated = flag(Attribute::hipDeviceAttributeIntegrated);
    facts.cooperative_launch = flag(Attribute::hipDeviceAttributeCooperativeLaunch);
    facts
}

pub(crate) fn limits(hip: &Hip, queues: u32) -> Result<Limits> {
    let mut limits = Limits::default();
    let read =
        |attribute, value: &mut u32| *value = hip.attribute(attribute).filter(|n| *n > 0).unwrap_or(*value);
    let [x, y, z] = &mut limits.max_workgroup_size;
    read(Attribute::hipDeviceAttributeMaxBlockDimX, x);
    read(Attribute::hipDeviceAttributeMaxBlockDimY, y);
    read(Attribute::hipDeviceAttributeMaxBlockDimZ, z);
    let [x, y, z] = &mut limits.max_workgroup_count;
    read(Attribute::hipDeviceAttributeMaxGridDimX, x);
    read(Attribute::hipDeviceAttributeMaxGridDimY, y);
    read(Attribute::hipDeviceAttributeMaxGridDimZ, z);
    read(Attribute::hipDeviceAttributeMaxThreadsPerBlock, &mut limits.max_workgroup_threads);
    read(Attribute::hipDeviceAttributeMaxSharedMemoryPerBlock, &mut limits.max_local_memory);
    read(Attribute::hipDeviceAttributeWarpSize, &mut limits.wave_size);
    limits.total_memory = hip.properties()?.1;
    // A buffer lies in the memory of one GPU. HIP does not say how much host memory can be pinned.
    limits.heaps = vec![Heap::device(limits.total_memory, ALIGNMENT), Heap::host(u64::MAX, ALIGNMENT)];
    limits.allocation_alignment = ALIGNMENT;
    limits.queues = queues;
    Ok(limits)
}

/// The description of a device of several GPUs: that of the first, with the names and UUIDs of all.
pub(crate) fn joined(before: Option<DeviceInfo>, next: DeviceInfo) -> DeviceInfo {
    let Some(mut info) = before else { return next };
    info.name = format!("{} + {}", info.name, next.name);
    info.uuid = match (info.uuid, next.uuid) {
        (Some(first), Some(second)) => Some(format!("{first},{second}")),
        _ => None,
    };
    info
}

/// The limits of a device of several GPUs: the least of each, except that queues and memory add up.
pub(crate) fn least(before: Option<Limits>, next: Limits) -> Limits {
    let Some(mut limits) = before else { return next };
    let dimensions = |limits: &mut [u32; 3], next: [u32; 3]| {
        limits.iter_mut().zip(next).for_each(|(limit, next)| *limit = (*limit).min(next));
    };
    dimensions(&mut limits.max_workgroup_size, next.max_workgroup_size);
    dimensions(&mut limits.max_workgroup_count, next.max_workgroup_count);
    limits.max_workgroup_threads = limits.max_workgroup_threads.min(next.max_workgroup_threads);
    limits.max_local_memory = limits.max_local_memory.min(next.max_local_memory);
    for (heap, next) in limits.heaps.iter_mut().zip(&next.heaps) {
        heap.max_size = heap.max_size.min(next.max_size);
    }
    limits.total_memory = limits.total_memory.saturating_add(next.total_memory);
    limits.queues += next.queues;
    limits.physical_devices += next.physical_devices;
    limits
}
