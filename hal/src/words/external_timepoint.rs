// SPDX-License-Identifier: MIT OR Apache-2.0
//! External timepoints: places in the order of work that another library of the process owns.

use crate::words::flags::flags;

/// A stream of another library that uses the same GPUs in this process, by its native handle. For HIP this is a
/// `hipStream_t`.
///
/// Making one is safe, because it is a number. [`Queue`](crate::Queue) says what a caller vouches for who uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExternalStream(u64);

impl ExternalStream {
    /// The default stream of the GPU of the queue that the call is made on. For HIP this is the null stream.
    pub const DEFAULT: Self = Self(0);

    /// A stream by its native handle.
    pub const fn from_raw(handle: u64) -> Self {
        Self(handle)
    }

    /// The native handle.
    pub const fn raw(self) -> u64 {
        self.0
    }
}

/// An event of another library, by its native handle. For HIP this is a `hipEvent_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExternalEvent(u64);

impl ExternalEvent {
    /// No event.
    pub(crate) const NULL: Self = Self(0);

    /// An event by its native handle.
    pub const fn from_raw(handle: u64) -> Self {
        Self(handle)
    }

    /// The native handle.
    pub const fn raw(self) -> u64 {
        self.0
    }
}

/// A place in the order of another library's work. See [`Queue::import_timepoint`](crate::Queue::import_timepoint).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ExternalTimepoint {
    /// The end of the work that the stream holds at the moment of the call.
    Stream(ExternalStream),
    /// The place that the event was recorded at last before the call. An event that was never recorded is reached.
    Event(ExternalEvent),
}

impl From<ExternalStream> for ExternalTimepoint {
    fn from(stream: ExternalStream) -> Self {
        Self::Stream(stream)
    }
}

impl From<ExternalEvent> for ExternalTimepoint {
    fn from(event: ExternalEvent) -> Self {
        Self::Event(event)
    }
}

flags! {
    /// How points are exported. See [`Queue::export_timepoint`](crate::Queue::export_timepoint).
    pub struct ExportFlags: u32 {
        /// The stream may wait for points that no work in a stream of the device will reach yet.
        ALLOW_UNSUBMITTED = 1 << 0;
    }
}
