// SPDX-License-Identifier: MIT OR Apache-2.0
//! The README's first command behaves as the README says. Its Rust example is a doctest of the facade.

use std::process::Command;

const README: &str = include_str!("../README.md");

#[test]
fn the_first_command_prints_what_it_says() {
    let block = README
        .split("```console\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("a console block");
    let (command, output) = block.split_at(end_of_command(block));
    let words: Vec<_> = command.split_whitespace().filter(|word| *word != "\\").collect();
    let arguments =
        words.strip_prefix(&["$", "cargo", "run", "--release", "--"]).expect("a run through cargo");
    let mut run = Command::new(env!("CARGO_BIN_EXE_windlass"));
    run.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR"));
    for name in ["WINDLASS_DEVICE", "WINDLASS_HIP_LIBRARY", "WINDLASS_SIM", "WINDLASS_LOG"] {
        run.env_remove(name);
    }
    let finished = run.output().expect("the command starts");
    let printed = String::from_utf8_lossy(&finished.stderr).into_owned();
    assert!(finished.status.success(), "{printed}");
    // On a machine with a GPU there is no announcement.
    let said = output.lines().filter(|line| !line.starts_with("no real GPU"));
    let printed_lines = printed.lines().filter(|line| !line.starts_with("no real GPU"));
    assert!(said.eq(printed_lines), "the README says\n{output}and the command printed\n{printed}");
}

/// The end of the command: behind the first line without a backslash at its end.
fn end_of_command(block: &str) -> usize {
    let mut end = 0;
    for line in block.split_inclusive('\n') {
        end += line.len();
        if !line.trim_end().ends_with('\\') {
            break;
        }
    }
    end
}
