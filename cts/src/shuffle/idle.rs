// SPDX-License-Identifier: MIT OR Apache-2.0
//! The thread that releases work without a demand.

use std::{
    io,
    sync::{
        Weak,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use super::device::Device;

/// Counts the calls of clients, so that the thread notices when there are none.
#[derive(Debug, Default)]
pub(super) struct Activity(AtomicU64);

impl Activity {
    pub(super) fn note(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Starts the thread. It ends when the device holds nothing back any more, or is dropped.
pub(super) fn watch(device: Weak<Device>, patience: Duration) -> io::Result<()> {
    let watch = move || {
        let mut seen = None;
        loop {
            let Some(device) = device.upgrade() else { return };
            let count = device.activity().count();
            if seen.replace(count) == Some(count) {
                device.flush("nobody asks");
            }
            if device.unwatch() {
                return;
            }
            drop(device);
            thread::park_timeout(patience);
        }
    };
    thread::Builder::new().name("windlass-shuffle".to_owned()).spawn(watch).map(drop)
}
