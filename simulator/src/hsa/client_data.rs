// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pointer that a client gives along with a function, and that the function gets back.

use std::ffi::c_void;

/// The pointer that a client's function gets back.
#[derive(Clone, Copy)]
pub(crate) struct ClientData(pub(crate) *mut c_void);

// SAFETY: the pointer is only given back to the client's own function. HSA says that handlers and callbacks are called
// on a thread of the runtime's.
unsafe impl Send for ClientData {}

// SAFETY: a shared reference gives only copies of the pointer.
unsafe impl Sync for ClientData {}
