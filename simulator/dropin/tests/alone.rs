// SPDX-License-Identifier: MIT OR Apache-2.0
//! The library and the one that has the simulator, in folders as users arrange them.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a skip must be seen")]

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Leaves its folder, if it gets an argument, and prints the results of HIP, of hipRTC and of a refused function.
const PROGRAM: &str = "
#include <stdio.h>
#include <unistd.h>
int hipGetDeviceCount(int *), hiprtcVersion(int *, int *), hipBindTexture(void);
int main(int count, char **arguments) {
    (void)arguments;
    if (count > 1 && chdir(\"/\")) return 1;
    int devices = -1, major = -1, minor = -1;
    int status = hipGetDeviceCount(&devices), version = hiprtcVersion(&major, &minor);
    printf(\"%d %d, %d %d, %d\\n\", status, devices, version, major, hipBindTexture());
    return 0;
}
";

/// A new folder with the program, and with the library as `arrange` puts it to a path.
fn build(name: &str, arrange: impl FnOnce(&Path)) -> Option<(PathBuf, PathBuf)> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("alone").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("lib")).unwrap();
    let (source, program) = (folder.join("program.c"), folder.join("program"));
    let library = folder.join("lib/libamdhip64.so.7");
    arrange(&library);
    std::fs::write(&source, PROGRAM).unwrap();
    let mut compiler = Command::new("cc");
    match compiler.arg("-o").arg(&program).arg(&source).arg(&library).output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            eprintln!("skipped: cc: {error}; install it");
            return None;
        }
    }
    Some((folder, program))
}

/// Runs the program with a relative path to the library.
fn run(folder: &Path, program: &Path, arguments: &[&str]) -> (String, String) {
    let mut command = Command::new(program);
    for name in ["WINDLASS_SIM", "WINDLASS_LOG", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"] {
        command.env_remove(name);
    }
    let Output { status, stdout, stderr } =
        command.args(arguments).env("LD_LIBRARY_PATH", "lib").current_dir(folder).output().unwrap();
    let texts = [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(status.success(), "{status}: {texts:?}");
    texts.into()
}

#[test]
fn without_the_simulator_all_calls_are_refused_and_one_line_says_why() {
    let copy = |to: &Path| assert!(std::fs::copy(common::library(), to).is_ok());
    let Some((folder, program)) = build("without", copy) else { return };
    let (out, err) = run(&folder, &program, &[]);
    assert_eq!(out, "801 -1, 11 -1, 801\n", "hipErrorNotSupported, HIPRTC_ERROR_INTERNAL_ERROR: {err}");
    assert!(err.lines().count() == 1 && err.contains(common::CORE) && err.contains("windlass exec"), "{err}");
    let lib = folder.join("lib").display().to_string();
    assert!(err.contains(&lib), "{err}");
}

#[test]
fn the_simulator_is_found_beside_the_library_after_a_change_of_folder() {
    let copy = |to: &Path| {
        std::fs::copy(common::library(), to).unwrap();
        std::fs::copy(common::core(), to.with_file_name(common::CORE)).unwrap();
    };
    let Some((folder, program)) = build("beside", copy) else { return };
    for arguments in [&[][..], &["leave"]] {
        let (out, err) = run(&folder, &program, arguments);
        assert_eq!(out, "0 1, 0 9, 801\n", "{arguments:?}: {err}");
    }
}

#[test]
fn the_simulator_is_found_beside_the_file_of_a_link() {
    let link = |to: &Path| std::os::unix::fs::symlink(common::library(), to).unwrap();
    let Some((folder, program)) = build("link", link) else { return };
    let (out, err) = run(&folder, &program, &[]);
    assert_eq!(out, "0 1, 0 9, 801\n", "{err}");
}
