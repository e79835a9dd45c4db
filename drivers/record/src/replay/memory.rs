// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bytes of buffers, as the host writes and reads them, and as the recording says that they are.

use std::collections::HashMap;

use windlass_hal::{Buffer, Deadline, Device, Result, Semaphore};

use super::{options::Difference, recording::Recording};
use crate::format::event::{Change, Readback};

/// The bytes of a difference that are shown.
const SHOWN: usize = 16;

/// Writes bytes, through a mapping where there is one.
pub(super) fn write(device: &Device, buffer: &Buffer, offset: u64, bytes: &[u8]) -> Result<()> {
    if let Ok(mapping) = buffer.map() {
        return mapping.write(offset, bytes);
    }
    if bytes.is_empty() {
        return Ok(());
    }
    let done = Semaphore::new(0);
    let target = buffer.subspan(offset, bytes.len() as u64)?;
    device.queue(0)?.update(&[], &[done.at(1)], bytes, &target)?;
    done.wait_blocking(1, Deadline::NEVER)
}

/// Reads bytes, through a mapping where there is one.
pub(super) fn read(device: &Device, buffer: &Buffer, offset: u64, length: u64) -> Result<Vec<u8>> {
    let range = buffer.subspan(offset, length)?;
    match range.map() {
        Ok(mapping) => Ok(mapping.to_vec()),
        Err(_) => device.queue(0)?.download(&[], &range)?.wait(Deadline::NEVER),
    }
}

/// Fills a buffer with zeros.
pub(super) fn clear(device: &Device, buffer: &Buffer) -> Result<()> {
    const BLOCK: u64 = 1 << 20;
    let zeros = vec![0; BLOCK.min(buffer.len()) as usize];
    let mut at = 0;
    while at < buffer.len() {
        let length = BLOCK.min(buffer.len() - at);
        write(device, buffer, at, &zeros[..length as usize])?;
        at += length;
    }
    Ok(())
}

/// The bytes that mapped memory has in the recording.
#[derive(Default)]
pub(super) struct Expected(HashMap<u32, Vec<u8>>);

impl Expected {
    /// Applies changes, and returns them with their bytes.
    pub(super) fn apply(
        &mut self,
        recording: &Recording,
        number: u32,
        buffer: &Buffer,
        changes: &[Change],
    ) -> Result<Vec<(u64, Vec<u8>)>> {
        let known = self.0.entry(number).or_insert_with(|| vec![0; buffer.len() as usize]);
        let mut applied = Vec::with_capacity(changes.len());
        for change in changes {
            let (offset, bytes) = match change {
                Change::Zero { offset, length } => (*offset, vec![0; *length as usize]),
                Change::Bytes { offset, bytes } => (*offset, recording.data.get(bytes)?),
            };
            let place = known.get_mut(offset as usize..).and_then(|rest| rest.get_mut(..bytes.len()));
            place.into_iter().for_each(|place| place.copy_from_slice(&bytes));
            applied.push((offset, bytes));
        }
        Ok(applied)
    }

    /// Compares the ranges of a readback. Returns the number of bytes, and the first difference.
    pub(super) fn compare(
        &mut self,
        recording: &Recording,
        device: &Device,
        operation: u32,
        readback: &Readback,
        buffer: &Buffer,
    ) -> Result<(u64, Option<Difference>)> {
        self.apply(recording, readback.buffer, buffer, &readback.changes)?;
        let Some(known) = self.0.get(&readback.buffer) else { return Ok((0, None)) };
        let (mut compared, mut difference) = (0, None);
        for [offset, length] in &readback.ranges {
            let replayed = read(device, buffer, *offset, *length)?;
            let recorded = &known[*offset as usize..(*offset + *length) as usize];
            compared += length;
            if difference.is_none() {
                difference = first(operation, Some(readback.buffer), *offset, recorded, &replayed);
            }
        }
        Ok((compared, difference))
    }

    /// Forgets a buffer whose memory is gone.
    pub(super) fn forget(&mut self, number: u32) {
        self.0.remove(&number);
    }
}

/// The first difference of two texts of bytes that begin at `offset`.
pub(super) fn first(
    operation: u32,
    buffer: Option<u32>,
    offset: u64,
    recorded: &[u8],
    replayed: &[u8],
) -> Option<Difference> {
    let same = recorded.iter().zip(replayed).take_while(|(recorded, replayed)| recorded == replayed).count();
    if same == recorded.len() && same == replayed.len() {
        return None;
    }
    let shown = |bytes: &[u8]| bytes[same..bytes.len().min(same + SHOWN)].to_vec();
    Some(Difference::Bytes {
        operation,
        buffer,
        offset: offset + same as u64,
        recorded: shown(recorded),
        replayed: shown(replayed),
    })
}
