// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows of semaphores that nobody waits for: create, signal, query.

use std::{
    hint::black_box,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::Semaphore;

use crate::command::bench::{
    row::{Prepared, Row},
    subject::{Floor, whole},
};

pub(super) fn add(rows: &mut Vec<Row>) {
    rows.push(Row::new("semaphore/create", (1, "semaphore"), |_| {
        let own = whole(|| {
            drop(black_box(Semaphore::new(black_box(0))));
            Ok(())
        });
        let floor = whole(|| {
            drop(black_box(Arc::new(AtomicU64::new(black_box(0)))));
            Ok(())
        });
        Ok(Prepared::Timed(own, Some(Floor::new("Arc<AtomicU64>, new and drop", 1, floor))))
    }));
    rows.push(Row::new("semaphore/signal", (1, "signal"), |_| {
        let (semaphore, mut value) = (Semaphore::new(0), 0);
        let own = whole(move || {
            value += 1;
            Ok(semaphore.signal(black_box(value))?)
        });
        let (atomic, mut value) = (AtomicU64::new(0), 0);
        let floor = whole(move || {
            value += 1;
            black_box(atomic.fetch_max(black_box(value), Ordering::SeqCst));
            Ok(())
        });
        Ok(Prepared::Timed(own, Some(Floor::new("AtomicU64::fetch_max", 1, floor))))
    }));
    rows.push(Row::new("semaphore/query", (1, "query"), |_| {
        let semaphore = Semaphore::new(7);
        let own = whole(move || {
            black_box(black_box(&semaphore).query()?);
            Ok(())
        });
        let atomic = AtomicU64::new(7);
        let floor = whole(move || {
            black_box(black_box(&atomic).load(Ordering::Acquire));
            Ok(())
        });
        Ok(Prepared::Timed(own, Some(Floor::new("AtomicU64::load", 1, floor))))
    }));
}
