// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams and events of other libraries: HIP's calls with handles that the driver does not own.
//!
//! The unsafe calls here are sound for the same reasons as those of `call.rs`, but for the handles: the program that
//! passed one vouches that it is live. HIP may know better. So an answer about a handle is an error of the call, and no
//! loss of the device.

use std::ffi::c_void;

use windlass_hal::{Error, ExternalEvent, ExternalStream, Result};
use windlass_hip_sys::bindings::{
    hipDeviceAttribute_t, hipError_t, hipEvent_t, hipStream_t, hipStreamCaptureStatus, hipStreamWaitValueGte,
};

use crate::{
    call::{Event, StreamHandle},
    hip::Hip,
};

/// The greatest handle that HIP reserves: the null stream, `hipStreamLegacy` and `hipStreamPerThread`.
const RESERVED: u64 = 2;

/// `hipMallocSignalMemory`: HIP's streams wait only for words of such memory.
const SIGNAL_MEMORY: u32 = 2;

/// The bytes of signal memory, no more and no less.
const WORD: usize = 8;

/// A stream of another library, and HIP for its GPU.
pub(crate) struct ForeignStream {
    pub(crate) hip: Hip,
    name: ExternalStream,
    handle: StreamHandle,
}

impl ForeignStream {
    /// Finds the GPU of a stream. A handle that HIP reserves is a stream of `nearest`.
    pub(crate) fn find(nearest: &Hip, stream: ExternalStream) -> Result<Self> {
        let handle = StreamHandle::foreign(stream.raw() as hipStream_t);
        let hip = match stream.raw() {
            0..=RESERVED => nearest.clone(),
            _ => nearest.sibling(nearest.device_of_stream(stream)?),
        };
        Ok(Self { hip, name: stream, handle })
    }

    /// Refuses a stream that is being captured: work would become a part of its graph, and not run now. The GPU is
    /// current.
    pub(crate) fn refuse_capture(&self) -> Result<()> {
        let api = &self.hip.api;
        if api.entries().hipStreamIsCapturing.is_none() {
            return Ok(());
        }
        let mut capture = hipStreamCaptureStatus::hipStreamCaptureStatusNone;
        // SAFETY: a pointer to a local.
        let status = unsafe { api.hipStreamIsCapturing(self.handle.raw(), &mut capture) };
        self.check("hipStreamIsCapturing", status)?;
        match capture {
            hipStreamCaptureStatus::hipStreamCaptureStatusNone => Ok(()),
            _ => Err(captured(&format!("{:#x}", self.name.raw()))),
        }
    }

    /// Records an event of this GPU behind the work that the stream holds. The GPU is current.
    pub(crate) fn record(&self, event: Event) -> Result<()> {
        // SAFETY: an event of the driver.
        let status = unsafe { self.hip.api.hipEventRecord(event.raw(), self.handle.raw()) };
        self.check("hipEventRecord", status)
    }

    /// Lets later work of the stream wait for an event of the driver. The GPU is current.
    pub(crate) fn wait_event(&self, event: Event) -> Result<()> {
        // SAFETY: an event of the driver.
        let status = unsafe { self.hip.api.hipStreamWaitEvent(self.handle.raw(), event.raw(), 0) };
        self.check("hipStreamWaitEvent", status)
    }

    /// Lets later work of the stream wait until a word is 1. The GPU is current.
    pub(crate) fn wait_word(&self, word: u64) -> Result<()> {
        // SAFETY: memory of the driver, which stays until the stream has seen the word.
        let status = unsafe {
            self.hip.api.hipStreamWaitValue64(
                self.handle.raw(),
                word as *mut c_void,
                1,
                hipStreamWaitValueGte,
                u64::MAX,
            )
        };
        self.check("hipStreamWaitValue64", status)
    }

    fn check(&self, call: &str, status: hipError_t) -> Result<()> {
        self.hip.check_foreign(call, status, || format!("stream {:#x}", self.name.raw()))
    }
}

impl Hip {
    /// Whether work before a foreign event has yet to complete.
    pub(crate) fn is_pending(&self, event: ExternalEvent) -> Result<bool> {
        // SAFETY: the caller of import_timepoint vouches for the handle.
        match unsafe { self.api.hipEventQuery(event.raw() as hipEvent_t) } {
            hipError_t::hipErrorNotReady => {
                self.succeeded(hipError_t::hipErrorNotReady);
                Ok(true)
            }
            status => {
                let done =
                    self.check_foreign("hipEventQuery", status, || format!("event {:#x}", event.raw()));
                done.map(|()| false)
            }
        }
    }

