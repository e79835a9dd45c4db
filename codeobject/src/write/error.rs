// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a bundle could not be written.

/// Why a bundle could not be written. Each message names the entry or the option, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// No entry was given.
    #[error(
        "a bundle without code is of no use to a loader; add at least one code object, or a shared \
             object that describes kernels for the host"
    )]
    Empty,
    /// More entries than readers take.
    #[error("a bundle has at most {limit} entries; write several bundles")]
    TooManyEntries {
        /// How many there may be.
        limit: usize,
    },
    /// An id that no loader could match.
    #[error(
        "`{id}` is no id of an entry: {problem}; write it like hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"
    )]
    BadId {
        /// The id as it was given.
        id: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Two entries for one target: a loader would take one of them and never the other.
    #[error(
        "`{second}` is for the same target as `{first}`; a bundle has one entry for each, leave one of them out"
    )]
    Duplicate {
        /// The id that was there first.
        first: String,
        /// The id that came later.
        second: String,
    },
    /// Of one processor one entry states the mode of a feature and another leaves it open, so that a GPU may fit both.
    #[error(
        "`{first}` and `{second}` cannot be in one bundle: of one processor all entries state the same features, or a \
         GPU would fit several; build both with {feature} stated (+ and -), or one that leaves it open"
    )]
    MixedFeatures {
        /// The id that was there first.
        first: String,
        /// The id that came later.
        second: String,
        /// The feature that only one of them states.
        feature: String,
    },
    /// The bytes are not the code that the id promises.
    #[error("the bytes for `{id}` are not what it names: {problem}")]
    NotForTarget {
        /// The id of the entry.
        id: String,
        /// What the bytes are instead, and what to do.
        problem: String,
    },
    /// The bytes are no code object, so that no id can be read from them.
    #[error("no target can be read from the bytes: {problem}")]
    NoTarget {
        /// What they are instead, and what to do.
        problem: String,
    },
    /// An option that does not exist.
    #[error("{what} of {value} does not exist; {advice}")]
    BadOption {
        /// Which option.
        what: &'static str,
        /// What was given.
        value: String,
        /// What can be given.
        advice: &'static str,
    },
    /// The sizes do not fit the header of the chosen version.
    #[error(
        "version {version} of a compressed bundle (CCOB) counts {what} in 32 bits, and they are {bytes}; write version 3"
    )]
    TooLarge {
        /// The version that was asked for.
        version: u16,
        /// Which bytes are too many.
        what: &'static str,
        /// How many there are.
        bytes: u64,
    },
    /// This build cannot compress by the method.
    #[error(
        "this build cannot write {method}; write zlib, or enable the feature `{feature}` of windlass-codeobject"
    )]
    NoEncoder {
        /// The method of compression.
        method: &'static str,
        /// Which feature brings the encoder.
        feature: &'static str,
    },
    /// The compressor failed.
    #[error("compressing {bytes} bytes by {method} failed: {problem}")]
    Compress {
        /// The method of compression.
        method: &'static str,
        /// How many bytes it was given.
        bytes: u64,
        /// What it says.
        problem: String,
    },
    /// The system has no memory for the bundle.
    #[error("no memory for a bundle of {bytes} bytes; write several smaller ones")]
    Memory {
        /// How much was asked for.
        bytes: u64,
    },
}
