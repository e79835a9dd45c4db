// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams that were read lately, so that the next entry continues where the last one ended.

use std::sync::{Mutex, PoisonError};

use super::progress::Progress;
use crate::container::ccob::Method;

/// How many streams of one file are kept: a decoder costs far more memory than the bytes that ask for it.
const KEPT: usize = 16;

/// What tells one stream from another: the place of its bytes in memory, which all bytes of a file keep while it is
/// open, and how they are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) start: usize,
    pub(super) size: usize,
    pub(super) method: Method,
    pub(super) declared: u64,
}

/// What is kept of the streams of one file, in the order in which they were used. No lock is held while somebody
/// decodes: who finds the stream taken begins it anew.
#[derive(Default)]
pub(crate) struct Cache(Mutex<Vec<(Key, Progress)>>);

impl Cache {
    /// Takes the stream out, or begins it. Where it and the others would come to more than `most` unpacked bytes once it
    /// has `need`, those leave that were not used for longest.
    pub(super) fn take(&self, stream: Key, need: usize, most: u64) -> Progress {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let progress = match kept.iter().position(|(key, _)| *key == stream) {
            Some(index) => kept.remove(index).1,
            None => Progress::default(),
        };
        let mut total = progress.out.len().max(need) as u64;
        let fit = kept.iter().rev().take_while(|(_, progress)| {
            total = total.saturating_add(progress.out.len() as u64);
            total <= most
        });
        let leave = kept.len() - fit.count();
        let gone: Vec<(Key, Progress)> = kept.drain(..leave).collect();
        drop(kept);
        drop(gone);
        progress
    }

    /// Puts a stream back, in the place of the one that was not used for longest.
    pub(super) fn keep(&self, stream: Key, progress: Progress) {
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
        // Freeing what may be hundreds of megabytes is nobody else's wait.
        drop(kept);
        drop(longer);
    }
}
