// SPDX-License-Identifier: MIT OR Apache-2.0
//! Windlass: an async-first hardware abstraction layer for AMD GPUs.
//!
//! This crate is the facade: the whole interface of [`windlass_hal`], and a [`registry`] with the drivers that this
//! build has. From the bytes of a compiled kernel to numbers that are awaited:
//!
//! ```
//! use windlass::Semaphore;
//!
//! let device = windlass::open("hip-sim://gfx942")?; // hip:// for the first real GPU
//! let code = include_bytes!("../cts/kernels/bundles/vector_add.ccob");
//! // SAFETY: vector_add stays within the buffers that it is given.
//! let executable = unsafe { device.load_executable(code) }?;
//! let vector_add = executable.function("vector_add")?;
//!
//! let queue = device.queue(0)?;
//! let [a, b, sum] = [(); 3].map(|()| device.allocate_device(4096));
//! let (a, b, sum) = (a?, b?, sum?);
//! let [first, second] = [1.5_f32, 2.0].map(|value| value.to_le_bytes().repeat(1024));
//!
//! let timeline = Semaphore::new(0);
//! queue.update(&[], &[timeline.at(1)], &first, &a)?;
//! queue.update(&[timeline.at(1)], &[timeline.at(2)], &second, &b)?;
//! let grid = windlass::DispatchConfig::new([4, 1, 1]).workgroup_size([256, 1, 1]);
//! let arguments = [a.arg(), b.arg(), sum.arg(), 1024_i32.into()];
//! queue.dispatch(&[timeline.at(2)], &[timeline.at(3)], &vector_add, grid, &arguments)?;
//! let bytes = pollster::block_on(queue.download(&[timeline.at(3)], &sum)?)?;
//! assert_eq!(bytes, 3.5_f32.to_le_bytes().repeat(1024));
//! # Ok::<(), windlass::Error>(())
//! ```
//!
//! # Drivers
//!
//! | URI | device | feature |
//! |---|---|---|
//! | `hip://`, `hip://1`, `hip://GPU-<uuid>` | a real GPU, through the HIP runtime that the system has | `hip` |
//! | `hip-sim://gfx942` | a software GPU behind the same HIP API; it is always marked *simulated* | `sim` |
//! | `hip-null://` | a HIP that does nothing, for measuring what its callers cost | `hip` |
//! | `local://` | the CPU | `local` |
//! | `null://` | the skeleton for a driver of your own | `null` |
//!
//! Features only add: a program that works with one set works with every larger one. Without `command` and `sim`,
//! neither the command line's crates nor the simulator are built. A driver of your own needs none of them:
//! [`Registry::register`] takes it.

pub mod build_info;
mod default_device;
#[cfg(feature = "sim")]
mod simulated;

use std::sync::{Arc, OnceLock};

pub use default_device::{DEVICE_VARIABLE, REAL_SCHEME, default_device, real_devices};
pub use windlass_hal::*;

/// The drivers of this build. It is made once; clone it to register more.
pub fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        let mut registry = Registry::new();
        for driver in drivers() {
            registry.register(driver);
        }
        registry
    })
}

/// Opens the device that a URI names, with the drivers of this build.
pub fn open(uri: &str) -> Result<Device> {
    registry().open(uri)
}

/// The enabled drivers, the last resort first: a registry lists those registered last first.
fn drivers() -> Vec<Arc<dyn driver::Driver>> {
    vec![
        #[cfg(feature = "null")]
        Arc::new(windlass_null::NullDriver),
        #[cfg(feature = "local")]
        Arc::new(windlass_local::LocalDriver),
        #[cfg(feature = "hip")]
        windlass_hip::Driver::new("hip-null", windlass_hip::null()),
        #[cfg(feature = "sim")]
        windlass_hip::Driver::new("hip-sim", simulated::Source),
        #[cfg(feature = "hip")]
        windlass_hip::Driver::new("hip", windlass_hip::system()),
    ]
}
