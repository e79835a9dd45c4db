// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which programs use HIP, as far as that can be told before they run.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

/// How HIP's library and HSA's are called, in every version.
const LIBRARIES: [&[u8]; 2] = [b"libamdhip64.so", b"libhsa-runtime64.so"];
/// Read at once.
const PIECE: usize = 1 << 20;

/// Whether a library that is looked for is HIP's or HSA's.
pub(crate) fn is_hip(name: &[u8]) -> bool {
    let name = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    LIBRARIES.iter().any(|library| name.starts_with(library))
}

/// Whether a program is Python, whose modules look for HIP long after its start.
pub(crate) fn is_python(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().as_encoded_bytes();
    name.strip_prefix(b"python").is_some_and(|rest| rest.iter().all(|byte| b"0123456789.dt".contains(byte)))
}

/// Whether a program has the name of HIP's library in it, to be linked with it or to look for it.
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
