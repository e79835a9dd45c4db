// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where AMD's library answers a mistake otherwise than the simulator finds it, by version. `.ci/hip-differences` compares.

use super::code::Code;

/// Versions, from the first on and before the second.
type Versions = ((u32, u32), (u32, u32));

const ALWAYS: Versions = ((0, 0), (u32::MAX, 0));
const SINCE_6: Versions = ((6, 0), (u32::MAX, 0));
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

/// Functions that tell how many workgroups of a kernel fit, by its symbol.
const OCCUPANCIES: &[&str] = &[
    "hipOccupancyMaxActiveBlocksPerMultiprocessor",
    "hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
    "hipOccupancyMaxPotentialBlockSize",
];

const ROWS: &[Row] = &[
    // A stream that is none.
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
        &[
            "hipExtLaunchKernel",
            "hipLaunchKernel",
            "hipMemcpy2DAsync",
            "hipModuleLaunchCooperativeKernel",
            "hipModuleLaunchKernel",
        ],
        Code::CONTEXT_IS_DESTROYED,
        Code::INVALID_VALUE,
        SINCE_6,
    ),
    // A grid or a block that is too large.
    row(
        &["hipLaunchKernel", "hipModuleLaunchKernel", "hipModuleLaunchCooperativeKernel"],
        Code::INVALID_CONFIGURATION,
        Code::INVALID_VALUE,
        SINCE_6,
    ),
    row(&["hipMemset2D", "hipMemset2DAsync"], Code::INVALID_PITCH_VALUE, Code::INVALID_VALUE, ALWAYS),
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
    // A function that is none.
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
    // A symbol that stands for no kernel, and the null symbol, which is found to be no handle.
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
    // A device that is none.
    row(
        &["hipCtxCreate", "hipDeviceGetByPCIBusId", "hipDeviceGetMemPool", "hipMemPoolCreate"],
        Code::INVALID_DEVICE,
        Code::INVALID_VALUE,
        ALWAYS,
    ),
    row(&["hipMemPoolGetAccess"], Code::INVALID_DEVICE, Code::INVALID_VALUE, SINCE_6),
    row(&["hipMemAdvise"], Code::INVALID_DEVICE, Code::INVALID_VALUE, BEFORE_6),
    row(&["hipDeviceGetDefaultMemPool"], Code::INVALID_DEVICE, Code::INVALID_VALUE, BEFORE_6),
    row(&["hipGraphInstantiateWithFlags"], Code::NOT_SUPPORTED, Code::INVALID_VALUE, ALWAYS),
    // An event that is none.
    row(&["hipExtLaunchKernel"], Code::INVALID_HANDLE, Code::INVALID_VALUE, SINCE_6),
    row(
        &["hipGraphExecMemcpyNodeSetParams", "hipGraphExecMemcpyNodeSetParams1D"],
        Code::INVALID_MEMCPY_DIRECTION,
        Code::INVALID_VALUE,
        SINCE_6,
    ),
    row(&["hipGraphMemcpyNodeSetParams1D"], Code::INVALID_MEMCPY_DIRECTION, Code::INVALID_VALUE, BEFORE_6),
    // No place for the event.
    row(&["hipEventCreate", "hipEventCreateWithFlags"], Code::INVALID_HANDLE, Code::INVALID_VALUE, ALWAYS),
    // A stream that is not captured.
    row(&["hipStreamEndCapture"], Code::ILLEGAL_STATE, Code::STREAM_CAPTURE_UNMATCHED, BEFORE_6),
    row(&["hipHostUnregister"], Code::INVALID_VALUE, Code::HOST_MEMORY_NOT_REGISTERED, BEFORE_6),
];

/// Errors that are answered and not kept as the thread's last, by what was found.
const UNNOTED: &[(&[&str], Code, Versions)] = &[
    (&["hipEventCreate", "hipEventCreateWithFlags"], Code::INVALID_HANDLE, BEFORE_7),
    (&["hipEventDestroy"], Code::CONTEXT_IS_DESTROYED, IN_6),
    (&["hipGetStreamDeviceId"], Code::CONTEXT_IS_DESTROYED, BEFORE_7),
    (&["hipGraphInstantiate"], Code::INVALID_VALUE, IN_6),
    (&["hipModuleGetGlobal"], Code::INVALID_VALUE, BEFORE_6),
    (&["hipDrvGetErrorName", "hipDrvGetErrorString"], Code::INVALID_VALUE, IN_6),
    (&["hipExtLaunchKernel", "hipModuleLaunchKernel"], Code::STREAM_CAPTURE_INVALIDATED, IN_6),
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

/// What waits for the null stream while a blocking stream is captured, which HIP 7 refuses all work on the null stream for.
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

/// Functions that refuse a copy of nothing as a node of a graph, by version.
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

/// What a version of AMD's library answers where the simulator found something wrong.
pub(crate) fn of(hip: (u32, u32), function: &str, found: Code) -> Code {
    let row = ROWS
        .iter()
        .find(|row| row.found == found && row.functions.contains(&function) && holds(row.versions, hip));
    row.map_or(found, |row| row.answered)
}

/// Whether the answer to what was found is kept as the thread's last error.
pub(crate) fn is_noted(hip: (u32, u32), function: &str, found: Code) -> bool {
    !UNNOTED.iter().any(|(functions, code, versions)| {
        *code == found && functions.contains(&function) && holds(*versions, hip)
    })
}

/// Whether a copy of nothing is no node of a graph.
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
