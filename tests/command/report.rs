// SPDX-License-Identifier: MIT OR Apache-2.0
//! `report`: its parts over sound and broken HIPs, its files, and the names that must not be in them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Finished, command, finish};

const SIMULATED: &str = "hip-sim://gfx942?threads=2&devices=2";

/// A folder for a report.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The command that reports into the folder.
    fn command(&self, options: &[&str]) -> Command {
        let mut command = command();
        command.args(["report".as_ref(), self.0.path().as_os_str()]).args(options);
        command
    }

    fn run(&self, options: &[&str]) -> Finished {
        finish(&mut self.command(options))
    }

    fn json(&self) -> Value {
        let text = fs::read(self.path("windlass-report.json")).expect("the JSON is there");
        serde_json::from_slice(&text).expect("the JSON is whole")
    }

    fn page(&self) -> String {
        fs::read_to_string(self.path("windlass-report.md")).expect("the page is there")
    }
}

fn part<'r>(report: &'r Value, name: &str) -> &'r Value {
    let parts = report["parts"].as_array().expect("parts");
    parts.iter().find(|part| part["name"] == name).expect("the part is there")
}

fn outcomes(report: &Value) -> Vec<(&str, &str)> {
    let parts = report["parts"].as_array().expect("parts");
    let text = |value: &'_ Value| -> &'static str {
        Box::leak(value.as_str().expect("text").to_owned().into_boxed_str())
    };
    parts.iter().map(|part| (text(&part["name"]), text(&part["outcome"]))).collect()
}

#[test]
fn a_report_over_the_simulated_gpu_has_every_part() {
    let folder = Folder::new();
    let finished = folder.run(&["--device", SIMULATED]);
    assert_eq!(finished.code, Some(0), "{}{}", finished.stdout, finished.stderr);
    let report = folder.json();
    assert_eq!((&report["schema"], &report["complete"]), (&"windlass-report".into(), &true.into()));
    assert!(outcomes(&report).iter().all(|(_, outcome)| *outcome == "done"), "{:?}", outcomes(&report));
    let result = |name: &str| &part(&report, name)["result"];
    assert!(result("system")["software"]["kernel"].is_string(), "{}", result("system"));
    assert_eq!(result("devices")[0]["devices"][0]["check"]["verdict"], "right");
    assert_eq!(result("cts")["opened"]["device"]["simulated"], true);
    assert_eq!(result("cts")["cases"]["dispatch.vector_add"]["verdict"], "pass");
    let programs = result("assumptions")["programs"].as_object().expect("programs");
    assert!(programs.len() > 50 && programs.values().all(|program| program["outcome"] == "held"));
    assert!(result("bench")["rows"].as_array().expect("rows").len() > 50);
    let page = folder.page();
    assert!(page.starts_with("# Windlass report\n"), "{page}");
    assert!(page.contains("is simulated or no GPU. The report says nothing about hardware."), "{page}");
    assert!(page.contains("| cts | done |") && page.contains("| dispatch/direct bindings=2 |"), "{page}");
    assert!(
        finished.stdout.contains("simulated") && finished.stdout.contains("Attach"),
        "{}",
        finished.stdout
    );
}

