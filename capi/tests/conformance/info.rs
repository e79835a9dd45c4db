// SPDX-License-Identifier: MIT OR Apache-2.0
//! The description and the limits of a device.

use windlass_hal::{BufferUsage, DeviceInfo, Feature, Heap, Lack, Limits, MemoryType, Result};

use crate::{
    api::{Handle, api, check, sized, text},
    bindings::*,
};

pub(crate) fn of(device: &Handle<windlass_device_t>) -> Result<DeviceInfo> {
    let mut given = sized!(windlass_device_info_t);
    // SAFETY: the struct states its size.
    check(unsafe { api().windlass_device_info(device.get(), &mut given) })?;
    let optional = |string: *const std::ffi::c_char| (!string.is_null()).then(|| text(string));
    let mut info = DeviceInfo::default();
    info.uri = text(given.uri);
    info.name = text(given.name);
    info.architecture = text(given.architecture);
    info.uuid = optional(given.uuid);
    info.library = optional(given.library);
    info.simulated = given.simulated;
    info.reports_faults = given.reports_faults;
    // SAFETY: the lists are as long as their counts, and belong to the device.
    let (formats, lacks) = unsafe {
        (list(given.executable_formats, given.executable_format_count), list(given.lacks, given.lack_count))
    };
    info.executable_formats = formats.iter().map(|format| text(*format)).collect();
    info.lacks = lacks
        .iter()
        .filter_map(|lack| {
            let name = text(unsafe_name(lack.feature));
            let feature = Feature::ALL.into_iter().find(|feature| feature.name() == name)?;
            Some(Lack::new(feature, text(lack.reason)))
        })
        .collect();
    Ok(info)
}

fn unsafe_name(feature: windlass_feature_t) -> *const std::ffi::c_char {
    // SAFETY: any number may be given.
    unsafe { api().windlass_feature_name(feature) }
}

/// # Safety
/// `pointer` is NULL or points to `count` elements that live as long as `'a`.
unsafe fn list<'a, T>(pointer: *const T, count: usize) -> &'a [T] {
    // SAFETY: the same contract.
    if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(pointer, count) } }
}

pub(crate) fn limits(device: &Handle<windlass_device_t>) -> Result<Limits> {
    let mut given = sized!(windlass_device_limits_t);
    // SAFETY: the struct states its size.
    check(unsafe { api().windlass_device_limits(device.get(), &mut given) })?;
    let mut limits = Limits::default();
    limits.queues = given.queues;
    limits.physical_devices = given.physical_devices;
    limits.max_workgroup_size = given.max_workgroup_size;
    limits.max_workgroup_threads = given.max_workgroup_threads;
    limits.max_workgroup_count = given.max_workgroup_count;
    limits.max_local_memory = given.max_local_memory;
    limits.wave_size = given.wave_size;
    limits.total_memory = given.total_memory;
    limits.allocation_alignment = given.allocation_alignment;
    // SAFETY: a handle.
    let heaps = unsafe { api().windlass_device_heap_count(device.get()) };
    limits.heaps = (0..heaps).map(|index| heap(device, index)).collect::<Result<_>>()?;
    Ok(limits)
}

fn heap(device: &Handle<windlass_device_t>, index: usize) -> Result<Heap> {
    let mut given = sized!(windlass_heap_t);
    // SAFETY: the struct states its size.
    check(unsafe { api().windlass_device_heap(device.get(), index, &mut given) })?;
    let mut heap = Heap::device(given.max_size, given.min_alignment);
    heap.memory_type = MemoryType(given.memory_type);
    heap.usage = BufferUsage(given.usage);
    Ok(heap)
}
