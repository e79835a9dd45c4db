// SPDX-License-Identifier: MIT OR Apache-2.0
//! The zstd decoder of this build: the C library, the one in Rust, or none.

use super::decoder::Decoder;
use crate::error::Error;

/// A decoder for a stream at `offset` of its file that declares `declared` bytes.
#[cfg(feature = "zstd-c")]
pub(super) fn decoder(
    declared: u64,
    _max_unpacked: u64,
    output_stays: bool,
    _offset: u64,
) -> Result<Box<dyn Decoder>, Error> {
    Ok(Box::new(super::zstd_c::Zstd::new(declared, output_stays)?))
}

#[cfg(all(feature = "zstd-pure", not(feature = "zstd-c")))]
pub(super) fn decoder(
    declared: u64,
    max_unpacked: u64,
    _output_stays: bool,
    _offset: u64,
) -> Result<Box<dyn Decoder>, Error> {
    Ok(Box::new(super::zstd_pure::Zstd::new(declared, max_unpacked)))
}

#[cfg(not(any(feature = "zstd-c", feature = "zstd-pure")))]
pub(super) fn decoder(
    _declared: u64,
    _max_unpacked: u64,
    _output_stays: bool,
    offset: u64,
) -> Result<Box<dyn Decoder>, Error> {
    Err(Error::NoDecoder { method: "zstd", offset, feature: "zstd-c or zstd-pure" })
}
