// SPDX-License-Identifier: MIT OR Apache-2.0
//! RCCL's functions over the simulated machine.

#[path = "../common/mod.rs"]
mod common;

mod communicators;
mod order;
mod refusals;
mod results;
mod world;
