// SPDX-License-Identifier: MIT OR Apache-2.0
//! Archives of objects (`ar`).

use crate::bytes::range;
use crate::error::Error;

pub(crate) const ARCHIVE_MAGIC: &[u8] = b"!<arch>\n";
const HEADER_SIZE: u64 = 60;

/// The members of an archive with their offsets; the tables of symbols and names are among them.
pub(crate) fn members(bytes: &[u8]) -> Result<Vec<(&[u8], u64)>, Error> {
    let mut members = Vec::new();
    let mut position = ARCHIVE_MAGIC.len() as u64;
    while position < bytes.len() as u64 {
        let what = || format!("member {} of the archive", members.len());
        let left = bytes.len() as u64 - position;
        let header = range(bytes, position, HEADER_SIZE)
            .ok_or_else(|| Error::truncated(what(), position, HEADER_SIZE, left))?;
        let size = header
            .get(48..58)
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| digits.trim_end().parse::<u64>().ok())
            .ok_or_else(|| Error::malformed(what(), position, "its size is no number"))?;
        let start = position + HEADER_SIZE;
        let content = range(bytes, start, size)
            .ok_or_else(|| Error::truncated(what(), position, size, left - HEADER_SIZE))?;
        members.push((content, start));
        position = (start + size).next_multiple_of(2);
    }
    Ok(members)
}
