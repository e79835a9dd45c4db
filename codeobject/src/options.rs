// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options of reading.

use crate::budget::Budget;

/// Limits and choices for [`File::parse`](crate::File::parse) and [`Bundle::select`](crate::Bundle::select).
///
/// ```
/// let mut options = windlass_codeobject::Options::default();
/// options.max_unpacked = 64 << 20;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The limit of the unpacked size in bytes: of one bundle, of one entry of a kpack archive, or of all members of a
    /// zip file. Default 1 GiB. A bundle that declares more is still listed, and entries within the limit can be
    /// extracted. The unpacked bytes that a file keeps for later reads are within the same limit.
    pub max_unpacked: u64,
    /// The limit on all bytes that are unpacked with these options and their clones: of zip members and of compressed
    /// bundles, kept or dropped. Default no limit.
    pub budget: Budget,
    /// The limit in bytes of code at an address without a length ([`bytes_at`](crate::bytes_at)). Default 4 GiB.
    pub max_stored: u64,
    /// Whether a GPU may get code for another processor of its ISA-compatible family, as some Linux distributions
    /// allow (gfx1031 runs code for gfx1030). Default off: an unpatched ROCm refuses such code unless its flags are
    /// changed ([`retarget`](crate::retarget)).
    pub compatible_families: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            max_unpacked: 1 << 30,
            budget: Budget::default(),
            max_stored: 4 << 30,
            compatible_families: false,
        }
    }
}
