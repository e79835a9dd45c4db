// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program in C, linked against the libraries as against AMD's.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a skip must be seen")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

// Cargo builds the simulated HIP for this test.
use amdhip64 as _;

/// The library of Cargo's build.
fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this test");
    let mut folders = test.ancestors().skip(1).take(2).map(|folder| folder.join(name));
    folders.find(|path| path.exists()).expect("the library beside the tests")
}

/// A folder with the libraries under the names that programs are linked against.
fn folder(name: &str, with_hip: bool) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    std::fs::copy(built("librccl.so"), folder.join("librccl.so.1")).expect("it can be copied");
    if with_hip {
        std::fs::copy(built("libamdhip64.so"), folder.join("libamdhip64.so.7")).expect("it can be copied");
        let core = "libwindlass_simulator_core.so";
        std::fs::copy(built(core), folder.join(core)).expect("it can be copied");
    }
    folder
}

/// Builds the program; `None`, with a note, without a C compiler.
fn build(folder: &Path) -> Option<PathBuf> {
    let program = folder.join("all_reduce");
    let mut command = Command::new("cc");
    command.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"]).arg(&program);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all_reduce.c"));
    command.arg(folder.join("librccl.so.1")).arg(folder.join("libamdhip64.so.7"));
    match command.output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(program)
        }
        Err(error) => {
            eprintln!("skipped: cc: {error}; install it");
            None
        }
    }
}

fn run(program: &Path, libraries: &Path, machine: &str) -> Output {
    let mut command = Command::new(program);
    for name in ["WINDLASS_LOG", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"] {
        command.env_remove(name);
    }
    command.env("WINDLASS_SIM", machine).env("LD_LIBRARY_PATH", libraries).output().expect("it starts")
}

#[test]
fn a_program_in_c_sums_over_two_gpus() {
    let folder = folder("rccl-program", true);
    let Some(program) = build(&folder) else { return };
    for machine in ["gfx942?devices=2", "gfx942?devices=2&seed=1", "gfx90a?devices=2&seed=2"] {
        let output = run(&program, &folder, machine);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{machine}: {out}{err}");
        assert_eq!((&*out, &*err), ("the sums of 2 GPUs are right\n", ""), "{machine}");
    }
}

/// The library contains no second simulator.
#[test]
fn the_library_leads_to_the_simulated_hip_and_says_where_there_is_none() {
    let folder = folder("rccl-alone", false);
    let library = std::fs::read(folder.join("librccl.so.1")).expect("it is there");
    let has = |text: &[u8]| library.windows(text.len()).any(|window| window == text);
    assert!(has(b"ncclAllReduce\0") && has(b"windlass_simulator_marker\0"));
    assert!(!has(b"v_mfma_f32"), "the simulator's instructions are in it");

    let (source, program) = (folder.join("version.c"), folder.join("version"));
    let text =
        "int ncclGetVersion(int *); int main(void) { int version; return ncclGetVersion(&version); }\n";
    std::fs::write(&source, text).expect("the folder is writable");
    let Ok(compiled) =
        Command::new("cc").arg("-o").arg(&program).arg(&source).arg(folder.join("librccl.so.1")).status()
    else {
        eprintln!("skipped: there is no C compiler `cc`; install it");
        return;
    };
    assert!(compiled.success(), "cc failed");
    let output = run(&program, &folder, "gfx942");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "ncclSystemError: {err}");
    assert!(err.contains("no simulated libamdhip64.so") && err.contains("windlass exec"), "{err}");
}
