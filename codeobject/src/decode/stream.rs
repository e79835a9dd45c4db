// SPDX-License-Identifier: MIT OR Apache-2.0
//! A compressed payload, decoded as far as somebody has asked for.

use std::ops::Range;
use std::sync::Arc;

use super::cache::{Cache, Key};
use super::decoder::Decoder;
use super::output::OVERSHOOT;
use super::progress::Progress;
use super::{zlib, zstd};
use crate::container::ccob::Method;
use crate::container::table::Source;
use crate::error::Error;
use crate::image::Image;

/// The least that is decoded at a time.
const SMALLEST_STEP: usize = 4096;
/// Up to here the output may grow in one piece, whatever the size of the input.
const GROWTH: usize = 1 << 20;
/// Output up to this multiple of the input is reserved in one piece; what claims to grow more has to prove it.
const USUAL_RATIO: usize = 64;

/// A compressed payload. What was unpacked of it is kept in the cache of its file, for the next who asks.
pub(crate) struct Stream<'a> {
    payload: &'a [u8],
    /// Of the payload in its file.
    offset: u64,
    method: Method,
    declared: u64,
    max_unpacked: u64,
    cache: Arc<Cache>,
}

impl<'a> Stream<'a> {
    pub(crate) fn new(
        payload: &'a [u8],
        offset: u64,
        method: Method,
        declared: u64,
        max_unpacked: u64,
        cache: Arc<Cache>,
    ) -> Stream<'a> {
        Stream { payload, offset, method, declared, max_unpacked, cache }
    }

    /// Calls `f` with the unpacked bytes `start..end`, after decoding what is missing.
    pub(crate) fn with_range<R>(&self, start: u64, end: u64, f: impl FnOnce(&[u8]) -> R) -> Result<R, Error> {
        let range = self.range(start, end)?;
        let mut progress = self.cache.take(self.key(), range.end, self.max_unpacked);
        let result = self.decode_to(&mut progress, range.end).and_then(|()| {
            let missing = || self.missing(&progress);
            progress.out.get(range).ok_or_else(missing).map(f)
        });
        self.cache.keep(self.key(), progress);
        result
    }

    /// Hands over the memory of the unpacked bytes `start..end`, after decoding what is missing. Of the rest nothing is
    /// kept.
    pub(crate) fn take_range(&self, start: u64, end: u64) -> Result<Image, Error> {
        let range = self.range(start, end)?;
        let mut progress = self.cache.take(self.key(), range.end, self.max_unpacked);
        if let Err(error) = self.decode_to(&mut progress, range.end) {
            self.cache.keep(self.key(), progress);
            return Err(error);
        }
        if progress.out.get(range.clone()).is_none() {
            return Err(self.missing(&progress));
        }
        progress.out.into_image(range)
    }

    /// Drops what was unpacked of it: nobody will ask for more.
    pub(crate) fn forget(&self) {
        drop(self.cache.take(self.key(), 0, u64::MAX));
    }

    fn key(&self) -> Key {
        let (start, size) = (self.payload.as_ptr().addr(), self.payload.len());
        Key { start, size, method: self.method, declared: self.declared }
    }

    /// A range of the unpacked bytes that may be asked for.
    fn range(&self, start: u64, end: u64) -> Result<Range<usize>, Error> {
        if end > self.declared {
            return Err(self.broken(0, format!("byte {end} is wanted, {} are declared", self.declared)));
        }
        if end > self.max_unpacked {
            return Err(Error::Limit {
                what: "unpacking the compressed bundle up to the wanted bytes".to_owned(),
                offset: self.offset,
                value: end,
                limit: self.max_unpacked,
                advice: "raise `Options::max_unpacked` if the file is to be trusted".to_owned(),
            });
        }
        let no_room = || Error::Memory { what: "the unpacked bundle", bytes: end };
        let last = usize::try_from(end).map_err(|_| no_room())?;
        let first = usize::try_from(start).map_err(|_| no_room())?;
        Ok(first..last)
    }

    fn missing(&self, progress: &Progress) -> Error {
        self.broken(progress.out.len(), "the wanted range is not in it".to_owned())
    }

    /// Decodes up to `need`, and judges the bytes before it.
    ///
    /// They are good where the decoder gives them out before it meets damage. Where `need` is all that is declared, the
    /// stream must end well too: its checksum counts. Neither depends on how far somebody else has decoded before.
    fn decode_to(&self, progress: &mut Progress, need: usize) -> Result<(), Error> {
        while !self.is_settled(progress, need) {
            let Err(error) = self.step(progress, need) else { continue };
            tracing::debug!(target: "windlass::codeobject", %error, "decoding stopped");
            if matches!(error, Error::Memory { .. }) {
                // Later there may be some, so it begins anew then.
                *progress = Progress::default();
                return Err(error);
            }
            progress.failed = Some(error);
        }
        if progress.is_over() || progress.out.len() as u64 > self.declared {
            progress.decoder = None;
        }
        let have = progress.out.len();
        match &progress.failed {
            Some(error) if have < need || self.is_all(need) && self.is_all(have) => Err(error.clone()),
            None if have < need => {
                Err(self.broken(have, format!("it is over, though {} bytes are declared", self.declared)))
            }
            _ => Ok(()),
        }
    }

    /// Whether no more is decoded for the sake of `need`. At the declared end that is known only when the stream ends,
    /// fails, or goes on.
    fn is_settled(&self, progress: &Progress, need: usize) -> bool {
        let have = progress.out.len();
        progress.is_over() || have >= need && !self.is_all(have)
    }

    /// Whether it is all that is declared, and no more.
    fn is_all(&self, size: usize) -> bool {
        size as u64 == self.declared
    }

    fn step(&self, progress: &mut Progress, need: usize) -> Result<(), Error> {
        if progress.out.is_full() && self.may_stay() && !self.stays(progress) && progress.out.len() >= GROWTH
        {
            *progress = Progress { believed: true, ..Progress::default() };
        }
        self.reserve(progress, need)?;
        if progress.decoder.is_none() {
            progress.decoder = Some(self.decoder(self.stays(progress))?);
        }
        let (Some(decoder), Some(input)) = (&mut progress.decoder, self.payload.get(progress.consumed..))
        else {
            return Err(self.broken(progress.out.len(), "the decoder read past its input".to_owned()));
        };
        let before = progress.out.len();
        let step = decoder.step(input, progress.out.memory(), need.saturating_sub(before));
        let step = step.map_err(|problem| self.broken(progress.out.len(), problem))?;
        progress.consumed += step.consumed;
        progress.ended = step.ended;
        if !step.ended && step.consumed == 0 && progress.out.len() == before {
            return Err(self.broken(before, "its input is cut short".to_owned()));
        }
        Ok(())
    }

    /// Makes room for more output, without believing a size that the output has not come near to.
    fn reserve(&self, progress: &mut Progress, need: usize) -> Result<(), Error> {
        let most = usize::try_from(self.declared.min(self.max_unpacked)).unwrap_or(usize::MAX);
        let stays = self.stays(progress);
        let out = &mut progress.out;
        if !out.is_full() {
            return Ok(());
        }
        out.reserve(if stays {
            most.saturating_add(OVERSHOOT)
        } else if self.is_plausible() {
            most
        } else {
            let next = need.max(out.len().saturating_add(SMALLEST_STEP));
            let believed =
                if self.may_stay() { GROWTH } else { self.believed().max(out.len().saturating_mul(2)) };
            next.min(believed).min(most)
        })
    }

    /// How much output may be reserved on the strength of the input alone.
    fn believed(&self) -> usize {
        GROWTH.max(self.payload.len().saturating_mul(USUAL_RATIO))
    }

    /// Whether room for all output is reserved at once: memory that nothing was written to costs nothing but addresses.
    fn is_plausible(&self) -> bool {
        self.declared <= self.max_unpacked && self.declared <= self.believed() as u64
    }

    /// Whether the decoder can use output that never moves as its window. Without that it takes the memory of the
    /// window besides, which may be all of the output again.
    fn may_stay(&self) -> bool {
        cfg!(feature = "zstd-c") && self.method == Method::Zstd && self.declared <= self.max_unpacked
    }

    /// Whether it does: where all output is reserved at once, which takes a declared size that can be believed, or one
    /// that a megabyte of output came out for.
    fn stays(&self, progress: &Progress) -> bool {
        self.may_stay() && (progress.believed || self.is_plausible())
    }

    fn decoder(&self, output_stays: bool) -> Result<Box<dyn Decoder>, Error> {
        match self.method {
            Method::Zlib => Ok(Box::new(zlib::Inflate::new())),
            Method::Zstd => zstd::decoder(self.declared, self.max_unpacked, output_stays, self.offset),
        }
    }

    fn broken(&self, unpacked: usize, problem: String) -> Error {
        Error::Decode { method: self.method.name(), offset: self.offset, unpacked: unpacked as u64, problem }
    }
}

impl Source for Stream<'_> {
    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), Error> {
        let end = offset.saturating_add(out.len() as u64);
        self.with_range(offset, end, |bytes| out.copy_from_slice(bytes))
    }
}
