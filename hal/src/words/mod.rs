// SPDX-License-Identifier: MIT OR Apache-2.0
//! Words: the ground vocabulary. Errors, flags, parameters, descriptions of devices and functions, texts of values, and
//! the few guards that every layer needs (locks, panics, `fork`).
//!
//! The first of five layers. It imports no other layer.

pub(crate) mod buffer_params;
pub(crate) mod clock;
pub(crate) mod collective;
pub(crate) mod debug_group;
pub(crate) mod element_type;
pub(crate) mod error;
pub(crate) mod external;
pub(crate) mod external_timepoint;
pub(crate) mod facts;
pub(crate) mod flags;
pub mod fork;
pub(crate) mod function_info;
pub(crate) mod heap;
pub(crate) mod info;
pub(crate) mod limits;
pub(crate) mod literal;
pub(crate) mod location;
pub(crate) mod near_names;
pub mod panics;
pub(crate) mod pattern;
pub(crate) mod profile;
pub(crate) mod queue_affinity;
pub(crate) mod shape;
pub(crate) mod symbol;
pub(crate) mod sync;
pub(crate) mod topology;
pub(crate) mod uri;
