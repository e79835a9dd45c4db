// SPDX-License-Identifier: MIT OR Apache-2.0
//! HIP's status codes: constants for those that the simulator answers, and name and text of each that HIP has.

use std::ffi::CStr;

use crate::packet::{Misfit, Refusal};

/// The status that a HIP call returns. Zero is success.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Code(pub(crate) u32);

/// The result of the body of a call: `Err` is the code that the client gets.
pub(crate) type Outcome<T> = Result<T, Code>;

impl From<Refusal> for Code {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Closed => Self::DEINITIALIZED,
            Refusal::QueueClosed => Self::CONTEXT_IS_DESTROYED,
            Refusal::NoThread => Self::OUT_OF_MEMORY,
            Refusal::Backwards => Self::INVALID_VALUE,
            Refusal::Defect => Self::UNKNOWN,
        }
    }
}

impl From<Misfit> for Code {
    fn from(misfit: Misfit) -> Self {
        match misfit {
            Misfit::Range => Self::INVALID_VALUE,
            Misfit::Pitch => Self::INVALID_PITCH_VALUE,
            Misfit::OutOfMemory => Self::OUT_OF_MEMORY,
        }
    }
}

impl Code {
    pub(crate) const SUCCESS: Self = Self(0);
    pub(crate) const INVALID_VALUE: Self = Self(1);
    pub(crate) const OUT_OF_MEMORY: Self = Self(2);
    pub(crate) const NOT_INITIALIZED: Self = Self(3);
    pub(crate) const DEINITIALIZED: Self = Self(4);
    pub(crate) const INVALID_CONFIGURATION: Self = Self(9);
    pub(crate) const INVALID_PITCH_VALUE: Self = Self(12);
    pub(crate) const INVALID_SYMBOL: Self = Self(13);
    pub(crate) const INVALID_DEVICE_POINTER: Self = Self(17);
    pub(crate) const INVALID_MEMCPY_DIRECTION: Self = Self(21);
    pub(crate) const MISSING_CONFIGURATION: Self = Self(52);
    pub(crate) const INVALID_DEVICE_FUNCTION: Self = Self(98);
    pub(crate) const NO_DEVICE: Self = Self(100);
    pub(crate) const INVALID_DEVICE: Self = Self(101);
    pub(crate) const INVALID_IMAGE: Self = Self(200);
    pub(crate) const INVALID_CONTEXT: Self = Self(201);
    pub(crate) const NO_BINARY_FOR_GPU: Self = Self(209);
    pub(crate) const UNSUPPORTED_LIMIT: Self = Self(215);
    pub(crate) const CONTEXT_ALREADY_IN_USE: Self = Self(216);
    pub(crate) const INVALID_KERNEL_FILE: Self = Self(218);
    pub(crate) const FILE_NOT_FOUND: Self = Self(301);
    pub(crate) const SHARED_OBJECT_INIT_FAILED: Self = Self(303);
    pub(crate) const OPERATING_SYSTEM: Self = Self(304);
    pub(crate) const INVALID_HANDLE: Self = Self(400);
    pub(crate) const ILLEGAL_STATE: Self = Self(401);
    pub(crate) const NOT_FOUND: Self = Self(500);
    pub(crate) const NOT_READY: Self = Self(600);
    pub(crate) const ILLEGAL_ADDRESS: Self = Self(700);
    pub(crate) const LAUNCH_OUT_OF_RESOURCES: Self = Self(701);
    pub(crate) const PEER_ACCESS_ALREADY_ENABLED: Self = Self(704);
    pub(crate) const PEER_ACCESS_NOT_ENABLED: Self = Self(705);
    pub(crate) const CONTEXT_IS_DESTROYED: Self = Self(709);
    pub(crate) const HOST_MEMORY_ALREADY_REGISTERED: Self = Self(712);
    pub(crate) const HOST_MEMORY_NOT_REGISTERED: Self = Self(713);
    pub(crate) const LAUNCH_FAILURE: Self = Self(719);
    pub(crate) const COOPERATIVE_LAUNCH_TOO_LARGE: Self = Self(720);
    pub(crate) const NOT_SUPPORTED: Self = Self(801);
    pub(crate) const STREAM_CAPTURE_UNSUPPORTED: Self = Self(900);
    pub(crate) const STREAM_CAPTURE_INVALIDATED: Self = Self(901);
    pub(crate) const STREAM_CAPTURE_MERGE: Self = Self(902);
    pub(crate) const STREAM_CAPTURE_UNMATCHED: Self = Self(903);
    pub(crate) const STREAM_CAPTURE_UNJOINED: Self = Self(904);
    pub(crate) const STREAM_CAPTURE_ISOLATION: Self = Self(905);
    pub(crate) const STREAM_CAPTURE_IMPLICIT: Self = Self(906);
    pub(crate) const CAPTURED_EVENT: Self = Self(907);
    pub(crate) const STREAM_CAPTURE_WRONG_THREAD: Self = Self(908);
    pub(crate) const GRAPH_EXEC_UPDATE_FAILURE: Self = Self(910);
    pub(crate) const UNKNOWN: Self = Self(999);

