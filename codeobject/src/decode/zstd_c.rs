// SPDX-License-Identifier: MIT OR Apache-2.0
//! zstd frames by the C library.

use zstd::zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, get_error_name, get_frame_content_size};

use super::{Decoder, Step, frames};
use crate::error::Error;

/// The window that zstd's own tools accept; a bundle that declares more may have a window as large as itself.
const USUAL_WINDOW_LOG: u32 = 27;
const MAX_WINDOW_LOG: u32 = 31;
/// Enough of a frame to tell how long its header is.
const FRAME_HEAD: usize = 5;

pub(super) struct Zstd {
    context: DCtx<'static>,
    declared: u64,
    output_stays: bool,
    begun: bool,
    /// The input up to the end of the next block: so no block is decoded that nobody asked for, and none is copied.
    next_input: usize,
}

impl Zstd {
    /// A decoder for a stream that declares so many bytes. Where the output does not move between steps, it serves as
    /// the decoder's window, which saves the copy and half of the memory.
    pub(super) fn new(declared: u64, output_stays: bool) -> Result<Zstd, Error> {
        let no_context = || Error::Memory { what: "a zstd decoder", bytes: 0 };
        let mut context = DCtx::try_create().ok_or_else(no_context)?;
        let declared_log = u64::BITS - declared.saturating_sub(1).leading_zeros();
        let window_log = declared_log.clamp(USUAL_WINDOW_LOG, MAX_WINDOW_LOG);
        context.set_parameter(DParameter::WindowLogMax(window_log)).map_err(|_| no_context())?;
        context.set_parameter(DParameter::StableOutBuffer(output_stays)).map_err(|_| no_context())?;
        Ok(Zstd { context, declared, output_stays, begun: false, next_input: FRAME_HEAD })
    }
}

impl Decoder for Zstd {
    fn step(&mut self, input: &[u8], out: &mut Vec<u8>, _wanted: usize) -> Result<Step, String> {
        // The library would only say that the output is too small.
        if self.output_stays && !std::mem::replace(&mut self.begun, true) {
            let stated = get_frame_content_size(input).ok().flatten().unwrap_or_default();
            if stated > self.declared {
                return Err(format!("it holds {stated} bytes, where {} are declared", self.declared));
            }
        }
        let mut input_buffer = InBuffer::around(input.get(..self.next_input).unwrap_or(input));
        let filled = out.len();
        let mut output = OutBuffer::around_pos(out, filled);
        let hint = self
            .context
            .decompress_stream(&mut output, &mut input_buffer)
            .map_err(|code| get_error_name(code).to_owned())?;
        let consumed = input_buffer.pos();
        self.next_input = if hint == 0 { FRAME_HEAD } else { hint };
        let rest = input.get(consumed..).unwrap_or_default();
        Ok(Step { consumed, ended: hint == 0 && !frames::begins(rest) })
    }
}
