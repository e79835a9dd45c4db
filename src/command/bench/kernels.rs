// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernels of the rows.

use super::stop::{Stop, Work};

/// The kernels of the rows: `bindings_N` and `constants_16`.
const KERNELS: &str = "bindings";

/// The compressed bundle with the rows' kernels.
pub(super) fn bytes() -> Work<&'static [u8]> {
    windlass_cts::bundle(KERNELS)
        .ok_or_else(|| Stop::Lacks("this build has no kernels for the rows".to_owned()))
}
