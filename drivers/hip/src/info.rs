// SPDX-License-Identifier: MIT OR Apache-2.0
//! What HIP says of a device.

use windlass_hal::{DeviceInfo, Limits, Result};
use windlass_hip_sys::bindings::hipDeviceAttribute_t as Attribute;

use crate::call::Hip;

pub(crate) fn device_info(hip: &Hip, uri: String) -> Result<DeviceInfo> {
    let origin = hip.api.origin();
    let mut info = DeviceInfo::default();
    info.uri = uri;
    info.name = hip.name()?;
    info.architecture = hip.properties()?.0;
    info.uuid = hip.uuid();
    info.executable_formats = vec!["hsaco".to_owned()];
    info.library = Some(origin.to_string());
    info.simulated = origin.simulated;
    Ok(info)
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
    limits.queues = queues;
    Ok(limits)
}
