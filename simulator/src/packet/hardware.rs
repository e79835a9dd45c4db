// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hardware queues: each is shared by several queues of a client and runs their packets in the order of
//! queueing.
//!
//! All edges of a packet but conditions are ends of packets that were queued before it. So the oldest packet of all
//! can run, unless it waits for memory, and sharing alone never makes packets wait for one another in a circle.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use super::queue::Queue;

/// A packet: the id of its queue, and its number in that queue.
pub(super) type Name = (u64, u64);

/// The hardware queues of all devices.
#[derive(Default)]
pub(super) struct Hardware {
    /// The most hardware queues of a device and a priority. With zero, each queue has its own.
    pub(super) most: usize,
    pub(super) queues: Vec<HardwareQueue>,
}

/// One hardware queue.
pub(super) struct HardwareQueue {
    pub(super) device: usize,
    priority: i32,
    /// Its index among the hardware queues of its device.
    pub(super) number: usize,
    /// The number of queues that share it.
    users: usize,
    /// The packets that have not finished. The first runs, or is the next to run.
    pub(super) order: VecDeque<Name>,
    /// The packet that was seen to block others, and since when.
    pub(super) seen: Option<(Name, Instant)>,
    /// The packet that was reported last.
    pub(super) told: Option<Name>,
}

impl Hardware {
    /// A hardware queue for one more queue: an unused one, else a new one while fewer than the most exist,
    /// else the least shared one. `None` where each queue has its own.
    pub(super) fn bind(&mut self, queue: &Queue) -> Option<usize> {
        if self.most == 0 {
            return None;
        }
        let of_device = self.queues.iter().filter(|one| one.device == queue.device).count();
        let suits = |one: &HardwareQueue| (one.device, one.priority) == (queue.device, queue.priority);
        let suitable = self.queues.iter().enumerate().filter(|(_, one)| suits(one));
        let count = suitable.clone().count();
        let least = suitable.min_by_key(|(_, one)| one.users).map(|(place, one)| (place, one.users));
        let place = match least {
            Some((place, users)) if users == 0 || count >= self.most => place,
            _ => {
                self.queues.push(HardwareQueue {
                    device: queue.device,
                    priority: queue.priority,
                    number: of_device,
                    users: 0,
                    order: VecDeque::new(),
                    seen: None,
                    told: None,
                });
                self.queues.len() - 1
            }
        };
        self.queues.get_mut(place)?.users += 1;
        Some(place)
    }

    /// Counts off a queue that shared it.
    pub(super) fn release(&mut self, place: Option<usize>) {
        if let Some(hardware) = place.and_then(|place| self.queues.get_mut(place)) {
            hardware.users = hardware.users.saturating_sub(1);
        }
    }

    /// Appends a packet that was queued.
    pub(super) fn append(&mut self, place: Option<usize>, packet: Name) {
        if let Some(hardware) = place.and_then(|place| self.queues.get_mut(place)) {
            hardware.order.push_back(packet);
        }
    }

    /// Removes the first packet, which has finished.
    pub(super) fn finish(&mut self, place: Option<usize>) {
        if let Some(hardware) = place.and_then(|place| self.queues.get_mut(place)) {
            hardware.order.pop_front();
        }
    }

    /// Whether `queue` may run: no packet of another queue is ahead of its next one.
    pub(super) fn admits(&self, place: Option<usize>, queue: u64) -> bool {
        let hardware = place.and_then(|place| self.queues.get(place));
        hardware.is_none_or(|hardware| hardware.order.front().is_none_or(|(first, _)| *first == queue))
    }

    /// For each packet but the first of a hardware queue, the packet directly ahead of it.
    pub(super) fn ahead(&self) -> BTreeMap<Name, Name> {
        let pairs = |hardware: &HardwareQueue| {
            let behind = hardware.order.iter().skip(1).copied();
            behind.zip(hardware.order.iter().copied()).collect::<Vec<_>>()
        };
        self.queues.iter().flat_map(pairs).collect()
    }
}
