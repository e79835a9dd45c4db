// SPDX-License-Identifier: MIT OR Apache-2.0
//! zstd frames in Rust.
//!
//! The decoder gives out only the bytes behind its window, and a real bundle is one frame whose window is the whole
//! content. So the first byte costs the decoding of the whole frame, where the C library stops early.

use std::io::Read;

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::decoder::{DecodeStep, Decoder};
use super::frames;

/// The window that zstd's own tools accept.
const USUAL_WINDOW: u64 = 1 << 27;

pub(super) struct Zstd {
    decoder: FrameDecoder,
    in_frame: bool,
}

impl Zstd {
    pub(super) fn new(declared: u64, max_unpacked: u64) -> Zstd {
        let mut decoder = FrameDecoder::new();
        // The decoder keeps its window and one block.
        decoder.set_max_window_size(declared.min(max_unpacked).max(USUAL_WINDOW));
        Zstd { decoder, in_frame: false }
    }

    /// Begins the frame at the head of `input`, or skips it if it is skippable.
    fn begin_frame(&mut self, input: &mut &[u8]) -> Result<(), String> {
        let start = *input;
        match self.decoder.reset(&mut *input) {
            Ok(()) => {
                self.in_frame = true;
                Ok(())
            }
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length, ..
            })) => {
                let size = usize::try_from(length).unwrap_or(usize::MAX).saturating_add(8);
                *input = start.get(size..).ok_or("a skippable frame is cut short")?;
                Ok(())
            }
            Err(error) => Err(error.to_string()),
        }
    }

    /// Moves the decoder's output into the spare capacity of `out`.
    fn drain(&mut self, out: &mut Vec<u8>) -> Result<(), String> {
        let filled = out.len();
        let room = self.decoder.can_collect().min(out.capacity() - filled);
        out.resize(filled + room, 0);
        let read = self.decoder.read(&mut out[filled..]).map_err(|error| error.to_string())?;
        out.truncate(filled + read);
        Ok(())
    }
}

impl Decoder for Zstd {
    fn step(&mut self, input: &[u8], out: &mut Vec<u8>, _wanted: usize) -> Result<DecodeStep, String> {
        let mut rest = input;
        if !self.in_frame {
            self.begin_frame(&mut rest)?;
        } else if self.decoder.can_collect() > 0 {
            self.drain(out)?;
        } else if !self.decoder.is_finished() {
            self.decoder
                .decode_blocks(&mut rest, BlockDecodingStrategy::UptoBlocks(1))
                .map_err(|error| error.to_string())?;
        }
        if self.in_frame && self.decoder.is_finished() && self.decoder.can_collect() == 0 {
            self.in_frame = false;
            let stated = self.decoder.get_checksum_from_data();
            if stated.is_some() && stated != self.decoder.get_calculated_checksum() {
                return Err("the checksum of a frame does not hold".to_owned());
            }
        }
        let consumed = input.len() - rest.len();
        Ok(DecodeStep { consumed, ended: !self.in_frame && !frames::begins(rest) })
    }
}
