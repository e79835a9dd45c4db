// SPDX-License-Identifier: MIT OR Apache-2.0
//! The words of the other folders: file formats, targets, processors, compression methods. This folder imports no other.

pub(crate) mod magic;
pub(crate) mod method;
pub(crate) mod msgpack;
pub(crate) mod processor;
pub(crate) mod source;
pub(crate) mod target;
