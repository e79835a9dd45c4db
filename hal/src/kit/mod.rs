// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kit: the parts that drivers share. Pools of device memory, memory that grows, files, memory of the host, and loaded
//! executables by content.
//!
//! The fourth of five layers. It imports `words`, `order` and `driver`.

pub(crate) mod executable_cache;
pub mod file;
pub mod growable;
pub mod host_memory;
pub(crate) mod mapping;
pub mod pool;
pub(crate) mod profile;