    /// HIP's own spelling, such as `hipErrorInvalidValue`; `hipErrorUnknown` for a number that HIP does not have.
    pub(crate) fn name(self) -> &'static CStr {
        self.row().map_or(c"hipErrorUnknown", |row| row.1)
    }

    /// The sentence that `hipGetErrorString` gives.
    pub(crate) fn text(self) -> &'static CStr {
        self.row().map_or(c"unknown error", |row| row.2)
    }

    /// Whether HIP has this number.
    pub(crate) fn is_known(self) -> bool {
        self.row().is_some()
    }

    /// Every status that HIP knows, with its name.
    pub(crate) fn known() -> impl Iterator<Item = (Self, &'static str)> {
        ROWS.iter().map(|row| (Self(row.0), row.1.to_str().unwrap_or_default()))
    }

    /// The status of a name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::known().find(|(_, known)| *known == name).map(|(code, _)| code)
    }

    fn row(self) -> Option<&'static Row> {
        ROWS.binary_search_by_key(&self.0, |row| row.0).ok().and_then(|index| ROWS.get(index))
    }
}

impl std::fmt::Debug for Code {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} ({})", self.name().to_string_lossy(), self.0)
    }
}

/// Number, name, text.
type Row = (u32, &'static CStr, &'static CStr);

