// SPDX-License-Identifier: MIT OR Apache-2.0
//! Gives the library ROCr's name, and ROCr's only symbol version.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    windlass_symbol_versions::link("libhsa-runtime64.so.1", &["hsa_*"], &["ROCR_1"])
}
