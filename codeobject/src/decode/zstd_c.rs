// SPDX-License-Identifier: MIT OR Apache-2.0
//! zstd frames by the C library.

use zstd::zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, get_error_name};

use super::{Decoder, Step, frames};
use crate::error::Error;

/// The window that zstd's own tools accept; a bundle that declares more may have a window as large as itself.
const USUAL_WINDOW_LOG: u32 = 27;
const MAX_WINDOW_LOG: u32 = 31;

pub(super) struct Zstd(DCtx<'static>);

impl Zstd {
    pub(super) fn new(declared: u64) -> Result<Zstd, Error> {
        let no_context = || Error::Memory { what: "a zstd decoder", bytes: 0 };
        let mut context = DCtx::try_create().ok_or_else(no_context)?;
        let declared_log = u64::BITS - declared.saturating_sub(1).leading_zeros();
        let window_log = declared_log.clamp(USUAL_WINDOW_LOG, MAX_WINDOW_LOG);
        context.set_parameter(DParameter::WindowLogMax(window_log)).map_err(|_| no_context())?;
        Ok(Zstd(context))
    }
}

impl Decoder for Zstd {
    fn step(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<Step, String> {
        let mut input_buffer = InBuffer::around(input);
        let filled = out.len();
        let mut output = OutBuffer::around_pos(out, filled);
        let hint = self
            .0
            .decompress_stream(&mut output, &mut input_buffer)
            .map_err(|code| get_error_name(code).to_owned())?;
        let consumed = input_buffer.pos();
        let rest = input.get(consumed..).unwrap_or_default();
        Ok(Step { consumed, ended: hint == 0 && !frames::begins(rest) })
    }
}
