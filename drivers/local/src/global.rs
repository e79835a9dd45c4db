// SPDX-License-Identifier: MIT OR Apache-2.0
//! Global variables of libraries as buffers.

use std::{any::Any, sync::Arc};

use windlass_hal::{
    driver::{self, Executable as _, HostPointer},
    edge::Domain,
};

use crate::{executable::Executable, memory::Memory};

/// The memory of a variable, which its executable owns. It is not the allocator's: a dealloca of it is a barrier.
pub(crate) struct Global {
    executable: Arc<Executable>,
    index: usize,
}

impl Global {
    /// `None` where the executable has fewer variables.
    pub(crate) fn new(executable: Arc<Executable>, index: u32) -> Option<Self> {
        let index = index as usize;
        executable.variables().get(index)?;
        Some(Self { executable, index })
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.executable.variables()[self.index].1
    }
}

// SAFETY: size, address and pointer are those of memory that the executable, which this object keeps, owns and never
// replaces.
unsafe impl driver::Buffer for Global {
    fn domain(&self) -> Domain {
        self.executable.domain()
    }

    fn size(&self) -> u64 {
        self.memory().bytes().len() as u64
    }

    fn device_address(&self) -> u64 {
        self.memory().address()
    }

    fn host_pointer(&self) -> Option<HostPointer> {
        None
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
