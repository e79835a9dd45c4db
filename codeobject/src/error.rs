// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be wrong with a file, said so that its owner knows what to do.

/// Why a file, a bundle, an entry or a code object could not be read.
///
/// Every message names what was being read and where it lies. Offsets count bytes from the start of the input that
/// was being read: of the file for containers, of the unpacked bundle for entries, of the ELF for code objects.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes begin like nothing that this crate knows.
    #[error(
        "no AMD GPU code at offset {offset:#x}: the bytes there ({found}) begin no code object, bundle or host \
         object; give an ELF for amdgpu, a (compressed) clang offload bundle, or a host ELF that carries one"
    )]
    NotRecognised {
        /// Where the unknown bytes are.
        offset: u64,
        /// The first bytes there, as text or hexadecimal digits.
        found: String,
    },
    /// A known format, or a part of one, that this crate does not read.
    #[error("{what} at offset {offset:#x} is not supported: {advice}")]
    Unsupported {
        /// The format, by its name in the field.
        what: String,
        /// Where it begins.
        offset: u64,
        /// How to get a file that can be read.
        advice: String,
    },
    /// The input ends before something that it announces.
    #[error(
        "{what} at offset {offset:#x} needs {needed} bytes, and {available} are there: the input is cut short or \
         its sizes are wrong; fetch or build it again"
    )]
    Truncated {
        /// What was being read.
        what: String,
        /// Where it begins.
        offset: u64,
        /// How many bytes it takes.
        needed: u64,
        /// How many there are.
        available: u64,
    },
    /// The bytes contradict their format.
    #[error(
        "{what} at offset {offset:#x} is malformed: {problem}; the input is damaged, build or fetch it again"
    )]
    Malformed {
        /// What was being read.
        what: String,
        /// Where it begins.
        offset: u64,
        /// The contradiction.
        problem: String,
    },
    /// The input is larger than the caller is willing to take.
    #[error("{what} at offset {offset:#x} takes {value}, above the limit of {limit}; {advice}")]
    Limit {
        /// What is too large.
        what: String,
        /// Where it begins.
        offset: u64,
        /// Its size or count.
        value: u64,
        /// The limit that it exceeds.
        limit: u64,
        /// Which knob raises the limit.
        advice: String,
    },
    /// A compressed payload could not be decoded.
    #[error("the {method} stream at offset {offset:#x} breaks after {unpacked} unpacked bytes: {problem}")]
    Decode {
        /// `zlib` or `zstd`.
        method: &'static str,
        /// Where the stream begins.
        offset: u64,
        /// How many bytes had come out.
        unpacked: u64,
        /// What the decoder says.
        problem: String,
    },
    /// This build has no decoder for the method.
    #[error(
        "the {method} stream at offset {offset:#x} cannot be unpacked: this build has no decoder for it; enable the feature `{feature}` of windlass-codeobject"
    )]
    NoDecoder {
        /// The method of compression.
        method: &'static str,
        /// Where the stream begins.
        offset: u64,
        /// Which feature brings the decoder.
        feature: &'static str,
    },
    /// The system has no memory for what is to be unpacked.
    #[error("no memory for {bytes} bytes of {what}; free some, or lower `Options::max_unpacked`")]
    Memory {
        /// What the memory is for.
        what: &'static str,
        /// How much was asked for.
        bytes: u64,
    },
    /// What is wrong with one file in an archive or a module.
    #[error("in its member `{member}`: {error}")]
    Member {
        /// The member's name, as in [`Bundle::member`](crate::Bundle::member).
        member: String,
        /// What is wrong there; its offsets are those of the whole file.
        error: Box<Error>,
    },
    /// Stands behind the problems that are listed where there are more.
    #[error("and {count} more problems, which are not listed")]
    More {
        /// How many.
        count: u64,
    },
    /// An index or a name that is not in the file.
    #[error("there is no {what}; {present}")]
    NotFound {
        /// What was asked for.
        what: String,
        /// What there is instead.
        present: String,
    },
    /// A file that cannot be read.
    #[error("cannot read {}: {problem}", path.display())]
    Read {
        /// The file.
        path: std::path::PathBuf,
        /// What the system says.
        problem: String,
    },
    /// Text that should name a target and does not.
    #[error("`{text}` names no target: {problem}; write it like gfx942 or gfx942:sramecc+:xnack-")]
    BadTarget {
        /// The text as it was given.
        text: String,
        /// What is wrong with it.
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
