// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code of clients: images in their memory, loaded modules, and the fat binaries that compiled programs register.

pub(crate) mod compiled;
mod foreign;
pub(crate) mod image;
pub(crate) mod library;
pub(crate) mod program;
pub(crate) mod unsuited;
