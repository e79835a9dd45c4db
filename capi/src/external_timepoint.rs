// SPDX-License-Identifier: MIT OR Apache-2.0
//! Order between queues and the streams and events of other libraries, without the host.

use std::ptr::NonNull;

use facade::{Error, ExportFlags, ExternalEvent, ExternalStream, ExternalTimepoint};

use crate::{
    boundary::fallible,
    error::windlass_error_t,
    handle::used,
    queue::windlass_queue_t,
    semaphore::{lists_of, points_of, windlass_point_t},
};

/// One of WINDLASS_EXTERNAL_TIMEPOINT_*.
pub type windlass_external_timepoint_kind_t = u32;

/// The end of the work that a stream holds at the moment of the call. The handle is a hipStream_t.
pub const WINDLASS_EXTERNAL_TIMEPOINT_STREAM: windlass_external_timepoint_kind_t = 1;
/// The place at which an event was recorded last before the call. The handle is a hipEvent_t.
pub const WINDLASS_EXTERNAL_TIMEPOINT_EVENT: windlass_external_timepoint_kind_t = 2;

/// A flag of windlass_queue_export_timepoint: the stream may wait for points that no work in a stream of the device will
/// reach yet.
pub const WINDLASS_EXPORT_ALLOW_UNSUBMITTED: u32 = 1 << 0;

/// A place in the order of another library's work.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_external_timepoint_t {
    /// The kind of the handle.
    pub kind: windlass_external_timepoint_kind_t,
    /// Zero.
    pub reserved: u32,
    /// The native handle as a number: (uint64_t)(uintptr_t)stream. 0 is the default stream of the queue's GPU.
    pub handle: u64,
}

/// Orders work behind another library: an operation that completes when its waits are reached and the work of the other
/// library has completed. Later work in the stream and later records of the event do not count. The host takes no part.
/// The stream or the event may be destroyed after the call.
///
/// The default stream (0) and, for HIP, the default stream of the calling thread (2) are those of the queue's GPU,
/// whichever device is current; any other stream and all events may belong to any GPU of the process.
///
/// INVALID_ARGUMENT if the device notices that the handle is none, FAILED_PRECONDITION for a stream that is being
/// captured into a graph, UNIMPLEMENTED if the device lacks WINDLASS_FEATURE_EXTERNAL_TIMEPOINTS. The handle must be live,
/// and one of the HIP library that the device uses; the latest record of an event must not be in a capture.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_queue_import_timepoint(
    queue: Option<NonNull<windlass_queue_t>>,
    wait_count: usize,
    waits: *const windlass_point_t,
    signal_count: usize,
    signals: *const windlass_point_t,
    timepoint: windlass_external_timepoint_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `lists_of`.
        let lists = unsafe { lists_of(wait_count, waits, signal_count, signals) }?;
        let windlass_external_timepoint_t { kind, reserved, handle } = timepoint;
        if reserved != 0 {
            return Err(Error::invalid_argument("the field `reserved` of an external timepoint is not zero"));
        }
        let timepoint: ExternalTimepoint = match kind {
            WINDLASS_EXTERNAL_TIMEPOINT_STREAM => ExternalStream::from_raw(handle).into(),
            WINDLASS_EXTERNAL_TIMEPOINT_EVENT => ExternalEvent::from_raw(handle).into(),
            other => {
                return Err(Error::invalid_argument(format!(
                    "{other} is no kind of timepoint: WINDLASS_EXTERNAL_TIMEPOINT_STREAM or _EVENT is expected"
                )));
            }
        };
        // SAFETY: the contract in the header covers that of `import_timepoint`.
        unsafe { used(queue)?.import_timepoint(&lists.waits, &lists.signals, timepoint) }
    })
}

/// Orders another library behind points: work that is enqueued in `stream` after the call starts when all waits are
/// reached. `stream` is a hipStream_t as a number, as for windlass_queue_import_timepoint. The host takes no part, and
/// the call does not wait. Record an event in the stream afterwards to order others behind the event.
///
/// FAILED_PRECONDITION, which names the point, unless each point is reached or work in a stream of this device will
/// reach it: the work is submitted, and each of its own waits is so too. WINDLASS_EXPORT_ALLOW_UNSUBMITTED lets the stream
/// wait for other points in memory, where the device can do that. The caller then vouches that the stream does not hold up
/// the work which reaches them: the stream occupies one of few hardware queues, work that waits for the stream holds its
/// queue, and a larger value of the same semaphore stands for the points too.
///
/// Returns the error of a point that has failed already. After these two errors the stream is as before. If a point fails
/// later, the stream goes on. The other errors are those of windlass_queue_import_timepoint.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_queue_export_timepoint(
    queue: Option<NonNull<windlass_queue_t>>,
    wait_count: usize,
    waits: *const windlass_point_t,
    stream: u64,
    flags: u32,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `points_of`.
        let waits = unsafe { points_of("waits", wait_count, waits) }?;
        // SAFETY: the contract in the header covers that of `export_timepoint`.
        unsafe { used(queue)?.export_timepoint(&waits, ExternalStream::from_raw(stream), ExportFlags(flags)) }
    })
}
