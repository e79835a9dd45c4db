// SPDX-License-Identifier: MIT OR Apache-2.0
//! Detects whether a program uses HIP, as far as that is possible before it runs.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

/// The start of the names of HIP's library and of HSA's, in every version.
const LIBRARIES: [&[u8]; 2] = [b"libamdhip64.so", b"libhsa-runtime64.so"];
/// Bytes that are read at once.
const PIECE: usize = 1 << 20;

/// Whether a library name is HIP's or HSA's.
pub(crate) fn is_hip(name: &[u8]) -> bool {
    let name = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    LIBRARIES.iter().any(|library| name.starts_with(library))
}

/// Whether a program is Python, whose modules load HIP long after its start.
pub(crate) fn is_python(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().as_encoded_bytes();
    name.strip_prefix(b"python").is_some_and(|rest| rest.iter().all(|byte| b"0123456789.dt".contains(byte)))
}

/// Whether a program contains the name of HIP's library or HSA's, because it is linked with it or loads it.
pub(crate) fn names_hip(file: &Path) -> io::Result<bool> {
    let longest = LIBRARIES.iter().map(|name| name.len()).max().unwrap_or_default();
    let finders = LIBRARIES.map(memchr::memmem::Finder::new);
    let mut file = File::open(file)?;
    let mut bytes = Vec::with_capacity(PIECE + longest);
    loop {
        // A name may begin in one piece and end in the next.
        let kept = bytes.len().min(longest);
        bytes.drain(..bytes.len() - kept);
        if file.by_ref().take(PIECE as u64).read_to_end(&mut bytes)? == 0 {
            return Ok(false);
        }
        if finders.iter().any(|finder| finder.find(&bytes).is_some()) {
            return Ok(true);
        }
    }
}
