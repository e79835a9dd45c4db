// SPDX-License-Identifier: MIT OR Apache-2.0
//! Zip files whose members are stored as they are, as IREE writes its modules (`.vmfb`).

use crate::bytes::{range, u16_at, u32_at, u64_at};
use crate::error::Error;

pub(crate) const ZIP_MAGIC: &[u8] = b"PK\x03\x04";
const MEMBER_SIZE: u64 = 30;
const END_MAGIC: &[u8] = b"PK\x05\x06";
const END_SIZE: u64 = 22;
const LONGEST_COMMENT: u64 = 0xffff;
const LOCATOR_SIZE: u64 = 20;
const ROW_MAGIC: &[u8] = b"PK\x01\x02";
const ROW_SIZE: u64 = 46;
/// Stands where the number is in the extra field for large files (zip64).
const LONG: u64 = 0xffff_ffff;

/// The members with their offsets in the file.
pub(crate) fn stored_members(bytes: &[u8]) -> Result<Vec<(&[u8], u64)>, Error> {
    let what = "the directory of the zip file";
    let mut position = directory(bytes).ok_or_else(|| {
        Error::malformed(what, bytes.len() as u64, "it is not where the file's end should say")
    })?;
    let mut members = Vec::new();
    while let Some(row) = range(bytes, position, ROW_SIZE).filter(|row| row.starts_with(ROW_MAGIC)) {
        let outside = || Error::malformed(what, position, "it points outside the file");
        let half = |at| u64::from(u16_at(row, at).unwrap_or_default());
        let (method, name, extra, comment) = (half(10), half(28), half(30), half(32));
        if method != 0 {
            let advice = "IREE stores its modules uncompressed; give the .vmfb as iree-compile wrote it";
            return Err(Error::unsupported("a compressed member of a zip file", position, advice));
        }
        let extra_field = range(bytes, position + ROW_SIZE + name, extra).ok_or_else(outside)?;
        let (size, offset) = size_and_offset(row, extra_field).ok_or_else(outside)?;
        members.push(content(bytes, offset, size).ok_or_else(outside)?);
        position += ROW_SIZE + name + extra + comment;
    }
    Ok(members)
}

/// Where the directory begins, by what stands at the end of the file.
fn directory(bytes: &[u8]) -> Option<u64> {
    let size = bytes.len() as u64;
    let first = size.saturating_sub(END_SIZE + LONGEST_COMMENT);
    let tail = range(bytes, first, size - first)?;
    let end = first + tail.windows(END_MAGIC.len()).rposition(|window| window == END_MAGIC)? as u64;
    let offset = u64::from(u32_at(bytes, end.checked_add(16)?)?);
    if offset != LONG {
        return Some(offset);
    }
    let long_end = u64_at(bytes, end.checked_sub(LOCATOR_SIZE)?.checked_add(8)?)?;
    u64_at(bytes, long_end.checked_add(48)?)
}

/// The stored size of a member and where its header lies.
fn size_and_offset(row: &[u8], extra: &[u8]) -> Option<(u64, u64)> {
    const ZIP64: u16 = 1;
    let unpacked = u64::from(u32_at(row, 24)?);
    let size = u64::from(u32_at(row, 20)?);
    let offset = u64::from(u32_at(row, 42)?);
    if ![unpacked, size, offset].contains(&LONG) {
        return Some((size, offset));
    }
    let mut position = 0;
    while u16_at(extra, position)? != ZIP64 {
        position += 4 + u64::from(u16_at(extra, position + 2)?);
    }
    position += 4;
    // The field holds those numbers only that are marked as long, in this order.
    let mut long = |number| {
        if number != LONG {
            return Some(number);
        }
        position += 8;
        u64_at(extra, position - 8)
    };
    long(unpacked)?;
    Some((long(size)?, long(offset)?))
}

/// The content behind a member's own header.
fn content(bytes: &[u8], offset: u64, size: u64) -> Option<(&[u8], u64)> {
    let header = range(bytes, offset, MEMBER_SIZE).filter(|header| header.starts_with(ZIP_MAGIC))?;
    let skipped = MEMBER_SIZE + u64::from(u16_at(header, 26)?) + u64::from(u16_at(header, 28)?);
    let start = offset.checked_add(skipped)?;
    Some((range(bytes, start, size)?, start))
}
