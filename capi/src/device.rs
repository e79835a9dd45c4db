// SPDX-License-Identifier: MIT OR Apache-2.0
//! Devices: enumeration, opening, descriptions and limits.

use std::{
    ffi::{CString, c_char},
    mem::MaybeUninit,
    ptr::{self, NonNull},
    sync::{Arc, Mutex},
};

use facade::{Deadline, Device, DeviceInfo, Error, ProfileTrace};

use crate::{
    boundary::{fallible, infallible},
    error::windlass_error_t,
    feature::{Lacks, windlass_lack_t},
    handle::{self, Shell, object, used},
    memory::{Growing, Texts, c_string, give, list_pointer, out, text, write_struct},
    registry,
    wait::deadline,
};

/// An opened device. Releasing the last reference to it and to its queues cancels operations that were not issued
/// (CANCELLED). Issued operations continue and still reach their signals. No call waits for them.
pub struct windlass_device_t(Shell<Opened>);
object!(windlass_device_t, Opened, "device");

pub(crate) struct Opened {
    pub(crate) device: Device,
    /// The trace of its profile with the path of its file, if the profile is one.
    pub(crate) trace: Mutex<Option<(String, Arc<ProfileTrace>)>>,
    info: Description,
}

impl Opened {
    pub(crate) fn new(device: Device) -> Self {
        let info = Description::new(device.info());
        Self { device, trace: Mutex::default(), info }
    }
}

/// The devices that a driver found.
pub struct windlass_device_list_t(Shell<Vec<Description>>);
object!(windlass_device_list_t, Vec<Description>, "device list");

/// A device's identity with C strings.
pub(crate) struct Description {
    uri: CString,
    name: CString,
    architecture: CString,
    uuid: Option<CString>,
    uuid_bytes: [u8; 16],
    library: Option<CString>,
    simulated: bool,
    reports_faults: bool,
    executable_formats: Texts,
    lacks: Lacks,
}

impl Description {
    fn new(info: &DeviceInfo) -> Self {
        Self {
            uri: c_string(&info.uri),
            name: c_string(&info.name),
            architecture: c_string(&info.architecture),
            uuid: info.uuid.as_deref().map(c_string),
            uuid_bytes: info.uuid.as_deref().and_then(uuid_bytes).unwrap_or_default(),
            library: info.library.as_deref().map(c_string),
            simulated: info.simulated,
            reports_faults: info.reports_faults,
            executable_formats: Texts::new(info.executable_formats.iter().map(|format| c_string(format))),
            lacks: Lacks::new(&info.lacks),
        }
    }

    fn for_c(&self) -> windlass_device_info_t {
        windlass_device_info_t {
            struct_size: size_of::<windlass_device_info_t>(),
            uri: self.uri.as_ptr(),
            name: self.name.as_ptr(),
            architecture: self.architecture.as_ptr(),
            uuid: self.uuid.as_ref().map_or(ptr::null(), |uuid| uuid.as_ptr()),
            library: self.library.as_ref().map_or(ptr::null(), |library| library.as_ptr()),
            simulated: self.simulated,
            executable_format_count: self.executable_formats.pointers().len(),
            executable_formats: list_pointer(self.executable_formats.pointers()),
            lack_count: self.lacks.list().len(),
            lacks: list_pointer(self.lacks.list()),
            uuid_bytes: self.uuid_bytes,
            reports_faults: self.reports_faults,
            reserved: [0; 7],
        }
    }
}

