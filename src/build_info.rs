// SPDX-License-Identifier: MIT OR Apache-2.0
//! The features and the origin of this build, for reports. Written by `build.rs`.

include!(concat!(env!("OUT_DIR"), "/build_info.rs"));
