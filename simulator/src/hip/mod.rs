// SPDX-License-Identifier: MIT OR Apache-2.0
//! HIP over the simulated machine.
//!
//! A [`Simulator`] owns devices, memory and streams. A program reaches its functions through the table of
//! [`Simulator::api`], without a dynamic library, or through the drop-in `libamdhip64.so`. The environment variable
//! `WINDLASS_SIM` describes the drop-in's simulator, which the whole process shares.
//!
//! # Contracts
//!
//! - Work of a stream runs in order, on the simulator's threads. Streams run side by side. The null stream and blocking
//!   streams wait for each other as with HIP's legacy default stream. With a seed, one piece of work runs at a time, inside
//!   calls, and the seed chooses it among all that are legal.
//! - An event stands for its latest recording. A wait is for the recording at the moment of the call. A wait for an event
//!   that was never recorded has no effect.
//! - A call copies the arguments of a kernel, and the pageable source of an asynchronous copy, before it returns.
//! - Handles are looked up, not followed: a stale, foreign or invented handle is an error.
//! - If a kernel fails, one synchronisation answers the error, and the device goes on. With `faults=sticky` every call
//!   answers the error until `hipDeviceReset`, and queued work is skipped. The report names kernel, instruction, lane and
//!   address.
//! - Functions that are not implemented are absent from the table, and answer `hipErrorNotSupported` in the drop-in.

mod boundary;
#[allow(non_snake_case, clippy::too_many_arguments)]
mod calls;
mod collectives;
mod exports;
mod graphs;
mod hardware;
mod instance;
mod objects;
mod programs;
#[allow(non_snake_case, clippy::too_many_arguments)]
mod rccl;
mod services;
mod simulator;
pub(crate) mod words;
mod work;

pub use calls::lookup::{Exported, process_export};
pub use calls::table::version_has;
pub use exports::{
    process_entries, process_entries_of_all_versions, process_fault, process_has, process_refuse,
    process_refuse_as_amd,
};
pub use instance::setup::Error;
pub use rccl::process_rccl;
pub use simulator::Simulator;
