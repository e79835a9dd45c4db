// SPDX-License-Identifier: MIT OR Apache-2.0
//! Answers of AMD's library, by version, that differ from the error that the simulator finds. `.ci/hip-differences`
//! compares both.

use super::code::Code;

/// Versions from the first on, before the second.
type Versions = ((u32, u32), (u32, u32));

const ALWAYS: Versions = ((0, 0), (u32::MAX, 0));
const SINCE_6: Versions = ((6, 0), (u32::MAX, 0));
const SINCE_7: Versions = ((7, 0), (u32::MAX, 0));
const IN_6: Versions = ((6, 0), (7, 0));
const BEFORE_6: Versions = ((0, 0), (6, 0));
const BEFORE_7: Versions = ((0, 0), (7, 0));

struct Row {
    functions: &'static [&'static str],
    found: Code,
    answered: Code,
    versions: Versions,
}

const fn row(functions: &'static [&'static str], found: Code, answered: Code, versions: Versions) -> Row {
    Row { functions, found, answered, versions }
}

/// Functions that answer how many workgroups of a kernel, named by its symbol, fit.
const OCCUPANCIES: &[&str] = &[
    "hipOccupancyMaxActiveBlocksPerMultiprocessor",
    "hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
    "hipOccupancyMaxPotentialBlockSize",
];

