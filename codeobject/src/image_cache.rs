// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decoded entries by content and target: the second GPU does not decode again.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::bundle::Bundle;
use crate::choice::select::Selection;
use crate::choice::target::TargetId;
use crate::error::Error;
use crate::image::Image;
use crate::options::Options;

/// The most choices that are kept, whatever their size.
const MOST_CHOICES: usize = 1024;

/// What a GPU gets of a bundle.
#[derive(Debug)]
#[non_exhaustive]
pub struct Choice {
    /// The entry that fits best, and a verdict on each.
    pub selection: Selection,
    /// The bytes of that entry; `None` where none fits.
    pub image: Option<Arc<Image>>,
}

/// What a cache did and holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImageCacheStats {
    /// How often a choice was there.
    pub hits: u64,
    /// How often entries were chosen and decoded, with success or a verdict against each.
    pub decodes: u64,
    /// How many choices made room for others.
    pub evictions: u64,
    /// How many choices it holds.
    pub choices: usize,
    /// How many bytes they take, with what was parsed of the images. What is in use elsewhere too counts in full.
    pub bytes: usize,
}

/// Keeps what GPUs got of compressed bundles, for the next GPU or the next load of the same file.
///
/// A choice is known by the [digest](Bundle::digest) of the stored bundle, the GPU's target with its modes, and the
/// options: GPUs of one processor with different modes each have their own. The choice that was not used for longest
/// leaves first; an image lives on while somebody holds it.
///
/// Threads that ask for the same choice at once wait for the first of them, so it is decoded once. Those that ask for
/// different choices do not wait for each other.
///
/// An error is not kept, nor is a choice for which memory was short. A choice without an image is kept like any other:
/// the same bytes and options give the same verdicts, a damaged entry's too.
///
/// What is not compressed is copied for each who asks: hashing it would cost more.
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
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The one that was used last is the last.
    slots: Vec<Slot>,
    stats: ImageCacheStats,
}

struct Slot {
    key: Key,
    cell: Arc<Cell>,
    /// What was chosen, once it is.
    choice: Option<Arc<Choice>>,
}

impl Slot {
    /// The memory of the choice. It grows when an image is parsed.
    fn bytes(&self) -> usize {
        self.choice.as_ref().map_or(0, |choice| choice.memory_size())
    }
}

/// Locked while somebody decodes: who asks for the same meanwhile waits for the result.
#[derive(Default)]
struct Cell(Mutex<Option<Arc<Choice>>>);

#[derive(Clone, PartialEq, Eq)]
struct Key {
    digest: [u8; 32],
    agent: TargetId,
    options: Options,
}

impl ImageCache {
    /// A cache that holds so many bytes at most. With 0 it keeps nothing.
    ///
    /// Images are parsed when somebody asks them to: until the next choice the cache may exceed the limit by that.
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

    /// What it did and holds.
    pub fn stats(&self) -> ImageCacheStats {
        let state = lock(&self.state);
        ImageCacheStats {
            choices: state.slots.iter().filter(|slot| slot.choice.is_some()).count(),
            bytes: state.slots.iter().map(Slot::bytes).sum(),
            ..state.stats
        }
    }

    /// Lets go of everything that it holds.
    pub fn clear(&self) {
        let gone = std::mem::take(&mut lock(&self.state).slots);
        drop(gone);
    }

    /// The cell of a key; makes one where there is none.
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

    /// Counts a choice in that was just made, and makes room for it.
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
        // Freeing what may be hundreds of megabytes is nobody else's wait.
        drop(state);
        drop(gone);
    }

    /// Takes out what was not used for longest until the rest fits.
    fn make_room(&self, state: &mut State) -> Vec<Slot> {
        let mut gone = Vec::new();
        let mut total: usize = state.slots.iter().map(Slot::bytes).sum();
        let mut settled = state.slots.iter().filter(|slot| slot.choice.is_some()).count();
        while total > self.most_bytes || settled > MOST_CHOICES {
            let Some(oldest) = state.slots.iter().position(|slot| slot.choice.is_some()) else { break };
            let slot = state.slots.remove(oldest);
            // While it was added up, another thread may have parsed its image.
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
