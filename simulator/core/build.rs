// SPDX-License-Identifier: MIT OR Apache-2.0
//! Gives the library its name, and keeps it loaded, because its threads outlive a `dlclose`.
#![allow(clippy::print_stdout, reason = "Cargo reads the lines that build scripts print")]

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libwindlass_simulator_core.so");
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
