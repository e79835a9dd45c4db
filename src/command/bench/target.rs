// SPDX-License-Identifier: MIT OR Apache-2.0
//! An open device under measurement, and the marks that its rows carry.

use crate::{Buffer, Code, Deadline, Device, DeviceInfo, Executable, Function, Queue, Semaphore};

#[cfg(feature = "hip")]
use super::floor::Hip;
use super::{
    kernels,
    stop::{Stop, Work},
};

/// A device to measure.
pub(super) struct Target {
    pub(super) uri: String,
    pub(super) device: Device,
    /// Whether kernels run. The null HIP accepts them, and writes nothing.
    pub(super) runs_kernels: bool,
    /// The same HIP without the HAL, if there is one.
    #[cfg(feature = "hip")]
    pub(super) hip: Option<Hip>,
}

impl Target {
    /// Opens the device of a URI.
    pub(super) fn open(uri: &str) -> crate::Result<Self> {
        #[allow(unused_mut, reason = "only HIP has floors")]
        let mut target = Self::bare(uri)?;
        #[cfg(feature = "hip")]
        {
            target.hip = Hip::of(uri, &target.device);
        }
        Ok(target)
    }

    /// Opens the device of a URI, and no floor beside it.
    pub(super) fn bare(uri: &str) -> crate::Result<Self> {
        Ok(Self::of(uri, crate::open(uri)?))
    }

    /// A device that is open already, without a floor.
    pub(super) fn of(uri: &str, device: Device) -> Self {
        Self {
            uri: uri.to_owned(),
            runs_kernels: !is_null_hip(device.info()),
            #[cfg(feature = "hip")]
            hip: None,
            device,
        }
    }

    /// The remarks without which the numbers would be misread.
    pub(super) fn marks(&self) -> Vec<&'static str> {
        match (self.runs_kernels, self.device.info().simulated) {
            (false, _) => vec!["no kernel runs"],
            (true, true) => vec!["functional"],
            (true, false) => Vec::new(),
        }
    }

    /// Loads the rows' kernels.
    pub(super) fn load(&self) -> Work<Executable> {
        let code = kernels::bytes()?;
        // SAFETY: the project's own kernels stay within 64 numbers of each of their buffers.
        unsafe { self.device.load_executable(code) }.map_err(|error| match error.code() {
            Code::NotFound => {
                Stop::Lacks(format!("the rows' kernels are not built for this device: {error}"))
            }
            _ => error.into(),
        })
    }

    /// A kernel by name.
    pub(super) fn function(&self, name: &str) -> Work<Function> {
        Ok(self.load()?.function(name)?)
    }

    /// The first queue.
    pub(super) fn queue(&self) -> Work<Queue> {
        Ok(self.device.queue(0)?)
    }

    /// Memory of the device.
    pub(super) fn buffer(&self, bytes: u64) -> Work<Buffer> {
        Ok(self.device.allocate_device(bytes)?)
    }

    /// A buffer with these numbers.
    pub(super) fn numbers(&self, numbers: impl IntoIterator<Item = u32>) -> Work<Buffer> {
        let bytes: Vec<_> = numbers.into_iter().flat_map(u32::to_le_bytes).collect();
        let buffer = self.buffer(bytes.len() as u64)?;
        let done = Semaphore::new(0);
        self.queue()?.update(&[], &[done.at(1)], &bytes, &buffer)?;
        done.wait_blocking(1, Deadline::NEVER)?;
        Ok(buffer)
    }

    /// The bytes of a buffer.
    pub(super) fn download(&self, buffer: &Buffer) -> Work<Vec<u8>> {
        Ok(self.queue()?.download(&[], buffer)?.wait(Deadline::NEVER)?)
    }
}

/// Whether a device is that of a HIP without a GPU, in this process or in a library.
fn is_null_hip(info: &DeviceInfo) -> bool {
    info.name.replace(' ', "").to_lowercase().starts_with("nullhip")
}
