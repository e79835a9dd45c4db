// SPDX-License-Identifier: MIT OR Apache-2.0
//! The formats that wrap code: each file reads one of them and knows no other. `words::magic` tells them apart.

#[cfg(feature = "carriers")]
pub(crate) mod archive;
pub(crate) mod ccob;
pub(crate) mod flatbuffer;
pub(crate) mod host_elf;
pub(crate) mod iree;
#[cfg(feature = "carriers")]
pub(crate) mod kpack;
pub(crate) mod kpack_reference;
#[cfg(feature = "carriers")]
pub(crate) mod kpack_search;
pub(crate) mod offload_binary;
#[cfg(feature = "carriers")]
pub(crate) mod package;
pub(crate) mod room;
pub(crate) mod table;
pub(crate) mod wrapper;
#[cfg(feature = "carriers")]
pub(crate) mod zip;
