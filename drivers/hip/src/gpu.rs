// SPDX-License-Identifier: MIT OR Apache-2.0
//! One GPU of a device. A device of several is one to the HAL: its GPUs share the order of events, the memory, which
//! each reaches through peer access, and their fate.

use windlass_hal::{Code, Error, Result};

use crate::{call::Hip, event::EventPool};

/// A GPU with what must be made on it.
pub(crate) struct Gpu {
    /// Its number within the device.
    pub(crate) index: usize,
    pub(crate) hip: Hip,
    /// Events can be recorded only in streams of the GPU that they were made on. Any stream may wait for them.
    pub(crate) events: EventPool,
    /// The target that its code must be built for.
    pub(crate) architecture: String,
}

/// Lets every GPU reach the memory of every other. `UNAVAILABLE` where one cannot.
pub(crate) fn connect(gpus: &[Hip]) -> Result<()> {
    for from in gpus {
        for to in gpus.iter().filter(|to| to.ordinal() != from.ordinal()) {
            if !from.reaches(to.ordinal())? {
                return Err(Error::new(
                    Code::Unavailable,
                    format!(
                        "GPU {} cannot reach the memory of GPU {} (hipDeviceCanAccessPeer), so they cannot be one device; \
                         open them as two",
                        from.ordinal(),
                        to.ordinal()
                    ),
                ));
            }
            from.enable_peer(to.ordinal())?;
        }
    }
    Ok(())
}
