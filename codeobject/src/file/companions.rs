// SPDX-License-Identifier: MIT OR Apache-2.0
//! What belongs to a file and is not in its bytes.

use std::collections::BTreeMap;

use crate::error::Error;

const MOST_PROBLEMS: usize = 64;

/// Bytes that a file needs beside its own.
#[derive(Debug, Default)]
pub(crate) struct Companions {
    /// Members of a zip file that had to be unpacked, or that hold such, by their place in its directory.
    pub(crate) members: BTreeMap<usize, Unpacked>,
    /// Whether the members of a zip file were looked at: those that are not there hold no code.
    pub(crate) are_unpacked: bool,
    /// kpack archives that a host ELF refers to, with their paths.
    pub(crate) archives: Vec<(String, Vec<u8>)>,
    /// What could not be had.
    pub(crate) problems: Vec<Error>,
}

/// What a member of a zip file needs.
#[derive(Debug, Default)]
pub(crate) struct Unpacked {
    /// Its bytes; nothing where they are stored as they are.
    pub(crate) bytes: Option<Vec<u8>>,
    /// Those of a zip file in a zip file.
    pub(crate) companions: Companions,
}

impl Companions {
    /// Those of bytes that came alone.
    pub(crate) const NONE: &Companions = &Companions {
        members: BTreeMap::new(),
        are_unpacked: false,
        archives: Vec::new(),
        problems: Vec::new(),
    };

    /// Notes what could not be had, unless there is much of it.
    pub(crate) fn problem(&mut self, error: Error) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(error);
        }
    }
}
