// SPDX-License-Identifier: MIT OR Apache-2.0
//! A software AMD GPU behind the HIP API.

pub mod engine;
pub mod isa;
pub mod memory;
