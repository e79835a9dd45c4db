// SPDX-License-Identifier: MIT OR Apache-2.0
//! zstd frames by the C library.

use zstd::zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, get_error_name, get_frame_content_size};

use super::decoder::{DecodeStep, Decoder};
use super::frames;
use crate::error::Error;

/// The window that zstd's own tools accept. A bundle that declares more bytes may have a window of its own size.
const USUAL_WINDOW_LOG: u32 = 27;
const MAX_WINDOW_LOG: u32 = 31;
/// The bytes of a frame that tell the length of its header.
const FRAME_HEAD: usize = 5;
const BLOCK_HEADER: usize = 3;

/// Decodes one block at a time. So no block is decoded in vain, and damage costs its own block only: the library
/// discards the output of a call that fails.
pub(super) struct Zstd {
    context: DCtx<'static>,
    declared: u64,
    produced: u64,
    at_frame: bool,
    /// Whether the library may hold output that did not fit.
    holds_output: bool,
    /// The number of input bytes that the library wants, which may include the header of the next block.
    hint: usize,
}

impl Zstd {
    /// A decoder for a stream that declares `declared` bytes. Output that does not move between steps serves as the
    /// decoder's window, which saves a copy and half of the memory; it must then have room for
    /// [`OVERSHOOT`](super::output::OVERSHOOT) more bytes.
    pub(super) fn new(declared: u64, output_stays: bool) -> Result<Zstd, Error> {
        let no_context = || Error::Memory { what: "a zstd decoder", bytes: 0 };
        let mut context = DCtx::try_create().ok_or_else(no_context)?;
        let declared_log = u64::BITS - declared.saturating_sub(1).leading_zeros();
        let window_log = declared_log.clamp(USUAL_WINDOW_LOG, MAX_WINDOW_LOG);
        context.set_parameter(DParameter::WindowLogMax(window_log)).map_err(|_| no_context())?;
        context.set_parameter(DParameter::StableOutBuffer(output_stays)).map_err(|_| no_context())?;
        Ok(Zstd { context, declared, produced: 0, at_frame: true, holds_output: false, hint: FRAME_HEAD })
    }

    /// Checks that a frame states no more bytes than the declared size leaves. The library would only report that the
    /// output is too small, and not always.
    fn check_frame(&self, input: &[u8]) -> Result<(), String> {
        let stated = get_frame_content_size(input).ok().flatten().unwrap_or_default();
        let holds = self.produced.saturating_add(stated);
        if holds <= self.declared {
            return Ok(());
        }
        Err(format!("it holds {holds} bytes, where {} are declared", self.declared))
    }

    /// Gives input to the library, and returns the number of bytes that it used.
    fn decompress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<usize, String> {
        let filled = out.len();
        let mut input = InBuffer::around(input);
        let mut output = OutBuffer::around_pos(&mut *out, filled);
        let hint = self.context.decompress_stream(&mut output, &mut input);
        self.hint = hint.map_err(|code| get_error_name(code).to_owned())?;
        let consumed = input.pos();
        self.produced += (out.len() - filled) as u64;
        self.holds_output = out.len() == out.capacity();
        Ok(consumed)
    }
}

impl Decoder for Zstd {
    fn step(&mut self, input: &[u8], out: &mut Vec<u8>, _wanted: usize) -> Result<DecodeStep, String> {
        let before = out.len();
        if self.holds_output {
            self.decompress(&[], out)?;
            if out.len() > before {
                return Ok(DecodeStep { consumed: 0, ended: false });
            }
        }
        if self.at_frame {
            self.check_frame(input)?;
        }
        let wanted = match self.hint {
            _ if self.at_frame => FRAME_HEAD,
            more if more > BLOCK_HEADER => more - BLOCK_HEADER,
            little => little,
        };
        let consumed = self.decompress(input.get(..wanted).unwrap_or(input), out)?;
        self.at_frame = self.hint == 0;
        let rest = input.get(consumed..).unwrap_or_default();
        Ok(DecodeStep { consumed, ended: self.at_frame && !frames::begins(rest) })
    }
}
