// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of writing a bundle.

/// Why a bundle could not be written. Each message names the entry or the option, and a remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// No entry was given.
    #[error(
        "a bundle without code is of no use to a loader; add at least one code object, or a shared \
             object that describes kernels for the host"
    )]
    Empty,
    /// More entries than readers accept.
    #[error("a bundle has at most {limit} entries; write several bundles")]
    TooManyEntries {
        /// The limit.
        limit: usize,
    },
    /// An id that no loader could match.
    #[error(
        "`{id}` is no id of an entry: {problem}; write it like hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"
    )]
    BadId {
        /// The id.
        id: String,
        /// The problem of the id.
        problem: String,
    },
    /// Two entries for one target. A loader would never take the second.
    #[error(
        "`{second}` is for the same target as `{first}`; a bundle has one entry for each, leave one of them out"
    )]
    Duplicate {
        /// The id that was there first.
        first: String,
        /// The id that came later.
        second: String,
    },
    /// Two entries for one processor, only one of which states the mode of a feature. A GPU may fit both.
    #[error(
        "`{first}` and `{second}` cannot be in one bundle: of one processor all entries state the same features, or a \
         GPU would fit several; build both with {feature} stated (+ and -), or one that leaves it open"
    )]
    MixedFeatures {
        /// The id that was there first.
        first: String,
        /// The id that came later.
        second: String,
        /// The feature.
        feature: String,
    },
    /// The bytes are not code for the id.
    #[error("the bytes for `{id}` do not match it: {problem}")]
    NotForTarget {
        /// The id of the entry.
        id: String,
        /// The kind of the bytes, and a remedy.
        problem: String,
    },
    /// The bytes are no code object, so they state no target.
    #[error("no target can be read from the bytes: {problem}")]
    NoTarget {
        /// The kind of the bytes, and a remedy.
        problem: String,
    },
    /// An invalid option.
    #[error("{what} of {value} does not exist; {advice}")]
    BadOption {
        /// The option.
        what: &'static str,
        /// The given value.
        value: String,
        /// The valid values.
        advice: &'static str,
    },
    /// The sizes do not fit the header of the chosen version.
    #[error(
        "version {version} of a compressed bundle (CCOB) counts {what} in 32 bits, and they are {bytes}; write version 3"
    )]
    TooLarge {
        /// The chosen version.
        version: u16,
        /// The size that is too large.
        what: &'static str,
        /// The number of bytes.
        bytes: u64,
    },
    /// This build cannot compress by the method.
    #[error(
        "this build cannot write {method}; write zlib, or enable the feature `{feature}` of windlass-codeobject"
    )]
    NoEncoder {
        /// The compression method.
        method: &'static str,
        /// The feature with the encoder.
        feature: &'static str,
    },
    /// The compressor failed.
    #[error("compressing {bytes} bytes by {method} failed: {problem}")]
    Compress {
        /// The compression method.
        method: &'static str,
        /// The size of the input in bytes.
        bytes: u64,
        /// The compressor's message.
        problem: String,
    },
    /// Memory is exhausted.
    #[error("no memory for a bundle of {bytes} bytes; write several smaller ones")]
    Memory {
        /// The number of bytes that were requested.
        bytes: u64,
    },
}
