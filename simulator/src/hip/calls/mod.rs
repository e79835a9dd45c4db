// SPDX-License-Identifier: MIT OR Apache-2.0
//! HIP's functions, by theme. Each finds its simulator, checks what the client gave, and does or queues the work.
//!
//! What all of them require of their callers is what HIP's documentation says: pointers are null or valid. Handles need
//! not be valid; a wrong one is an error.

/// The body of a HIP function: `hip!(name, |call| ...)` gives its status.
macro_rules! hip {
    ($name:ident, $body:expr) => {{
        let body = $crate::hip::call::body($body);
        // SAFETY: this is the body of the function, whose caller vouches for its pointers.
        unsafe { $crate::hip::call::enter(stringify!($name), body) }
    }};
}

pub mod context;
pub mod copy;
pub mod device;
pub mod error;
pub mod event;
pub mod fill;
pub mod launch;
pub mod memory;
pub mod module;
pub mod pointer;
pub mod pool;
pub mod properties;
pub mod registration;
pub mod stream;
