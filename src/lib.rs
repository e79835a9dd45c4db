// SPDX-License-Identifier: MIT OR Apache-2.0
#![doc = include_str!("../README.md")]

pub mod build_info;
// In the library, so that it compiles while the packages below it still do. No part of the public interface.
#[cfg(feature = "command")]
#[doc(hidden)]
#[allow(rustdoc::bare_urls, reason = "the command shows its comments as help")]
pub mod command;
mod default_device;
#[cfg(feature = "sim")]
mod simulated;

use std::sync::{Arc, OnceLock};

pub use default_device::{DEVICE_VARIABLE, REAL_SCHEME, default_device, real_devices};
pub use windlass_hal::*;
/// The CPU driver, with the interface for kernels written in Rust.
#[cfg(feature = "local")]
pub use windlass_local as local;
/// Recordings of a device's work, and their replays.
#[cfg(feature = "record")]
pub use windlass_record as record;

/// The drivers of this build. The registry is made once; clone it to register more drivers.
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

/// Opens the device that a URI names, with the drivers of this build. `docs/uris.md` lists the keys of each driver.
///
/// `hip://` loads a HIP library, whose constructors run in this process: the library of the system, or the one that
/// the key `library` or the variable `WINDLASS_HIP_LIBRARY` names. Elsewhere loading code and importing pointers are
/// `unsafe`; this function is the exception. The author of the URI or the variable decides which native code runs in
/// this process, as with any dynamic loader.
pub fn open(uri: &str) -> Result<Device> {
    registry().open(uri)
}

/// The drivers whose devices wrap the devices of other drivers, and of each other.
fn wrappers(drivers: Registry) -> Registry {
    let within = |inner: &Registry| {
        let mut registry = drivers.clone();
        inner.drivers().for_each(|driver| _ = registry.register(driver.clone()));
        registry
    };
    let innermost = shuffled(within(&Registry::new()));
    let recorded = recorded(within(&innermost));
    let mut registry = shuffled(within(&recorded));
    recorded.drivers().for_each(|driver| _ = registry.register(driver.clone()));
    registry
}

/// `shuffle://` over these drivers.
#[cfg(feature = "command")]
fn shuffled(drivers: Registry) -> Registry {
    let mut registry = Registry::new();
    registry.register(Arc::new(windlass_cts::shuffle::Driver::new(drivers)));
    registry
}

/// Without the feature there is none.
#[cfg(not(feature = "command"))]
fn shuffled(_drivers: Registry) -> Registry {
    Registry::new()
}

/// `record://` over these drivers.
#[cfg(feature = "record")]
fn recorded(drivers: Registry) -> Registry {
    let made_by = format!("windlass {}", build_info::PROVENANCE);
    let mut registry = Registry::new();
    registry.register(Arc::new(windlass_record::Driver::new(drivers, made_by)));
    registry
}

/// Without the feature there is none.
#[cfg(not(feature = "record"))]
fn recorded(_drivers: Registry) -> Registry {
    Registry::new()
}

/// The enabled drivers, in reverse order of preference: a registry lists the driver first that was registered last.
fn drivers() -> Vec<Arc<dyn driver::Driver>> {
    vec![
        #[cfg(feature = "null")]
        Arc::new(windlass_null::NullDriver),
        #[cfg(feature = "local")]
        Arc::new(windlass_local::LocalDriver::new()),
        #[cfg(feature = "hip")]
        windlass_hip::Driver::new("hip-null", windlass_hip::null()),
        #[cfg(feature = "sim")]
        windlass_hip::Driver::new("hip-sim", simulated::SimulatedHip),
        #[cfg(feature = "hip")]
        windlass_hip::Driver::new("hip", windlass_hip::system()),
    ]
}
