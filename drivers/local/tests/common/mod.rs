// SPDX-License-Identifier: MIT OR Apache-2.0
//! A local device with kernels of the test.

#![allow(dead_code, reason = "each test uses a part")]

use std::{
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use windlass_hal::{Device, DispatchConfig, Error, Executable, Registry};
use windlass_local::{Kernel, Library, LocalDriver};

/// A timeout that is long enough for any machine. Only a hang reaches it.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// An inline device with these kernels loaded.
pub(crate) fn device_with(kernels: impl IntoIterator<Item = Kernel>) -> (Device, Executable) {
    loaded_on("local://?threads=0", kernels)
}

/// A device of this URI with these kernels loaded.
pub(crate) fn loaded_on(uri: &str, kernels: impl IntoIterator<Item = Kernel>) -> (Device, Executable) {
    let library =
        kernels.into_iter().fold(Library::builder("test"), |library, kernel| library.kernel(kernel));
    let library = library.build().unwrap();
    let device = open(LocalDriver::new().with_library(library.clone()), uri);
    // SAFETY: the kernels of these tests stay within the buffers that the tests give them.
    let executable = unsafe { device.load_executable(&library.image()) }.unwrap();
    (device, executable)
}

pub(crate) fn open(driver: LocalDriver, uri: &str) -> Device {
    let mut registry = Registry::new();
    registry.register(Arc::new(driver));
    registry.open(uri).unwrap()
}

pub(crate) fn device() -> Device {
    open(LocalDriver::new(), "local://?threads=0")
}

/// One workgroup of one work-item.
pub(crate) fn single() -> DispatchConfig {
    DispatchConfig::new([1; 3]).workgroup_size([1; 3])
}

/// A kernel that reports its start, and ends when the test says so.
pub(crate) fn held() -> (Kernel, mpsc::Receiver<()>, mpsc::Sender<()>) {
    let ((started, starts), (end, ends)) = (mpsc::channel(), mpsc::channel());
    let channels = Mutex::new((started, ends));
    let kernel = Kernel::new("held", move |_| {
        let channels = channels.lock().unwrap();
        channels.0.send(()).unwrap();
        channels.1.recv_timeout(LONG).map_err(|_| Error::deadline_exceeded("nobody ended the kernel"))
    });
    (kernel, starts, end)
}
