// SPDX-License-Identifier: MIT OR Apache-2.0
//! The CPU driver of Windlass: `local://`, a page for now.
//!
//! It will run kernels built for the host (shared objects and IREE's executable libraries) on a pool of threads,
//! with the same queues and semaphores as every other driver. Until then the scheme is registered, so that
//! opening it says what is missing, and lists no device.

use std::sync::Arc;

use windlass_hal::{
    DeviceInfo, Error, Registry, Result, Uri,
    driver::{Device, Driver},
};

/// The driver of `local://`.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalDriver;

impl Driver for LocalDriver {
    fn scheme(&self) -> &str {
        "local"
    }

    fn description(&self) -> String {
        "kernels for the host CPU (not there yet)".to_owned()
    }

    fn enumerate(&self) -> Result<Vec<DeviceInfo>> {
        Err(missing())
    }

    fn open(&self, _uri: &Uri) -> Result<Arc<dyn Device>> {
        Err(missing())
    }
}

fn missing() -> Error {
    Error::unavailable(
        "local:// will run kernels built for this CPU on a pool of threads; this version has no such executor \
         yet. Use hip-sim://gfx942 to run AMD kernels without a GPU, or null:// for queues and memory alone",
    )
}

/// Adds `local://` to a registry.
pub fn register(registry: &mut Registry) {
    registry.register(Arc::new(LocalDriver));
}

#[cfg(test)]
mod tests {
    use windlass_hal::{Code, Registry};

    #[test]
    fn says_what_is_missing() {
        let mut registry = Registry::new();
        super::register(&mut registry);
        let error = registry.open("local://?threads=2").unwrap_err();
        assert_eq!(error.code(), Code::Unavailable);
        assert!(error.message().contains("hip-sim://gfx942"), "{error}");
    }
}
