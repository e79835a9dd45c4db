// SPDX-License-Identifier: MIT OR Apache-2.0
//! The number of calls of each function, by thread.
//!
//! A call takes no lock and allocates nothing, except a thread's first call into an instance.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::thread::ThreadId;

use crate::table::EntryPoints;

macro_rules! define_functions {
    ($(fn $name:ident($($parameter:ident: $ty:ty),* $(,)?) -> $result:ty;)*) => {
        /// The index of each function in [`EntryPoints::NAMES`].
        #[allow(non_camel_case_types, dead_code, clippy::enum_variant_names)]
        #[derive(Clone, Copy)]
        pub(super) enum Function {
            $($name),*
        }
    };
}

crate::for_each_entry_point!(define_functions);

pub(super) const FUNCTIONS: usize = EntryPoints::NAMES.len();
/// The number of threads that are counted separately. The others share the last place.
const PLACES: usize = 64;

/// The index of the function called `name`.
pub(super) fn index_of(name: &str) -> Option<usize> {
    EntryPoints::NAMES.iter().position(|known| *known == name)
}

/// The counts and the HIP state of one thread.
pub(super) struct ThreadPlace {
    owner: AtomicU64,
    thread: OnceLock<ThreadId>,
    pub(super) counts: Box<[AtomicU64]>,
    pub(super) device: AtomicI32,
    pub(super) last_error: AtomicU32,
}

/// The counts of one instance.
pub(super) struct Calls {
    /// Identifies this instance.
    pub(super) serial: u64,
    pub(super) places: Box<[ThreadPlace]>,
}

/// The calls that one thread made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadCalls {
    /// The thread; `None` for all threads after the first 63 together.
    pub thread: Option<ThreadId>,
    /// The functions that the thread called, with the number of calls, in the order of the declarations.
    pub calls: Vec<(&'static str, u64)>,
}

impl ThreadCalls {
    /// The number of calls of the function called `name`.
    pub fn count(&self, name: &str) -> u64 {
        self.calls.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| *count)
    }
}

impl Calls {
    pub(super) fn new() -> Self {
        static SERIAL: AtomicU64 = AtomicU64::new(0);
        let place = || ThreadPlace {
            owner: AtomicU64::new(0),
            thread: OnceLock::new(),
            counts: (0..FUNCTIONS).map(|_| AtomicU64::new(0)).collect(),
            device: AtomicI32::new(0),
            last_error: AtomicU32::new(0),
        };
        Self {
            serial: SERIAL.fetch_add(1, Ordering::Relaxed) + 1,
            places: (0..PLACES).map(|_| place()).collect(),
        }
    }

    /// The place of the calling thread with this number. A thread takes its place at its first call and keeps it.
    #[cold]
    pub(super) fn claim(&self, number: u64) -> usize {
        let shared = PLACES - 1;
        for (index, place) in self.places.iter().enumerate().take(shared) {
            match place.owner.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    let _ = place.thread.set(std::thread::current().id());
                    return index;
                }
                Err(owner) if owner == number => return index,
                Err(_) => {}
            }
        }
        shared
    }

    fn named<'a>(counts: impl Iterator<Item = u64> + 'a) -> Vec<(&'static str, u64)> {
        EntryPoints::NAMES.iter().copied().zip(counts).filter(|(_, count)| *count > 0).collect()
    }

    fn sum(&self, index: usize) -> u64 {
        self.places
            .iter()
            .filter_map(|place| place.counts.get(index))
            .map(|count| count.load(Ordering::Relaxed))
            .sum()
    }

    pub(super) fn total(&self) -> Vec<(&'static str, u64)> {
        Self::named((0..FUNCTIONS).map(|index| self.sum(index)))
    }

    pub(super) fn count(&self, name: &str) -> u64 {
        index_of(name).map_or(0, |index| self.sum(index))
    }

    pub(super) fn by_thread(&self) -> Vec<ThreadCalls> {
        let calls = self.places.iter().map(|place| ThreadCalls {
            thread: place.thread.get().copied(),
            calls: Self::named(place.counts.iter().map(|count| count.load(Ordering::Relaxed))),
        });
        calls.filter(|thread| !thread.calls.is_empty()).collect()
    }

    pub(super) fn reset(&self) {
        for count in self.places.iter().flat_map(|place| &place.counts) {
            count.store(0, Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.total()).finish()
    }
}
