// SPDX-License-Identifier: MIT OR Apache-2.0
//! RCCL's functions over the simulated machine.
//!
//! # Contracts
//!
//! - A communicator joins devices of one simulator, in one process. `ncclCommInitRank` waits until all ranks have come,
//!   unless it is in a group or the configuration says `blocking = 0`.
//! - An operation is enqueued on a stream and never waits on the host. It reads and writes memory when the streams of all
//!   ranks have reached it. A rank that does not come holds the streams of the others.
//! - `ncclCommAbort` lets the streams of its rank go on. The other ranks learn of it by `ncclCommGetAsyncError`
//!   (`ncclRemoteError`), and their streams go on once they abort too, as on hardware.
//! - Memory that was freed, or that the rank's device may not use, fails the work of all ranks; the report names the rank.
//!   So do operations that do not match.
//! - `ncclCommDestroy` does not wait. Work in flight goes on without the communicator.
//! - Operations on a stream that is being captured are refused.

mod collective;
mod communicator;
mod config;
mod frame;
mod group;
mod making;
mod query;
pub(super) mod table;
mod words;

pub use table::process_rccl;
