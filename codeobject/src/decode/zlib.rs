// SPDX-License-Identifier: MIT OR Apache-2.0
//! zlib streams.

use flate2::{Decompress, FlushDecompress, Status};

use super::decoder::{DecodeStep, Decoder, Unmeasured};
use super::input::Input;
use crate::content::Content;
use crate::error::Error;

/// Bounds of the input of a step, in bytes.
const MOST_INPUT: usize = 1 << 14;
const LEAST_INPUT: usize = 1 << 10;
/// The format packs at most this many bytes into one.
const MOST_RATIO: usize = 1032;
/// The output of a step, in bytes. The library wants initialised memory, so a larger step zeroes bytes in vain.
const MOST_OUTPUT: usize = 1 << 16;

pub(super) struct Inflate(Decompress);

impl Inflate {
    pub(super) fn new() -> Inflate {
        Inflate(Decompress::new(true))
    }
}

impl Decoder for Inflate {
    fn step(&mut self, input: &[u8], out: &mut Vec<u8>, wanted: usize) -> Result<DecodeStep, String> {
        let most = (wanted / MOST_RATIO).saturating_add(LEAST_INPUT).min(MOST_INPUT);
        let input = input.get(..most).unwrap_or(input);
        let (start, room) = (out.len(), (out.capacity() - out.len()).min(MOST_OUTPUT));
        out.resize(start + room, 0);
        let before = (self.0.total_in(), self.0.total_out());
        let status = self.0.decompress(input, &mut out[start..], FlushDecompress::None);
        let produced = usize::try_from(self.0.total_out() - before.1).unwrap_or(room);
        out.truncate(start + produced);
        let consumed = usize::try_from(self.0.total_in() - before.0).unwrap_or(input.len());
        let status = status.map_err(|error| error.to_string())?;
        Ok(DecodeStep { consumed, ended: status == Status::StreamEnd })
    }
}

/// Whether a zlib header begins `data`: deflate, a window of at most 32 KiB, and a valid check value.
pub(super) fn begins(data: &[u8]) -> bool {
    let Some([method, flags]) = data.first_chunk() else { return false };
    method & 0x0f == 8 && method >> 4 <= 7 && u16::from_be_bytes([*method, *flags]) % 31 == 0
}

/// The size of the stream at the head of `payload`. Only the decoder finds the end of a zlib stream, so this decodes it
/// and keeps nothing. The number of unpacked bytes is added to `unpacked`.
pub(super) fn stored_size(
    payload: Content<'_>,
    max_unpacked: u64,
    unpacked: &mut u64,
) -> Result<u64, String> {
    let mut inflate = Inflate::new();
    let result = end_of(&mut inflate, payload, max_unpacked);
    *unpacked = unpacked.saturating_add(inflate.0.total_out());
    result
}

fn end_of(inflate: &mut Inflate, payload: Content<'_>, max_unpacked: u64) -> Result<u64, String> {
    let mut scratch = Vec::with_capacity(MOST_OUTPUT);
    let mut consumed = 0;
    let mut input = Input::default();
    while inflate.0.total_out() <= max_unpacked {
        scratch.clear();
        let input = input.from(payload, consumed).map_err(|error| error.to_string())?;
        let step = inflate.step(input.unwrap_or_default(), &mut scratch, usize::MAX)?;
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

/// The size of a stream behind which no byte may be read: the decoder gets one byte at a time, each when it asks for
/// more. The stream must end within `unpacked` bytes.
pub(super) fn announced_size(
    read: &mut impl FnMut(u64, &mut [u8]) -> Result<(), Error>,
    unpacked: u64,
) -> Result<u64, Unmeasured> {
    let mut inflate = Decompress::new(true);
    let mut scratch = vec![0; MOST_OUTPUT];
    let mut is_full = false;
    loop {
        let mut byte = [0];
        read(inflate.total_in(), &mut byte).map_err(Unmeasured::Unreadable)?;
        let before = inflate.total_in();
        // One byte may unpack to more than the scratch memory holds.
        while inflate.total_in() == before || is_full {
            let (fed, produced) = (inflate.total_in(), inflate.total_out());
            let input = if fed == before { &byte[..] } else { &[] };
            let status = inflate
                .decompress(input, &mut scratch, FlushDecompress::None)
                .map_err(|error| Unmeasured::Broken(error.to_string()))?;
            is_full = inflate.total_out() - produced == scratch.len() as u64;
            if status == Status::StreamEnd {
                return Ok(inflate.total_in());
            }
            if inflate.total_out() > unpacked {
                let problem = format!("it unpacks to more than the {unpacked} bytes that are declared");
                return Err(Unmeasured::Broken(problem));
            }
            if (inflate.total_in(), inflate.total_out()) == (fed, produced) {
                break;
            }
        }
        if inflate.total_in() == before {
            return Err(Unmeasured::Broken("its zlib stream makes no progress".to_owned()));
        }
    }
}
