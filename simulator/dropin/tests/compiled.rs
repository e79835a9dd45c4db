// SPDX-License-Identifier: MIT OR Apache-2.0
//! A compiled HIP program, linked against the library as against AMD's.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder with the library under the name that programs are linked against.
fn library_folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiled");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(common::library(), folder.join("libamdhip64.so.7")).unwrap();
    std::fs::copy(common::core(), folder.join(common::CORE)).unwrap();
    folder
}

/// Builds the program with the clang that is installed; `None` without one.
#[allow(clippy::print_stderr, reason = "a skip must be seen")]
fn build(folder: &Path) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compiled.hip");
    let program = folder.join("program");
    for compiler in ["clang++", "clang++-19", "clang++-18"] {
        let mut command = Command::new(compiler);
        command.args(["-x", "hip", "--offload-arch=gfx942", "-nogpuinc", "-nogpulib", "-no-hip-rt", "-O1"]);
        command.arg(&source).args(["-x", "none"]).arg(folder.join("libamdhip64.so.7"));
        match command.arg("-o").arg(&program).output() {
            Ok(output) if output.status.success() => return Some(program),
            Ok(output) => eprintln!("{compiler}: {}", String::from_utf8_lossy(&output.stderr)),
            Err(error) => eprintln!("{compiler}: {error}"),
        }
    }
    eprintln!("skipped: no clang++ here compiles HIP for gfx942 (clang 18 or newer with lld)");
    None
}

fn run(program: &Path, folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    for name in ["WINDLASS_SIM", "WINDLASS_LOG", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"] {
        command.env_remove(name);
    }
    command.env("LD_LIBRARY_PATH", folder).args(arguments).output().unwrap()
}

#[test]
fn a_compiled_program_runs() {
    let folder = library_folder();
    let Some(program) = build(&folder) else { return };
    let output = run(&program, &folder, &[]);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    assert_eq!(out, "right\n");
    assert_eq!(err, "");

    let output = run(&program, &folder, &["fault"]);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    assert_eq!(out, "right\ndevice: 700\n");
    assert!(err.contains("write_one") && err.contains("lane 0"), "{err}");
}
