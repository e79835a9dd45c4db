// SPDX-License-Identifier: MIT OR Apache-2.0
//! What HIP answers on a machine without a GPU, which differs by version.
//!
//! Up to 5.5 the runtime's initialisation fails and is tried anew by each call. From 5.6 on it is tried once: only the call
//! that did so learns that it failed, the others see a machine without devices. From 6.2 on no GPU is no failure.
//! A machine whose GPUs `HIP_VISIBLE_DEVICES` hides is one without devices in every version.

use super::code::Code;
use super::runtime::Runtime;

/// Functions that never look for a GPU, or say on their own that there is none.
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
];

/// Functions that try the initialisation and do not tell.
const SILENT: &[&str] = &["hipGetDeviceCount", "hipSetDevice"];

/// The answer to a call where there is no GPU; `None` where there is one, or where the call does not need it.
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
