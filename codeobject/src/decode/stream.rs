// SPDX-License-Identifier: MIT OR Apache-2.0
//! A compressed payload, decoded on demand.

use std::ops::Range;
use std::sync::Arc;

use super::cache::{Cache, Key};
use super::decoder::Decoder;
use super::output::OVERSHOOT;
use super::progress::DecodeProgress;
use super::{zlib, zstd};
use crate::budget::Budget;
use crate::content::Content;
use crate::error::Error;
use crate::image::Image;
use crate::options::Options;
use crate::words::method::Method;
use crate::words::source::Source;

/// The smallest amount that is decoded at a time, in bytes.
const SMALLEST_STEP: usize = 4096;
/// The output may grow to this size in one piece, whatever the size of the input.
const GROWTH: usize = 1 << 20;
/// The output is reserved in one piece up to this multiple of the input. A larger declared size must be proven by
/// output.
const USUAL_RATIO: usize = 64;

/// The most unpacked bytes that are kept of the streams of a file which is not in memory, beside the stream that is read.
const KEPT_OF_FILE: u64 = 16 << 20;

/// A compressed payload. The cache of its file keeps the bytes that were unpacked, for the next read.
pub(crate) struct Stream<'a> {
    payload: Content<'a>,
    /// The payload's offset in its file.
    offset: u64,
    method: Method,
    declared: u64,
    max_unpacked: u64,
    budget: Budget,
    cache: Arc<Cache>,
}

impl<'a> Stream<'a> {
    pub(crate) fn new(
        payload: Content<'a>,
        offset: u64,
        method: Method,
        declared: u64,
        options: &Options,
        cache: Arc<Cache>,
    ) -> Stream<'a> {
        let (max_unpacked, budget) = (options.max_unpacked, options.budget.clone());
        Stream { payload, offset, method, declared, max_unpacked, budget, cache }
    }

    /// Calls `f` with the unpacked bytes `start..end`, after decoding those that are missing.
    pub(crate) fn with_range<R>(&self, start: u64, end: u64, f: impl FnOnce(&[u8]) -> R) -> Result<R, Error> {
        let range = self.range(start, end)?;
        let mut progress = self.cache.take(self.key(), range.end, self.most_kept());
        let result = self.decode_to(&mut progress, range.end).and_then(|()| {
            let missing = || self.missing(&progress);
            progress.out.get(range).ok_or_else(missing).map(f)
        });
        self.cache.keep(self.key(), progress);
        result
    }

    /// Hands over the memory of the unpacked bytes `start..end`, after decoding those that are missing. Keeps nothing
    /// of the rest.
    pub(crate) fn take_range(&self, start: u64, end: u64) -> Result<Image, Error> {
        let range = self.range(start, end)?;
        let mut progress = self.cache.take(self.key(), range.end, self.most_kept());
        if let Err(error) = self.decode_to(&mut progress, range.end) {
            self.cache.keep(self.key(), progress);
            return Err(error);
        }
        if progress.out.get(range.clone()).is_none() {
            return Err(self.missing(&progress));
        }
        progress.out.into_image(range)
    }

    /// Drops the unpacked bytes.
    pub(crate) fn forget(&self) {
        drop(self.cache.take(self.key(), 0, u64::MAX));
    }

    fn key(&self) -> Key {
        Key { place: self.payload.place(), method: self.method, declared: self.declared }
    }

    /// The most unpacked bytes of all streams of the file. A file that is not in memory is to take little of it.
    fn most_kept(&self) -> u64 {
        match self.payload {
            Content::Memory(_) => self.max_unpacked,
            Content::File { .. } => self.max_unpacked.min(KEPT_OF_FILE),
        }
    }

    /// The range `start..end` of the unpacked bytes, checked against the declared size and the limit.
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

    fn missing(&self, progress: &DecodeProgress) -> Error {
        self.broken(progress.out.len(), "the wanted range is not in it".to_owned())
    }

    /// Decodes up to `need`, and judges the bytes before it.
    ///
    /// The bytes are good if the decoder gives them out before it meets damage. If `need` is all that is declared, the
    /// stream must end well too: its checksum counts. Neither depends on how far the stream was decoded before.
    fn decode_to(&self, progress: &mut DecodeProgress, need: usize) -> Result<(), Error> {
        if !self.is_settled(progress, need) {
            let missing = need.saturating_sub(progress.out.len());
            self.budget.take("a compressed bundle", missing as u64)?;
        }
        while !self.is_settled(progress, need) {
            let Err(error) = self.step(progress, need) else { continue };
            tracing::debug!(target: "windlass::codeobject", %error, "decoding stopped");
            if matches!(error, Error::Memory { .. } | Error::Read { .. }) {
                // The system may have memory later, or the bytes, so the next read begins again.
                *progress = DecodeProgress::default();
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

    /// Whether `need` asks for no more decoding. At the declared end this is known only when the stream ends, fails, or
    /// goes on.
    fn is_settled(&self, progress: &DecodeProgress, need: usize) -> bool {
        let have = progress.out.len();
        progress.is_over() || have >= need && !self.is_all(have)
    }

    /// Whether `size` is exactly the declared size.
    fn is_all(&self, size: usize) -> bool {
        size as u64 == self.declared
    }

    fn step(&self, progress: &mut DecodeProgress, need: usize) -> Result<(), Error> {
        if progress.out.is_full() && self.may_stay() && !self.stays(progress) && progress.out.len() >= GROWTH
        {
            *progress = DecodeProgress { believed: true, ..DecodeProgress::default() };
        }
        self.reserve(progress, need)?;
        if progress.decoder.is_none() {
            progress.decoder = Some(self.decoder(self.stays(progress))?);
        }
        let input = progress.input.from(self.payload, progress.consumed)?;
        let (Some(decoder), Some(input)) = (&mut progress.decoder, input) else {
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

    /// Makes room for more output, without trusting a size that the output has not come near to.
    fn reserve(&self, progress: &mut DecodeProgress, need: usize) -> Result<(), Error> {
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

    /// The output size that the size of the input alone makes credible.
    fn believed(&self) -> usize {
        GROWTH.max(usize::try_from(self.payload.size()).unwrap_or(usize::MAX).saturating_mul(USUAL_RATIO))
    }

    /// Whether room for all output is reserved at once. Memory that was never written costs nothing but addresses.
    fn is_plausible(&self) -> bool {
        self.declared <= self.max_unpacked && self.declared <= self.believed() as u64
    }

    /// Whether the decoder can use output that never moves as its window. Otherwise it allocates its window, which may
    /// be as large as the output.
    fn may_stay(&self) -> bool {
        cfg!(feature = "zstd-c") && self.method == Method::Zstd && self.declared <= self.max_unpacked
    }

    /// Whether the output is reserved at once, so that it never moves: the declared size is plausible, or a megabyte of
    /// output has proven it.
    fn stays(&self, progress: &DecodeProgress) -> bool {
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
