// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hardware queues: several queues of a client's share each, and what they were asked for runs in the order in which it
//! was queued.
//!
//! All edges of a packet are ends of packets that were queued before it. So the oldest packet of all can always run,
//! and sharing alone never makes packets wait for one another in a circle.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use super::queue::Queue;

/// A packet by the id of its queue and its number there.
pub(super) type Name = (u64, u64);

/// The hardware queues of all devices.
#[derive(Default)]
pub(super) struct Hardware {
    /// Hardware queues of a device and a priority; as many as queues if it is zero.
    pub(super) most: usize,
    pub(super) queues: Vec<HardwareQueue>,
}

/// One hardware queue.
pub(super) struct HardwareQueue {
    pub(super) device: usize,
    priority: i32,
    /// Its place among those of its device.
    pub(super) number: usize,
    /// Queues that share it.
    users: usize,
    /// The packets that have not finished. The first runs, or is the next to run.
    pub(super) order: VecDeque<Name>,
    /// The packet that was seen to hold others up, and since when.
    pub(super) seen: Option<(Name, Instant)>,
    /// The packet that was told of last.
    pub(super) told: Option<Name>,
}

impl Hardware {
    /// A hardware queue for one more queue: the one that the fewest share, or a new one where none is unused and one more
    /// may be. `None` where each queue is its own.
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

    /// A queue that shared it is gone.
    pub(super) fn release(&mut self, place: Option<usize>) {
        if let Some(hardware) = place.and_then(|place| self.queues.get_mut(place)) {
            hardware.users = hardware.users.saturating_sub(1);
        }
    }

    /// A packet was queued.
    pub(super) fn append(&mut self, place: Option<usize>, packet: Name) {
        if let Some(hardware) = place.and_then(|place| self.queues.get_mut(place)) {
            hardware.order.push_back(packet);
        }
    }

    /// A packet, which was the first, has finished.
    pub(super) fn finish(&mut self, place: Option<usize>) {
        if let Some(hardware) = place.and_then(|place| self.queues.get_mut(place)) {
            hardware.order.pop_front();
        }
    }

    /// Whether it is the turn of a queue.
    pub(super) fn admits(&self, place: Option<usize>, queue: u64) -> bool {
        let hardware = place.and_then(|place| self.queues.get(place));
        hardware.is_none_or(|hardware| hardware.order.front().is_none_or(|(first, _)| *first == queue))
    }

    /// Of each packet but the first ones, the packet that is ahead of it.
    pub(super) fn ahead(&self) -> BTreeMap<Name, Name> {
        let pairs = |hardware: &HardwareQueue| {
            let behind = hardware.order.iter().skip(1).copied();
            behind.zip(hardware.order.iter().copied()).collect::<Vec<_>>()
        };
        self.queues.iter().flat_map(pairs).collect()
    }
}