#[test]
fn without_a_gpu_the_report_says_at_its_top_that_the_gpu_is_simulated() {
    let folder = Folder::new();
    let finished = folder.run(&["--parts", "system,libraries"]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let (report, page) = (folder.json(), folder.page());
    if report["device"]["uri"] == "hip://" {
        return;
    }
    assert!(
        page.lines().nth(2).is_some_and(|line| line.contains("no real GPU") && line.contains("simulated"))
    );
    assert!(finished.stdout.contains("simulated: this machine has no real GPU"), "{}", finished.stdout);
    assert!(report["device"]["no_real_gpu"].is_string());
}

#[test]
fn a_hip_call_that_hangs_is_named_and_the_later_parts_run() {
    let folder = Folder::new();
    let finished = folder.run(&[
        "--device",
        "hip-sim://gfx942?delay=hipModuleLoadData:600s",
        "--skip",
        "assumptions,libraries",
        "--timeout",
        "devices=4",
        "--timeout",
        "cts=3",
        "--timeout",
        "bench=3",
    ]);
    assert_eq!(finished.code, Some(5), "{}{}", finished.stdout, finished.stderr);
    let report = folder.json();
    assert_eq!(report["complete"], true);
    let outcome = |name: &str| (name.to_owned(), part(&report, name)["outcome"].clone());
    let ends = ["system", "devices", "cts", "bench"].map(outcome);
    let expected = [("system", "done"), ("devices", "hung"), ("cts", "hung"), ("bench", "hung")];
    assert_eq!(ends, expected.map(|(name, end)| (name.to_owned(), end.into())));
    for text in [&finished.stderr, &folder.page(), &part(&report, "devices").to_string()] {
        assert!(text.contains("hipModuleLoadData(") && text.contains("does not return"), "{text}");
    }
    // Verdicts that were reached before the call stay.
    assert_eq!(part(&report, "cts")["result"]["cases"]["driver.reports_itself"]["verdict"], "pass");
}

#[test]
fn a_hip_that_hangs_at_its_start_costs_each_part_its_own_time() {
    let folder = Folder::new();
    let mut options = vec!["--device", "hip-sim://gfx942?delay=hipInit:600s", "--skip", "system,libraries"];
    for limit in ["devices=2", "assumptions=2", "cts=2", "bench=2"] {
        options.extend(["--timeout", limit]);
    }
    let begin = Instant::now();
    let finished = folder.run(&options);
    assert_eq!(finished.code, Some(5), "{}{}", finished.stdout, finished.stderr);
    assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
    let report = folder.json();
    assert!(part(&report, "devices")["message"].as_str().unwrap().contains("hipInit("), "{report:#}");
    let programs = part(&report, "assumptions")["result"]["programs"].as_object().unwrap();
    let first = programs.values().find(|program| program["outcome"] == "hung").expect("a program hung");
    assert!(first["message"].as_str().unwrap().contains("hipInit("), "{first}");
}

#[test]
fn a_row_that_hangs_is_named_with_its_call_and_the_rows_behind_it_are_measured() {
    let folder = Folder::new();
    let device = "hip-sim://gfx942?delay=hipMallocAsync:600s";
    let finished = folder.run(&["--device", device, "--parts", "bench", "--timeout", "bench=40"]);
    assert_eq!(finished.code, Some(5), "{}{}", finished.stdout, finished.stderr);
    let report = folder.json();
    let rows = part(&report, "bench")["result"]["rows"].as_array().expect("rows");
    let hung = rows.iter().position(|row| row["status"] == "hung").expect("a row hangs");
    assert_eq!(rows[hung]["row"], "memory/alloca-dealloca bytes=4096");
    assert!(rows[hung]["reason"].as_str().unwrap().contains("hipMalloc"), "{}", rows[hung]);
    assert!(rows[hung + 1..].iter().any(|row| row["status"] == "measured"), "{report:#}");
}

/// A library with HIP's name, made from C, in a folder. `None` without a compiler.
#[cfg(target_os = "linux")]
fn library(folder: &Path, code: &str) -> Option<PathBuf> {
    fs::create_dir_all(folder).expect("a folder");
    let (source, library) = (folder.join("hip.c"), folder.join("libamdhip64.so.7"));
    fs::write(&source, code).expect("a file");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-Wl,--build-id=0x00c0ffee", "-o"]).args([&library, &source]);
    match compiler.status() {
        Ok(status) => {
            assert!(status.success(), "the library compiles");
            Some(library)
        }
        Err(_) => {
            eprintln!("skipped: there is no C compiler by the name of cc");
            None
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_library_that_aborts_costs_the_parts_that_load_it_and_the_report_goes_on() {
    let folder = Folder::new();
    let code = "#include <stdio.h>\n#include <stdlib.h>\n__attribute__((constructor)) static void start(void) \
                { fputs(\"no firmware for this GPU\\n\", stderr); abort(); }\n";
    let Some(library) = library(&folder.path("lib"), code) else { return };
    let finished = finish(folder.command(&[]).env("WINDLASS_HIP_LIBRARY", &library));
    assert_eq!(finished.code, Some(1), "{}{}", finished.stdout, finished.stderr);
    let report = folder.json();
    let expected = [
        ("system", "done"),
        ("libraries", "died"),
        ("devices", "failed"),
        ("assumptions", "failed"),
        ("cts", "died"),
        ("bench", "died"),
    ];
    assert_eq!(outcomes(&report), expected);
    let found = &part(&report, "libraries")["result"]["libraries"][0];
    assert_eq!(found["build_id"], "00c0ffee");
    assert!(found["problem"].as_str().unwrap().contains("no firmware for this GPU"), "{found}");
    for name in ["cts", "bench"] {
        let message = part(&report, name)["message"].as_str().unwrap();
        assert!(message.contains("signal: 6") && message.contains("no firmware"), "{name}: {message}");
    }
}

#[test]
fn a_named_library_that_is_not_there_is_exit_code_3() {
    let folder = Folder::new();
    let absent = folder.path("libamdhip64.so.9");
    let finished = finish(folder.command(&[]).env("WINDLASS_HIP_LIBRARY", absent));
    assert_eq!(finished.code, Some(3), "{}{}", finished.stdout, finished.stderr);
    let report = folder.json();
    for name in ["devices", "assumptions", "cts", "bench"] {
        assert_eq!(part(&report, name)["outcome"], "absent", "{report:#}");
    }
    let finished = folder.run(&["--device", "hip-sim://7", "--parts", "devices,cts"]);
    assert_eq!(finished.code, Some(3), "{}{}", finished.stdout, finished.stderr);
}

#[test]
fn a_failed_case_is_exit_code_1_and_stands_in_the_page() {
    let folder = Folder::new();
    let device = "hip-sim://gfx942?threads=2&fail=hipModuleLaunchKernel";
    let finished = folder.run(&["--device", device, "--parts", "devices,cts"]);
    assert_eq!(finished.code, Some(1), "{}{}", finished.stdout, finished.stderr);
    let report = folder.json();
    assert_eq!(part(&report, "cts")["outcome"], "failed");
    assert_eq!(part(&report, "cts")["result"]["cases"]["dispatch.vector_add"]["verdict"], "fail");
    let page = folder.page();
    assert!(
        page.contains("`dispatch.vector_add`: **fail**") && page.contains("hipModuleLaunchKernel"),
        "{page}"
    );
    assert!(page.contains("| cts | failed |"), "{page}");
}

#[test]
fn names_of_people_and_machines_are_not_in_a_report() {
    let folder = Folder::new();
    let home = folder.path("zappa");
    let library = home.join("secret-project/lib/libamdhip64.so.7");
    fs::create_dir_all(library.parent().unwrap()).unwrap();
    fs::write(&library, "no library").unwrap();
    let mut report = folder.command(&["--parts", "system,libraries,devices,cts"]);
    report.env("WINDLASS_HIP_LIBRARY", &library).env("HOME", &home);
    report.env("USER", "moonunit").env("HOSTNAME", "frankfurt12.uncle.meat");
    report.env(
        "HIP_PLANTED",
        "moonunit at FRANKFURT12 and 192.168.7.9, 00:1a:2b:3c:4d:5e of /home/dweezil/x/y.so",
    );
    let finished = finish(&mut report);
    assert_eq!(finished.code, Some(3), "{}{}", finished.stdout, finished.stderr);
    let (json, page) = (folder.json().to_string(), folder.page());
    for text in [&json, &page] {
        for name in [
            "zappa",
            "secret-project",
            "moonunit",
            "rankfurt12",
            "FRANKFURT12",
            "uncle",
            "192.168",
            "1a:2b",
            "dweezil",
        ] {
            assert!(!text.contains(name), "{name} in {text}");
        }
    }
    assert!(json.contains("USER at HOST and IP, MAC of ~/.../y.so"), "{json}");
    assert!(json.contains("~/.../libamdhip64.so.7"), "{json}");
}

#[test]
fn a_report_that_is_killed_leaves_all_that_is_known() {
    let folder = Folder::new();
    let device = "hip-sim://gfx942?delay=hipInit:600s";
    let mut running = folder
        .command(&["--device", device, "--parts", "system,libraries,assumptions"])
        .spawn()
        .expect("the command starts");
    let until = Instant::now() + Duration::from_secs(60);
    let file = folder.path("windlass-report.json");
    // Each state of a file is whole, whenever it is read. The page is written behind the JSON.
    loop {
        assert!(Instant::now() < until, "the last part begins");
        let begun = file.exists() && part(&folder.json(), "assumptions")["outcome"] == "running";
        if begun && folder.page().contains("| assumptions | running |") {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    running.kill().expect("it is killed");
    running.wait().expect("it ends");
    let report = folder.json();
    assert_eq!(report["complete"], false);
    assert_eq!(part(&report, "system")["outcome"], "done");
    assert!(part(&report, "libraries")["result"]["libraries"].is_array());
    assert!(folder.page().contains("**The report is not complete"), "{}", folder.page());
    let names: Vec<_> =
        fs::read_dir(folder.0.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn a_file_that_is_no_report_is_not_replaced() {
    let folder = Folder::new();
    for name in ["windlass-report.md", "windlass-report.json"] {
        let path = folder.path(name);
        fs::write(&path, "my notes").unwrap();
        let finished = folder.run(&["--parts", "system"]);
        assert_eq!(finished.code, Some(2), "{}", finished.stderr);
        assert!(
            finished.stderr.contains(name) && finished.stderr.contains("move it away"),
            "{}",
            finished.stderr
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), "my notes");
        fs::remove_file(&path).unwrap();
    }
    // A report of before is replaced, under its own name too.
    for path in ["windlass-report.md", "windlass-report", "windlass-report"] {
        let mut report = command();
        report.arg("report").arg(folder.path(path)).args(["--parts", "system", "--device", SIMULATED]);
        let finished = finish(&mut report);
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    }
    assert_eq!(part(&folder.json(), "system")["outcome"], "done");
}

#[test]
fn mistakes_are_exit_code_2_with_their_remedy() {
    let folder = Folder::new();
    fs::write(folder.path("file"), "").unwrap();
    let at = |name: &str| folder.path(name).display().to_string();
    let (below_file, in_none, none) = (at("file/name"), at("none/name"), at("none/"));
    for (arguments, words) in [
        (&[&*below_file][..], "make it, or name another"),
        (&[&in_none], "make it, or name another"),
        (&[&none], "make it, or name another"),
        (&["/proc/report", "--parts", "system", "--device", "null://"], "cannot write"),
        (&["--device", "cuda://"], "--device cuda://"),
        (&["--timeout", "cts"], "such as cts=600"),
        (&["--timeout", "ct=600"], "there is no part `ct`"),
        (&["--parts", "none"], "possible values"),
    ] {
        let finished = finish(command().arg("report").args(arguments).current_dir(folder.0.path()));
        assert_eq!(finished.code, Some(2), "{arguments:?}: {}", finished.stderr);
        assert!(finished.stderr.contains(words), "{arguments:?}: {}", finished.stderr);
    }
    let names: Vec<_> =
        fs::read_dir(folder.0.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["file"], "a mistake writes nothing");
}
