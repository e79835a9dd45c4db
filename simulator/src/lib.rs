// SPDX-License-Identifier: MIT OR Apache-2.0
//! Software AMD GPUs behind the HIP API and behind the HSA API.
//!
//! The GPUs are those of the crate `windlass-simulated-gpu`: they execute the machine code that compilers emit for a
//! gfx942 or an older CDNA or Vega GPU, instruction by instruction, on CPU threads. A [`Simulator`] is a machine with one
//! or more such GPUs; its [`Simulator::api`] is the table of HIP functions, which a driver uses like AMD's runtime:
//!
//! ```
//! use windlass_simulator::Simulator;
//!
//! let simulator = Simulator::new("gfx942?devices=2".parse()?)?;
//! let hip = simulator.api();
//! let mut devices = 0;
//! // SAFETY: the pointer is to a local.
//! unsafe { hip.hipGetDeviceCount(&mut devices) };
//! assert_eq!(devices, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Over the GPUs, `packet` orders queues of work. Two front ends use it: [`hip`] has devices, streams, events and
//! modules, and [`hsa`] has agents, AQL queues and signals.
//!
//! The simulation is functional, not timed: measured times say nothing about a GPU. Approximate instructions
//! such as reciprocals give the host's results. An unknown instruction fails the launch.

#[cfg(feature = "drop-in")]
pub mod drop_in;
mod handles;
pub mod hip;
pub mod hsa;
mod injections;
mod options;
mod packet;
mod tally;
mod trace;
mod visible;

use windlass_simulated_gpu::exec;

pub use hip::Simulator;
pub use options::{Bounds, Faults, Injection, Lds, Lock, Options, OptionsError, Uninitialised};
pub use packet::{ScheduleReport, Schedules, schedules};
pub use tally::Tally;
pub use windlass_simulated_gpu::{Part, engine, isa, memory};
