// SPDX-License-Identifier: MIT OR Apache-2.0
//! A cache of decoded entries by content and target: a file is decoded once for all GPUs of a target.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::bundle::Bundle;
use crate::choice::select::Selection;
use crate::error::Error;
use crate::image::Image;
use crate::options::Options;
use crate::words::target::TargetId;

/// The limit of kept choices, of any size.
const MOST_CHOICES: usize = 1024;

/// The result of choosing from a bundle for a GPU.
#[derive(Debug)]
#[non_exhaustive]
pub struct Choice {
    /// The entry that fits best, and a verdict on each entry.
    pub selection: Selection,
    /// The bytes of that entry; `None` if no entry fits.
    pub image: Option<Arc<Image>>,
}

/// Statistics of a cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImageCacheStats {
    /// The number of choices that were found in the cache.
    pub hits: u64,
    /// The number of choices that were made, with success or a verdict against each entry.
    pub decodes: u64,
    /// The number of choices that were evicted.
    pub evictions: u64,
    /// The number of choices in the cache.
    pub choices: usize,
    /// The memory of the choices in bytes, with parsed descriptions. An image that is also used elsewhere counts in
    /// full.
    pub bytes: usize,
}

/// Keeps choices from compressed bundles, for the next GPU or the next load of the same file.
///
/// The key of a choice is the [digest](Bundle::digest) of the stored bundle, the GPU's target with its modes, and the
/// options. GPUs of one processor with different modes each have their own choice. The cache evicts the least recently
/// used choice first; its image lives until its last user drops it.
///
/// Threads that ask for the same choice at once wait for the first of them, so it is decoded once. Threads that ask
/// for different choices do not wait for each other.
///
/// Errors are not kept, nor is a choice that failed for lack of memory. A choice without an image is kept: the same
/// bytes and options give the same verdicts, also for damaged entries.
///
/// An uncompressed entry is copied for each caller, because hashing it would cost more than the copy.
///
/// ```
/// use windlass_codeobject::{File, ImageCache, Options, TargetId};
///
/// fn load(cache: &ImageCache, bytes: &[u8], gpu: &TargetId) -> Result<(), windlass_codeobject::Error> {
///     let options = Options::default();
///     for bundle in File::parse(bytes, &options)?.bundles() {
///         if let Some(image) = &cache.choose(bundle, gpu, &options)?.image {
///             println!("{} bytes for {gpu}, aligned to a page", image.len());
///         }
///     }
///     Ok(())
/// }
/// ```
pub struct ImageCache {
    most_bytes: usize,
    state: Mutex<CacheState>,
}

#[derive(Default)]
struct CacheState {
    /// Ordered by last use, the most recent last.
    slots: Vec<Slot>,
    stats: ImageCacheStats,
}

struct Slot {
    key: Key,
    cell: Arc<Cell>,
    /// The choice, once it is made.
    choice: Option<Arc<Choice>>,
}

impl Slot {
    /// The memory of the choice in bytes. It grows when the image is parsed.
    fn bytes(&self) -> usize {
        self.choice.as_ref().map_or(0, |choice| choice.memory_size())
    }
}

/// Locked while a thread decodes. Other threads with the same key wait for the result.
#[derive(Default)]
struct Cell(Mutex<Option<Arc<Choice>>>);

#[derive(Clone, PartialEq, Eq)]
struct Key {
    digest: [u8; 32],
    agent: TargetId,
    options: Options,
}

impl ImageCache {
    /// A cache of at most this many bytes. With 0 it keeps nothing.
    ///
    /// An image may be parsed after it was added. The cache may exceed the limit by that description until the next
    /// choice.
    pub fn new(most_bytes: usize) -> ImageCache {
        ImageCache { most_bytes, state: Mutex::default() }
    }

