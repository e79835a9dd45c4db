// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every interleaving of the semaphore, its waiters, its failure and the pending set, by loom.
//!
//! `RUSTFLAGS="--cfg loom" cargo test --release -p windlass-hal --test loom`
#![cfg(loom)]

mod pending;
mod semaphore;

use std::sync::Arc;

use loom::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use windlass_hal::{
    Notifications, Semaphore,
    edge::{Domain, Edge, EdgeSource},
};

fn model(check: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(3));
    builder.check(check);
}

/// The source of edges. It counts the demands on it.
struct Source {
    domain: Domain,
    demands: AtomicUsize,
}

impl Source {
    fn new(domain: Domain) -> Arc<Self> {
        Arc::new(Self { domain, demands: AtomicUsize::new(0) })
    }

    fn promise(self: &Arc<Self>, semaphore: &Semaphore, value: u64) {
        let edge = Edge { source: self.clone(), lane: 0, epoch: value };
        let mut notifications = Notifications::new();
        semaphore.attach_edge(value, edge, &mut notifications);
        notifications.fire();
    }
}

impl EdgeSource for Source {
    fn domain(&self) -> Domain {
        self.domain
    }

    fn poll(&self) {}

    fn demand(&self, _lane: u32, _epoch: u64) {
        self.demands.fetch_add(1, SeqCst);
    }
}
