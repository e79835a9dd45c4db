// SPDX-License-Identifier: MIT OR Apache-2.0
//! HIP as one GPU sees it: the table of entry points, the current device of a thread, errors, and the loss of the device.

use std::sync::{Arc, OnceLock};

use windlass_hal::{Code, Error, Result};
use windlass_hip_sys::{Api, bindings::hipError_t};

use crate::{quirks::Quirks, status};

/// HIP for one GPU: a table of entry points and an ordinal. The calls themselves are in `call.rs`.
#[derive(Clone, Debug)]
pub(crate) struct Hip {
    pub(crate) api: Arc<Api>,
    pub(crate) quirks: Quirks,
    ordinal: i32,
    /// HIP has only this GPU, so the current device is never switched.
    alone: bool,
    /// Why the device is lost. The first reason stays.
    lost: Arc<OnceLock<Error>>,
}

/// Makes the GPU current for this thread while it lives, and then the one that was current before.
pub(crate) struct Current<'a> {
    hip: &'a Hip,
    before: Option<i32>,
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // SAFETY: an ordinal that HIP gave.
            self.hip.succeeded(unsafe { self.hip.api.hipSetDevice(before) });
        }
    }
}

/// The obstacles between this process and the GPUs of the machine, if the library is the system's.
#[cfg(target_os = "linux")]
fn obstacles(origin: &windlass_hip_sys::Origin) -> Option<String> {
    let is_of_system = origin.found != windlass_hip_sys::Found::InProcess && !origin.simulated;
    is_of_system.then(crate::access::explained).flatten()
}

#[cfg(not(target_os = "linux"))]
fn obstacles(_origin: &windlass_hip_sys::Origin) -> Option<String> {
    None
}

/// Initialises HIP and counts its devices. `UNAVAILABLE` with HIP's reason if there are none.
pub(crate) fn initialise(api: &Api) -> Result<i32> {
    let mut count = 0;
    // SAFETY: no arguments but numbers and a pointer to a local.
    let calls = [
        ("hipInit", unsafe { api.hipInit(0) }),
        ("hipGetDeviceCount", unsafe { api.hipGetDeviceCount(&mut count) }),
    ];
    for (call, status) in calls {
        if api.has_ended() {
            return Err(ended(call));
        }
        if status != hipError_t::hipSuccess {
            // SAFETY: clears this thread's sticky error; no arguments.
            let _ = unsafe { api.hipGetLastError() };
            let origin = api.origin();
            let obstacles = obstacles(origin);
            if obstacles.is_none() && !status::means_no_gpu(status) {
                let text = format!("{call} returned {status}: {origin} does not begin to work");
                return Err(Error::new(Code::Internal, text));
            }
            let obstacles = obstacles.map(|obstacles| format!("; {obstacles}"));
            return Err(Error::unavailable(format!(
                "{call} returned {status}: {origin} finds no GPU{}",
                obstacles.unwrap_or_default()
            )));
        }
    }
    Ok(count)
}

/// The error of a call that is not made because the process is ending.
#[cold]
fn ended(call: &str) -> Error {
    Error::failed_precondition(format!(
        "{call} was not called: the process is ending, and HIP with it; drain devices and join the threads that use them \
         before main returns or exit is called"
    ))
}

impl Hip {
    pub(crate) fn new(api: Arc<Api>, ordinal: i32, devices: i32) -> Self {
        let quirks = Quirks::from_api(&api);
        Self { api, quirks, ordinal, alone: devices == 1 && ordinal == 0, lost: Arc::default() }
    }

    /// Another GPU of the same device. Both are lost together.
    pub(crate) fn sibling(&self, ordinal: i32) -> Self {
        Self { ordinal, ..self.clone() }
    }

    pub(crate) fn ordinal(&self) -> i32 {
        self.ordinal
    }

    /// Why the device is lost, if it is: some call returned a status that HIP now repeats for every call.
    #[inline]
    pub(crate) fn lost(&self) -> Option<&Error> {
        self.lost.get()
    }

    /// Marks the device as lost. Every later use fails with the code and the text of this error.
    #[cold]
    pub(crate) fn lose(&self, error: Error) {
        let error = status::loss(&error)
            .context(format!("using HIP device {}, which is lost now; open it anew", self.ordinal));
        if self.lost.set(error.clone()).is_ok() {
            tracing::error!(target: "windlass::hip", %error, "device lost");
        }
    }

    /// Whether nothing may be given back to HIP, because the device is lost or the process is ending.
    pub(crate) fn keeps_all(&self) -> bool {
        self.lost().is_some() || self.api.has_ended()
    }

    /// Makes the GPU current for this thread until the guard is dropped. Makes at most two calls, and none if HIP has one
    /// device.
    pub(crate) fn current(&self) -> Result<Current<'_>> {
        let mut before = None;
        if !self.alone {
            let mut current = 0;
            // SAFETY: a pointer to a local.
            self.check("hipGetDevice", unsafe { self.api.hipGetDevice(&mut current) })?;
            if current != self.ordinal {
                // SAFETY: an ordinal below the device count.
                self.check("hipSetDevice", unsafe { self.api.hipSetDevice(self.ordinal) })?;
                before = Some(current);
            }
        }
        Ok(Current { hip: self, before })
    }

    /// Calls `destroy`, which gives objects back to HIP, with the GPU current. Destroys also if the GPU cannot be made
    /// current, because HIP knows the owner of each object. Does nothing on a lost device.
    pub(crate) fn give_back(&self, destroy: impl FnOnce(&Self)) {
        let current = self.current();
        if !self.keeps_all() {
            destroy(self);
        }
        drop(current);
    }

    #[inline]
    #[track_caller]
    pub(crate) fn check(&self, call: &str, status: hipError_t) -> Result<()> {
        if status == hipError_t::hipSuccess { Ok(()) } else { Err(self.failed(call, status)) }
    }

    /// The error of a failed call. Clears the thread's sticky error, so that the process stays as it was found.
    #[cold]
    #[track_caller]
    pub(crate) fn failed(&self, call: &str, status: hipError_t) -> Error {
        if self.api.has_ended() {
            let error = ended(call);
            // No thread will see the work in flight complete, so it must fail. The end of the process is no error to
            // report.
            if self.lost.set(error.clone()).is_ok() {
                tracing::debug!(target: "windlass::hip", %error, "device gone");
            }
            return error;
        }
        // Before the next call: a diagnosis is always that of the latest call.
        let report = self.api.diagnose();
        // SAFETY: no arguments.
        let _ = unsafe { self.api.hipGetLastError() };
        let error = status::error(status, call);
        let error = match report {
            Some(report) => Error::new(error.code(), format!("{}: {report}", error.message())),
            None => error,
        };
        if !status::is_loss(status) || self.is_contained(status) {
            return error;
        }
        self.lose(error.clone());
        status::loss(&error)
    }

    /// Whether a status concerns only the piece whose event reports it.
    pub(crate) fn is_contained(&self, status: hipError_t) -> bool {
        self.quirks.contained_faults && status::is_fault(status)
    }

    /// Whether a call succeeded that may fail without harm. Clears the thread's sticky error if the call failed.
    pub(crate) fn succeeded(&self, status: hipError_t) -> bool {
        if status != hipError_t::hipSuccess {
            // SAFETY: no arguments.
            let _ = unsafe { self.api.hipGetLastError() };
        }
        status == hipError_t::hipSuccess
    }
}
