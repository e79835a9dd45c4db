// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names the shared library, and keeps it loaded: its threads outlive a `dlclose`.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=WINDLASS_SONAME");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        // The name has the version of the C library's name, which packages set.
        let c_library = std::env::var("WINDLASS_SONAME").unwrap_or_default();
        let version = c_library.split_once(".so").map_or("", |(_, version)| version);
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libwindlass_mgpu.so{version}");
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
