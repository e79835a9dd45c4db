// SPDX-License-Identifier: MIT OR Apache-2.0
#![doc = include_str!("../README.md")]

pub mod build_info;
mod default_device;
#[cfg(feature = "sim")]
mod simulated;

use std::sync::{Arc, OnceLock};

pub use default_device::{DEVICE_VARIABLE, REAL_SCHEME, default_device, real_devices};
pub use windlass_hal::*;
/// The CPU driver: what kernels in Rust are written with.
#[cfg(feature = "local")]
pub use windlass_local as local;

/// The drivers of this build. It is made once; clone it to register more.
pub fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        let drivers = drivers();
        let register = |mut registry: Registry| {
            for driver in &drivers {
                registry.register(driver.clone());
            }
            registry
        };
        register(wrappers(register(Registry::new())))
    })
}

/// Opens the device that a URI names, with the drivers of this build. `docs/uris.md` has the keys of each.
///
/// `hip://` loads a HIP library, whose constructors run in this process: the system's, or the one that the key `library` or
/// the variable `WINDLASS_HIP_LIBRARY` names. This is the exception to the rule that loading code and
/// importing pointers are the unsafe acts: whoever can write the URI or the variable decides which native code runs in this
/// process, as with any dynamic loader.
pub fn open(uri: &str) -> Result<Device> {
    registry().open(uri)
}

/// The drivers whose devices wrap those of others.
#[cfg(feature = "command")]
fn wrappers(drivers: Registry) -> Registry {
    let mut registry = Registry::new();
    registry.register(Arc::new(windlass_cts::shuffle::Driver::new(drivers)));
    registry
}

/// There are none in this build.
#[cfg(not(feature = "command"))]
fn wrappers(_drivers: Registry) -> Registry {
    Registry::new()
}

/// The enabled drivers, the last resort first: a registry lists those registered last first.
fn drivers() -> Vec<Arc<dyn driver::Driver>> {
    vec![
        #[cfg(feature = "null")]
        Arc::new(windlass_null::NullDriver),
        #[cfg(feature = "local")]
        Arc::new(windlass_local::LocalDriver::new()),
        #[cfg(feature = "hip")]
        windlass_hip::Driver::new("hip-null", windlass_hip::null()),
        #[cfg(feature = "sim")]
        windlass_hip::Driver::new("hip-sim", simulated::Source),
        #[cfg(feature = "hip")]
        windlass_hip::Driver::new("hip", windlass_hip::system()),
    ]
}
