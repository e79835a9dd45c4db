// SPDX-License-Identifier: MIT OR Apache-2.0
//! One GPU of a device. Several GPUs can form one device: they share the order of events, they reach each other's memory
//! through peer access, and they are lost together.

use std::sync::atomic::AtomicI64;

use windlass_hal::{Code, Error, Result};

use crate::hip::Hip;

/// A GPU, and what must be made on it.
pub(crate) struct Gpu {
    /// Its number within the device.
    pub(crate) index: usize,
    pub(crate) hip: Hip,
    /// The target that its code must be built for.
    pub(crate) architecture: String,
    /// The correction in nanoseconds of its clock, for profiles.
    pub(crate) clock_offset: AtomicI64,
}

/// Lets every GPU reach the memory of every other. `UNAVAILABLE` if one of them cannot.
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
