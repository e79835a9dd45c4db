// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs that a signal ends, and runs whose standard output ends: their reports hold what is known.

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use super::{SOUND, Scratch};
use crate::support::command;

/// This case waits for each launch for longer than the test runs.
const STUCK: &str = "hip-sim://gfx942?threads=2&delay=hipModuleLaunchKernel:60s";
const CASES: [&str; 3] = ["queue.diamond", "dispatch.vector_add", "dispatch.positions"];

fn cts(device: &str, files: &[Scratch; 3], more: &[&str]) -> Command {
    let [json, junit, summary] = files.each_ref().map(Scratch::path);
    let mut command = command();
    command.args(["cts", "--device", device, "--json", json, "--junit", junit, "--summary", summary]);
    command.args(more).arg("--exact").args(CASES);
    command
}

fn files() -> [Scratch; 3] {
    ["jsonl", "xml", "md"].map(Scratch::new)
}

/// The tests may have been started with signals ignored, as by `nohup` or in the background of a shell.
fn hears_signals(command: &mut Command) {
    // SAFETY: between fork and exec the function calls nothing but `signal`, which may be called there.
    unsafe {
        command.pre_exec(|| {
            for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM] {
                libc::signal(signal, libc::SIG_DFL);
            }
            Ok(())
        });
    }
}

#[test]
fn a_signal_ends_the_run_with_its_reports() {
    for (signal, number, more) in [
        ("TERM", 15, &[][..]),
        ("INT", 2, &["--isolate"]),
        ("HUP", 1, &["--jobs", "2"]),
        ("TERM", 15, &["--jobs", "2"]),
    ] {
        let files = files();
        let mut run = cts(STUCK, &files, more);
        hears_signals(&mut run);
        let mut child = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a start");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
        assert!(lines.any(|line| line == "pass  queue.diamond"), "{more:?}");
        let kill = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
        assert!(kill.expect("kill").success());
        let rest: Vec<_> = lines.collect();
        let output = child.wait_with_output().expect("an end");
        assert_eq!(output.status.signal(), Some(number), "{more:?} {output:?}");
        let words = format!("SIG{signal} ended the run");
        let [json, junit, page] = files.each_ref().map(Scratch::text);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        for text in [&rest.join("\n"), &json, &junit, &page, &said] {
            assert!(text.contains(&words), "{more:?}: {text}");
        }
        assert!(junit.contains("<testsuite name=\"run\" tests=\"1\""), "{junit}");
        assert!(
            junit.contains("name=\"diamond\"") && junit.contains("tests=\"2\" failures=\"1\""),
            "{junit}"
        );
        assert!(junit.contains("1 of 3 cases have a verdict"), "{junit}");
        let last = json.lines().last().unwrap_or_default();
        assert!(last.contains("\"event\":\"ended\"") && last.contains("\"exit\":1"), "{json}");
    }
}

#[test]
fn reports_are_whole_if_standard_output_ends() {
    let sound = |files: &[Scratch; 3]| {
        let [json, junit, page] = files.each_ref().map(Scratch::text);
        assert!(junit.contains("tests=\"3\" failures=\"0\""), "{junit}");
        assert!(json.lines().last().is_some_and(|line| line.contains("\"passed\":3")), "{json}");
        assert!(page.contains("| 3 | 0 |"), "{page}");
    };
    let these = files();
    let full = fs::File::options().write(true).open("/dev/full").expect("the device");
    let output = cts(SOUND, &these, &[]).stdout(full).output().expect("a start");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("the results could not be written: No space"), "{said}");
    sound(&these);
    // The reader goes after the first line.
    for more in [&[][..], &["--jobs", "2"]] {
        let these = files();
        let mut run = cts(SOUND, &these, more);
        let mut child = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a start");
        let mut first = String::new();
        let mut reader = BufReader::with_capacity(1, child.stdout.take().expect("a pipe"));
        reader.read_line(&mut first).expect("a line");
        drop(reader);
        let output = child.wait_with_output().expect("an end");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        sound(&these);
    }
}

#[test]
fn a_case_that_a_signal_ended_fails_in_the_run_that_continues() {
    let file = Scratch::new("run");
    let files = files();
    let resume = ["--resume", file.path()];
    let mut run = cts(STUCK, &files, &resume);
    let mut child = run.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a start");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "pass  queue.diamond"));
    // A run that is killed between two cases leaves the next one to the run that continues, where it is stuck.
    while !file.text().contains("\"begin\":\"dispatch.vector_add\"") {
        thread::sleep(Duration::from_millis(1));
    }
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill").success());
    drop(lines);
    assert_eq!(child.wait().expect("an end").signal(), Some(15));
    assert!(!file.text().contains("over"), "{}", file.text());
    let device = STUCK.to_owned();
    let mut again = cts(&device, &files, &resume);
    let mut child = again.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a start");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("it has the verdicts of 1 of 3 cases")));
    assert!(lines.any(|line| line == "FAIL  dispatch.vector_add"));
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill").success());
    assert_eq!(child.wait().expect("an end").signal(), Some(15));
}

#[test]
fn a_signal_that_is_ignored_ends_nothing() {
    let files = files();
    let run = cts("hip-sim://gfx942?threads=2&delay=hipModuleLaunchKernel:500ms", &files, &[]);
    let mut words = vec!["-c", "trap '' HUP; exec \"$0\" \"$@\""];
    words.push(run.get_program().to_str().expect("text"));
    words.extend(run.get_args().map(|word| word.to_str().expect("text")));
    let mut shell = Command::new("sh");
    shell.args(words).current_dir(run.get_current_dir().expect("a folder"));
    let mut child = shell.stdout(Stdio::piped()).spawn().expect("a start");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "pass  queue.diamond"));
    assert!(Command::new("kill").args(["-HUP", &child.id().to_string()]).status().expect("kill").success());
    assert!(lines.any(|line| line.contains("test result: ok. 3 passed")));
    assert!(child.wait().expect("an end").success());
}