    /// Lets later work of a stream of the driver wait for a foreign event.
    pub(crate) fn wait_foreign_event(&self, stream: StreamHandle, event: ExternalEvent) -> Result<()> {
        // SAFETY: a stream of the driver. The caller of import_timepoint vouches for the event.
        let status = unsafe { self.api.hipStreamWaitEvent(stream.raw(), event.raw() as hipEvent_t, 0) };
        self.check_foreign("hipStreamWaitEvent", status, || format!("event {:#x}", event.raw()))
    }

    /// Whether streams can wait for words of memory.
    pub(crate) fn waits_for_words(&self) -> bool {
        self.api.has(windlass_hip_sys::Feature::StreamMemoryOperations)
            && self.api.entries().hipExtMallocWithFlags.is_some()
            && self.attribute(hipDeviceAttribute_t::hipDeviceAttributeCanUseStreamWaitValue) == Some(1)
    }

    /// Allocates a word that streams can wait for. The host reaches it at the same address.
    pub(crate) fn malloc_word(&self) -> Result<u64> {
        let _current = self.current()?;
        let mut pointer = std::ptr::null_mut();
        // SAFETY: a pointer to a local.
        let status = unsafe { self.api.hipExtMallocWithFlags(&mut pointer, WORD, SIGNAL_MEMORY) };
        self.check("hipExtMallocWithFlags(signal memory)", status)?;
        Ok(pointer as u64)
    }

    /// Sets a word to 1 behind the work of a stream of the driver.
    pub(crate) fn write_word(&self, stream: StreamHandle, word: u64) -> Result<()> {
        // SAFETY: memory of the driver, which stays until the submission that writes it has retired.
        let status = unsafe { self.api.hipStreamWriteValue64(stream.raw(), word as *mut c_void, 1, 0) };
        self.check("hipStreamWriteValue64", status)
    }

    /// The ordinal of the GPU that a stream runs on.
    fn device_of_stream(&self, stream: ExternalStream) -> Result<i32> {
        let (entries, handle) = (self.api.entries(), stream.raw() as hipStream_t);
        let what = || format!("stream {:#x}", stream.raw());
        let mut device = self.ordinal();
        if entries.hipStreamGetDevice.is_some() {
            // SAFETY: a pointer to a local. The caller vouches for the handle.
            let status = unsafe { self.api.hipStreamGetDevice(handle, &mut device) };
            self.check_foreign("hipStreamGetDevice", status, what)?;
        } else if entries.hipGetStreamDeviceId.is_some() {
            // SAFETY: the caller vouches for the handle.
            device = unsafe { self.api.hipGetStreamDeviceId(handle) };
            if device < 0 {
                return self
                    .check_foreign("hipGetStreamDeviceId", hipError_t::hipErrorInvalidHandle, what)
                    .map(|()| 0);
            }
        }
        Ok(device)
    }

    /// The error of a call with a foreign handle, which does not lose the device because the handle is wrong.
    fn check_foreign(&self, call: &str, status: hipError_t, what: impl Fn() -> String) -> Result<()> {
        match status {
            hipError_t::hipSuccess => Ok(()),
            hipError_t::hipErrorInvalidHandle
            | hipError_t::hipErrorInvalidValue
            | hipError_t::hipErrorInvalidContext
            | hipError_t::hipErrorContextIsDestroyed => {
                self.succeeded(status);
                Err(Error::invalid_argument(format!(
                    "{call} returned {status}: {} is not live in the HIP library that this device uses, {}",
                    what(),
                    self.api.origin()
                )))
            }
            hipError_t::hipErrorCapturedEvent
            | hipError_t::hipErrorStreamCaptureUnsupported
            | hipError_t::hipErrorStreamCaptureInvalidated
            | hipError_t::hipErrorStreamCaptureIsolation
            | hipError_t::hipErrorStreamCaptureImplicit => {
                self.succeeded(status);
                Err(captured(&what()).context(format!("{call} returned {status}")))
            }
            status => Err(self.failed(call, status)),
        }
    }
}

#[cold]
fn captured(what: &str) -> Error {
    Error::failed_precondition(format!(
        "{what} takes part in a capture, whose work does not run now: end the capture first, and order the stream that \
         the graph is launched in"
    ))
}
