// SPDX-License-Identifier: MIT OR Apache-2.0
//! hipRTC's own headers. Sources see the first without an `#include`; those of HIP's names are for sources that include them.

/// The header that every source sees.
const RUNTIME: &str = "hiprtc_runtime.h";

/// The name of [`before_source`].
pub(crate) const BEFORE_SOURCE: &str = "windlass_rtc/before_source.h";

/// The folder of headers in the place of the system's.
pub(crate) const SYSTEM: &str = "windlass_rtc/system";

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

const PARTS: [(&str, &str); 17] = parts! {
    "language.h" "types.h" "threads.h" "vectors.h" "integers.h" "host_calls.h" "ocml.h" "ocml_own.h" "math.h" "half.h"
    "bfloat16.h" "lanes.h" "atomics.h" "complex.h" "cooperative_groups.h" "system/bits/stdint-intn.h" "system/bits/stdint-uintn.h"
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

/// The header in front of a source: hipRTC's, in which macros of the program's options have no effect. Names that begin with `_`,
/// `HIP` or `NDEBUG` are for headers too.
pub(crate) fn before_source(options: &[String]) -> String {
    let mut names = Vec::new();
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let definition = match option.strip_prefix("-D") {
            Some("") => options.next().map(String::as_str),
            definition => definition,
        };
        let name = definition.unwrap_or_default().split(['=', '(']).next().unwrap_or_default();
        let is_name = name.chars().all(|letter| letter == '_' || letter.is_ascii_alphanumeric());
        if is_name && !name.is_empty() && !["_", "HIP", "NDEBUG"].iter().any(|own| name.starts_with(own)) {
            names.push(name);
        }
    }
    let mut text = String::from("#pragma once\n");
    for name in &names {
        text.push_str(&format!("#pragma push_macro(\"{name}\")\n#undef {name}\n"));
    }
    text.push_str(&format!("#include \"../{RUNTIME}\"\n"));
    for name in names.iter().rev() {
        text.push_str(&format!("#pragma pop_macro(\"{name}\")\n"));
    }
    text
}

/// All headers, by their names for `#include`.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    let of_hip = OF_HIP.iter().map(|name| (*name, "#pragma once\n#include \"../hiprtc_runtime.h\"\n"));
    std::iter::once((RUNTIME, include_str!("headers/hiprtc_runtime.h"))).chain(PARTS).chain(of_hip)
}
