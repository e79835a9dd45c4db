// SPDX-License-Identifier: MIT OR Apache-2.0
//! The example in C, built without a header and linked to the library, as a user would.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a skip must be seen")]

mod common;

use std::{path::Path, process::Command};

#[test]
fn a_program_in_c_calls_the_functions_by_its_own_declarations() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mgpu-saxpy");
    let library = common::path();
    let mut compiler = Command::new("gcc");
    compiler.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion"]);
    compiler.arg(package.join("examples/saxpy.c")).arg(&library);
    compiler.arg(format!("-Wl,-rpath,{}", library.parent().unwrap().display())).arg("-o").arg(&program);
    let built = match compiler.output() {
        Ok(built) => built,
        Err(error) => return eprintln!("skipped: gcc: {error}; install it"),
    };
    assert!(built.status.success(), "{built:?}");
    let run = |arguments: &[&Path]| {
        let mut command = Command::new(&program);
        command.args(arguments).env("WINDLASS_DEVICE", "hip-sim://gfx942").output().unwrap()
    };
    let right = run(&[&package.join("../../cts/kernels/bundles/saxpy.ccob")]);
    assert!(right.status.success(), "{right:?}");
    assert_eq!(String::from_utf8_lossy(&right.stdout), "saxpy: 0 of 1000 elements are wrong\n");
    // A module without the kernel ends the process.
    let wrong = run(&[&package.join("../../cts/kernels/bundles/vector_add.ccob")]);
    assert_eq!(wrong.status.code(), Some(1), "{wrong:?}");
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("mgpuModuleGetFunction"), "{wrong:?}");
}