const ROWS: &[Row] = &[
    // A handle of no stream.
    row(
        &[
            "hipDrvMemcpy3DAsync",
            "hipFreeAsync",
            "hipGraphLaunch",
            "hipLaunchCooperativeKernel",
            "hipMallocAsync",
            "hipMallocFromPoolAsync",
            "hipMemcpy2DAsync",
            "hipMemcpy3DAsync",
            "hipStreamBeginCapture",
            "hipStreamEndCapture",
            "hipStreamGetCaptureInfo",
            "hipStreamGetCaptureInfo_v2",
            "hipStreamIsCapturing",
            "hipStreamUpdateCaptureDependencies",
        ],
        Code::CONTEXT_IS_DESTROYED,
        Code::INVALID_VALUE,
        BEFORE_6,
    ),
    row(
        &["hipStreamWaitEvent", "hipMallocAsync", "hipMallocFromPoolAsync", "hipFreeAsync"],
        Code::CONTEXT_IS_DESTROYED,
        Code::INVALID_HANDLE,
        SINCE_6,
    ),
    row(
        &["hipExtLaunchKernel", "hipLaunchKernel", "hipLaunchKernelExC", "hipMemcpy2DAsync"],
        Code::CONTEXT_IS_DESTROYED,
        Code::INVALID_VALUE,
        SINCE_6,
    ),
    row(
        &["hipExtModuleLaunchKernel", "hipModuleLaunchCooperativeKernel", "hipModuleLaunchKernel"],
        Code::CONTEXT_IS_DESTROYED,
        Code::INVALID_VALUE,
        IN_6,
    ),
    row(&["hipLaunchCooperativeKernel"], Code::CONTEXT_IS_DESTROYED, Code::INVALID_HANDLE, SINCE_7),
    // A grid or a block above the limits.
    row(
        &["hipModuleLaunchKernel", "hipModuleLaunchCooperativeKernel"],
        Code::INVALID_CONFIGURATION,
        Code::INVALID_VALUE,
        SINCE_6,
    ),
    row(&["hipLaunchKernel"], Code::INVALID_CONFIGURATION, Code::INVALID_VALUE, IN_6),
    row(
        &[
            "hipMemset2D",
            "hipMemset2DAsync",
            "hipMemsetD2D8",
            "hipMemsetD2D8Async",
            "hipMemsetD2D16",
            "hipMemsetD2D16Async",
            "hipMemsetD2D32",
            "hipMemsetD2D32Async",
        ],
        Code::INVALID_PITCH_VALUE,
        Code::INVALID_VALUE,
        ALWAYS,
    ),
    // The null module.
    row(
        &["hipModuleUnload", "hipModuleGetFunction", "hipModuleGetGlobal"],
        Code::INVALID_HANDLE,
        Code::NOT_FOUND,
        BEFORE_6,
    ),
    // No code object.
    row(
        &["hipModuleLoad", "hipModuleLoadData", "hipModuleLoadDataEx"],
        Code::INVALID_IMAGE,
        Code::INVALID_KERNEL_FILE,
        BEFORE_6,
    ),
    row(&["hipMemGetAddressRange"], Code::NOT_FOUND, Code::INVALID_DEVICE_POINTER, BEFORE_6),
    // A handle of no function.
    row(&["hipFuncGetAttribute"], Code::INVALID_HANDLE, Code::INVALID_VALUE, BEFORE_6),
    row(&["hipModuleLaunchKernel"], Code::INVALID_HANDLE, Code::INVALID_IMAGE, BEFORE_6),
    row(
        &[
            "hipModuleOccupancyMaxPotentialBlockSize",
            "hipModuleOccupancyMaxPotentialBlockSizeWithFlags",
            "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor",
            "hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
        ],
        Code::INVALID_HANDLE,
        Code::INVALID_VALUE,
        ALWAYS,
    ),
    row(
        &["hipGraphAddKernelNode", "hipGraphKernelNodeSetParams", "hipGraphExecKernelNodeSetParams"],
        Code::INVALID_DEVICE_FUNCTION,
        Code::INVALID_VALUE,
        ALWAYS,
    ),
    // A symbol that stands for no kernel. The null symbol is found to be no handle.
    row(
        &["hipFuncGetAttributes", "hipLaunchCooperativeKernel"],
        Code::INVALID_DEVICE_FUNCTION,
        Code::INVALID_SYMBOL,
        ALWAYS,
    ),
    row(
        &["hipFuncGetAttributes", "hipLaunchCooperativeKernel"],
        Code::INVALID_HANDLE,
        Code::INVALID_DEVICE_FUNCTION,
        SINCE_6,
    ),
    row(&["hipFuncGetAttributes"], Code::INVALID_HANDLE, Code::INVALID_VALUE, BEFORE_6),
    row(&["hipLaunchCooperativeKernel"], Code::INVALID_HANDLE, Code::INVALID_SYMBOL, BEFORE_6),
    row(OCCUPANCIES, Code::INVALID_DEVICE_FUNCTION, Code::INVALID_VALUE, BEFORE_6),
    // A number of no device.
    row(
        &["hipCtxCreate", "hipDeviceGetByPCIBusId", "hipDeviceGetMemPool", "hipMemPoolCreate"],
        Code::INVALID_DEVICE,
        Code::INVALID_VALUE,
        ALWAYS,
    ),
    row(&["hipMemPoolGetAccess"], Code::INVALID_DEVICE, Code::INVALID_VALUE, SINCE_6),
    row(&["hipMemAdvise"], Code::INVALID_DEVICE, Code::INVALID_VALUE, BEFORE_6),
    row(&["hipDeviceGetDefaultMemPool"], Code::INVALID_DEVICE, Code::INVALID_VALUE, BEFORE_6),
    // Memory that is not shared with other processes.
    row(&["hipIpcGetMemHandle"], Code::INVALID_DEVICE_POINTER, Code::INVALID_VALUE, SINCE_6),
    row(&["hipIpcCloseMemHandle"], Code::INVALID_HANDLE, Code::INVALID_VALUE, SINCE_6),
    // A handle of no event.
    row(&["hipExtLaunchKernel"], Code::INVALID_HANDLE, Code::INVALID_VALUE, SINCE_6),
    row(
        &["hipGraphExecMemcpyNodeSetParams", "hipGraphExecMemcpyNodeSetParams1D"],
        Code::INVALID_MEMCPY_DIRECTION,
        Code::INVALID_VALUE,
        SINCE_6,
    ),
    row(&["hipGraphMemcpyNodeSetParams1D"], Code::INVALID_MEMCPY_DIRECTION, Code::INVALID_VALUE, BEFORE_6),
    // A null pointer for the event.
    row(&["hipEventCreate", "hipEventCreateWithFlags"], Code::INVALID_HANDLE, Code::INVALID_VALUE, ALWAYS),
    // A stream that is not captured.
    row(&["hipStreamEndCapture"], Code::ILLEGAL_STATE, Code::STREAM_CAPTURE_UNMATCHED, BEFORE_6),
    row(&["hipHostUnregister"], Code::INVALID_VALUE, Code::HOST_MEMORY_NOT_REGISTERED, BEFORE_6),
];

