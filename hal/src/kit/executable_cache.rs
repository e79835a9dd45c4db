// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loaded executables by content: the same bytes are loaded once on a device while a handle of the result lives.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, Weak},
};

use sha2::{Digest, Sha256};

use crate::{
    driver,
    words::{error::Result, sync::lock_std as lock},
};

/// The executables that were loaded on one device. The cache keeps none of them alive.
///
/// The key is the SHA-256 of the bytes. For several pieces, it is the SHA-256 of their lengths and contents in order.
#[derive(Default)]
pub(crate) struct ExecutableCache {
    entries: Mutex<HashMap<[u8; 32], Arc<Entry>>>,
}

/// The executable of one key. It is locked during the load, so that a second load of the same bytes waits for the
/// result.
#[derive(Default)]
struct Entry(Mutex<Option<Weak<dyn driver::RawExecutable>>>);

impl ExecutableCache {
    /// Returns the executable of `parts`, and loads it where none lives. A failed load is not remembered.
    pub(crate) fn load(
        &self,
        parts: &[&[u8]],
        load: impl FnOnce() -> Result<Arc<dyn driver::RawExecutable>>,
    ) -> Result<Arc<dyn driver::RawExecutable>> {
        let entry = self.entry(digest(parts));
        let mut known = lock(&entry.0);
        if let Some(executable) = known.as_ref().and_then(Weak::upgrade) {
            return Ok(executable);
        }
        let executable = load()?;
        *known = Some(Arc::downgrade(&executable));
        Ok(executable)
    }

    /// The entry of a key. Removes entries without a living executable.
    fn entry(&self, digest: [u8; 32]) -> Arc<Entry> {
        let mut entries = lock(&self.entries);
        let entry = entries.entry(digest).or_default().clone();
        // A thread that loads holds its entry, and no other thread can get an entry while this lock is held.
        entries.retain(|_, entry| {
            Arc::strong_count(entry) > 1
                || lock(&entry.0).as_ref().is_some_and(|known| known.strong_count() > 0)
        });
        entry
    }
}

fn digest(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use std::{
        any::Any,
        sync::atomic::{AtomicUsize, Ordering::SeqCst},
        thread,
    };

    use super::*;
    use crate::{
        order::edge::Domain,
        words::{error::Error, function_info::FunctionInfo},
    };

    struct Loaded(Domain);

    // SAFETY: nothing dispatches this executable.
    #[allow(unsafe_code)]
    unsafe impl driver::RawExecutable for Loaded {
        fn domain(&self) -> Domain {
            self.0
        }
        fn functions(&self) -> &[FunctionInfo] {
            &[]
        }
        fn as_any(&self) -> &dyn Any {
            self
        }
    }

    fn loaded() -> Result<Arc<dyn driver::RawExecutable>> {
        Ok(Arc::new(Loaded(Domain::unique())))
    }

    #[test]
    fn the_same_bytes_are_loaded_once_while_a_handle_lives() {
        let cache = ExecutableCache::default();
        let first = cache.load(&[b"code"], loaded).expect("loads");
        let same = cache.load(&[b"code"], || unreachable!("loaded already")).expect("is there");
        assert!(Arc::ptr_eq(&first, &same));
        let split = cache.load(&[b"co", b"de"], loaded).expect("loads");
        let elsewhere = cache.load(&[b"c", b"ode"], loaded).expect("loads");
        assert!(!Arc::ptr_eq(&first, &split) && !Arc::ptr_eq(&split, &elsewhere));
        let other = cache.load(&[b"other code"], loaded).expect("loads");
        assert!(!Arc::ptr_eq(&first, &other));
        let domain = first.domain();
        drop((first, same));
        assert_ne!(cache.load(&[b"code"], loaded).expect("loads anew").domain(), domain);
    }

    #[test]
    fn what_nobody_holds_is_forgotten() {
        let cache = ExecutableCache::default();
        for index in 0..1000_u32 {
            cache.load(&[&index.to_le_bytes()], loaded).expect("loads");
        }
        let kept = cache.load(&[b"kept"], loaded).expect("loads");
        assert_eq!(lock(&cache.entries).len(), 1);
        drop(kept);
    }

    #[test]
    fn a_failure_is_not_kept() {
        let cache = ExecutableCache::default();
        let failed = cache.load(&[b"code"], || Err(Error::aborted("on purpose")));
        assert!(failed.is_err());
        assert!(cache.load(&[b"code"], loaded).is_ok());
    }

    #[test]
    fn a_load_that_panics_leaves_the_bytes_loadable() {
        let cache = ExecutableCache::default();
        let load = || cache.load(&[b"code"], || panic!("on purpose"));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(load)).is_err());
        assert!(cache.load(&[b"code"], loaded).is_ok());
    }

    #[test]
    fn threads_that_load_at_once_load_once() {
        let (cache, loads) = (ExecutableCache::default(), AtomicUsize::new(0));
        let load = || {
            loads.fetch_add(1, SeqCst);
            // Gives the other threads a chance to come. The count is the same without it.
            thread::yield_now();
            loaded()
        };
        let all: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| cache.load(&[b"code"], load).expect("loads"))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        assert!(all.iter().all(|executable| Arc::ptr_eq(executable, &all[0])));
        assert_eq!(loads.load(SeqCst), 1);
    }
}
