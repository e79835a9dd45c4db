// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decoding of compressed bundles, zlib and zstd.

mod cache;
mod decoder;
mod end;
mod frames;
mod input;
mod output;
mod progress;
mod stream;
mod zlib;
mod zstd;
#[cfg(feature = "zstd-c")]
mod zstd_c;
#[cfg(all(feature = "zstd-pure", not(feature = "zstd-c")))]
mod zstd_pure;

pub(crate) use cache::Cache;
pub(crate) use decoder::Unmeasured;
pub(crate) use end::{announced_size, stored_size};
pub(crate) use stream::Stream;

use crate::words::method::Method;

/// The compression method of a payload, by its first bytes.
pub(crate) fn method_of(payload: &[u8]) -> Option<Method> {
    if frames::begins(payload) { Some(Method::Zstd) } else { zlib::begins(payload).then_some(Method::Zlib) }
}
