// SPDX-License-Identifier: MIT OR Apache-2.0
//! Gives the library the name that programs linked against ROCm 7 require, and HIP's symbol versions.

use std::error::Error;

/// The versions of AMD's linker map, each of which contains the one before.
const VERSIONS: &[&str] = &[
    "hip_4.2",
    "hip_4.3",
    "hip_4.4",
    "hip_4.5",
    "hip_5.0",
    "hip_5.1",
    "hip_5.2",
    "hip_5.3",
    "hip_5.5",
    "hip_5.6",
    "hip_6.0",
    "hip_6.1",
    "hip_6.2",
    "hip_6.3",
    "hip_6.4",
    "hip_6.5",
    "hip_7.1",
    "hip_7.2",
    "hip_profiler_ext",
    "hip_7.14",
    "hip_7.15",
];

/// HIP's functions, among them C++ functions with 10 to 99 letters, and conversions of numbers that compilers call.
const EXPORTS: &[&str] = &["hip*", "__hip*", "_Z[1-9][0-9]hip*", "__gnu_*"];

fn main() -> Result<(), Box<dyn Error>> {
    windlass_symbol_versions::link("libamdhip64.so.7", EXPORTS, VERSIONS)
}
