// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether this processor has wide vectors.

/// Whether this processor has all features that `handler!` compiles for.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_wide_vectors() -> bool {
    use std::sync::OnceLock;
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
    })
}

/// Whether this processor has all features that `handler!` compiles for.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn has_wide_vectors() -> bool {
    false
}
