// SPDX-License-Identifier: MIT OR Apache-2.0
//! The format of a recording: `docs/record-and-replay.md` describes it.

pub(crate) mod chunk;
pub(crate) mod coding;
pub(crate) mod event;
