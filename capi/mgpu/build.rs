// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names the shared library, and keeps it loaded: its threads outlive a `dlclose`.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libwindlass_mgpu.so");
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
