// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device of the process, which the first call opens, and the GPU of it that a thread chose.

use std::{
    cell::Cell,
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use facade::{DEVICE_VARIABLE, Device, Error, Queue, QueueAffinity, REAL_SCHEME, Result};

use crate::{boundary::call, failure};

/// The simulated device for machines without a GPU.
const SIMULATED: &str = "hip-sim://";

thread_local! {
    /// The GPU for new streams and allocations, by its number within the device.
    static GPU: Cell<u32> = const { Cell::new(0) };
}

/// The device, which is opened once and stays open as long as the process runs.
pub(crate) fn device() -> Result<&'static Device> {
    static DEVICE: OnceLock<Device> = OnceLock::new();
    static OPENING: Mutex<()> = Mutex::new(());
    if let Some(device) = DEVICE.get() {
        return Ok(device);
    }
    let _opening = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(device) = DEVICE.get() {
        return Ok(device);
    }
    let device = open()?;
    Ok(DEVICE.get_or_init(|| device))
}

/// Opens the device that `WINDLASS_DEVICE` names, else the first GPU, else a simulated one, with a note.
fn open() -> Result<Device> {
    if std::env::var_os(DEVICE_VARIABLE).is_some_and(|uri| !uri.is_empty()) {
        return facade::default_device();
    }
    let listed = facade::registry().driver(REAL_SCHEME).and_then(|driver| driver.enumerate());
    // `hip://` lists a simulated GPU only if the user named its library.
    let listed = listed.unwrap_or_default();
    if let Some(info) = listed.iter().find(|info| !info.simulated).or(listed.first()) {
        return facade::open(&info.uri);
    }
    if !cfg!(feature = "sim") {
        return facade::default_device();
    }
    let device = facade::open(SIMULATED)?;
    let info = device.info();
    failure::note(&format!(
        "no real GPU (`windlass devices` says why): running on {}, {}; {DEVICE_VARIABLE} names another device",
        info.uri, info.name
    ));
    Ok(device)
}

/// The queues of the GPU that this thread chose.
pub(crate) fn affinity() -> Result<QueueAffinity> {
    let limits = device()?.limits();
    Ok(limits.physical_affinity(GPU.get()).unwrap_or(QueueAffinity::ANY))
}

/// A queue of the GPU that this thread chose: the next one in turn, so that streams run side by side.
pub(crate) fn next_queue() -> Result<Queue> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let device = device()?;
    let all = affinity()?.bits() & (u64::MAX >> (64 - device.limits().queues.clamp(1, 64)));
    let turn = NEXT.fetch_add(1, Ordering::Relaxed) % all.count_ones().max(1);
    let index = (0..64).filter(|bit| all >> bit & 1 == 1).nth(turn as usize).unwrap_or(0);
    device.queue(index)
}

/// Chooses the GPU for the streams and the memory that this thread makes from now on.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuSetDefaultDevice(index: i32) {
    call(
        (),
        || format!("mgpuSetDefaultDevice({index})"),
        || {
            let device = device()?;
            let count = device.limits().physical_devices.max(1);
            match u32::try_from(index) {
                Ok(index) if index < count => GPU.set(index),
                _ => {
                    return Err(Error::out_of_range(format!(
                        "{} has {count} GPUs, numbered from 0; {DEVICE_VARIABLE}=hip://all is all GPUs of a machine",
                        device.info().uri
                    )));
                }
            }
            Ok(())
        },
    );
}
