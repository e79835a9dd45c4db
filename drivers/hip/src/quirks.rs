// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a version, a GPU or an implementation of HIP gets wrong or does otherwise, and what the driver does about
//! it. One row each, with its link.

use windlass_hip_sys::Api;

/// The deviations that the driver heeds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quirks {
    /// A freed block serves a smaller request only if the sizes are equal: the simulated GPU checks every access
    /// against the size that was asked for, and a block with room to spare would hide an overrun.
    pub(crate) exact_sizes: bool,
    /// A fault belongs to the submission whose event reports it, and the device goes on. So each submission needs an event
    /// of its own. On hardware the whole process is lost to a fault, and HIP answers it to every later call.
    pub(crate) contained_faults: bool,
}

impl Quirks {
    pub(crate) fn of(api: &Api) -> Self {
        Self { exact_sizes: api.origin().simulated, contained_faults: api.contains_faults() }
    }
}

// Not used on purpose, whatever the version:
// - hipMallocAsync pools: wrong data on gfx1030 with ROCm 7.2, https://github.com/ROCm/rocm-systems/issues/10943
// - hipStreamWaitValue: a spinning kernel, and not satisfied across streams on Windows,
//   https://github.com/ROCm/rocm-systems/issues/11605
// - hipLaunchHostFunc: slow, https://github.com/iree-org/iree/pull/17925, and absent from ROCm 5.2
// - dlclose of the library: crashes in its unloading, https://github.com/ROCm/rocm-systems/issues/4442
