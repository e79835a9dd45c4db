// SPDX-License-Identifier: MIT OR Apache-2.0
//! Batches: work in numbered parts that any number of threads run, and that the last of them to finish goes on with.
//!
//! Nobody waits for a part that runs elsewhere. Whoever completes the last part gets the work back and continues it, be
//! it the thread that began it or one that came to help.

use crate::sync::{AtomicU64, Ordering, UnsafeCell};

/// Work whose parts are claimed one by one.
pub(crate) struct Batch<W> {
    /// There until the last part is done.
    work: UnsafeCell<Option<W>>,
    parts: u64,
    next: AtomicU64,
    unfinished: AtomicU64,
}

// SAFETY: parts are run through shared references on several threads (`W: Sync`), and the work is moved out on any of them
// (`W: Send`). The cell is written once, by the thread that took `unfinished` to 0; see `help`.
unsafe impl<W: Send + Sync> Sync for Batch<W> {}

impl<W> Batch<W> {
    /// Work of so many parts: one at least.
    pub(crate) fn new(work: W, parts: u64) -> Self {
        debug_assert!(parts > 0, "nobody would finish it");
        Self {
            work: UnsafeCell::new(Some(work)),
            parts,
            next: AtomicU64::new(0),
            unfinished: AtomicU64::new(parts),
        }
    }

    /// Runs parts until none is left to claim. Gives the work to the one thread that completed the last part: all parts
    /// have been run then, and what they wrote is visible. `run` must not panic.
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
                // SAFETY: the part that was claimed counts in `unfinished` until it is run, so nobody moves the work out
                // before: the reference ends before the count falls.
                if let Some(work) = unsafe { &*work } {
                    run(work, part);
                }
            });
            // Release: what this part wrote and its use of the work come before the end. Acquire: so do those of all others.
            if self.unfinished.fetch_sub(1, Ordering::AcqRel) == 1 {
                // SAFETY: every part is claimed and run, so no thread has a reference or will make one; only one thread sees
                // the count fall from 1.
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
    fn what_the_parts_wrote_is_visible_to_the_last() {
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
