// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replays: recordings, checked before they run, and their runs on any device.

mod check;
mod files;
mod memory;
mod objects;
pub(crate) mod options;
pub(crate) mod player;
pub(crate) mod recording;
mod text;
