// SPDX-License-Identifier: MIT OR Apache-2.0
//! Global variables of executables as buffers.

use std::{any::Any, sync::Arc};

use windlass_hal::{
    Error, QueueAffinity, Result,
    driver::{self, Executable as _, HostPointer},
    edge::Domain,
};

use crate::{device::Inner, executable::Executable, gpu::Gpu};

/// The memory of a variable, which lives as long as its module is loaded. It is not the allocator's: a dealloca of it is
/// a barrier.
pub(crate) struct Global {
    executable: Arc<Executable>,
    address: u64,
    size: u64,
}

impl Global {
    pub(crate) fn new(executable: Arc<Executable>, address: u64, size: u64) -> Self {
        Self { executable, address, size }
    }
}

// SAFETY: HIP gave address and size of a variable of a module, which the executable keeps loaded; neither changes.
unsafe impl driver::Buffer for Global {
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

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Inner {
    /// The one GPU that has the queues of `affinity`. Each GPU has its own copy of a variable.
    pub(crate) fn only_gpu_of(&self, affinity: QueueAffinity) -> Result<&Gpu> {
        let allowed = |index: u32| index < 64 && affinity.bits() >> index & 1 == 1;
        let mut gpus =
            self.queues.iter().filter(|queue| allowed(queue.index)).map(|queue| queue.gpu.as_ref());
        let first = gpus.next().ok_or_else(|| {
            Error::out_of_range(format!(
                "{affinity:?} names no queue of a device that has {}",
                self.queues.len()
            ))
        })?;
        if gpus.any(|other| other.index != first.index) {
            return Err(Error::failed_precondition(
                "each GPU of the device has a copy of its own; ask with Executable::global_on and the queues of one GPU",
            ));
        }
        Ok(first)
    }
}
