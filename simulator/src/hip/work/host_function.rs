// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions of the client that a stream calls on the host.

use std::ffi::c_void;

use windlass_hip_sys::bindings::{hipError_t, hipStream_t};

use crate::hip::words::code::Code;

/// A function of the client's and its argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostFunction {
    pub(crate) call: HostCall,
    pub(crate) data: *mut c_void,
}

/// The two forms of host functions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HostCall {
    /// hipLaunchHostFunc.
    Plain(unsafe extern "C" fn(*mut c_void)),
    /// hipStreamAddCallback, with the stream as the client knows it.
    WithStatus(unsafe extern "C" fn(hipStream_t, hipError_t, *mut c_void), u64),
}

// SAFETY: the pointer is the client's own datum, handed back to the client's own function and not looked at. HIP says
// that the function is called on a thread of the runtime's, so the client vouches for this.
unsafe impl Send for HostFunction {}
// SAFETY: a reference to it gives nothing but copies of it.
unsafe impl Sync for HostFunction {}

impl HostFunction {
    /// Calls it. `status` is that of the stream's device.
    pub(crate) fn call(self, status: Code) {
        match self.call {
            // As in CUDA, a plain host function is not called once its device has failed.
            HostCall::Plain(_) if status != Code::SUCCESS => {}
            // SAFETY: the client gave function and datum for this call.
            HostCall::Plain(function) => unsafe { function(self.data) },
            // SAFETY: as above.
            HostCall::WithStatus(function, stream) => unsafe {
                function(stream as hipStream_t, hipError_t(status.0), self.data);
            },
        }
    }
}