/// Errors that a function answers but does not keep as the thread's last error, by the error that was found.
const UNNOTED: &[(&[&str], Code, Versions)] = &[
    (&["hipEventCreate", "hipEventCreateWithFlags"], Code::INVALID_HANDLE, BEFORE_7),
    (&["hipEventDestroy"], Code::CONTEXT_IS_DESTROYED, IN_6),
    (&["hipGetStreamDeviceId"], Code::CONTEXT_IS_DESTROYED, BEFORE_7),
    (&["hipGraphInstantiate"], Code::INVALID_VALUE, IN_6),
    (&["hipModuleGetGlobal"], Code::INVALID_VALUE, BEFORE_6),
    (&["hipDrvGetErrorName", "hipDrvGetErrorString"], Code::INVALID_VALUE, IN_6),
    (
        &["hipExtLaunchKernel", "hipExtModuleLaunchKernel", "hipModuleLaunchKernel"],
        Code::STREAM_CAPTURE_INVALIDATED,
        IN_6,
    ),
    (&["hipDeviceSynchronize"], Code::STREAM_CAPTURE_UNSUPPORTED, IN_6),
    (
        &["hipMallocAsync", "hipMallocFromPoolAsync", "hipFreeAsync", "hipMemcpyWithStream"],
        Code::STREAM_CAPTURE_INVALIDATED,
        IN_6,
    ),
    (
        &["hipMemcpyDtoDAsync", "hipMemcpyDtoHAsync", "hipMemcpyHtoDAsync"],
        Code::STREAM_CAPTURE_INVALIDATED,
        IN_6,
    ),
    (
        &["hipMemcpyDtoDAsync", "hipMemcpyDtoHAsync", "hipMemcpyHtoDAsync", "hipMemcpyPeerAsync"],
        Code::CONTEXT_IS_DESTROYED,
        IN_6,
    ),
    (
        &["hipMemcpy2DAsync", "hipMemsetD8Async", "hipMemsetD16Async", "hipMemsetD32Async"],
        Code::STREAM_CAPTURE_INVALIDATED,
        IN_6,
    ),
    (
        &["hipMemcpyDtoD", "hipMemcpyDtoH", "hipMemcpyHtoD", "hipMemcpy2D", "hipDrvMemcpy3D"],
        Code::STREAM_CAPTURE_IMPLICIT,
        IN_6,
    ),
    (&["hipMemsetD8", "hipMemsetD16", "hipMemsetD32"], Code::STREAM_CAPTURE_IMPLICIT, IN_6),
];

/// Functions that wait for the null stream, and so are refused while a blocking stream is captured. HIP 7 refuses all work
/// on the null stream then.
const WAITING: &[&str] = &[
    "hipMemcpy",
    "hipMemcpyHtoD",
    "hipMemcpyDtoH",
    "hipMemcpyDtoD",
    "hipMemcpy2D",
    "hipMemcpy3D",
    "hipDrvMemcpy3D",
    "hipMemcpyToSymbol",
    "hipMemcpyFromSymbol",
    "hipMemset",
    "hipMemsetD8",
    "hipMemsetD16",
    "hipMemsetD32",
    "hipMemset2D",
];

/// Functions that refuse a copy of no bytes as a node of a graph, by version.
const REFUSING_NOTHING: &[(&str, Versions)] = &[
    ("hipGraphAddMemcpyNode1D", SINCE_6),
    ("hipGraphExecMemcpyNodeSetParams", BEFORE_6),
    ("hipGraphExecMemcpyNodeSetParams1D", ALWAYS),
    ("hipGraphMemcpyNodeSetParams", BEFORE_6),
    ("hipGraphMemcpyNodeSetParams1D", ALWAYS),
];

fn holds(versions: Versions, hip: (u32, u32)) -> bool {
    versions.0 <= hip && hip < versions.1
}

/// The answer of a version of AMD's library to an error that the simulator found.
pub(crate) fn of(hip: (u32, u32), function: &str, found: Code) -> Code {
    let row = ROWS
        .iter()
        .find(|row| row.found == found && row.functions.contains(&function) && holds(row.versions, hip));
    row.map_or(found, |row| row.answered)
}

/// Whether the answer to the error that was found is kept as the thread's last error.
pub(crate) fn is_noted(hip: (u32, u32), function: &str, found: Code) -> bool {
    !UNNOTED.iter().any(|(functions, code, versions)| {
        *code == found && functions.contains(&function) && holds(*versions, hip)
    })
}

/// Whether the function refuses a copy of no bytes as a node of a graph.
pub(crate) fn refuses_nothing(hip: (u32, u32), function: &str) -> bool {
    REFUSING_NOTHING.iter().any(|(name, versions)| *name == function && holds(*versions, hip))
}

/// Whether the function waits for the null stream and is refused while any stream of any device is captured.
pub(crate) fn refuses_any_capture(hip: (u32, u32), function: &str) -> bool {
    holds(IN_6, hip) && WAITING.contains(&function)
}

/// Whether a call on the null stream is refused while a blocking stream of the device is captured.
pub(crate) fn refuses_null_stream(hip: (u32, u32), function: &str) -> bool {
    let besides = holds(BEFORE_6, hip) && function == "hipMemcpyPeer";
    !holds(BEFORE_7, hip) || WAITING.contains(&function) || besides
}
