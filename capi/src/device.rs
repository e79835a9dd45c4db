// SPDX-License-Identifier: MIT OR Apache-2.0
//! Devices: finding and opening them, and what they are.

use std::{
    ffi::{CString, c_char},
    mem::MaybeUninit,
    ptr::{self, NonNull},
};

use facade::{Deadline, Device, DeviceInfo, Error};

use crate::{
    boundary::{fallible, infallible},
    error::windlass_error_t,
    handle::{self, Shell, object, used},
    memory::{Growing, c_string, give, text, write_struct},
    wait::deadline,
};

/// An opened device. When the last reference to it and to its queues is released, what was not issued fails with
/// CANCELLED; what was issued goes on and still reaches its signals. Nothing waits for it.
pub struct windlass_device_t(Shell<Opened>);
object!(windlass_device_t, Opened, "device");

pub(crate) struct Opened {
    pub(crate) device: Device,
    info: Description,
}

impl Opened {
    fn new(device: Device) -> Self {
        let info = Description::new(device.info());
        Self { device, info }
    }
}

/// The devices that a driver found.
pub struct windlass_device_list_t(Shell<Vec<Description>>);
object!(windlass_device_list_t, Vec<Description>, "device list");

/// A device's identity with its strings in C's form.
pub(crate) struct Description {
    uri: CString,
    name: CString,
    architecture: CString,
    uuid: Option<CString>,
    library: Option<CString>,
    simulated: bool,
}

impl Description {
    fn new(info: &DeviceInfo) -> Self {
        Self {
            uri: c_string(&info.uri),
            name: c_string(&info.name),
            architecture: c_string(&info.architecture),
            uuid: info.uuid.as_deref().map(c_string),
            library: info.library.as_deref().map(c_string),
            simulated: info.simulated,
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
        }
    }
}

/// What a device is. Its strings belong to the device, or to the list that the device stands in.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_device_info_t {
    /// sizeof this struct, set by the caller: windlass_device_info_init does.
    pub struct_size: usize,
    /// The URI that opens this very device.
    pub uri: *const c_char,
    /// The name its maker gives it.
    pub name: *const c_char,
    /// The target that code must be built for, with the state of its features: "gfx942:sramecc+:xnack-".
    pub architecture: *const c_char,
    /// A lasting identity ("GPU-..."), or NULL.
    pub uuid: *const c_char,
    /// The library behind it and its version, or NULL.
    pub library: *const c_char,
    /// True for anything that is not the hardware it looks like. Whoever prints a device prints this.
    pub simulated: bool,
}

// SAFETY: repr(C), its size first, and zeros are a value of it.
unsafe impl Growing for windlass_device_info_t {
    const NAME: &'static str = "windlass_device_info_t";
}

/// What a device can take. Zero means that the device sets no limit.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_device_limits_t {
    /// sizeof this struct, set by the caller: windlass_device_limits_init does.
    pub struct_size: usize,
    /// Queues, numbered from 0. At least 1, at most 64.
    pub queues: u32,
    /// Work-items of a workgroup in x, y, z.
    pub max_workgroup_size: [u32; 3],
    /// Work-items of a workgroup in all.
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
    /// GPUs or other processors that the device is made of, each with its own memory and an equal share of the queues, in order.
    pub physical_devices: u32,
    /// Zero.
    pub reserved: u32,
}

// SAFETY: repr(C), its size first, and zeros are a value of it.
unsafe impl Growing for windlass_device_limits_t {
    const NAME: &'static str = "windlass_device_limits_t";
}

/// What a device's memory is used for, in bytes. What the host can map is host memory.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_statistics_t {
    /// sizeof this struct, set by the caller: windlass_statistics_init does.
    pub struct_size: usize,
    /// Device memory in use by buffers, as they asked for it.
    pub device_bytes_used: u64,
    /// Device memory taken from the system, in use or kept for reuse.
    pub device_bytes_reserved: u64,
    /// The most that device_bytes_used ever was.
    pub device_bytes_peak: u64,
    /// Device memory that buffers ever got.
    pub device_bytes_allocated: u64,
    /// Device memory that buffers gave back.
    pub device_bytes_freed: u64,
    /// Host memory in use by buffers, as they asked for it.
    pub host_bytes_used: u64,
    /// Host memory taken from the system, in use or kept for reuse.
    pub host_bytes_reserved: u64,
    /// The most that host_bytes_used ever was.
    pub host_bytes_peak: u64,
    /// Host memory that buffers ever got.
    pub host_bytes_allocated: u64,
    /// Host memory that buffers gave back.
    pub host_bytes_freed: u64,
    /// The number of allocations that are in use.
    pub allocations: u64,
    /// The number of pools that have a handle or a buffer left.
    pub pools: u64,
}

