// SPDX-License-Identifier: MIT OR Apache-2.0
//! Offload bundles, plain and compressed.

use std::io::Write;

use super::elf::pad;

pub(crate) const MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";

/// A row of a bundle's table, valid or not.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) id_size: Option<u64>,
    pub(crate) id: Vec<u8>,
}

/// A table with the given rows, and behind it `tail`.
pub(crate) fn plain_rows(count: u64, rows: &[Row], tail: &[u8]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend(count.to_le_bytes());
    for row in rows {
        out.extend(row.offset.to_le_bytes());
        out.extend(row.size.to_le_bytes());
        out.extend(row.id_size.unwrap_or(row.id.len() as u64).to_le_bytes());
        out.extend(&row.id);
    }
    out.extend(tail);
    out
}

/// A well-formed bundle whose images are aligned.
pub(crate) fn plain(entries: &[(&str, &[u8])], align: usize) -> Vec<u8> {
    let table: usize = 32 + entries.iter().map(|(id, _)| 24 + id.len()).sum::<usize>();
    let mut rows = Vec::new();
    let mut body = Vec::new();
    for (id, image) in entries {
        let start = (table + body.len()).next_multiple_of(align);
        pad(&mut body, start - table);
        body.extend(*image);
        rows.push(Row {
            offset: start as u64,
            size: image.len() as u64,
            id_size: None,
            id: id.as_bytes().to_vec(),
        });
    }
    plain_rows(entries.len() as u64, &rows, &body)
}

/// A compressed bundle; fields that are `None` get the right values.
#[derive(Debug, Clone)]
pub(crate) struct Ccob {
    pub(crate) version: u16,
    pub(crate) method: u16,
    pub(crate) payload: Vec<u8>,
    pub(crate) unpacked_size: u64,
    pub(crate) stored_size: Option<u64>,
}

impl Ccob {
    pub(crate) fn zlib(version: u16, content: &[u8]) -> Ccob {
        let unpacked_size = content.len() as u64;
        Ccob { version, method: 0, payload: zlib(content), unpacked_size, stored_size: None }
    }

    pub(crate) fn zstd(version: u16, content: &[u8]) -> Ccob {
        let unpacked_size = content.len() as u64;
        Ccob { version, method: 1, payload: zstd_frame(content), unpacked_size, stored_size: None }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let header = match self.version {
            1 => 20,
            2 => 24,
            _ => 32,
        };
        let stored = self.stored_size.unwrap_or((header + self.payload.len()) as u64);
        let mut out = b"CCOB".to_vec();
        out.extend(self.version.to_le_bytes());
        out.extend(self.method.to_le_bytes());
        match self.version {
            1 => out.extend((self.unpacked_size as u32).to_le_bytes()),
            2 => {
                out.extend((stored as u32).to_le_bytes());
                out.extend((self.unpacked_size as u32).to_le_bytes());
            }
            _ => {
                out.extend(stored.to_le_bytes());
                out.extend(self.unpacked_size.to_le_bytes());
            }
        }
        out.extend(0x1122_3344_5566_7788_u64.to_le_bytes());
        out.extend(&self.payload);
        out
    }
}

pub(crate) fn zlib(content: &[u8]) -> Vec<u8> {
    // Miri takes minutes to compress more.
    let is_stored = cfg!(miri) && content.len() > 4096;
    let level = if is_stored { flate2::Compression::none() } else { flate2::Compression::default() };
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

#[cfg(not(miri))]
pub(crate) fn zstd_frame(content: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(content, 3).unwrap()
}

/// A frame without a content size, with a checksum.
#[cfg(not(miri))]
pub(crate) fn zstd_frame_without_size(content: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// Miri runs no C, so it gets uncompressed frames (RFC 8878).
#[cfg(miri)]
pub(crate) fn zstd_frame(content: &[u8]) -> Vec<u8> {
    const SINGLE_SEGMENT_WITH_SIZE: u8 = 0b1110_0000;
    let size = (content.len() as u64).to_le_bytes();
    stored_frame(&[&[SINGLE_SEGMENT_WITH_SIZE], &size[..]].concat(), content)
}

#[cfg(miri)]
pub(crate) fn zstd_frame_without_size(content: &[u8]) -> Vec<u8> {
    const WINDOW_OF_A_MEGABYTE: u8 = 10 << 3;
    stored_frame(&[0, WINDOW_OF_A_MEGABYTE], content)
}

#[cfg(miri)]
fn stored_frame(header: &[u8], content: &[u8]) -> Vec<u8> {
    let mut out = [&0xfd2f_b528_u32.to_le_bytes(), header].concat();
    let mut blocks = content.chunks(100_000).peekable();
    while let Some(block) = blocks.next() {
        let is_last = u32::from(blocks.peek().is_none());
        out.extend(&((block.len() as u32) << 3 | is_last).to_le_bytes()[..3]);
        out.extend(block);
    }
    if content.is_empty() {
        out.extend([1, 0, 0]);
    }
    out
}
