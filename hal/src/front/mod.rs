// SPDX-License-Identifier: MIT OR Apache-2.0
//! Front: the interface for programs. It checks each call and hands a driver canonical work.
//!
//! The last of five layers. It imports all others.

pub(crate) mod argument;
pub(crate) mod buffer_view;
pub(crate) mod channel;
mod check;
mod collective;
pub(crate) mod command_buffer;
pub(crate) mod compatibility;
pub(crate) mod device;
pub(crate) mod dispatch;
pub(crate) mod download;
pub(crate) mod event;
pub(crate) mod executable;
pub(crate) mod export;
mod external_timepoint;
mod group;
pub(crate) mod growable;
mod import;
pub(crate) mod indirect_dispatch;
pub(crate) mod profiling;
pub(crate) mod queue;
pub(crate) mod recorder;
pub(crate) mod registry;
mod topology;
