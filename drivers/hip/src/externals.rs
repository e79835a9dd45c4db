// SPDX-License-Identifier: MIT OR Apache-2.0
//! The events, streams and words of memory that stand between a device and the streams of other libraries.

use std::sync::{Arc, Mutex, PoisonError};

use windlass_hal::{ExternalEvent, Result};

use crate::{
    call::{Event, EventStatus, StreamHandle},
    event_pool::EventPool,
    gate::Gates,
    gpu::Gpu,
    hip::Hip,
    sync::lock,
};

/// The objects that stand between a device and other libraries. All are made when they are first needed.
#[derive(Default)]
pub(crate) struct Externals {
    /// Events of each GPU, by its ordinal. A GPU need not be one of the device.
    events: Mutex<Vec<(i32, EventPool)>>,
    relays: Mutex<Vec<Relay>>,
    pub(crate) gates: Mutex<Gates>,
}

/// A stream of the driver that holds nothing but waits for foreign events, each with an event of the driver behind it. A
/// foreign event may be recorded again at any time, and the driver's may not.
struct Relay {
    gpu: usize,
    handle: StreamHandle,
    newest: Arc<Event>,
}

/// The most relays of a GPU. Where more places are awaited at a time, some of them wait for each other.
const RELAYS: usize = 8;

impl Externals {
    /// An event of a GPU that no timepoint and no gate holds. The GPU is current.
    pub(crate) fn event(&self, hip: &Hip) -> Result<Arc<Event>> {
        let mut pools = lock(&self.events);
        let index = match pools.iter().position(|(ordinal, _)| *ordinal == hip.ordinal()) {
            Some(index) => index,
            None => {
                pools.push((hip.ordinal(), EventPool::default()));
                pools.len() - 1
            }
        };
        let pool = &mut pools[index].1;
        let event = pool.acquire(hip)?;
        // The pool hands it out again once it is the only owner.
        pool.release(event.clone());
        Ok(event)
    }

    /// An event of the driver that completes when a foreign one does, as that is recorded now. The GPU is current.
    pub(crate) fn relay(&self, gpu: &Gpu, foreign: ExternalEvent) -> Result<Arc<Event>> {
        let event = self.event(&gpu.hip)?;
        let mut relays = lock(&self.relays);
        let is_idle = |relay: &Relay| !matches!(gpu.hip.query(*relay.newest), Ok(EventStatus::Running));
        let own = |relay: &Relay| relay.gpu == gpu.index;
        let idle = relays.iter().position(|relay| own(relay) && is_idle(relay));
        let full = relays.iter().filter(|relay| own(relay)).count() >= RELAYS;
        let oldest = relays.iter().position(own).filter(|_| full);
        let handle = match idle.or(oldest) {
            Some(index) => relays.remove(index).handle,
            None => gpu.hip.create_stream()?,
        };
        let waited = gpu.hip.wait_foreign_event(handle, foreign);
        let recorded = waited.and_then(|()| gpu.hip.record(*event, handle));
        relays.push(Relay { gpu: gpu.index, handle, newest: event.clone() });
        recorded.map(|()| event)
    }

    /// Takes everything out, for the end of the device.
    pub(crate) fn take(&mut self) -> Remains {
        let Self { events, relays, gates } = std::mem::take(self);
        Remains {
            events: events.into_inner().unwrap_or_else(PoisonError::into_inner),
            relays: relays.into_inner().unwrap_or_else(PoisonError::into_inner),
            gates: gates.into_inner().unwrap_or_else(PoisonError::into_inner),
        }
    }
}

/// The objects of a device that has ended.
pub(crate) struct Remains {
    events: Vec<(i32, EventPool)>,
    relays: Vec<Relay>,
    gates: Gates,
}

impl Remains {
    /// Gives everything back. Waits until foreign streams have passed the gates, which are open.
    pub(crate) fn give_back(mut self, hip: &Hip) {
        hip.give_back(|hip| {
            for (word, passed) in self.gates.take() {
                match passed.map_or(Ok(()), |passed| hip.synchronize(*passed)) {
                    Ok(()) => hip.free(word),
                    Err(error) => {
                        tracing::warn!(target: "windlass::hip", %error, "a stream may still look at a gate, which is kept");
                    }
                }
            }
            for (_, pool) in &mut self.events {
                pool.take().iter().for_each(|event| hip.destroy_event(**event));
            }
            self.relays.iter().for_each(|relay| hip.destroy_stream(relay.handle));
        });
    }
}
