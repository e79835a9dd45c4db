// SPDX-License-Identifier: MIT OR Apache-2.0
//! The target of work that a call gives to a stream: the stream itself, or the capture that the stream is in.

use std::sync::Arc;

use super::call::Call;
use crate::hip::graphs::capture::Capture;
use crate::hip::objects::stream::Stream;
use crate::hip::words::answers;
use crate::hip::words::code::{Code, Outcome};
use crate::packet::Role;

/// The target of work that is given to a stream.
pub(crate) enum Target {
    Run(Arc<Stream>),
    /// The work becomes a node of the graph that the stream is captured into.
    Record(Arc<Capture>, Arc<Stream>),
}

impl Call {
    /// A stream by its handle. Null and `hipStreamLegacy` are the null stream of the thread's device,
    /// `hipStreamPerThread` is the thread's own.
    ///
    /// # Errors
    /// `CONTEXT_IS_DESTROYED` for a handle of no stream, as AMD's runtime answers.
    pub(crate) fn stream<T>(&self, handle: *mut T) -> Outcome<Arc<Stream>> {
        let device = self.thread.device.get();
        match handle as u64 {
            0 => self.runtime.null_stream(device),
            // HIP 5 has no hipStreamLegacy.
            1 if self.is_since(6) => self.runtime.null_stream(device),
            2 => Ok(self.thread.stream(&self.runtime, device)),
            handle => self.runtime.streams.get(handle).ok_or(Code::CONTEXT_IS_DESTROYED),
        }
    }

    /// A stream whose device has not failed, for work that a graph cannot hold.
    ///
    /// # Errors
    /// `STREAM_CAPTURE_UNSUPPORTED` for a captured stream; the errors of [`target`](Self::target).
    pub(crate) fn working_stream<T>(&self, handle: *mut T) -> Outcome<Arc<Stream>> {
        match self.target(handle)? {
            Target::Run(stream) => Ok(stream),
            Target::Record(capture, _) => capture.refuse(self.name),
        }
    }

    /// The target of work that a graph can hold.
    ///
    /// # Errors
    /// `STREAM_CAPTURE_IMPLICIT` for the null stream while a blocking stream of its device is captured.
    pub(crate) fn target<T>(&self, handle: *mut T) -> Outcome<Target> {
        let stream = self.stream(handle)?;
        self.runtime.machine.device(stream.device)?.check()?;
        if self.runtime.captures.any() {
            if let Some(capture) = self.runtime.captures.of_stream(&stream) {
                return Ok(Target::Record(capture, stream));
            }
            if stream.role == Role::Null {
                self.check_null_stream(stream.device)?;
            }
        }
        Ok(Target::Run(stream))
    }

    /// Refuses a call on the null stream that a capture forbids.
    pub(crate) fn check_null_stream(&self, device: usize) -> Outcome<()> {
        if answers::refuses_any_capture(self.runtime.options.hip, self.name) {
            self.runtime.captures.check_none()?;
        }
        if answers::refuses_null_stream(self.runtime.options.hip, self.name) {
            self.runtime.captures.check_null_stream(device)?;
        }
        Ok(())
    }

    /// Refuses a call that HIP counts as unsafe beside a capture.
    pub(crate) fn outside_captures(&self) -> Outcome<()> {
        self.runtime.captures.check_unsafe(self.thread.capture_mode.get())
    }
}
