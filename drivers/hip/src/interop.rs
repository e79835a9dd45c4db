// SPDX-License-Identifier: MIT OR Apache-2.0
//! Order with other libraries: our streams behind theirs, and theirs behind ours, by events of the driver.

use std::sync::Arc;

use windlass_hal::{
    Error, ExportFlags, ExternalStream, ExternalTimepoint, Point, Probe, QueueAffinity, Result,
};

use crate::{
    device::Inner, external_timepoint::Timepoint, foreign::ForeignStream, hip::Hip, submission::Work,
    sync::lock,
};

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
