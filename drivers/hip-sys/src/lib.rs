// SPDX-License-Identifier: MIT OR Apache-2.0
//! HIP types and the table of HIP entry points, filled at run time.
//!
//! Nothing here links against ROCm. A program asks for a table at run time, and learns whether HIP exists and which
//! features it has:
//!
//! ```no_run
//! use windlass_hip_sys::{Api, Feature, LoadError, Source};
//!
//! # fn main() -> Result<(), LoadError> {
//! // SAFETY: the library that the system offers as libamdhip64 is HIP.
//! let api = unsafe { Api::load(&Source::System) }?;
//! println!("{}", api.origin());
//! if !api.has(Feature::HostCall) {
//!     println!("without {}", Feature::HostCall);
//! }
//! let mut devices = 0;
//! // SAFETY: the pointer is to a c_int of ours.
//! let status = unsafe { api.hipGetDeviceCount(&mut devices) };
//! println!("{status}: {devices} devices");
//! # Ok(())
//! # }
//! ```
//!
//! # The table
//!
//! [`bindings`] holds the types, and [`for_each_entry_point`] the function declarations, both generated from AMD's
//! headers by `examples/regenerate`. [`EntryPoints`] is the plain struct of optional function pointers; [`Api`] wraps
//! it with its origin and has a method for every function, under HIP's name. A method whose entry point is absent
//! returns `hipErrorNotSupported`, so a missing function never crashes.
//!
//! # Sources of a table
//!
//! - A library on the system, or one that the user names: [`Api::load`] with a [`Source`].
//! - An implementation in this process: [`Api::from_entries`]. There may be several instances. HIP's functions
//!   take no instance as an argument, so a [`Binding`] selects the instance before each call.
//! - [`null`]: a table that copies data, runs no kernel and counts every call, for tests and for measuring the overhead of HIP's
//!   callers.
//! - [`interposer`]: a table in front of any other, which counts, fails or blocks chosen calls.
//!
//! # The end of the process
//!
//! AMD's library destroys its objects when the process ends, and a later call crashes, on any thread. So once the
//! process begins to exit (`main` has returned, or code has called `exit`) every call through an [`Api`] of a library
//! returns `hipErrorDeinitialized` without entering the library; [`Api::has_ended`] reports this. The exit waits until
//! calls in progress have returned, for five seconds at most. Handlers of `atexit` and destructors of static objects
//! that were registered after HIP's functions were first used can still call HIP. Implementations in this process are
//! not affected.
//!
//! # Versions
//!
//! One set of bindings serves ROCm 5 to 7. Between these versions HIP only added functions and constants, and the
//! structures kept their layouts, with one exception: `hipDeviceProp_t`. Both of its layouts are bound:
//! [`hipDeviceProp_tR0000`](bindings::hipDeviceProp_tR0000), which ROCm 5 fills, and
//! [`hipDeviceProp_tR0600`](bindings::hipDeviceProp_tR0600). The unsuffixed symbol `hipGetDeviceProperties` fills the
//! *older* one in every version, although newer headers redefine the name by a macro. Ask [`Feature`] for missing
//! functions, never the version.
//!
//! Enumerations are integers in a newtype, so an unknown value is harmless.
//!
//! # RCCL
//!
//! [`rccl`] has the types and the table of RCCL, and finds the RCCL that belongs to a HIP.

#[rustfmt::skip]
#[allow(missing_docs, non_camel_case_types, non_upper_case_globals, non_snake_case, unused_imports)]
#[allow(clippy::all, clippy::undocumented_unsafe_blocks, clippy::missing_safety_doc)]
pub mod bindings;
mod entry_points;

mod api;
mod binding;
mod end;
mod ending_thread;
mod error;
mod features;
pub mod interposer;
mod load;
pub mod log;
pub mod null;
pub mod rccl;
mod table;

pub use api::{Api, Found, Launcher, Origin, Version};
pub use binding::Binding;
pub use features::Feature;
pub use load::{Attempt, LIBRARY_VARIABLE, LoadError, MARKER, Reason, Search, Source};
pub use table::{EntryPoints, pfn};