/// The bytes of a UUID from the text that AMD's tools print: `GPU-`, then 16 characters that are the bytes, or the 32
/// digits of bytes that are no text.
fn uuid_bytes(text: &str) -> Option<[u8; 16]> {
    let text = text.strip_prefix("GPU-")?;
    if let Ok(bytes) = text.as_bytes().try_into() {
        return Some(bytes);
    }
    let digits: &[u8; 32] = text.as_bytes().try_into().ok()?;
    let mut bytes = [0; 16];
    for (byte, digits) in bytes.iter_mut().zip(digits.chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(bytes)
}

/// The description of a device. Its strings belong to the device, or to the list that contains the description.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_device_info_t {
    /// sizeof this struct, set by the caller: windlass_device_info_init does so.
    pub struct_size: usize,
    /// The URI that opens this device.
    pub uri: *const c_char,
    /// The maker's name of the device.
    pub name: *const c_char,
    /// The target that code must be built for, with the state of its features: "gfx942:sramecc+:xnack-".
    pub architecture: *const c_char,
    /// A permanent identity ("GPU-..."), or NULL.
    pub uuid: *const c_char,
    /// The library behind it and its version, or NULL.
    pub library: *const c_char,
    /// Whether the device is simulated in any way. Print this wherever you print a device.
    pub simulated: bool,
    /// The number of code formats that windlass_executable_load takes; 0 if the driver does not say.
    pub executable_format_count: usize,
    /// The names of these formats. "hsaco" stands for AMD's code objects and all containers of them.
    pub executable_formats: *const *const c_char,
    /// The number of features that the device lacks.
    pub lack_count: usize,
    /// The features that the device lacks, with the reasons.
    pub lacks: *const windlass_lack_t,
    /// The 16 bytes of the identity, as HIP gives them; zeros without one, and for a device of several GPUs.
    pub uuid_bytes: [u8; 16],
    /// Whether a faulting kernel only fails the work that waits for it, and the process continues.
    pub reports_faults: bool,
    /// Zero.
    pub reserved: [u8; 7],
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_device_info_t {
    /// Without the formats and all that follows.
    const LEAST: usize = 56;
    const NAME: &'static str = "windlass_device_info_t";
}

/// The limits of a device. Zero means that the device sets no limit.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_device_limits_t {
    /// sizeof this struct, set by the caller: windlass_device_limits_init does so.
    pub struct_size: usize,
    /// The number of queues, 1 to 64. They are numbered from 0.
    pub queues: u32,
    /// Work-items of a workgroup in x, y, z.
    pub max_workgroup_size: [u32; 3],
    /// Work-items of a workgroup in total.
    pub max_workgroup_threads: u32,
    /// Workgroups of a dispatch in x, y, z.
    pub max_workgroup_count: [u32; 3],
    /// Local memory (LDS) of a workgroup in bytes, static and dynamic together.
    pub max_local_memory: u32,
    /// Work-items of a wave.
    pub wave_size: u32,
    /// Device memory in bytes.
    pub total_memory: u64,
    /// The alignment of allocations in bytes.
    pub allocation_alignment: u64,
    /// The number of GPUs or other processors of the device. Each has its own memory and, in order, an equal share of
    /// the queues.
    pub physical_devices: u32,
    /// Zero.
    pub reserved: u32,
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_device_limits_t {
    const NAME: &'static str = "windlass_device_limits_t";
}

/// The memory use of a device, in bytes. Memory that the host can map counts as host memory.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_statistics_t {
    /// sizeof this struct, set by the caller: windlass_statistics_init does so.
    pub struct_size: usize,
    /// Device memory in use by buffers, in requested bytes.
    pub device_bytes_used: u64,
    /// Device memory taken from the system, in use or kept for reuse.
    pub device_bytes_reserved: u64,
    /// The maximum of device_bytes_used.
    pub device_bytes_peak: u64,
    /// The total of all allocations of device memory.
    pub device_bytes_allocated: u64,
    /// The total of all releases of device memory.
    pub device_bytes_freed: u64,
    /// Host memory in use by buffers, in requested bytes.
    pub host_bytes_used: u64,
    /// Host memory taken from the system, in use or kept for reuse.
    pub host_bytes_reserved: u64,
    /// The maximum of host_bytes_used.
    pub host_bytes_peak: u64,
    /// The total of all allocations of host memory.
    pub host_bytes_allocated: u64,
    /// The total of all releases of host memory.
    pub host_bytes_freed: u64,
    /// The number of allocations in use.
    pub allocations: u64,
    /// The number of pools with a handle or a buffer.
    pub pools: u64,
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_statistics_t {
    const NAME: &'static str = "windlass_statistics_t";
}

/// The drivers by scheme, numbered from 0: those of this library, "hip", "hip-sim", ..., then those that the program has
/// registered, in that order. NULL after the last one. The string is valid forever.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_driver_scheme(index: usize) -> *const c_char {
    infallible(ptr::null(), || Ok(registry::scheme(index).map_or(ptr::null(), |scheme| scheme.as_ptr())))
}

