// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loading shared objects from memory, with names of their own: what one exports no other code of the process sees, and
//! each loading has its own variables.
//!
//! The system's loader wants paths, and knows what it loaded by them. So each object is put into a file of its own, one
//! without a name where the system has such, and the file stays as long as the object: its number, which is what the
//! path is made of, is not given to another meanwhile.

#[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
#[path = "linux.rs"]
mod system;
#[cfg(not(all(target_os = "linux", target_pointer_width = "64", not(miri))))]
#[path = "nowhere.rs"]
mod system;

pub(crate) use system::{SharedObjects, is_available};
