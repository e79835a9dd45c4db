// SPDX-License-Identifier: MIT OR Apache-2.0
//! zlib streams.

use flate2::{Decompress, FlushDecompress, Status};

use super::{Decoder, Step};

/// The input of a step, which no output holds up.
const MOST_INPUT: usize = 1 << 14;
const LEAST_INPUT: usize = 1 << 10;
/// The format packs no byte into less than this part of one.
const MOST_RATIO: usize = 1032;

pub(super) struct Inflate(Decompress);

impl Inflate {
    pub(super) fn new() -> Inflate {
        Inflate(Decompress::new(true))
    }
}

impl Decoder for Inflate {
    fn step(&mut self, input: &[u8], out: &mut Vec<u8>, wanted: usize) -> Result<Step, String> {
        let most = (wanted / MOST_RATIO).saturating_add(LEAST_INPUT).min(MOST_INPUT);
        let input = input.get(..most).unwrap_or(input);
        let before = self.0.total_in();
        let status =
            self.0.decompress_vec(input, out, FlushDecompress::None).map_err(|error| error.to_string())?;
        let consumed = usize::try_from(self.0.total_in() - before).unwrap_or(input.len());
        Ok(Step { consumed, ended: status == Status::StreamEnd })
    }
}

/// Whether a zlib header begins `data`: deflate with a window of 32 KiB at most, and a check value that holds.
pub(super) fn begins(data: &[u8]) -> bool {
    let Some([method, flags]) = data.first_chunk() else { return false };
    method & 0x0f == 8 && method >> 4 <= 7 && u16::from_be_bytes([*method, *flags]) % 31 == 0
}

/// Only the decoder knows where a zlib stream ends, so this decodes it and keeps nothing.
pub(super) fn stored_size(data: &[u8], max_unpacked: u64) -> Result<u64, String> {
    let mut inflate = Inflate::new();
    let mut scratch = Vec::with_capacity(1 << 16);
    let mut consumed = 0;
    while inflate.0.total_out() <= max_unpacked {
        scratch.clear();
        let input = data.get(consumed..).unwrap_or_default();
        let step = inflate.step(input, &mut scratch, usize::MAX)?;
        consumed += step.consumed;
        if step.ended {
            return Ok(consumed as u64);
        }
        if step.consumed == 0 && scratch.is_empty() {
            return Err("its input is cut short".to_owned());
        }
    }
    Err(format!("it does not end within {max_unpacked} unpacked bytes"))
}