/// Lists the devices of a driver; the list may be empty. An error names the missing library or access right if the
/// driver cannot look for devices. The caller owns the list.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_driver_devices(
    scheme: *const c_char,
    list: Option<&mut MaybeUninit<Option<NonNull<windlass_device_list_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(list, || {
            // SAFETY: the contract in the header covers that of `text`.
            let scheme = unsafe { text("scheme", scheme) }?;
            let devices = registry::registry().driver(scheme)?.enumerate()?;
            Ok(devices.iter().map(Description::new).collect())
        })
    })
}

/// The number of devices in a list; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_device_list_count(list: Option<NonNull<windlass_device_list_t>>) -> usize {
    infallible(0, || Ok(used(list)?.len()))
}

/// The description of a device in the list. OUT_OF_RANGE if the list is shorter. The strings are valid until the
/// list's last reference is released.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_device_list_info(
    list: Option<NonNull<windlass_device_list_t>>,
    index: usize,
    info: *mut windlass_device_info_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let list = used(list)?;
        let device = list
            .get(index)
            .ok_or_else(|| Error::out_of_range(format!("device {index} of a list of {}", list.len())))?;
        // SAFETY: the contract in the header covers that of `write_struct`.
        unsafe { write_struct(info, &device.for_c()) }
    })
}

/// Adds a reference and returns the list. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_device_list_retain(
    list: Option<NonNull<windlass_device_list_t>>,
) -> Option<NonNull<windlass_device_list_t>> {
    infallible(None, || handle::retain(list).map(|()| list))
}

/// Releases a reference. NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_device_list_release(list: Option<NonNull<windlass_device_list_t>>) {
    infallible((), || {
        handle::release(list);
        Ok(())
    });
}

/// Opens the device of a URI: "hip://", "hip://1", "hip-sim://gfx942", ... NOT_FOUND and UNAVAILABLE list the searched
/// places. The caller owns the device.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_device_open(
    uri: *const c_char,
    device: Option<&mut MaybeUninit<Option<NonNull<windlass_device_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(device, || {
            // SAFETY: the contract in the header covers that of `text`.
            let uri = unsafe { text("uri", uri) }?;
            registry::registry().open(uri).map(Opened::new)
        })
    })
}

/// Opens the device that the environment variable WINDLASS_DEVICE names, else the first real GPU. A simulated device
/// is never chosen unasked: without a GPU, UNAVAILABLE says why and which variable to set. The caller owns the device.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_device_open_default(
    device: Option<&mut MaybeUninit<Option<NonNull<windlass_device_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| give(device, || facade::default_device().map(Opened::new)))
}

/// Adds a reference and returns the device. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_device_retain(
    device: Option<NonNull<windlass_device_t>>,
) -> Option<NonNull<windlass_device_t>> {
    infallible(None, || handle::retain(device).map(|()| device))
}

/// Releases a reference. NULL is allowed. Never waits.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_device_release(device: Option<NonNull<windlass_device_t>>) {
    infallible((), || {
        handle::release(device);
        Ok(())
    });
}

/// The description of the device. The strings are valid until the device's last reference is released.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_device_info(
    device: Option<NonNull<windlass_device_t>>,
    info: *mut windlass_device_info_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let device = used(device)?;
        // SAFETY: the contract in the header covers that of `write_struct`.
        unsafe { write_struct(info, &device.info.for_c()) }
    })
}

