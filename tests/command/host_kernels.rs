// SPDX-License-Identifier: MIT OR Apache-2.0
//! The commands of docs/host-kernels.md behave as the page says. They need a C compiler.

use std::{fs, os::unix::fs::symlink, path::Path, process::Command};

const PAGE: &str = include_str!("../../docs/host-kernels.md");

/// The blocks of a language, in order.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    PAGE.split(&fence).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

/// Commands, each with its output lines.
fn commands(block: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    let mut goes_on = false;
    for line in block.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            commands.push((command.to_owned(), String::new()));
        } else if let Some((command, output)) = commands.last_mut() {
            let text = if goes_on { command } else { output };
            text.push_str(&format!("{}{line}", if goes_on { "\n" } else { "" }));
            if !goes_on {
                text.push('\n');
            }
        }
        goes_on = line.ends_with('\\');
    }
    commands
}

#[test]
fn the_page_leads_from_a_c_file_to_a_dispatch() {
    if Command::new("cc").arg("--version").output().is_err() {
        eprintln!("skipped: there is no C compiler `cc`");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for name in ["drivers", "cts"] {
        symlink(here.join(name), folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("scale.c"), blocks("c")[0]).unwrap();
    let tool = Path::new(env!("CARGO_BIN_EXE_windlass")).parent().unwrap();
    let path = std::env::join_paths(
        [tool.to_owned()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let path = path.unwrap();
    let all: Vec<_> = blocks("console").into_iter().flat_map(commands).collect();
    assert!(all.len() >= 5, "the page has its commands");
    for (command, expected) in all {
        let mut shell = Command::new("sh");
        shell.args(["-euc", &command]).current_dir(folder.path()).env("PATH", &path);
        for name in ["WINDLASS_DEVICE", "WINDLASS_HIP_LIBRARY", "WINDLASS_SIM", "WINDLASS_LOG"] {
            shell.env_remove(name);
        }
        let finished = shell.output().expect("a shell");
        let (output, messages) =
            (String::from_utf8_lossy(&finished.stdout), String::from_utf8_lossy(&finished.stderr));
        assert!(finished.status.success(), "$ {command}\n{messages}");
        if command.starts_with("windlass inspect") {
            for said in [
                "scale(in: buffer, out: buffer, factor: 4 bytes, n: 4 bytes)",
                "it gets entry 0: exact x86_64",
            ] {
                assert!(output.contains(said), "`{said}` is not in\n{output}");
            }
        } else {
            assert_eq!(output, expected, "$ {command}");
        }
    }
}
