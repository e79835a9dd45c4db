// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a caller may choose about reading.

/// Limits and choices for [`File::parse`](crate::File::parse) and [`Bundle::select`](crate::Bundle::select).
///
/// ```
/// let mut options = windlass_codeobject::Options::default();
/// options.max_unpacked = 64 << 20;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// How many bytes one bundle may unpack to, an entry of a kpack archive, or the members of a zip file. Default 1 GiB.
    /// A bundle that declares more is still listed, and what lies within the limit can be extracted. What a file keeps
    /// unpacked, so that the next entry continues where the last one ended, comes to no more in sum.
    pub max_unpacked: u64,
    /// How many bytes may lie at an address that is given without a length ([`bytes_at`](crate::bytes_at)). Default
    /// 4 GiB.
    pub max_stored: u64,
    /// Whether a processor may be given code of another processor of its ISA-compatible family, as some Linux
    /// distributions do (gfx1031 runs gfx1030). Default off: an unpatched ROCm refuses such
    /// code under its own name ([`retarget`](crate::retarget)).
    pub compatible_families: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { max_unpacked: 1 << 30, max_stored: 4 << 30, compatible_families: false }
    }
}