// SAFETY: repr(C), its size first, and zeros are a value of it.
unsafe impl Growing for windlass_statistics_t {
    const NAME: &'static str = "windlass_statistics_t";
}

/// The drivers of this library by scheme, numbered from 0: "hip", "hip-sim", ... NULL past the last. Valid for ever.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_driver_scheme(index: usize) -> *const c_char {
    infallible(ptr::null(), || Ok(schemes().get(index).map_or(ptr::null(), |scheme| scheme.as_ptr())))
}

fn schemes() -> &'static [CString] {
    static SCHEMES: std::sync::OnceLock<Vec<CString>> = std::sync::OnceLock::new();
    SCHEMES.get_or_init(|| facade::registry().drivers().map(|driver| c_string(driver.scheme())).collect())
}

/// Lists the devices of a driver, of which there may be none. A driver that cannot look, because a library or an access
/// right is missing, is an error that says which. The caller owns the list.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_driver_devices(
    scheme: *const c_char,
    list: Option<&mut MaybeUninit<Option<NonNull<windlass_device_list_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(list, || {
            // SAFETY: the header asks of the caller what `text` asks.
            let scheme = unsafe { text("scheme", scheme) }?;
            let devices = facade::registry().driver(scheme)?.enumerate()?;
            Ok(devices.iter().map(Description::new).collect())
        })
    })
}

/// The number of devices in a list; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_device_list_count(list: Option<NonNull<windlass_device_list_t>>) -> usize {
    infallible(0, || Ok(used(list)?.len()))
}

/// What a device of the list is. OUT_OF_RANGE where the list is shorter. The strings are valid until the list's last
/// reference is released.
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
        // SAFETY: the header asks of the caller what `write_struct` asks.
        unsafe { write_struct(info, &device.for_c()) }
    })
}

/// Adds a reference and gives the list back. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_device_list_retain(
    list: Option<NonNull<windlass_device_list_t>>,
) -> Option<NonNull<windlass_device_list_t>> {
    infallible(None, || handle::retain(list).map(|()| list))
}

/// Gives a reference back. NULL is right.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_device_list_release(list: Option<NonNull<windlass_device_list_t>>) {
    infallible((), || {
        handle::release(list);
        Ok(())
    });
}

/// Opens the device that a URI names: "hip://", "hip://1", "hip-sim://gfx942", ... NOT_FOUND or UNAVAILABLE say what was
/// looked for and where. The caller owns the device.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_device_open(
    uri: *const c_char,
    device: Option<&mut MaybeUninit<Option<NonNull<windlass_device_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(device, || {
            // SAFETY: the header asks of the caller what `text` asks.
            let uri = unsafe { text("uri", uri) }?;
            facade::open(uri).map(Opened::new)
        })
    })
}

/// Opens the device that the environment variable WINDLASS_DEVICE names, else the first real GPU. Nothing simulated is
/// chosen unasked: where there is no GPU, UNAVAILABLE says why and what to set. The caller owns the device.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_device_open_default(
    device: Option<&mut MaybeUninit<Option<NonNull<windlass_device_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| give(device, || facade::default_device().map(Opened::new)))
}

/// Adds a reference and gives the device back. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_device_retain(
    device: Option<NonNull<windlass_device_t>>,
) -> Option<NonNull<windlass_device_t>> {
    infallible(None, || handle::retain(device).map(|()| device))
}

/// Gives a reference back. NULL is right. Never waits.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_device_release(device: Option<NonNull<windlass_device_t>>) {
    infallible((), || {
        handle::release(device);
        Ok(())
    });
}

/// What the device is. The strings are valid until the device's last reference is released.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_device_info(
    device: Option<NonNull<windlass_device_t>>,
    info: *mut windlass_device_info_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let device = used(device)?;
        // SAFETY: the header asks of the caller what `write_struct` asks.
        unsafe { write_struct(info, &device.info.for_c()) }
    })
}

/// What the device can take.
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
        // SAFETY: the header asks of the caller what `write_struct` asks.
        unsafe { write_struct(limits, &value) }
    })
}

/// What the device's memory is used for.
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
        // SAFETY: the header asks of the caller what `write_struct` asks.
        unsafe { write_struct(statistics, &value) }
    })
}

/// Retires what has finished. Never blocks. Waiting and submitting do this too.
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

/// Blocks until everything issued so far has retired, or DEADLINE_EXCEEDED. Operations whose waits are not reached are
/// not issued, and not waited for.
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

/// Closes the device for all handles: what was not issued fails with CANCELLED, new work is refused. Does not wait.
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

/// Gives memory that nobody uses back to the system.
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
