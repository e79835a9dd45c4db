// SPDX-License-Identifier: MIT OR Apache-2.0
//! RCCL's types, the table of its functions, and the search for its library.
//!
//! RCCL moves data between the GPUs of a communicator. A program asks for the RCCL that belongs to its HIP:
//!
//! ```no_run
//! use windlass_hip_sys::{Api, Source, rccl::Rccl};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // SAFETY: the libraries that the system offers as libamdhip64 and librccl are HIP and RCCL.
//! let (hip, rccl) = unsafe {
//!     let hip = Api::load(&Source::System)?;
//!     let rccl = Rccl::load(&hip, None)?;
//!     (hip, rccl)
//! };
//! println!("{} for {}", rccl.origin(), hip.origin());
//! # Ok(())
//! # }
//! ```
//!
//! [`Functions`] is the plain table: functions that every RCCL has are pointers, newer ones are options. [`Rccl`] wraps it
//! with its origin and has a method for every function, under RCCL's name. A simulated HIP brings an RCCL in the same
//! process ([`Api::with_rccl`](crate::Api::with_rccl)), and no library is opened then.

mod api;
mod error;
mod functions;
mod load;
mod types;

pub use api::{Found, LIBRARY_VARIABLE, Origin, Rccl};
pub use error::{Attempt, LoadError, Reason};
pub use functions::{Functions, pfn};
pub use load::Search;
pub use types::*;