    /// Chooses as [`Bundle::select`] does, and gives the bytes of the entry that fits best.
    ///
    /// # Errors
    ///
    /// As [`Bundle::extract`].
    pub fn choose(
        &self,
        bundle: &Bundle<'_>,
        agent: &TargetId,
        options: &Options,
    ) -> Result<Arc<Choice>, Error> {
        if !bundle.is_compressed() {
            return Choice::make(bundle, agent, options).map(Arc::new);
        }
        let key = Key { digest: bundle.digest(), agent: agent.clone(), options: options.clone() };
        let cell = self.cell(&key);
        let mut known = lock(&cell.0);
        if let Some(choice) = known.clone() {
            drop(known);
            self.hit(&key);
            return Ok(choice);
        }
        match Choice::make(bundle, agent, options) {
            Ok(choice) => {
                let choice = Arc::new(choice);
                if !choice.selection.lacked_memory() {
                    *known = Some(Arc::clone(&choice));
                }
                drop(known);
                self.keep(key, cell, &choice);
                Ok(choice)
            }
            Err(error) => {
                drop(known);
                self.forget(&cell);
                Err(error)
            }
        }
    }

    /// The statistics of the cache.
    pub fn stats(&self) -> ImageCacheStats {
        let state = lock(&self.state);
        ImageCacheStats {
            choices: state.slots.iter().filter(|slot| slot.choice.is_some()).count(),
            bytes: state.slots.iter().map(Slot::bytes).sum(),
            ..state.stats
        }
    }

    /// Drops all choices.
    pub fn clear(&self) {
        let gone = std::mem::take(&mut lock(&self.state).slots);
        drop(gone);
    }

    /// The cell of a key, added if it is new.
    fn cell(&self, key: &Key) -> Arc<Cell> {
        let mut state = lock(&self.state);
        if let Some(slot) = state.slots.iter().find(|slot| slot.key == *key) {
            return Arc::clone(&slot.cell);
        }
        let cell = Arc::new(Cell::default());
        state.slots.push(Slot { key: key.clone(), cell: Arc::clone(&cell), choice: None });
        cell
    }

    fn hit(&self, key: &Key) {
        let mut state = lock(&self.state);
        state.stats.hits += 1;
        if let Some(index) = state.slots.iter().position(|slot| slot.key == *key) {
            let slot = state.slots.remove(index);
            state.slots.push(slot);
        }
        let gone = self.make_room(&mut state);
        drop(state);
        drop(gone);
    }

    /// Adds the size of a new choice, and evicts others to make room.
    fn keep(&self, key: Key, cell: Arc<Cell>, choice: &Arc<Choice>) {
        let mut gone = Vec::new();
        let mut state = lock(&self.state);
        state.stats.decodes += 1;
        let twins = state.slots.extract_if(.., |slot| slot.key == key);
        gone.extend(twins);
        if choice.memory_size() <= self.most_bytes && !choice.selection.lacked_memory() {
            state.slots.push(Slot { key, cell, choice: Some(Arc::clone(choice)) });
        }
        gone.extend(self.make_room(&mut state));
        // Free outside the lock: it may be hundreds of megabytes.
        drop(state);
        drop(gone);
    }

    /// Removes the least recently used choices until the rest fits.
    fn make_room(&self, state: &mut CacheState) -> Vec<Slot> {
        let mut gone = Vec::new();
        let mut total: usize = state.slots.iter().map(Slot::bytes).sum();
        let mut settled = state.slots.iter().filter(|slot| slot.choice.is_some()).count();
        while total > self.most_bytes || settled > MOST_CHOICES {
            let Some(oldest) = state.slots.iter().position(|slot| slot.choice.is_some()) else { break };
            let slot = state.slots.remove(oldest);
            // Another thread may have parsed the image since its size was added.
            total = total.saturating_sub(slot.bytes());
            settled -= 1;
            state.stats.evictions += 1;
            gone.push(slot);
        }
        gone
    }

    fn forget(&self, cell: &Arc<Cell>) {
        lock(&self.state).slots.retain(|slot| !Arc::ptr_eq(&slot.cell, cell));
    }
}

impl fmt::Debug for ImageCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ImageCache")
            .field("most_bytes", &self.most_bytes)
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}

impl Choice {
    fn make(bundle: &Bundle<'_>, agent: &TargetId, options: &Options) -> Result<Choice, Error> {
        let selection = bundle.select(agent, options);
        let image = selection.best.map(|entry| bundle.take_image(entry)).transpose()?;
        Ok(Choice { selection, image: image.map(Arc::new) })
    }

    fn memory_size(&self) -> usize {
        let verdicts = &self.selection.verdicts;
        let words: usize = verdicts.iter().map(|verdict| verdict.reason.capacity()).sum();
        let image = self.image.as_ref().map_or(0, |image| image.memory_size());
        size_of::<Choice>() + size_of_val(&verdicts[..]) + words + image
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
