// SPDX-License-Identifier: MIT OR Apache-2.0
//! The driver over the null HIP and the simulated GPU, by theme. Tests that need a process of their own are beside this folder.

#[path = "../common/mod.rs"]
mod common;
#[macro_use]
mod foreign;

mod access;
mod channels;
mod executables;
mod external_timepoints;
mod failed_work;
mod import;
mod in_flight;
mod indirect;
mod memory;
mod misuse;
mod profiling;
mod reentry;
mod several_gpus;
