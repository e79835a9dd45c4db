// SPDX-License-Identifier: MIT OR Apache-2.0
//! The examples run to their end on the simulated GPU. Each checks its own numbers.

use std::{path::Path, process::Command};

fn run(name: &str) {
    run_as(name, |_| {}, "right");
}

/// Runs an example whose output must have a text.
fn run_as(name: &str, prepare: impl Fn(&mut Command), wanted: &str) {
    // `cargo test` builds the examples beside the binary; `cargo test --test command` does not.
    let folder = Path::new(env!("CARGO_BIN_EXE_windlass")).parent().expect("the binary is in a folder");
    let path = folder.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if !path.exists() {
        eprintln!("skipped: {} is not built; cargo test without --test builds it", path.display());
        return;
    }
    let mut command = Command::new(path);
    prepare(&mut command);
    let output = command.output().expect("the example starts");
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}{errors}");
    assert!(text.contains("right") && text.contains(wanted), "{text}");
}

#[test]
fn hello_dispatch() {
    run("hello_dispatch");
}

#[test]
fn async_pipeline() {
    run("async_pipeline");
}

#[test]
fn replay_with_table() {
    run("replay_with_table");
}

#[test]
fn compiler() {
    // With clang if it is installed, and without it.
    run("compiler");
    for uri in ["hip-sim://gfx942", "hip-sim://gfx90a?seed=3"] {
        let without = |command: &mut Command| _ = command.arg(uri).env("CLANG", "no-clang");
        run_as("compiler", without, "8 kernels from the bundle of operations");
    }
}
