// SPDX-License-Identifier: MIT OR Apache-2.0
//! The compressed bytes that a decoder gets: all of them, or as many as a step needs.

use crate::content::Content;
use crate::error::Error;
use crate::words::source::Source;

/// A step of a decoder gets this many bytes, unless the payload ends. That is more than a block of zstd with the headers
/// around it.
const LEAST: usize = (1 << 17) + 64;
/// The bytes of a file that are in memory.
const WINDOW: usize = 1 << 18;

/// The part of a payload in a file that was read last.
#[derive(Default)]
pub(super) struct Input {
    bytes: Vec<u8>,
    start: usize,
}

impl Input {
    /// The bytes of the payload from `position` on, at least as many as a step needs. `None` behind the end.
    pub(super) fn from<'i>(
        &'i mut self,
        payload: Content<'i>,
        position: usize,
    ) -> Result<Option<&'i [u8]>, Error> {
        if let Content::Memory(bytes) = payload {
            return Ok(bytes.get(position..));
        }
        let Some(left) = payload.size().checked_sub(position as u64) else { return Ok(None) };
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        let used = position.checked_sub(self.start).filter(|used| *used <= self.bytes.len());
        let have = used.map_or(0, |used| self.bytes.len() - used);
        if used.is_none() || have < left.min(LEAST) {
            self.bytes.drain(..used.unwrap_or(self.bytes.len()));
            self.start = position;
            self.bytes.resize(left.min(WINDOW), 0);
            if let Err(error) = payload.read(position as u64 + have as u64, &mut self.bytes[have..]) {
                self.bytes.clear();
                return Err(error);
            }
        }
        Ok(self.bytes.get(position - self.start..))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_not_copied() {
        let bytes = [1, 2, 3];
        let mut input = Input::default();
        assert_eq!(input.from(Content::Memory(&bytes), 1).unwrap(), Some(&bytes[1..]));
        assert_eq!(input.from(Content::Memory(&bytes), 4).unwrap(), None);
        assert!(input.bytes.is_empty());
    }

    #[cfg(feature = "carriers")]
    #[test]
    #[cfg_attr(miri, ignore = "half a megabyte takes minutes")]
    fn a_step_gets_a_whole_block_of_a_file() {
        let path = std::env::temp_dir().join(format!("windlass-codeobject-input-{}", std::process::id()));
        let all: Vec<u8> = (0..600_000_u32).map(|index| (index / 7) as u8).collect();
        std::fs::write(&path, &all).unwrap();
        let file = crate::file::bytes::Bytes::open(&path, u64::MAX).unwrap();
        for step in [1_000, 77_777, LEAST, all.len()] {
            let mut input = Input::default();
            for position in (0..=all.len()).step_by(step).chain([0]) {
                let got = input.from(file.content(), position).unwrap().unwrap();
                assert!(all[position..].starts_with(got));
                assert!(got.len() >= LEAST.min(all.len() - position), "{} bytes at {position}", got.len());
            }
            assert_eq!(input.from(file.content(), all.len() + 1).unwrap(), None);
        }
        std::fs::remove_file(path).unwrap();
    }
}
