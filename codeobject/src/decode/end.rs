// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of a stream whose start and unpacked size are known.
//!
//! The next byte is read only where the bytes before it announce it, so no frame is looked for behind the one that
//! completes the unpacked size.

use super::decoder::Unmeasured;
use super::frames::{self, Frame};
use super::{zlib, zstd};
use crate::content::Content;
use crate::error::Error;
use crate::words::method::Method;

/// Memory for bytes that are unpacked only to be counted.
const SCRATCH: usize = 1 << 17;

/// The number of bytes that a stream has at the head of `payload`. The bytes that had to be unpacked to find its end are added
/// to `unpacked`.
pub(crate) fn stored_size(
    method: Method,
    payload: Content<'_>,
    max_unpacked: u64,
    unpacked: &mut u64,
) -> Result<u64, String> {
    match method {
        Method::Zlib => zlib::stored_size(payload, max_unpacked, unpacked),
        Method::Zstd => frames::stored_size(payload),
    }
}

/// The number of bytes of the stream that `read` gives and that unpacks to `unpacked` bytes. It reads no byte behind
/// the stream.
pub(crate) fn announced_size(
    method: Method,
    read: &mut impl FnMut(u64, &mut [u8]) -> Result<(), Error>,
    unpacked: u64,
) -> Result<u64, Unmeasured> {
    match method {
        Method::Zlib => zlib::announced_size(read, unpacked),
        Method::Zstd => frames_end(read, unpacked),
    }
}

fn frames_end(
    read: &mut impl FnMut(u64, &mut [u8]) -> Result<(), Error>,
    unpacked: u64,
) -> Result<u64, Unmeasured> {
    let (mut position, mut counted) = (0, 0_u64);
    while counted < unpacked {
        let frame = Frame::read(read, position).map_err(Unmeasured::Unreadable)?.ok_or_else(|| {
            Unmeasured::Broken(format!("no zstd frame is at byte {position} of its stream"))
        })?;
        let content = match frame.content {
            Some(content) => content,
            None => {
                let size = usize::try_from(frame.end - position).unwrap_or(usize::MAX);
                let mut bytes = Vec::new();
                let no_room = |_| Error::Memory { what: "a zstd frame", bytes: size as u64 };
                bytes.try_reserve_exact(size).map_err(no_room).map_err(Unmeasured::Unreadable)?;
                bytes.resize(size, 0);
                read(position, &mut bytes).map_err(Unmeasured::Unreadable)?;
                content_size(&bytes, unpacked)?
            }
        };
        counted = counted.saturating_add(content);
        position = frame.end;
    }
    if counted > unpacked {
        let problem = format!("its frames hold {counted} bytes, where {unpacked} are declared");
        return Err(Unmeasured::Broken(problem));
    }
    Ok(position)
}

/// The unpacked size of a frame that does not state it.
fn content_size(frame: &[u8], unpacked: u64) -> Result<u64, Unmeasured> {
    let mut decoder = zstd::decoder(unpacked, unpacked, false, 0).map_err(Unmeasured::Unreadable)?;
    let mut scratch = Vec::with_capacity(SCRATCH);
    let (mut consumed, mut counted) = (0, 0_u64);
    loop {
        scratch.clear();
        let input = frame.get(consumed..).unwrap_or_default();
        let step = decoder.step(input, &mut scratch, usize::MAX).map_err(Unmeasured::Broken)?;
        consumed += step.consumed;
        counted = counted.saturating_add(scratch.len() as u64);
        if step.ended || counted > unpacked {
            return Ok(counted);
        }
        if step.consumed == 0 && scratch.is_empty() {
            return Err(Unmeasured::Broken("a zstd frame in it is cut short".to_owned()));
        }
    }
}
