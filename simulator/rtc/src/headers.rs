// SPDX-License-Identifier: MIT OR Apache-2.0
//! hipRTC's own headers. Sources see the first without an `#include`; those of HIP's names are for sources that include them.

/// The header that every source sees.
pub(crate) const RUNTIME: &str = "hiprtc_runtime.h";

/// The definitions of every source: HIP's version.
pub(crate) const DEFINITIONS: [&str; 3] =
    ["-DHIP_VERSION_MAJOR=7", "-DHIP_VERSION_MINOR=1", "-DHIP_VERSION_PATCH=0"];

/// Has the headers define what AMD's device libraries have elsewhere.
pub(crate) const WITHOUT_LIBRARIES: &str = "-DWINDLASS_RTC_WITHOUT_LIBRARIES";

/// Has the headers leave `new` and `delete` to the source.
pub(crate) const WITHOUT_NEW: &str = "-DWINDLASS_RTC_WITHOUT_NEW";

/// Tells the headers the version of code objects, which decides where the runtime's arguments are.
pub(crate) fn code_object(version: u32) -> String {
    format!("-DWINDLASS_RTC_CODE_OBJECT={version}")
}

macro_rules! parts {
    ($($name:literal)*) => {
        [$((concat!("windlass_rtc/", $name), include_str!(concat!("headers/windlass_rtc/", $name)))),*]
    };
}

const PARTS: [(&str, &str); 15] = parts! {
    "language.h" "types.h" "threads.h" "vectors.h" "integers.h" "host_calls.h" "ocml.h" "ocml_own.h" "math.h" "half.h"
    "bfloat16.h" "lanes.h" "atomics.h" "complex.h" "cooperative_groups.h"
};

/// HIP's headers whose content is in the first.
const OF_HIP: [&str; 11] = [
    "hip/hip_runtime.h",
    "hip/hip_runtime_api.h",
    "hip/hip_fp16.h",
    "hip/hip_bf16.h",
    "hip/hip_bfloat16.h",
    "hip/hip_complex.h",
    "hip/hip_cooperative_groups.h",
    "hip/hip_vector_types.h",
    "hip/hip_version.h",
    "hip/hip_math_constants.h",
    "hip/math_functions.h",
];

/// All headers, by their names for `#include`.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    let of_hip = OF_HIP.iter().map(|name| (*name, "#pragma once\n#include \"../hiprtc_runtime.h\"\n"));
    std::iter::once((RUNTIME, include_str!("headers/hiprtc_runtime.h"))).chain(PARTS).chain(of_hip)
}