/// Sorted by number: looked up by bisection.
static ROWS: &[Row] = &[
    (0, c"hipSuccess", c"no error"),
    (1, c"hipErrorInvalidValue", c"invalid argument"),
    (2, c"hipErrorOutOfMemory", c"out of memory"),
    (3, c"hipErrorNotInitialized", c"initialization error"),
    (4, c"hipErrorDeinitialized", c"driver shutting down"),
    (5, c"hipErrorProfilerDisabled", c"profiler disabled while using external profiling tool"),
    (6, c"hipErrorProfilerNotInitialized", c"profiler is not initialized"),
    (7, c"hipErrorProfilerAlreadyStarted", c"profiler already started"),
    (8, c"hipErrorProfilerAlreadyStopped", c"profiler already stopped"),
    (9, c"hipErrorInvalidConfiguration", c"invalid configuration argument"),
    (12, c"hipErrorInvalidPitchValue", c"invalid pitch argument"),
    (13, c"hipErrorInvalidSymbol", c"invalid device symbol"),
    (17, c"hipErrorInvalidDevicePointer", c"invalid device pointer"),
    (21, c"hipErrorInvalidMemcpyDirection", c"invalid copy direction for memcpy"),
    (35, c"hipErrorInsufficientDriver", c"driver version is insufficient for runtime version"),
    (52, c"hipErrorMissingConfiguration", c"__global__ function call is not configured"),
    (53, c"hipErrorPriorLaunchFailure", c"unspecified launch failure in prior launch"),
    (98, c"hipErrorInvalidDeviceFunction", c"invalid device function"),
    (100, c"hipErrorNoDevice", c"no ROCm-capable device is detected"),
    (101, c"hipErrorInvalidDevice", c"invalid device ordinal"),
    (200, c"hipErrorInvalidImage", c"device kernel image is invalid"),
    (201, c"hipErrorInvalidContext", c"invalid device context"),
    (202, c"hipErrorContextAlreadyCurrent", c"context is already current context"),
    (205, c"hipErrorMapFailed", c"mapping of buffer object failed"),
    (206, c"hipErrorUnmapFailed", c"unmapping of buffer object failed"),
    (207, c"hipErrorArrayIsMapped", c"array is mapped"),
    (208, c"hipErrorAlreadyMapped", c"resource already mapped"),
    (209, c"hipErrorNoBinaryForGpu", c"no kernel image is available for execution on the device"),
    (210, c"hipErrorAlreadyAcquired", c"resource already acquired"),
    (211, c"hipErrorNotMapped", c"resource not mapped"),
    (212, c"hipErrorNotMappedAsArray", c"resource not mapped as array"),
    (213, c"hipErrorNotMappedAsPointer", c"resource not mapped as pointer"),
    (214, c"hipErrorECCNotCorrectable", c"uncorrectable ECC error encountered"),
    (215, c"hipErrorUnsupportedLimit", c"limit is not supported on this architecture"),
    (216, c"hipErrorContextAlreadyInUse", c"exclusive-thread device already in use by a different thread"),
    (217, c"hipErrorPeerAccessUnsupported", c"peer access is not supported between these two devices"),
    (218, c"hipErrorInvalidKernelFile", c"invalid kernel file"),
    (219, c"hipErrorInvalidGraphicsContext", c"invalid OpenGL or DirectX context"),
    (300, c"hipErrorInvalidSource", c"device kernel image is invalid"),
    (301, c"hipErrorFileNotFound", c"file not found"),
    (302, c"hipErrorSharedObjectSymbolNotFound", c"shared object symbol not found"),
    (303, c"hipErrorSharedObjectInitFailed", c"shared object initialization failed"),
    (304, c"hipErrorOperatingSystem", c"OS call failed or operation not supported on this OS"),
    (400, c"hipErrorInvalidHandle", c"invalid resource handle"),
    (401, c"hipErrorIllegalState", c"the operation cannot be performed in the present state"),
    (500, c"hipErrorNotFound", c"named symbol not found"),
    (600, c"hipErrorNotReady", c"device not ready"),
    (700, c"hipErrorIllegalAddress", c"an illegal memory access was encountered"),
    (701, c"hipErrorLaunchOutOfResources", c"too many resources requested for launch"),
    (702, c"hipErrorLaunchTimeOut", c"the launch timed out and was terminated"),
    (704, c"hipErrorPeerAccessAlreadyEnabled", c"peer access is already enabled"),
    (705, c"hipErrorPeerAccessNotEnabled", c"peer access has not been enabled"),
    (708, c"hipErrorSetOnActiveProcess", c"cannot set while device is active in this process"),
    (709, c"hipErrorContextIsDestroyed", c"context is destroyed"),
    (710, c"hipErrorAssert", c"device-side assert triggered"),
    (712, c"hipErrorHostMemoryAlreadyRegistered", c"part or all of the requested memory range is already mapped"),
    (713, c"hipErrorHostMemoryNotRegistered", c"pointer does not correspond to a registered memory region"),
    (719, c"hipErrorLaunchFailure", c"unspecified launch failure"),
    (720, c"hipErrorCooperativeLaunchTooLarge", c"too many blocks in cooperative launch"),
    (801, c"hipErrorNotSupported", c"operation not supported"),
    (900, c"hipErrorStreamCaptureUnsupported", c"operation not permitted when stream is capturing"),
    (901, c"hipErrorStreamCaptureInvalidated", c"operation failed due to a previous error during capture"),
    (902, c"hipErrorStreamCaptureMerge", c"operation would result in a merge of separate capture sequences"),
    (903, c"hipErrorStreamCaptureUnmatched", c"capture was not ended in the same stream as it began"),
    (904, c"hipErrorStreamCaptureUnjoined", c"capturing stream has unjoined work"),
    (905, c"hipErrorStreamCaptureIsolation", c"dependency created on uncaptured work in another stream"),
    (906, c"hipErrorStreamCaptureImplicit", c"operation would make the legacy stream depend on a capturing blocking stream"),
    (907, c"hipErrorCapturedEvent", c"operation not permitted on an event last recorded in a capturing stream"),
    (908, c"hipErrorStreamCaptureWrongThread", c"attempt to terminate a thread-local capture sequence from another thread"),
    (910, c"hipErrorGraphExecUpdateFailure", c"the graph update was not performed because it included changes which violated constraints specific to instantiated graph update"),
    (911, c"hipErrorInvalidChannelDescriptor", c"invalid channel descriptor"),
    (912, c"hipErrorInvalidTexture", c"invalid texture"),
    (999, c"hipErrorUnknown", c"unknown error"),
    (1052, c"hipErrorRuntimeMemory", c"runtime memory call returned error"),
    (1053, c"hipErrorRuntimeOther", c"runtime call other than memory returned error"),
    (1054, c"hipErrorTbd", c"unknown error"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_found_by_its_number() {
        assert!(ROWS.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(Code::ILLEGAL_ADDRESS.name(), c"hipErrorIllegalAddress");
        assert_eq!(Code::SUCCESS.text(), c"no error");
        assert_eq!(Code(4711).name(), c"hipErrorUnknown");
    }
}
