// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions that tracers call. The simulated HIP reports its calls in its log, and tells tracers of none.

use std::ffi::{CStr, c_char, c_uint, c_void};

use windlass_simulator::hip::Exported;

use crate::simulator;
use crate::versions::{exported, versioned};

/// The kinds of AMD's commands by their numbers, which are those of OpenCL, and two of AMD's own.
const COMMANDS: &[(c_uint, &CStr)] = &[
    (0, c"InternalMarker"),
    (0x11F0, c"KernelExecution"),
    (0x11F1, c"Task"),
    (0x11F2, c"NativeKernel"),
    (0x11F3, c"CopyDeviceToHost"),
    (0x11F4, c"CopyHostToDevice"),
    (0x11F5, c"CopyDeviceToDevice"),
    (0x11F6, c"ReadImage"),
    (0x11F7, c"WriteImage"),
    (0x11F8, c"CopyImage"),
    (0x11F9, c"CopyImageToBuffer"),
    (0x11FA, c"CopyBufferToImage"),
    (0x11FB, c"MapBuffer"),
    (0x11FC, c"MapImage"),
    (0x11FD, c"UnmapMemObject"),
    (0x11FE, c"Marker"),
    (0x11FF, c"AcquireGLObjects"),
    (0x1200, c"ReleaseGLObjects"),
    (0x1201, c"CopyDeviceToHost2D"),
    (0x1202, c"CopyHostToDevice2D"),
    (0x1203, c"CopyDeviceToDevice2D"),
    (0x1204, c"User"),
    (0x1205, c"Barrier"),
    (0x1206, c"MigrateMemObjects"),
    (0x1207, c"FillBuffer"),
    (0x1208, c"FillImage"),
    (0x1209, c"SvmFree"),
    (0x120A, c"SvmMemcpy"),
    (0x120B, c"SvmMemFill"),
    (0x120C, c"SvmMap"),
    (0x120D, c"SvmUnmap"),
    (0x4501, c"StreamWait"),
    (0x4502, c"StreamWrite"),
];

/// `hipGetCmdName`: the name of a kind of command.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub extern "C" fn hipGetCmdName(kind: c_uint) -> *const c_char {
    let found = COMMANDS.iter().find(|(number, _)| *number == kind);
    found.map_or(c"Unknown command kind", |(_, name)| name).as_ptr()
}

/// `hipRegisterTracerCallback`: AMD's HIP asks the callback whether to report each call. No report comes, and the log says so.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub extern "C" fn hipRegisterTracerCallback(_callback: *const c_void) {
    simulator::warn(
        "hipRegisterTracerCallback: the simulated GPU reports no call to tracers; its log does, with WINDLASS_LOG=trace",
    );
}

versioned! {
    "hip_4.2": hipGetCmdName;
    "hip_5.3": hipRegisterTracerCallback;
}

/// The function of this name, if it is one of these.
pub(crate) fn find(name: &str) -> Option<Exported> {
    match name {
        "hipGetCmdName" => Some(exported(hipGetCmdName as *const c_void, "hip_4.2")),
        "hipRegisterTracerCallback" => Some(exported(hipRegisterTracerCallback as *const c_void, "hip_5.3")),
        _ => None,
    }
}
