// SPDX-License-Identifier: MIT OR Apache-2.0
//! Global variables of executables as buffers.

use std::{any::Any, sync::Arc};

use windlass_hal::{
    Location,
    driver::{self, HostPointer},
    edge::Domain,
};

/// The memory of a variable, which lives as long as its module is loaded. The allocator does not own it, so a dealloca of it
/// is a barrier.
pub(crate) struct Global {
    /// Keeps the module loaded.
    executable: Arc<dyn driver::RawExecutable>,
    address: u64,
    size: u64,
    /// HIP's number of the GPU.
    ordinal: i32,
}

impl Global {
    pub(crate) fn new(
        executable: Arc<dyn driver::RawExecutable>,
        address: u64,
        size: u64,
        ordinal: i32,
    ) -> Self {
        Self { executable, address, size, ordinal }
    }
}

// SAFETY: HIP gave address and size of a variable of a module, which the executable keeps loaded; neither changes.
unsafe impl driver::RawBuffer for Global {
    fn domain(&self) -> Domain {
        self.executable.domain()
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn device_address(&self) -> u64 {
        self.address
    }

    fn host_pointer(&self) -> Option<HostPointer> {
        None
    }

    fn location(&self) -> Option<Location> {
        Some(Location::Rocm(self.ordinal))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
