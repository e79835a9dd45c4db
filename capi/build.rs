// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names the shared library, and keeps it loaded: its threads outlive a `dlclose`.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=WINDLASS_SONAME");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        // In a build folder the library has one name; packages give it one with its ABI's version.
        let soname = std::env::var("WINDLASS_SONAME").unwrap_or_else(|_| "libwindlass.so".to_owned());
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,{soname}");
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
