// SPDX-License-Identifier: MIT OR Apache-2.0
//! HIP's answers on a machine without a GPU, which differ by version.
//!
//! Up to 5.5 the runtime's initialisation fails, and each call tries it again. From 5.6 on only the first call tries it and
//! learns of the failure; later calls see a machine without devices. From 6.2 on a missing GPU is no failure.
//! A machine whose GPUs `HIP_VISIBLE_DEVICES` hides has no devices in every version.

use crate::hip::instance::runtime::Runtime;
use crate::hip::words::code::Code;

/// Functions that never look for a GPU, or answer on their own that there is none.
const ANSWERED: &[&str] = &[
    "hipDriverGetVersion",
    "hipRuntimeGetVersion",
    "hipGetDeviceCount",
    "hipDrvGetErrorName",
    "hipDrvGetErrorString",
    "hipGetProcAddress",
    "__hipRegisterFatBinary",
    "__hipUnregisterFatBinary",
    "__hipRegisterFunction",
    "__hipRegisterVar",
    "__hipRegisterManagedVar",
    "__hipRegisterTexture",
    "__hipRegisterSurface",
];

/// Functions that try the initialisation and do not report its failure.
const SILENT: &[&str] = &["hipGetDeviceCount", "hipSetDevice"];

/// The answer to a call on a machine without a GPU; `None` if there is a GPU or the call needs none.
pub(crate) fn answer(runtime: &Runtime, name: &str) -> Option<Code> {
    if !runtime.machine.devices.is_empty() {
        return None;
    }
    let initialised = runtime.options.devices > 0 || runtime.options.hip >= (6, 2);
    let tried_once = runtime.options.hip >= (5, 6);
    let silent = tried_once && SILENT.contains(&name);
    if ANSWERED.contains(&name) {
        if silent {
            runtime.note_initialisation();
        }
        return None;
    }
    let failed = !initialised && (!tried_once || (runtime.note_initialisation() && !silent));
    Some(if failed { Code::INVALID_DEVICE } else { Code::NO_DEVICE })
}
