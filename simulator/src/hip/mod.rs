// SPDX-License-Identifier: MIT OR Apache-2.0
//! HIP over the simulated machine.
//!
//! A [`Simulator`] owns devices, memory and streams. Its functions are reached through the table that
//! [`Simulator::api`] gives, without any dynamic library, or through the drop-in `libamdhip64.so`, whose process-wide
//! simulator is described by the environment variable `WINDLASS_SIM`.
//!
//! # What holds
//!
//! - Work on a stream runs in order, on threads of the simulator's. Streams run side by side, the null stream and
//!   blocking streams wait for each other as HIP's legacy default stream does. With a seed, one thing
//!   happens at a time, inside calls, and which is chosen among all that is legal.
//! - An event stands for its latest recording; who waits has the recording of the moment of the call. An event that
//!   was never recorded is no wait.
//! - Arguments of kernels, and pageable sources of asynchronous copies, are taken when the call is made.
//! - Handles are looked up, not followed: a stale, foreign or invented one is an error.
//! - What waits for a kernel that goes wrong is told of it, once, and the device goes on. With `faults=sticky` the device
//!   answers with that error until `hipDeviceReset`, and what is queued is passed over. The report names kernel,
//!   instruction, lane and address.
//! - What is not implemented is absent from the table, and answers `hipErrorNotSupported` in the drop-in.

mod boundary;
#[allow(non_snake_case, clippy::too_many_arguments)]
mod calls;
mod exports;
mod graphs;
mod hardware;
mod instance;
mod objects;
mod programs;
mod simulator;
pub(crate) mod words;
mod work;

pub use calls::lookup::{Exported, process_export};
pub use calls::table::version_has;
pub use exports::{process_entries, process_fault, process_has, process_refuse};
pub use instance::setup::Error;
pub use simulator::Simulator;
