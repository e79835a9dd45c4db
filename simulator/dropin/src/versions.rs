// SPDX-License-Identifier: MIT OR Apache-2.0
//! Symbol versions.
//!
//! The build script gives the linker the names of the versions, and finds out whether the linker accepts
//! them. rustc passes a linker map of its own, which overrides any other, so each function names its version
//! itself.

use std::ffi::c_void;

use windlass_simulator::hip::Exported;

/// A function at an address. Its version is spelled like that of its symbol: `hip_5.2`.
pub(crate) fn exported(address: *const c_void, version: &str) -> Exported {
    let numbers = version.trim_start_matches("hip_").split_once('.');
    let numbers = numbers.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    Exported::new(address, numbers.unwrap_or_default())
}

/// Gives functions of the surrounding module their versions: `"hip_4.2": hipInit hipMalloc;`.
///
/// The assembler wants both in one object file, so the workspace's profiles compile the crate as one unit.
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
