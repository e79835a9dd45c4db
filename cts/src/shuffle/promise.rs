// SPDX-License-Identifier: MIT OR Apache-2.0
//! The promises that a shuffled device attaches to the signals of a submission. Through them a waiter demands
//! progress.

use std::sync::{Arc, Weak};

use windlass_hal::{
    Notifications, Points, Probe,
    edge::{Domain, Edge, EdgeSource},
};

use super::device::Device;

/// The promise of one submission. Its domain states the progress of the submission. No device waits for it.
struct Promise {
    device: Weak<Device>,
    domain: Domain,
    id: u64,
    signals: Points,
}

/// Attaches the promise of submission `id` to each of its signals.
pub(super) fn attach(device: &Weak<Device>, domain: Domain, id: u64, signals: &Points) {
    let promise = Arc::new(Promise { device: device.clone(), domain, id, signals: signals.clone() });
    let mut notifications = Notifications::new();
    for signal in signals.iter() {
        let edge = Edge { source: promise.clone(), lane: 0, epoch: id };
        signal.semaphore.attach_edge(signal.value, edge, &mut notifications);
    }
    notifications.fire();
}

impl EdgeSource for Promise {
    fn domain(&self) -> Domain {
        self.domain
    }

    fn poll(&self) {
        if let Some(device) = self.device.upgrade() {
            device.poll_raw();
        }
    }

    fn demand(&self, _lane: u32, _epoch: u64) {
        let Some(device) = self.device.upgrade() else { return };
        device.demand(self.id);
        // The promise was attached first, so it hides the edge that the wrapped device has attached since.
        for signal in self.signals.iter() {
            if let Probe::Edge(edge) = signal.semaphore.probe(signal.value, Some(device.raw_domain())) {
                edge.source.demand(edge.lane, edge.epoch);
            }
        }
    }
}
