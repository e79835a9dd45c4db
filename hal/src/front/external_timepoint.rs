// SPDX-License-Identifier: MIT OR Apache-2.0
//! Order between queues and the streams of other libraries, without the host.
//!
//! Both calls are `unsafe`, because no check can tell whether a number is the handle of a stream that exists.
#![allow(unsafe_code)]

use crate::{
    driver::operation::OperationRef,
    front::queue::Queue,
    order::{point::Point, semaphore::check_value},
    words::{
        error::{Error, Result, ResultExt},
        external_timepoint::{ExportFlags, ExternalEvent, ExternalStream, ExternalTimepoint},
        fork,
        info::Feature,
    },
};

impl Queue {
    /// Orders work behind another library: an operation that completes when its waits are reached and the work of the
    /// other library has completed. That is the work which a stream holds at the moment of this call, or the work
    /// before the latest record of an event. Later work in the stream and later records of the event do not count, even
    /// where the waits are reached much later. The host takes no part.
    ///
    /// [`ExternalStream::DEFAULT`], and for HIP also the stream that each thread has by default (2), is the one of
    /// the GPU of this queue, whichever device is current on the thread. Where the queue stands for several GPUs, it is
    /// that of the first. The other streams and all events may belong to any GPU of the process.
    ///
    /// `INVALID_ARGUMENT` where the device notices that the handle is none. `FAILED_PRECONDITION` for a stream that is
    /// being captured into a graph: its work does not run now. Where the device can tell that the other library's work
    /// went wrong, the signals fail. `UNIMPLEMENTED` where the device declares the lack of
    /// [`Feature::ExternalTimepoints`].
    ///
    /// # Safety
    /// The handle must be that of a stream or an event of the same runtime library that the device uses, and live
    /// until this returns. It may be destroyed afterwards. The latest record of an event must not be one of a stream
    /// that is being captured into a graph.
    pub unsafe fn import_timepoint(
        &self,
        waits: &[Point],
        signals: &[Point],
        timepoint: impl Into<ExternalTimepoint>,
    ) -> Result<()> {
        let timepoint = timepoint.into();
        self.has_external_timepoints()?;
        if let ExternalTimepoint::Event(ExternalEvent::NULL) = timepoint {
            return Err(Error::invalid_argument("the null handle is no event"));
        }
        // SAFETY: the caller vouches under the same contract.
        let noted = unsafe { self.device().open.raw.import_timepoint(self.affinity(), timepoint) };
        let noted = noted.context(|| format!("importing {timepoint:x?}"))?;
        self.submit(waits, signals, OperationRef::ImportTimepoint { timepoint: &noted })
    }

    /// Orders another library behind points: work that is enqueued in `stream` after this call starts when all `waits`
    /// are reached. The host takes no part, and this does not wait. The work that the stream holds already is not
    /// affected.
    ///
    /// Each wait must be reached, or work must be in a stream of this device that will reach it. That is the case once
    /// the work is submitted and each of its own waits is so too. Otherwise this is `FAILED_PRECONDITION`, which names
    /// the point, and the stream is as before. Points that only the host, another device, a host call or a file
    /// transfer reaches must be reached first; so must those of lists with indirect workgroup counts.
    ///
    /// With [`ExportFlags::ALLOW_UNSUBMITTED`], the stream waits for such points in memory, where the device can do
    /// that. **The caller then vouches that the work which reaches the points is not held up by the stream**:
    /// - The stream occupies its hardware queue until the points are reached. A GPU has few of them, and the streams of
    ///   all libraries share them (four in HIP). Work behind the stream in the same hardware queue waits for it.
    /// - Work of this device that waits for the stream holds its queue. Submit the work that reaches the points to
    ///   another one.
    /// - A greater value of the same semaphore stands for the points too. If work behind the stream will signal it,
    ///   give the points a semaphore of their own.
    ///
    /// If a point has failed already, this returns its error, and the stream is as before. If it fails later, the
    /// stream goes on when the work that owed the point can no longer touch memory. A point whose work was never
    /// submitted lets the stream go on when it fails, or when this device is closed. So a stream never hangs because of
    /// a failure. A program that must know asks the semaphore.
    ///
    /// Which stream [`ExternalStream::DEFAULT`] is, and the other errors, are as for
    /// [`import_timepoint`](Self::import_timepoint). To order another library behind an event of its own, record the
    /// event in the stream after this call.
    ///
    /// # Safety
    /// The handle must be that of a stream of the same runtime library that the device uses, and live until this
    /// returns.
    pub unsafe fn export_timepoint(
        &self,
        waits: &[Point],
        stream: ExternalStream,
        flags: ExportFlags,
    ) -> Result<()> {
        self.has_external_timepoints()?;
        if flags.unknown_bits() != 0 {
            return Err(Error::invalid_argument(format!("{flags:?} has unknown bits")));
        }
        for wait in waits {
            check_value("wait for", wait.value)?;
        }
        // SAFETY: the caller vouches under the same contract.
        let exported =
            unsafe { self.device().open.raw.export_timepoint(self.affinity(), waits, stream, flags) };
        exported.context(|| format!("exporting {} points to {stream:x?}", waits.len()))
    }

    fn has_external_timepoints(&self) -> Result<()> {
        fork::check()?;
        match self.device().info().lacks.iter().find(|lack| lack.feature == Feature::ExternalTimepoints) {
            Some(lack) => Err(Error::unimplemented(format!(
                "this device is not ordered with the streams of other libraries: {}",
                lack.reason
            ))),
            None => Ok(()),
        }
    }
}
