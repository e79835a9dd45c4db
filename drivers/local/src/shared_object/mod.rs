// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds shared objects in files (`host_code.rs`), and loads them from memory with private names: other code of the
//! process does not see their exports, and each loading has its own variables.
//!
//! The system's loader knows objects by their paths. So each object gets a file of its own, nameless if the system
//! has memory files. The path contains the file's descriptor number. The file stays open as long as the object is
//! loaded, so the number is not reused meanwhile.

pub(crate) mod host_code;

#[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
#[path = "linux.rs"]
mod system;
#[cfg(not(all(target_os = "linux", target_pointer_width = "64", not(miri))))]
#[path = "nowhere.rs"]
mod system;

pub(crate) use system::{SharedObjects, is_available};
