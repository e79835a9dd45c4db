// SPDX-License-Identifier: MIT OR Apache-2.0
//! HIP's functions, by theme. Each checks its arguments, and does or queues the work.
//!
//! All of them require of their callers that pointers are null or valid, as HIP's documentation says. Handles need not be
//! valid; a wrong handle is an error.

/// The body of a HIP function: `hip!(name, |call| ...)` gives its status.
macro_rules! hip {
    ($name:ident, $body:expr) => {{
        let body = $crate::hip::boundary::call::body($body);
        // SAFETY: this is the body of the function, whose caller vouches for its pointers.
        unsafe { $crate::hip::boundary::call::enter(stringify!($name), body) }
    }};
}

pub(super) mod capture;
pub(super) mod choose;
pub(super) mod configured;
pub(super) mod context;
pub(super) mod copy;
pub(super) mod copy_batch;
pub(super) mod device;
pub(super) mod error;
pub(super) mod event;
pub(super) mod fill;
pub(super) mod graph;
pub(super) mod graph_attribute;
pub(super) mod graph_clone;
pub(super) mod graph_edit;
pub(super) mod graph_exec;
pub(super) mod graph_generic;
pub(super) mod graph_memory;
pub(super) mod graph_node;
pub(super) mod graph_params;
pub(super) mod graph_symbol;
pub(super) mod ipc;
pub(super) mod launch;
pub(super) mod launch_config;
pub(super) mod library;
pub(super) mod lookup;
pub(super) mod managed;
pub(super) mod memory;
pub(super) mod module;
pub(super) mod module_launch;
pub(super) mod names;
pub(super) mod pointer;
pub(super) mod pool;
pub(super) mod properties;
pub(super) mod registration;
pub(super) mod several_devices;
pub(super) mod stream;
pub(super) mod stream_facts;
pub(super) mod stream_value;
pub(super) mod table;
pub(super) mod user_object;
pub(super) mod virtual_memory;
pub(super) mod volume;
pub(super) mod word_batch;
