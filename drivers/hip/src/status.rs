// SPDX-License-Identifier: MIT OR Apache-2.0
//! HIP's status codes as errors of the HAL.

use windlass_hal::{Code, Error};
use windlass_hip_sys::bindings::hipError_t;

/// The HAL's code for a status. A status that loses the device gets another one, see [`loss`].
pub(crate) fn code(status: hipError_t) -> Code {
    match status {
        hipError_t::hipErrorInvalidValue
        | hipError_t::hipErrorInvalidConfiguration
        | hipError_t::hipErrorInvalidDevicePointer
        | hipError_t::hipErrorInvalidMemcpyDirection => Code::InvalidArgument,
        hipError_t::hipErrorOutOfMemory | hipError_t::hipErrorLaunchOutOfResources => Code::ResourceExhausted,
        hipError_t::hipErrorNotFound
        | hipError_t::hipErrorFileNotFound
        | hipError_t::hipErrorNoBinaryForGpu
        | hipError_t::hipErrorInvalidDevice => Code::NotFound,
        hipError_t::hipErrorInvalidImage | hipError_t::hipErrorInvalidKernelFile => Code::InvalidArgument,
        hipError_t::hipErrorNoDevice
        | hipError_t::hipErrorNotInitialized
        | hipError_t::hipErrorDeinitialized
        | hipError_t::hipErrorInsufficientDriver => Code::Unavailable,
        hipError_t::hipErrorHostMemoryAlreadyRegistered => Code::AlreadyExists,
        hipError_t::hipErrorNotSupported => Code::Unimplemented,
        _ if is_loss(status) => Code::Aborted,
        _ => Code::Internal,
    }
}

/// Whether this is a status by which HIP says, before anything else, that the machine has no GPU for it. Any other one
/// means that HIP itself does not work.
pub(crate) fn means_no_gpu(status: hipError_t) -> bool {
    matches!(
        status,
        hipError_t::hipErrorNoDevice
            | hipError_t::hipErrorInvalidDevice
            | hipError_t::hipErrorNotInitialized
            | hipError_t::hipErrorInsufficientDriver
            | hipError_t::hipErrorNotSupported
    )
}

/// Whether the device is lost after this status: nothing on it can be trusted, and HIP repeats the status for every later
/// call of the process.
pub(crate) fn is_loss(status: hipError_t) -> bool {
    matches!(
        status,
        hipError_t::hipErrorIllegalAddress
            | hipError_t::hipErrorLaunchFailure
            | hipError_t::hipErrorLaunchTimeOut
            | hipError_t::hipErrorAssert
            | hipError_t::hipErrorECCNotCorrectable
            | hipError_t::hipErrorContextIsDestroyed
            | hipError_t::hipErrorDeinitialized
            | hipError_t::hipErrorUnknown
    )
}

/// Whether this is the status of a kernel or a copy that went wrong while it ran.
pub(crate) fn is_fault(status: hipError_t) -> bool {
    matches!(
        status,
        hipError_t::hipErrorIllegalAddress
            | hipError_t::hipErrorLaunchFailure
            | hipError_t::hipErrorAssert
            | hipError_t::hipErrorInvalidConfiguration
            | hipError_t::hipErrorLaunchOutOfResources
            | hipError_t::hipErrorNotSupported
    )
}

/// Whether this is HIP's status for code that it cannot read.
pub(crate) fn is_refusal_of_code(status: hipError_t) -> bool {
    matches!(
        status,
        hipError_t::hipErrorSharedObjectInitFailed
            | hipError_t::hipErrorInvalidImage
            | hipError_t::hipErrorInvalidKernelFile
            | hipError_t::hipErrorNoBinaryForGpu
    )
}

/// The error as that of a lost device.
#[cold]
pub(crate) fn loss(error: &Error) -> Error {
    let loss = Error::data_loss(error.message());
    error.contexts().fold(loss, |loss, context| loss.context(context))
}

/// The error of a call that returned `status`.
#[cold]
#[track_caller]
pub(crate) fn error(status: hipError_t, call: &str) -> Error {
    Error::new(code(status), format!("{call} returned {status}"))
}
