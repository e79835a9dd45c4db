// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of reading. Each message names the part, its place, and a remedy.

/// Why a file, a bundle, an entry or a code object could not be read.
///
/// Every message names the part that was read and its place. Offsets count bytes from the start of the input that was
/// being read: of the file for containers, of the unpacked bundle for entries, of the ELF for code objects.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes begin with no known format.
    #[error(
        "no AMD GPU code at offset {offset:#x}: the bytes there ({found}) begin no code object, bundle or host \
         object; give an ELF for amdgpu, a (compressed) clang offload bundle, or a host ELF that carries one"
    )]
    NotRecognised {
        /// The offset of the unknown bytes.
        offset: u64,
        /// The first of the bytes, as text or hexadecimal digits.
        found: String,
    },
    /// A known format, or a part of one, that this crate does not read.
    #[error("{what} at offset {offset:#x} is not supported: {advice}")]
    Unsupported {
        /// The name of the format.
        what: String,
        /// The offset of the format's first byte.
        offset: u64,
        /// How to get a file that can be read.
        advice: String,
    },
    /// The input ends within a part that it announces.
    #[error(
        "{what} at offset {offset:#x} needs {needed} bytes, and {available} are there: the input is cut short or \
         its sizes are wrong; fetch or build it again"
    )]
    Truncated {
        /// The part that was read.
        what: String,
        /// The offset of the part.
        offset: u64,
        /// The size of the part in bytes.
        needed: u64,
        /// The number of bytes present.
        available: u64,
    },
    /// The bytes contradict their format.
    #[error(
        "{what} at offset {offset:#x} is malformed: {problem}; the input is damaged, build or fetch it again"
    )]
    Malformed {
        /// The part that was read.
        what: String,
        /// The offset of the part.
        offset: u64,
        /// The contradiction.
        problem: String,
    },
    /// The input exceeds a limit.
    #[error("{what} at offset {offset:#x} takes {value}, above the limit of {limit}; {advice}")]
    Limit {
        /// The part that is too large.
        what: String,
        /// The offset of the part.
        offset: u64,
        /// The size or count of the part.
        value: u64,
        /// The limit.
        limit: u64,
        /// How to raise the limit, or why no valid input exceeds it.
        advice: String,
    },
    /// A compressed payload could not be decoded.
    #[error("the {method} stream at offset {offset:#x} breaks after {unpacked} unpacked bytes: {problem}")]
    Decode {
        /// `zlib` or `zstd`.
        method: &'static str,
        /// The offset of the stream.
        offset: u64,
        /// The number of bytes that were decoded before the failure.
        unpacked: u64,
        /// The decoder's message.
        problem: String,
    },
    /// This build has no decoder for the method.
    #[error(
        "the {method} stream at offset {offset:#x} cannot be unpacked: this build has no decoder for it; enable the feature `{feature}` of windlass-codeobject"
    )]
    NoDecoder {
        /// The method of compression.
        method: &'static str,
        /// The offset of the stream.
        offset: u64,
        /// The feature with the decoder.
        feature: &'static str,
    },
    /// Memory is exhausted.
    #[error("no memory for {bytes} bytes of {what}; free some, or lower `Options::max_unpacked`")]
    Memory {
        /// The purpose of the memory.
        what: &'static str,
        /// The number of bytes that were requested.
        bytes: u64,
    },
    /// A problem of one file in an archive or a module.
    #[error("in its member `{member}`: {error}")]
    Member {
        /// The member's name, as in [`Bundle::member`](crate::Bundle::member).
        member: String,
        /// The problem. Its offsets count from the start of the whole file.
        error: Box<Error>,
    },
    /// Ends a list of problems that was cut.
    #[error("and {count} more problems, which are not listed")]
    More {
        /// The number of problems that are not listed.
        count: u64,
    },
    /// An index or a name that does not exist in the file.
    #[error("there is no {what}; {present}")]
    NotFound {
        /// The requested item.
        what: String,
        /// The items that exist.
        present: String,
    },
    /// A file that cannot be read.
    #[error("cannot read {}: {problem}", path.display())]
    Read {
        /// The path of the file.
        path: std::path::PathBuf,
        /// The system's message.
        problem: String,
    },
    /// Text that does not name a target.
    #[error("`{text}` names no target: {problem}; write it like gfx942 or gfx942:sramecc+:xnack-")]
    BadTarget {
        /// The text.
        text: String,
        /// The problem of the text.
        problem: String,
    },
}

impl Error {
    #[cfg(feature = "carriers")]
    pub(crate) fn of_member(self, member: &str) -> Error {
        Error::Member { member: member.to_owned(), error: Box::new(self) }
    }

    pub(crate) fn malformed(what: impl Into<String>, offset: u64, problem: impl Into<String>) -> Error {
        Error::Malformed { what: what.into(), offset, problem: problem.into() }
    }

    pub(crate) fn unsupported(what: impl Into<String>, offset: u64, advice: impl Into<String>) -> Error {
        Error::Unsupported { what: what.into(), offset, advice: advice.into() }
    }

    pub(crate) fn truncated(what: impl Into<String>, offset: u64, needed: u64, available: u64) -> Error {
        Error::Truncated { what: what.into(), offset, needed, available }
    }
}
