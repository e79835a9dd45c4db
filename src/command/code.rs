// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads a code object as a device would load it, so that all subcommands agree on what is malformed.

use windlass_codeobject::{CodeObject, validate};

/// A code object, and why it cannot be loaded.
pub(crate) struct Read {
    /// `None` if nothing of it can be read.
    pub(crate) code: Option<CodeObject>,
    /// Why a device refuses to load it. Its kernels may be readable all the same.
    pub(crate) problem: Option<String>,
}

/// Reads an image. ROCm's loader trusts every header, so drivers refuse images with invalid ones.
pub(crate) fn read(image: &[u8]) -> Read {
    let invalid = validate(image).err().map(|error| error.to_string());
    match CodeObject::parse(image) {
        Ok(code) => Read { code: Some(code), problem: invalid },
        Err(error) => Read { code: None, problem: invalid.or_else(|| Some(error.to_string())) },
    }
}

/// The reason why code without any metadata has nothing to launch.
pub(crate) fn not_launchable(code: &CodeObject) -> Option<String> {
    let is_silent =
        code.metadata_version().is_none() && code.kernels().is_empty() && code.rejected().is_empty();
    (is_silent && !code.warnings().is_empty()).then(|| code.warnings().join("; "))
}
