// SPDX-License-Identifier: MIT OR Apache-2.0
//! Symbol versions.
//!
//! The linker is given the names of the versions by the build script, which also finds out whether it takes them. rustc
//! passes a linker map of its own that wins over any other, so each function names its version itself.

use std::ffi::c_void;

use windlass_simulator::hip::Exported;

/// A function at an address, of a version that is spelled as its symbol's: `hip_5.2`.
pub(crate) fn exported(address: *const c_void, version: &str) -> Exported {
    let numbers = version.trim_start_matches("hip_").split_once('.');
    let numbers = numbers.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    Exported::new(address, numbers.unwrap_or_default())
}

/// Gives functions of the module where it stands their versions: `"hip_4.2": hipInit hipMalloc;`.
///
/// The assembler wants both in one object file: the workspace's profiles have the crate compiled as one unit.
macro_rules! versioned {
    ($($version:literal: $($name:ident)*;)*) => {
        $($(
            #[cfg(symbol_versions)]
            std::arch::global_asm!(
                concat!(".symver ", stringify!($name), ", ", stringify!($name), "@@", $version)
            );
        )*)*
    };
}

pub(crate) use versioned;