/// The limits of the device.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_device_limits(
    device: Option<NonNull<windlass_device_t>>,
    limits: *mut windlass_device_limits_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let device = used(device)?;
        let of = device.device.limits();
        let value = windlass_device_limits_t {
            struct_size: size_of::<windlass_device_limits_t>(),
            queues: of.queues,
            max_workgroup_size: of.max_workgroup_size,
            max_workgroup_threads: of.max_workgroup_threads,
            max_workgroup_count: of.max_workgroup_count,
            max_local_memory: of.max_local_memory,
            wave_size: of.wave_size,
            total_memory: of.total_memory,
            allocation_alignment: of.allocation_alignment,
            physical_devices: of.physical_devices,
            reserved: 0,
        };
        // SAFETY: the contract in the header covers that of `write_struct`.
        unsafe { write_struct(limits, &value) }
    })
}

/// The queues of one of the device's physical devices, bit n for queue n, as windlass_device_queue_of takes them. The
/// physical devices are numbered from 0. OUT_OF_RANGE if there are fewer.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_device_physical_affinity(
    device: Option<NonNull<windlass_device_t>>,
    index: u32,
    affinity: Option<&mut MaybeUninit<u64>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let affinity = out("affinity", affinity)?;
        let device = used(device)?;
        let limits = device.device.limits();
        let found = limits.physical_affinity(index).ok_or_else(|| {
            let count = limits.physical_devices;
            Error::out_of_range(format!("physical device {index} of a device that has {count}"))
        })?;
        affinity.write(found.bits());
        Ok(())
    })
}

/// The memory use of the device.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_device_statistics(
    device: Option<NonNull<windlass_device_t>>,
    statistics: *mut windlass_statistics_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let of = used(device)?.device.statistics();
        let value = windlass_statistics_t {
            struct_size: size_of::<windlass_statistics_t>(),
            device_bytes_used: of.device_bytes_used,
            device_bytes_reserved: of.device_bytes_reserved,
            device_bytes_peak: of.device_bytes_peak,
            device_bytes_allocated: of.device_bytes_allocated,
            device_bytes_freed: of.device_bytes_freed,
            host_bytes_used: of.host_bytes_used,
            host_bytes_reserved: of.host_bytes_reserved,
            host_bytes_peak: of.host_bytes_peak,
            host_bytes_allocated: of.host_bytes_allocated,
            host_bytes_freed: of.host_bytes_freed,
            allocations: of.allocations,
            pools: of.pools,
        };
        // SAFETY: the contract in the header covers that of `write_struct`.
        unsafe { write_struct(statistics, &value) }
    })
}

/// Retires finished work. Never blocks. Waits and submissions also do so.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_device_poll(
    device: Option<NonNull<windlass_device_t>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        used(device)?.device.poll();
        Ok(())
    })
}

/// Blocks until all issued operations have retired, or DEADLINE_EXCEEDED. Operations whose waits are not reached are
/// not issued, so it does not wait for them. It waits for running host calls, except for one that calls this itself, and
/// not for the completions of those that returned after windlass_host_call_defer.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_device_drain(
    device: Option<NonNull<windlass_device_t>>,
    timeout_ns: u64,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let until: Deadline = deadline(timeout_ns);
        let device = used(device)?.device.clone();
        device.drain(until)
    })
}

/// Closes the device for all handles: operations that were not issued fail with CANCELLED, and new work is refused.
/// Does not wait.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_device_close(
    device: Option<NonNull<windlass_device_t>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        used(device)?.device.close();
        Ok(())
    })
}

/// Returns unused memory to the system.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_device_trim(
    device: Option<NonNull<windlass_device_t>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        used(device)?.device.trim();
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_a_uuid_are_those_of_hip() {
        assert_eq!(uuid_bytes("GPU-1234567890abcdef"), Some(*b"1234567890abcdef"));
        let digits = uuid_bytes("GPU-000102030405060708090a0b0c0d0eff");
        assert_eq!(digits, Some([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255]));
        for text in ["", "GPU-", "1234567890abcdef", "GPU-1234567890abcdef,GPU-1234567890abcdef"] {
            assert_eq!(uuid_bytes(text), None, "{text}");
        }
        assert_eq!(uuid_bytes("GPU-zz0102030405060708090a0b0c0d0eff"), None);
    }
}
