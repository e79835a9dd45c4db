// SPDX-License-Identifier: MIT OR Apache-2.0
//! The README's first command and the examples of `docs/command.md` behave as these pages say. The README's Rust example is
//! a doctest of the facade.

#[cfg(unix)]
use std::path::Path;
use std::process::Command;

const README: &str = include_str!("../../README.md");

#[test]
fn the_first_command_prints_what_it_says() {
    let block = README
        .split("```console\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("a console block");
    let (command, output) = block.split_at(end_of_command(block));
    let words: Vec<_> = command.split_whitespace().filter(|word| *word != "\\").collect();
    let arguments = words.strip_prefix(&["$", "cargo", "run", "--"]).expect("a run through cargo");
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

/// The line for owners of a GPU, tried over the simulated one.
#[test]
fn the_line_for_owners_of_a_gpu_works() {
    let line = README
        .lines()
        .find_map(|line| line.strip_prefix("$ cargo run --release -- report "))
        .expect("the line");
    let arguments = line.replace("hip://", "hip-sim://gfx942");
    let folder = tempfile::tempdir().expect("a folder");
    let mut run = Command::new(env!("CARGO_BIN_EXE_windlass"));
    run.arg("report").args(arguments.split_whitespace()).args(["--skip", "cts,assumptions"]);
    let finished = run.env_remove("WINDLASS_SIM").current_dir(folder.path()).output();
    let finished = finished.expect("the command starts");
    assert!(finished.status.success(), "{}", String::from_utf8_lossy(&finished.stderr));
    assert!(README.contains("attach `windlass-report.md` to an issue"));
    let page = std::fs::read_to_string(folder.path().join("windlass-report.md")).expect("the page");
    assert!(page.contains("dispatch/replay bindings=2 n=1000 form=table"), "{page}");
}

#[cfg(unix)]
#[expect(clippy::print_stderr, reason = "it says why the test is skipped")]
#[test]
fn the_page_on_the_command_shows_the_output_of_its_examples() {
    let page = include_str!("../../docs/command.md");
    let Some(fixtures) = std::env::var_os("WINDLASS_FIXTURES") else {
        eprintln!("skipped: WINDLASS_FIXTURES is not set, and the examples are about files in it");
        return;
    };
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join(fixtures);
    // The fixtures may be read-only, and one example writes a file.
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["clang", "fatbin"] {
        std::os::unix::fs::symlink(fixtures.join(name), folder.path().join(name)).expect("a link");
    }
    let mut checked = 0;
    for example in page.split("\n    $ windlass ").skip(1) {
        let (arguments, rest) = example.split_once('\n').expect("output below the command");
        if !["inspect", "audit", "bench", "bundle"].iter().any(|name| arguments.starts_with(name)) {
            continue;
        }
        let said = rest.lines().take_while(|line| line.is_empty() || line.starts_with("    "));
        let said: Vec<_> = said.take_while(|line| !line.starts_with("    $ ")).collect();
        let mut run = Command::new("sh");
        run.args(["-c", &format!("exec \"$0\" {arguments} 2>&1"), env!("CARGO_BIN_EXE_windlass")]);
        run.current_dir(folder.path());
        for name in ["WINDLASS_DEVICE", "WINDLASS_HIP_LIBRARY", "WINDLASS_SIM", "WINDLASS_LOG"] {
            run.env_remove(name);
        }
        let printed = String::from_utf8(run.output().expect("the command starts").stdout).expect("text");
        let said = said.iter().map(|line| line.strip_prefix("    ").unwrap_or(line));
        let said = said.map(without_time).collect::<Vec<_>>().join("\n");
        let printed = printed.lines().map(without_time).collect::<Vec<_>>().join("\n");
        assert_eq!(said.trim_end(), printed.trim_end(), "{arguments}");
        checked += 1;
    }
    assert_eq!(checked, 4);
}

/// A line up to its time, which differs from run to run.
#[cfg(unix)]
fn without_time(line: &str) -> &str {
    match line.strip_suffix(" ms").and_then(|line| line.rsplit_once(" in ")) {
        Some((line, _)) => line,
        None => line,
    }
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
