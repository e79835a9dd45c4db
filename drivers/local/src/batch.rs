// SPDX-License-Identifier: MIT OR Apache-2.0
//! Batches: work in numbered parts that any number of threads run. The thread that completes the last part goes on
//! with the work.
//!
//! No thread waits for a part that another thread runs. The thread that completes the last part gets the work back,
//! whether it began the work or came to help.

use crate::sync::{AtomicU64, Ordering, UnsafeCell};

/// Work whose parts are claimed one by one.
pub(crate) struct Batch<W> {
    /// `Some` until the last part is done.
    work: UnsafeCell<Option<W>>,
    parts: u64,
    next: AtomicU64,
    unfinished: AtomicU64,
}

// SAFETY: several threads run parts through shared references (`W: Sync`), and any of them may move the work out (`W:
// Send`). The cell is written once, by the thread that took `unfinished` to 0; see `help`.
unsafe impl<W: Send + Sync> Sync for Batch<W> {}

impl<W> Batch<W> {
    /// Work of `parts` parts, at least one.
    pub(crate) fn new(work: W, parts: u64) -> Self {
        debug_assert!(parts > 0, "nobody would finish it");
        Self {
            work: UnsafeCell::new(Some(work)),
            parts,
            next: AtomicU64::new(0),
            unfinished: AtomicU64::new(parts),
        }
    }

    /// Runs parts until none is left to claim. Returns the work to the one thread that completed the last part. By
    /// then all parts have run, and their writes are visible to that thread. `run` must not panic.
    pub(crate) fn help(&self, mut run: impl FnMut(&W, u64)) -> Option<W> {
        loop {
            if self.next.load(Ordering::Relaxed) >= self.parts {
                return None;
            }
            let part = self.next.fetch_add(1, Ordering::Relaxed);
            if part >= self.parts {
                return None;
            }
            self.work.with(|work| {
                // SAFETY: a claimed part counts in `unfinished` until it has run, so no thread moves the work out
                // before. The reference ends before the count falls.
                if let Some(work) = unsafe { &*work } {
                    run(work, part);
                }
            });
            // Release: this part's writes and its use of the work come before the end. Acquire: so do those of all
            // other parts.
            if self.unfinished.fetch_sub(1, Ordering::AcqRel) == 1 {
                // SAFETY: every part is claimed and has run, so no thread has a reference or will make one. Only one
                // thread sees the count fall from 1.
                return self.work.with_mut(|work| unsafe { (*work).take() });
            }
        }
    }
}

#[cfg(all(test, loom))]
mod tests {
    use std::sync::Arc;

    use loom::{sync::atomic::AtomicUsize, thread};

    use super::*;

    #[test]
    fn each_part_runs_once_and_one_thread_gets_the_work() {
        loom::model(|| {
            let batch = Arc::new(Batch::new([const { () }; 3].map(|()| AtomicUsize::new(0)), 3));
            let help = |batch: &Batch<[AtomicUsize; 3]>| {
                batch.help(|work, part| {
                    work[part as usize].fetch_add(1, Ordering::Relaxed);
                })
            };
            let helper = thread::spawn({
                let batch = batch.clone();
                move || help(&batch)
            });
            let ends = [help(&batch), helper.join().unwrap()];
            let mut ends = ends.into_iter().flatten();
            let work = ends.next().expect("nobody got the work");
            assert!(ends.next().is_none(), "two threads got the work");
            for part in &work {
                assert_eq!(part.load(Ordering::Relaxed), 1);
            }
            assert!(help(&batch).is_none(), "who comes late");
        });
    }

    #[test]
    fn the_writes_of_all_parts_are_visible_to_the_last() {
        loom::model(|| {
            let batch = Arc::new(Batch::new([const { () }; 2].map(|()| UnsafeCell::new(0)), 2));
            // SAFETY: each part has a cell of its own.
            let help = |batch: &Batch<[UnsafeCell<u32>; 2]>| {
                batch.help(|work, part| work[part as usize].with_mut(|cell| unsafe { *cell += 1 }))
            };
            let helper = thread::spawn({
                let batch = batch.clone();
                move || help(&batch)
            });
            let ends = [help(&batch), helper.join().unwrap()];
            let work = ends.into_iter().flatten().next().expect("nobody got the work");
            // SAFETY: the batch has given the work away.
            assert!(work.iter().all(|cell| cell.with(|cell| unsafe { *cell }) == 1));
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn alone() {
        let batch = Batch::new("work", 3);
        let mut parts = Vec::new();
        assert_eq!(batch.help(|_, part| parts.push(part)), Some("work"));
        assert_eq!(parts, [0, 1, 2]);
        assert_eq!(batch.help(|_, _| panic!("no part is left")), None);
    }
}
