// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ends of zstd frames, found by block headers without decoding.

use crate::bytes::u32_at;
use crate::content::Content;
use crate::words::source::Source;

const MAGIC_SIZE: usize = 4;
const FRAME_MAGIC: u32 = 0xfd2f_b528;
const SKIPPABLE_MAGIC: u32 = 0x184d_2a50;
const RLE_BLOCK: u32 = 1;
const RESERVED_BLOCK: u32 = 3;

/// Whether a frame, decodable or skippable, begins here.
pub(super) fn begins(data: &[u8]) -> bool {
    u32_at(data, 0).is_some_and(|magic| magic == FRAME_MAGIC || is_skippable(magic))
}

/// The number of bytes at the head of `payload` that are frames in a row.
pub(super) fn stored_size(payload: Content<'_>) -> Result<u64, String> {
    let size = payload.size();
    let mut read = |at, out: &mut [u8]| payload.read(at, out).map_err(|_| Cut);
    let mut position = 0;
    while begins(&payload.from(position).head(MAGIC_SIZE).unwrap_or_default()) {
        let frame = Frame::read(&mut read, position).map_err(|Cut| CUT)?;
        position = frame.filter(|frame| frame.end <= size).ok_or(CUT)?.end;
    }
    if position == 0 { Err("no zstd frame begins it".to_owned()) } else { Ok(position) }
}

const CUT: &str = "a zstd frame in it is cut short or malformed";
struct Cut;

/// A frame, by its headers.
pub(super) struct Frame {
    /// Its end in the stream.
    pub(super) end: u64,
    /// The unpacked size, if the frame states it.
    pub(super) content: Option<u64>,
}

impl Frame {
    /// Reads the headers of the frame at `start`, each only after the one before has announced it; `None` for damaged
    /// headers.
    pub(super) fn read<E>(
        read: &mut impl FnMut(u64, &mut [u8]) -> Result<(), E>,
        start: u64,
    ) -> Result<Option<Frame>, E> {
        let mut magic = [0; 4];
        read(start, &mut magic)?;
        if !begins(&magic) {
            return Ok(None);
        }
        if is_skippable(u32::from_le_bytes(magic)) {
            let mut size = [0; 4];
            read(start.saturating_add(4), &mut size)?;
            let end = start.checked_add(8 + u64::from(u32::from_le_bytes(size)));
            return Ok(end.map(|end| Frame { end, content: Some(0) }));
        }
        let mut descriptor = [0];
        read(start.saturating_add(4), &mut descriptor)?;
        let [descriptor] = descriptor;
        let single_segment = descriptor & 0x20 != 0;
        let window = u64::from(!single_segment);
        let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let content_size = match descriptor >> 6 {
            0 => usize::from(single_segment),
            size => 1 << size,
        };
        let mut content = [0; 8];
        let place = start.saturating_add(5 + window + dictionary);
        read(place, &mut content[..content_size])?;
        let content = u64::from_le_bytes(content);
        // A two-byte field counts from 256.
        let content = if content_size == 2 { content + 256 } else { content };
        let Some(end) = blocks_end(read, place.saturating_add(content_size as u64))? else { return Ok(None) };
        let checksum = if descriptor & 4 != 0 { 4 } else { 0 };
        let content = (content_size > 0).then_some(content);
        Ok(end.checked_add(checksum).map(|end| Frame { end, content }))
    }
}

/// The end of the blocks, the first of which is at `position`.
fn blocks_end<E>(
    read: &mut impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    mut position: u64,
) -> Result<Option<u64>, E> {
    loop {
        let mut header = [0; 4];
        read(position, &mut header[..3])?;
        let header = u32::from_le_bytes(header);
        let size = match header >> 1 & 3 {
            RLE_BLOCK => 1,
            RESERVED_BLOCK => return Ok(None),
            _ => u64::from(header >> 3),
        };
        let Some(end) = position.checked_add(3 + size) else { return Ok(None) };
        position = end;
        if header & 1 != 0 {
            return Ok(Some(position));
        }
    }
}

fn is_skippable(magic: u32) -> bool {
    magic & 0xffff_fff0 == SKIPPABLE_MAGIC
}
