// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs in C, linked against the library as against AMD's.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a skip must be seen")]

use std::os::unix::fs::PermissionsExt as _;
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

/// A program with the libraries in a folder of its own; `None`, with a note, without a C compiler.
struct Program {
    folder: PathBuf,
    program: PathBuf,
}

impl Program {
    fn build(name: &str, source: &str) -> Option<Self> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("tmp")).expect("the target folder is writable");
        let libraries = [("libhiprtc.so", "libhiprtc.so.7"), ("libamdhip64.so", "libamdhip64.so.7")];
        for (from, to) in libraries {
            std::fs::copy(built(from), folder.join(to)).expect("it can be copied");
        }
        let core = "libwindlass_simulator_core.so";
        std::fs::copy(built(core), folder.join(core)).expect("it can be copied");
        let program = folder.join(source);
        let mut command = Command::new("cc");
        command.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program);
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(source).with_extension("c"));
        command.args(libraries.map(|(_, name)| folder.join(name)));
        match command.output() {
            Ok(output) => {
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                Some(Self { folder, program })
            }
            Err(error) => {
                eprintln!("skipped: cc: {error}; install it");
                None
            }
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        for name in ["WINDLASS_LOG", "HIP_VISIBLE_DEVICES", "HIPRTC_COMPILE_OPTIONS_APPEND", "ROCM_PATH"] {
            command.env_remove(name);
        }
        // Behind the folder, where a comgr may be.
        let path = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let libraries = [self.folder.clone()].into_iter().chain(std::env::split_paths(&path));
        let libraries = std::env::join_paths(libraries).expect("paths without colons");
        command.env("WINDLASS_SIM", "gfx942").env("LD_LIBRARY_PATH", libraries);
        command.env("TMPDIR", self.folder.join("tmp")).arg(&self.folder);
        command
    }

    /// Runs it, and sees that it leaves no temporary file.
    fn run(&self, command: &mut Command) -> Output {
        let output = command.output().expect("it starts");
        let left = std::fs::read_dir(self.folder.join("tmp")).expect("the folder").count();
        assert_eq!(left, 0, "temporary files were left: {output:?}");
        output
    }

    /// A file in the place of clang.
    fn impostor(&self, script: &str) -> PathBuf {
        let path = self.folder.join("clang");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("the folder is writable");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("as before");
        path
    }
}

/// Whether a clang of these tests compiles for gfx942.
fn has_clang() -> bool {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let source = folder.join("has_clang.hip");
    std::fs::write(&source, "__attribute__((global)) void k() {}\n").expect("the folder is writable");
    let has = ["clang-22", "clang-21", "clang-20", "clang-19", "clang-18", "clang"].iter().any(|name| {
        let mut command = Command::new(name);
        command.args([
            "-x",
            "hip",
            "--cuda-device-only",
            "--offload-arch=gfx942",
            "-nogpuinc",
            "-nogpulib",
            "-o",
        ]);
        let output = command.arg(folder.join("has_clang")).arg(&source).output();
        output.is_ok_and(|output| output.status.success())
    });
    if !has {
        eprintln!("skipped: no clang here compiles HIP for gfx942; install clang-19 and lld-19");
    }
    has
}

#[test]
fn kernels_are_compiled_and_run() {
    let Some(program) = Program::build("rtc-kernels", "kernels") else { return };
    if !has_clang() {
        return;
    }
    let output = program.run(&mut program.command());
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    assert_eq!(out, "printed 23 0.25\nright\n");
    assert!(err.is_empty() || err.contains("undefined"), "{err}");
}

/// AMD's comgr compiles where it knows the GPU. Debian 12's knows gfx90a.
#[test]
fn kernels_are_compiled_by_comgr() {
    let Some(program) = Program::build("rtc-comgr", "kernels") else { return };
    let mut command = program.command();
    let output =
        program.run(command.env("WINDLASS_RTC_CLANG", "/nowhere/clang").env("WINDLASS_SIM", "gfx90a"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if err.contains("libamd_comgr.so.2 are not installed") || err.contains("does not know gfx90a") {
        eprintln!("skipped: no libamd_comgr here knows gfx90a; install libamd-comgr2");
        return;
    }
    assert!(output.status.success(), "{out}{err}");
    assert_eq!(out, "printed 23 0.25\nright\n");
}

#[test]
fn wrong_calls_are_refused_and_the_log_says_what_to_install() {
    let Some(program) = Program::build("rtc-refusals", "refusals") else { return };
    let output = program.run(program.command().env("WINDLASS_RTC_CLANG", "/nowhere/clang"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    for part in ["apt install clang-19 lld-19", "libamd_comgr", "/nowhere/clang", "WINDLASS_RTC_CLANG"] {
        assert!(out.contains(part), "{part}: {out}");
    }
}

/// A compiler that hangs, with a child that hangs too, and one that crashes, are errors of the compilation.
#[test]
fn a_compiler_that_hangs_or_crashes_is_an_error() {
    let Some(program) = Program::build("rtc-hangs", "refusals") else { return };
    // It passes for a clang until it gets a program's source.
    let passes = "case $* in *print-prog-name*) echo /bin/sh; exit;; \
                  *probe.hip*) while [ \"$1\" != -o ]; do shift; done; echo code >\"$2\"; exit;; esac";
    for (script, expected) in [
        ("sleep 1000 & sleep 1000", "had not ended after 1 s"),
        ("kill -SEGV $$", "failed without a message"),
        ("yes | head -c 9000000; exit 1", "the rest of the messages is left out"),
        ("exit 0", "wrote no code"),
    ] {
        let clang = program.impostor(&format!("{passes}; {script}"));
        let mut command = program.command();
        command.env("WINDLASS_RTC_CLANG", clang).env("WINDLASS_RTC_SECONDS", "1");
        let output = program.run(&mut command);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{script}: {err}");
        assert!(out.contains(expected), "{script}: {out}");
    }
}

/// The library contains no simulator.
#[test]
fn the_library_is_small() {
    let library = std::fs::read(built("libhiprtc.so")).expect("it is there");
    let has = |text: &[u8]| library.windows(text.len()).any(|window| window == text);
    assert!(has(b"hiprtcLinkComplete\0") && has(b"windlass_simulator_marker\0"));
    assert!(!has(b"v_mfma_f32"), "the simulator's instructions are in it");
}
