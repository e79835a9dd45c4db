// SPDX-License-Identifier: MIT OR Apache-2.0
//! External timepoints: one in this driver is a semaphore of the library, which the library signals.

use std::{any::Any, sync::Arc};

use windlass_hal::{
    Error, ExportFlags, ExternalStream, ExternalTimepoint, Point, QueueAffinity, Result, driver, edge::Domain,
};

use crate::{
    api::{self, Handle, api, check},
    bindings::*,
    submission::Submissions,
};

/// A place in the order of another library's work.
pub(crate) struct Timepoint {
    domain: Domain,
    semaphore: Handle<windlass_semaphore_t>,
}

fn queue_of(device: &Handle<windlass_device_t>, affinity: QueueAffinity) -> Result<Handle<windlass_queue_t>> {
    // SAFETY: a handle and a local.
    Handle::from(api::queue, |queue| unsafe {
        api().windlass_device_queue_of(device.get(), affinity.bits(), queue)
    })
}

impl Timepoint {
    pub(crate) fn import(
        domain: Domain,
        device: &Handle<windlass_device_t>,
        affinity: QueueAffinity,
        timepoint: ExternalTimepoint,
    ) -> Result<Self> {
        let (kind, handle) = match timepoint {
            ExternalTimepoint::Stream(stream) => (WINDLASS_EXTERNAL_TIMEPOINT_STREAM, stream.raw()),
            ExternalTimepoint::Event(event) => (WINDLASS_EXTERNAL_TIMEPOINT_EVENT, event.raw()),
            other => return Err(Error::internal(format!("{other:?} is not in the header"))),
        };
        // SAFETY: a local.
        let semaphore = Handle::from(api::semaphore, |semaphore| unsafe {
            api().windlass_semaphore_create(0, semaphore)
        })?;
        let timepoint = windlass_external_timepoint_t { kind, reserved: 0, handle };
        let signal = windlass_point_t { semaphore: semaphore.get(), value: 1 };
        let queue = queue_of(device, affinity)?;
        // SAFETY: handles and locals. The case vouches for the stream or the event.
        check(unsafe {
            api().windlass_queue_import_timepoint(queue.get(), 0, std::ptr::null(), 1, &signal, timepoint)
        })?;
        Ok(Self { domain, semaphore })
    }

    /// The point of the library that stands for a timepoint.
    pub(crate) fn point(timepoint: &dyn driver::RawTimepoint) -> Result<windlass_point_t> {
        let timepoint = timepoint.as_any().downcast_ref::<Self>();
        let timepoint = timepoint.ok_or_else(|| Error::internal("a timepoint of another driver"))?;
        Ok(windlass_point_t { semaphore: timepoint.semaphore.get(), value: 1 })
    }
}

impl driver::RawTimepoint for Timepoint {
    fn domain(&self) -> Domain {
        self.domain
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Lets a stream wait for points. The library knows those that its own work signals.
pub(crate) fn export(
    submissions: &Arc<Submissions>,
    device: &Handle<windlass_device_t>,
    affinity: QueueAffinity,
    waits: &[Point],
    stream: ExternalStream,
    flags: ExportFlags,
) -> Result<()> {
    let semaphores = submissions.semaphores_of(waits)?;
    let waits: Vec<_> = semaphores
        .iter()
        .map(|semaphore| windlass_point_t { semaphore: semaphore.get(), value: 1 })
        .collect();
    let queue = queue_of(device, affinity)?;
    // SAFETY: handles and locals. The case vouches for the stream.
    check(unsafe {
        api().windlass_queue_export_timepoint(queue.get(), waits.len(), waits.as_ptr(), stream.raw(), flags.0)
    })
}
