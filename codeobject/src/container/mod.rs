// SPDX-License-Identifier: MIT OR Apache-2.0
//! What code comes wrapped in: a file for each format, which finds the entries and knows no other format.

pub(crate) mod archive;
pub(crate) mod ccob;
pub(crate) mod flatbuffer;
pub(crate) mod foreign;
pub(crate) mod host_elf;
pub(crate) mod iree;
pub(crate) mod kpack;
pub(crate) mod kpack_reference;
pub(crate) mod kpack_search;
pub(crate) mod offload_binary;
pub(crate) mod room;
pub(crate) mod table;
pub(crate) mod text_bundle;
pub(crate) mod wrapper;
pub(crate) mod zip;

use ccob::CCOB_MAGIC;
use offload_binary::OFFLOAD_BINARY_MAGIC;
use table::BUNDLE_MAGIC;

/// Whether a bundle or an offload binary begins here, by its magic.
pub(crate) fn begins_bundle(bytes: &[u8]) -> bool {
    [CCOB_MAGIC, BUNDLE_MAGIC, OFFLOAD_BINARY_MAGIC].iter().any(|magic| bytes.starts_with(magic))
}
