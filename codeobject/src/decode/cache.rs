// SPDX-License-Identifier: MIT OR Apache-2.0
//! The streams that were read last, kept so that the next entry of a bundle continues its stream.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::progress::DecodeProgress;
use crate::words::method::Method;

/// The limit of streams kept for one file. A decoder takes far more memory than its input.
const KEPT: usize = 16;

/// Identifies a stream by the place of its bytes, which do not move while the file is open, by its method and by its
/// declared size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) place: Range<u64>,
    pub(super) method: Method,
    pub(super) declared: u64,
}

/// The streams of one file, the least recently used first. No lock is held while a thread decodes: a thread that needs
/// a stream which another thread has taken begins it again.
#[derive(Default)]
pub(crate) struct Cache(Mutex<Vec<(Key, DecodeProgress)>>);

impl Cache {
    /// Takes the stream out, or begins it. Drops the least recently used streams if all together would exceed `most`
    /// unpacked bytes once this one has `need`.
    pub(super) fn take(&self, stream: Key, need: usize, most: u64) -> DecodeProgress {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let progress = match kept.iter().position(|(key, _)| *key == stream) {
            Some(index) => kept.remove(index).1,
            None => DecodeProgress::default(),
        };
        let mut total = progress.out.len().max(need) as u64;
        let fit = kept.iter().rev().take_while(|(_, progress)| {
            total = total.saturating_add(progress.out.len() as u64);
            total <= most
        });
        let leave = kept.len() - fit.count();
        let gone: Vec<(Key, DecodeProgress)> = kept.drain(..leave).collect();
        drop(kept);
        drop(gone);
        progress
    }

    /// Puts a stream back. A full cache drops the least recently used one.
    pub(super) fn keep(&self, stream: Key, progress: DecodeProgress) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let twin = kept.iter().position(|(key, _)| *key == stream);
        let leaves = match twin {
            Some(index) => Some(index),
            None => (kept.len() >= KEPT).then_some(0),
        };
        let gone = leaves.map(|index| kept.remove(index));
        let longer = match gone {
            Some((key, twin)) if key == stream && twin.out.len() > progress.out.len() => {
                kept.push((stream, twin));
                Some(progress)
            }
            Some((_, gone)) => {
                kept.push((stream, progress));
                Some(gone)
            }
            None => {
                kept.push((stream, progress));
                None
            }
        };
        // Free outside the lock: it may be hundreds of megabytes.
        drop(kept);
        drop(longer);
    }
}
