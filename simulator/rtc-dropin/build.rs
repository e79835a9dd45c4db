// SPDX-License-Identifier: MIT OR Apache-2.0
//! Gives the library hipRTC's name, and keeps it loaded: a compiler that it loads stays loaded too.
#![allow(clippy::print_stdout, reason = "Cargo reads the lines that build scripts print")]

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libhiprtc.so.7");
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
