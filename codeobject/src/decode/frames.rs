// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where zstd frames end, read off their block headers without decoding a block.

use crate::bytes::{array, u32_at};

const FRAME_MAGIC: u32 = 0xfd2f_b528;
const SKIPPABLE_MAGIC: u32 = 0x184d_2a50;
const RLE_BLOCK: u32 = 1;
const RESERVED_BLOCK: u32 = 3;

/// Whether a frame, decodable or skippable, begins here.
pub(super) fn begins(data: &[u8]) -> bool {
    u32_at(data, 0).is_some_and(|magic| magic == FRAME_MAGIC || is_skippable(magic))
}

/// How many bytes at the head of `data` are frames, one behind the other.
pub(super) fn stored_size(data: &[u8]) -> Result<u64, String> {
    let mut position = 0;
    loop {
        let rest = data.get(position..).unwrap_or_default();
        if !begins(rest) {
            break;
        }
        let size = frame_size(rest).ok_or("a zstd frame in it is cut short or malformed")?;
        position = position.checked_add(size).ok_or("a zstd frame in it has no end")?;
    }
    if position == 0 { Err("no zstd frame begins it".to_owned()) } else { Ok(position as u64) }
}

fn is_skippable(magic: u32) -> bool {
    magic & 0xffff_fff0 == SKIPPABLE_MAGIC
}

/// Size of the frame that begins `data`; `None` where it does not fit or makes no sense.
fn frame_size(data: &[u8]) -> Option<usize> {
    if is_skippable(u32_at(data, 0)?) {
        let size = usize::try_from(u32_at(data, 4)?).ok()?.checked_add(8)?;
        return (size <= data.len()).then_some(size);
    }
    let descriptor = *data.get(4)?;
    let single_segment = descriptor & 0x20 != 0;
    let window = usize::from(!single_segment);
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let content = match descriptor >> 6 {
        0 => usize::from(single_segment),
        size => 1 << size,
    };
    let mut position = 5 + window + dictionary + content;
    loop {
        let [a, b, c] = array(data, position as u64)?;
        let header = u32::from_le_bytes([a, b, c, 0]);
        let size = match header >> 1 & 3 {
            RLE_BLOCK => 1,
            RESERVED_BLOCK => return None,
            _ => usize::try_from(header >> 3).ok()?,
        };
        position = position.checked_add(3)?.checked_add(size)?;
        if header & 1 != 0 {
            break;
        }
    }
    let checksum = if descriptor & 4 != 0 { 4 } else { 0 };
    let end = position.checked_add(checksum)?;
    (end <= data.len()).then_some(end)
}
