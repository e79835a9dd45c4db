// SPDX-License-Identifier: MIT OR Apache-2.0
//! What this build consists of and where it came from, for reports. Written by `build.rs`.

include!(concat!(env!("OUT_DIR"), "/build_info.rs"));
