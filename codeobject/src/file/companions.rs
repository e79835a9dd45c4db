// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes that belong to a file and lie outside of it.

#[cfg(feature = "carriers")]
use std::collections::BTreeMap;

use crate::error::Error;
#[cfg(feature = "carriers")]
use crate::file::bytes::Bytes;

#[cfg(feature = "carriers")]
const MOST_PROBLEMS: usize = 64;

/// The bytes that a file needs beside its own.
#[derive(Debug, Default)]
pub(crate) struct Companions {
    /// Members of a zip file that had to be unpacked, or that hold such members, by their place in its directory.
    #[cfg(feature = "carriers")]
    pub(crate) members: BTreeMap<usize, Unpacked>,
    /// Whether the members of a zip file were looked at: those that are absent from `members` hold no code.
    #[cfg(feature = "carriers")]
    pub(crate) are_unpacked: bool,
    /// kpack archives that a host ELF refers to, with their paths.
    #[cfg(feature = "carriers")]
    pub(crate) archives: Vec<(String, Bytes)>,
    /// Companions that could not be read.
    pub(crate) problems: Vec<Error>,
}

/// The bytes that a member of a zip file needs beside the file's own.
#[cfg(feature = "carriers")]
#[derive(Debug, Default)]
pub(crate) struct Unpacked {
    /// The member's bytes; `None` where the file stores them uncompressed.
    pub(crate) bytes: Option<Vec<u8>>,
    /// The companions of a zip file in a zip file.
    pub(crate) companions: Companions,
}

impl Companions {
    /// The companions of bytes that came alone.
    pub(crate) const NONE: &Companions = &Companions {
        #[cfg(feature = "carriers")]
        members: BTreeMap::new(),
        #[cfg(feature = "carriers")]
        are_unpacked: false,
        #[cfg(feature = "carriers")]
        archives: Vec::new(),
        problems: Vec::new(),
    };

    /// Notes a companion that could not be read, up to a limit.
    #[cfg(feature = "carriers")]
    pub(crate) fn problem(&mut self, error: Error) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(error);
        }
    }
}
