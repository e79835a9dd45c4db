// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that are one compressed stream: gzip, zstd, xz and bzip2, such as Blender's `kernel_gfx1100.fatbin.zst`.

use std::io::{self, BufReader, Read};

use windlass_codeobject::Budget;

/// The number of bytes at a file's start that tell its kind.
pub(super) const HEAD: u64 = 512;
/// The most memory of an xz decoder, in KiB, as much as xz itself needs at its highest level and four times more.
const XZ_MEMORY: u32 = 256 << 10;

/// A compression method that the first bytes tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Gzip,
    Zstd,
    Xz,
    Bzip2,
}

impl Method {
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        /// A bzip2 stream goes on with the digits of pi, or, if it is empty, of its square root.
        const BLOCKS: [&[u8]; 2] = [b"\x31\x41\x59\x26\x53\x59", b"\x17\x72\x45\x38\x50\x90"];
        let is_bzip2 = |level: &u8, rest: &[u8]| {
            (b'1'..=b'9').contains(level) && BLOCKS.iter().any(|block| rest.starts_with(block))
        };
        match head {
            [0x1f, 0x8b, 8, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            [b'B', b'Z', b'h', level, rest @ ..] if is_bzip2(level, rest) => Some(Self::Bzip2),
            _ => None,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
            Self::Bzip2 => "bzip2",
        }
    }

    fn reader<'r>(self, stream: impl Read + 'r) -> io::Result<Box<dyn Read + 'r>> {
        Ok(match self {
            Self::Gzip => Box::new(flate2::read::MultiGzDecoder::new(stream)),
            // Refuses windows of more than 128 MiB.
            Self::Zstd => Box::new(zstd::stream::read::Decoder::new(stream)?),
            Self::Xz => {
                Box::new(lzma_rust2::XzReader::new_mem_limit(BufReader::new(stream), true, XZ_MEMORY))
            }
            Self::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(stream)),
        })
    }

    /// About as many bytes as are decoded before the first one is known. A block of bzip2 has up to 900 kB, and few are full.
    const fn least(self) -> u64 {
        match self {
            Self::Gzip => 1 << 15,
            Self::Zstd | Self::Xz => 1 << 17,
            Self::Bzip2 => 300_000,
        }
    }

    /// The content of a stream, `most` bytes at most. They come from the budget, also if the stream breaks. `None` if `is_wanted` refuses its first bytes, which are all that is
    /// unpacked then.
    pub(super) fn unpack(
        self,
        stream: impl Read,
        is_wanted: impl Fn(&[u8]) -> bool,
        most: u64,
        budget: &Budget,
    ) -> Result<Option<Vec<u8>>, String> {
        let take = |bytes| budget.take("a stream", bytes).map_err(|error| error.to_string());
        take(self.least())?;
        let broken = |error: io::Error| format!("its {} stream cannot be unpacked: {error}", self.name());
        let mut reader = self.reader(stream).map_err(broken)?;
        let mut bytes = Vec::new();
        reader.by_ref().take(HEAD).read_to_end(&mut bytes).map_err(broken)?;
        if !is_wanted(&bytes) {
            return Ok(None);
        }
        let left = most.min(budget.left()).saturating_sub(bytes.len() as u64);
        let read = reader.take(left.saturating_add(1)).read_to_end(&mut bytes);
        take(bytes.len() as u64)?;
        read.map_err(broken)?;
        if bytes.len() as u64 > most {
            return Err(format!("it unpacks to more than {most} bytes; unpack it and audit the content"));
        }
        Ok(Some(bytes))
    }
}
