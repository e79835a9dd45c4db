// SPDX-License-Identifier: MIT OR Apache-2.0
//! External timepoints: our streams behind those of other libraries, and theirs behind ours, by events of the driver.

use std::{
    any::Any,
    sync::{Arc, Mutex, PoisonError},
};

use windlass_hal::{
    Error, ExportFlags, ExternalEvent, ExternalStream, ExternalTimepoint, Point, Probe, QueueAffinity,
    Result, driver, edge::Domain,
};

use crate::{
    call::{Event, EventStatus, StreamHandle},
    device::Inner,
    event_pool::EventPool,
    foreign::ForeignStream,
    gate::Gates,
    gpu::Gpu,
    hip::Hip,
    submission::Work,
    sync::lock,
};

/// A place in the order of another library's work.
pub(crate) struct Timepoint {
    domain: Domain,
    /// An event of the driver, recorded at the call. `None` if the place was reached then.
    pub(crate) event: Option<Arc<Event>>,
}

impl driver::RawTimepoint for Timepoint {
    fn domain(&self) -> Domain {
        self.domain
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The objects that stand between a device and other libraries. All are made when they are first needed.
#[derive(Default)]
pub(crate) struct Externals {
    /// Events of each GPU, by its ordinal. A GPU need not be one of the device.
    events: Mutex<Vec<(i32, EventPool)>>,
    relays: Mutex<Vec<Relay>>,
    gates: Mutex<Gates>,
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
    fn event(&self, hip: &Hip) -> Result<Arc<Event>> {
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
    fn relay(&self, gpu: &Gpu, foreign: ExternalEvent) -> Result<Arc<Event>> {
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
        let inner = PoisonError::into_inner;
        Remains {
            events: events.into_inner().unwrap_or_else(inner),
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

impl Inner {
    /// Notes a place in the order of another library's work.
    pub(crate) fn import_timepoint(
        &self,
        affinity: QueueAffinity,
        timepoint: ExternalTimepoint,
    ) -> Result<Timepoint> {
        self.usable()?;
        let gpu = self.gpus.nearest(affinity);
        let event = match timepoint {
            ExternalTimepoint::Stream(stream) => {
                let foreign = ForeignStream::find(&gpu.hip, stream)?;
                let _current = foreign.hip.current()?;
                foreign.refuse_capture()?;
                let event = self.externals.event(&foreign.hip)?;
                foreign.record(*event)?;
                Some(event)
            }
            ExternalTimepoint::Event(event) => match gpu.hip.is_pending(event)? {
                true => {
                    let _current = gpu.hip.current()?;
                    Some(self.externals.relay(gpu, event)?)
                }
                false => None,
            },
            other => return Err(Error::unimplemented(format!("the HIP driver does not know {other:?}"))),
        };
        Ok(Timepoint { domain: self.gpus.domain, event })
    }

    /// Lets later work of a foreign stream wait for points.
    pub(crate) fn export_timepoint(
        self: &Arc<Self>,
        affinity: QueueAffinity,
        waits: &[Point],
        stream: ExternalStream,
        flags: ExportFlags,
    ) -> Result<()> {
        self.retire_some(affinity);
        self.usable()?;
        let (mut edges, mut unsubmitted) = (Vec::new(), Vec::new());
        for wait in waits {
            match wait.semaphore.probe(wait.value, Some(self.gpus.domain)) {
                Probe::Reached => {}
                Probe::Edge(edge) => edges.push(edge),
                Probe::Failed(error) => return Err(error),
                _ => unsubmitted.push(wait.clone()),
            }
        }
        let foreign = ForeignStream::find(&self.gpus.nearest(affinity).hip, stream)?;
        if let Some(first) = unsubmitted.first() {
            refuse_unsubmitted(first, &foreign.hip, flags)?;
        }
        // Before a stream is touched: no thread holds a queue's lock and is in a call with a foreign handle.
        let events: Vec<_> =
            edges.iter().filter_map(|edge| self.queues.event_of(edge).transpose()).collect::<Result<_>>()?;
        let _current = foreign.hip.current()?;
        foreign.refuse_capture()?;
        events.iter().try_for_each(|event| foreign.wait_event(**event))?;
        if unsubmitted.is_empty() { Ok(()) } else { self.shut_gate(affinity, &unsubmitted, &foreign) }
    }

    /// Lets a foreign stream wait for points that no work in a stream will reach yet. The stream's GPU is current.
    fn shut_gate(
        self: &Arc<Self>,
        affinity: QueueAffinity,
        waits: &[Point],
        foreign: &ForeignStream,
    ) -> Result<()> {
        let passed = self.externals.event(&foreign.hip)?;
        let (word, opening) = lock(&self.externals.gates).shut(&foreign.hip)?;
        let mut submission = self.boxes.take();
        submission.affinity = affinity;
        submission.work = Work::ExportTimepoint(opening);
        // First, because a closed device refuses it. A gate that opens before the stream waits for it stays open.
        self.pending.submit(self, waits, &[], submission)?;
        foreign.wait_word(word.address())?;
        let recorded = foreign.record(*passed);
        let mut gates = lock(&self.externals.gates);
        match &recorded {
            Ok(()) => gates.note(&word, passed),
            Err(_) => gates.abandon(&word),
        }
        recorded
    }
}

fn refuse_unsubmitted(point: &Point, hip: &Hip, flags: ExportFlags) -> Result<()> {
    let refused = |remedy: &str| {
        Err(Error::failed_precondition(format!(
            "no work in a stream of this device will reach {} of {:?} yet: submit the work that signals it, and the work \
             that it waits for, before the export{remedy}",
            point.value, point.semaphore
        )))
    };
    match (flags.contains(ExportFlags::ALLOW_UNSUBMITTED), hip.waits_for_words()) {
        (true, true) => Ok(()),
        (false, true) => refused(", or allow it with ExportFlags::ALLOW_UNSUBMITTED"),
        (_, false) => refused("; streams of this GPU cannot wait for memory (hipStreamWaitValue64)"),
    }
}
