// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cts`: the runner's options through the command.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::Value;

use crate::support::{command, finish, scratch, windlass};

const SIMULATED: &str = "hip-sim://gfx942?threads=2";

fn events(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

#[test]
fn cases_are_listed_with_their_contracts() {
    let finished = windlass(["cts", "--list", "semaphore."]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(finished.stdout.contains("semaphore.starts_at_initial"), "{}", finished.stdout);
    assert!(
        finished.stdout.contains("A new semaphore's payload is its initial value"),
        "{}",
        finished.stdout
    );
    let listed = events(&windlass(["cts", "--list", "--format", "json", "--level", "stress"]).stdout);
    let names: BTreeSet<_> = listed.iter().map(|event| event["case"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names.len(), listed.len());
    assert!(listed.iter().all(|event| event["contract"].as_str().is_some_and(|text| text.ends_with('.'))));
    let levels: BTreeSet<_> = listed.iter().map(|event| event["level"].as_str().unwrap()).collect();
    assert_eq!(levels, BTreeSet::from(["full", "smoke", "stress"]));

    // Shards together are the whole suite, without duplicates.
    let mut sharded = Vec::new();
    for shard in ["1/3", "2/3", "3/3"] {
        let finished = windlass(["cts", "--list", "--format", "json", "--level", "stress", "--shard", shard]);
        sharded
            .extend(events(&finished.stdout).iter().map(|event| event["case"].as_str().unwrap().to_owned()));
    }
    assert_eq!(sharded.len(), names.len());
    assert_eq!(sharded.into_iter().collect::<BTreeSet<_>>(), names);
}

#[test]
fn reports_name_the_simulated_device_and_the_build() {
    let files = [scratch("jsonl"), scratch("xml"), scratch("md")];
    let [json, junit, page] = files.each_ref().map(|path| path.to_str().unwrap());
    let finished = windlass([
        "cts",
        "--device",
        SIMULATED,
        "--device",
        "null://",
        "--json",
        json,
        "--junit",
        junit,
        "--summary",
        page,
        "--seed",
        "5",
        "--exact",
        "driver.reports_itself",
        "dispatch.vector_add",
    ]);
    assert_eq!(finished.code, Some(0), "{}{}", finished.stdout, finished.stderr);
    assert!(finished.stderr.is_empty(), "no progress but on a terminal: {}", finished.stderr);
    let events = events(&fs::read_to_string(json).unwrap());
    let device = &events[0]["device"];
    assert_eq!(device["simulated"], true);
    assert!(device["library"].as_str().unwrap().contains("simulated"), "{device}");
    assert!(device["architecture"].as_str().unwrap().starts_with("gfx942"), "{device}");
    assert!(events[0]["run"]["provenance"].as_str().unwrap().starts_with("windlass "), "{}", events[0]);
    assert_eq!(events[0]["run"]["seed"], 5);
    let ended = events.last().unwrap();
    assert_eq!((&ended["passed"], &ended["skipped"]), (&3.into(), &1.into()), "{ended}");
    let reasons = ended["skip_reasons"].as_object().unwrap();
    assert!(reasons.keys().next().unwrap().starts_with("declared lack `dispatch`"), "{ended}");
    let xml = fs::read_to_string(junit).unwrap();
    assert!(xml.contains(r#"name="simulated" value="true""#) && xml.contains(r#"tests="4""#), "{xml}");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("simulated | 0 | 2 | 0 | 0 | 0 | 0 |"), "{page}");
}

#[test]
fn each_case_may_have_a_process_of_its_own() {
    let finished = windlass([
        "cts",
        "--device",
        SIMULATED,
        "--isolate",
        "--exact",
        "dispatch.vector_add",
        "queue.diamond",
    ]);
    assert_eq!(finished.code, Some(0), "{}{}", finished.stdout, finished.stderr);
    assert!(finished.stdout.contains("each in a process of its own"), "{}", finished.stdout);
    assert!(finished.stdout.contains("test result: ok. 2 passed; 0 failed"), "{}", finished.stdout);
}

#[test]
fn expectations_are_judged() {
    let file = scratch("toml");
    let path = file.to_str().unwrap();
    let arguments =
        ["cts", "--device", SIMULATED, "--expectations", path, "--exact", "semaphore.starts_at_initial"];
    fs::write(
        &file,
        "[[expect]]\ncase = \"semaphore.*\"\nkind = \"expected-failure\"\narchitecture = \"gfx9*\"\n\
         reason = \"none\"\nlink = \"https://bugs.example/1\"\n",
    )
    .unwrap();
    let finished = windlass(arguments);
    assert_eq!(finished.code, Some(1), "{}", finished.stdout);
    assert!(finished.stdout.contains("it passed against line 1 of the expectations"), "{}", finished.stdout);
    fs::write(&file, "[[expect]]\ncase = \"semaphore.*\"\nkind = \"flake\"\n").unwrap();
    let finished = windlass(arguments);
    assert_eq!(finished.code, Some(2), "{}", finished.stdout);
    assert!(finished.stderr.contains(&format!("{path}:1:1: missing field `reason`")), "{}", finished.stderr);
}

#[test]
fn without_a_gpu_everything_is_skipped_at_once_with_the_reason() {
    if Path::new("/dev/kfd").exists() {
        eprintln!("skipped: this machine has a GPU");
        return;
    }
    // With or without a HIP library on this machine.
    let finished = windlass(["cts", "--device", "hip://"]);
    assert_eq!(finished.code, Some(4), "{}", finished.stdout);
    for words in ["a case must run: every case was skipped", "windlass cts --device hip-sim://"] {
        assert!(finished.stderr.contains(words), "{}", finished.stderr);
    }
    assert!(finished.stdout.contains("hip:// could not be opened: UNAVAILABLE"), "{}", finished.stdout);
    assert!(finished.stdout.contains(" 0 passed; 0 failed;"), "{}", finished.stdout);
    if cfg!(target_os = "linux") {
        assert!(
            finished.stdout.contains("AMD GPU") || finished.stdout.contains("/dev/kfd"),
            "{}",
            finished.stdout
        );
        let listed = windlass(["devices"]).stdout;
        assert!(listed.contains("AMD GPU") || listed.contains("/dev/kfd"), "{listed}");
    }
    let finished = windlass(["cts", "--device", "hip://", "--require"]);
    assert_eq!(finished.code, Some(3), "{}", finished.stdout);
    assert!(finished.stderr.contains("hip:// could not be opened"), "{}", finished.stderr);
    // The other devices of the run are still tested.
    let finished = windlass(["cts", "--device", "hip://", "--device", SIMULATED, "driver.reports_itself"]);
    assert_eq!(finished.code, Some(0), "{}", finished.stdout);
    assert!(
        finished.stdout.contains("test result: ok. 1 passed; 0 failed; 1 ignored"),
        "{}",
        finished.stdout
    );
}

#[test]
fn without_a_gpu_and_a_device_the_simulated_one_is_tested_and_every_report_says_so() {
    if Path::new("/dev/kfd").exists() {
        eprintln!("skipped: this machine has a GPU");
        return;
    }
    let files = [scratch("jsonl"), scratch("xml"), scratch("md")];
    let [json, junit, page] = files.each_ref().map(|path| path.to_str().unwrap());
    let reports = ["--json", json, "--junit", junit, "--summary", page];
    let finished = windlass(["cts", "--exact", "dispatch.vector_add"].into_iter().chain(reports));
    assert_eq!(finished.code, Some(0), "{}{}", finished.stdout, finished.stderr);
    assert!(finished.stdout.contains("1 passed; 0 failed; 0 ignored"), "{}", finished.stdout);
    let read = |path: &str| fs::read_to_string(path).unwrap();
    for text in [&finished.stdout, &finished.stderr, &read(json), &read(junit), &read(page)] {
        assert!(text.contains("no real GPU") && text.contains("running on hip-sim://, simulated"), "{text}");
    }
    assert!(events(&read(json))[0]["run"]["choice"].is_string());
    // A library that the user names is tested, or nothing is.
    let mut named = command();
    named.env("WINDLASS_HIP_LIBRARY", "/nowhere/libamdhip64.so").args(["cts", "--level", "smoke"]);
    let finished = finish(&mut named);
    assert_eq!(finished.code, Some(4), "{}", finished.stdout);
    assert!(finished.stdout.contains("/nowhere/libamdhip64.so"), "{}", finished.stdout);
}

#[test]
fn a_run_in_which_nothing_ran_is_exit_code_4() {
    let file = scratch("xml");
    let junit = file.to_str().unwrap();
    for (arguments, reason, remedy) in [
        // Every case needs a feature that the device lacks.
        (
            &["null://", "--exact", "dispatch.vector_add"][..],
            "1 skipped: declared lack `dispatch`",
            "--device null://",
        ),
        // No case has such a name.
        (&[SIMULATED, "no such case"], "no case fits the filters and the level", "windlass cts --list"),
        // The level leaves out the only case.
        (
            &[SIMULATED, "--level", "smoke", "--exact", "executable_cache.devices_apart"],
            "no case fits",
            "windlass cts --list",
        ),
    ] {
        let options = ["cts", "--junit", junit, "--device"];
        let finished = windlass(options.into_iter().chain(arguments.iter().copied()));
        assert_eq!(finished.code, Some(4), "{arguments:?}: {}{}", finished.stdout, finished.stderr);
        assert!(finished.stdout.contains("test result: FAILED. 0 passed"), "{}", finished.stdout);
        for words in [reason, remedy] {
            assert!(finished.stderr.contains(words), "{words}: {}", finished.stderr);
        }
        let report = fs::read_to_string(&file).unwrap();
        assert!(report.contains("failures=\"1\"") && report.contains("a case must run"), "{report}");
    }
    // Each part of a suite is a run of its own only together with the others.
    let parts = ["1/2", "2/2"].map(|shard| {
        windlass(["cts", "--device", SIMULATED, "--shard", shard, "--exact", "semaphore.starts_at_initial"])
            .code
    });
    assert_eq!(parts, [Some(0), Some(0)]);
    // A case that is skipped in a process of its own is a skip, and no crash.
    let finished = windlass([
        "cts",
        "--device",
        "null://",
        "--isolate",
        "--exact",
        "dispatch.vector_add",
        "queue.diamond",
    ]);
    assert_eq!(finished.code, Some(0), "{}", finished.stdout);
    assert!(finished.stdout.contains("1 passed; 0 failed; 1 ignored"), "{}", finished.stdout);
}

#[test]
fn skips_are_limited_and_cases_demanded() {
    let two = ["dispatch.vector_add", "queue.diamond"];
    let run = |device: &str, demands: &[&str]| {
        let all = ["cts", "--device", device, "--exact"];
        windlass(all.into_iter().chain(two).chain(demands.iter().copied()))
    };
    for (device, demands, words) in [
        ("null://", &["--max-skips", "0"][..], "dispatch.vector_add"),
        ("null://", &["--must-pass", "dispatch.*"], "dispatch.vector_add: skip: declared lack `dispatch`"),
        (SIMULATED, &["--must-pass", "dispatch"], "no case has such a name"),
        (
            SIMULATED,
            &["--must-pass", "queue.*", "--must-pass", "semaphore.*"],
            "the filters and the level leave out",
        ),
    ] {
        let finished = run(device, demands);
        assert_eq!(finished.code, Some(1), "{demands:?}: {}{}", finished.stdout, finished.stderr);
        for text in [&finished.stdout, &finished.stderr] {
            assert!(text.contains(&demands[demands.len() - 2..].join(" ")) && text.contains(words), "{text}");
        }
    }
    for (device, demands) in [
        ("null://", &["--max-skips", "1", "--must-pass", "queue.*"][..]),
        (SIMULATED, &["--max-skips", "0", "--must-pass", "dispatch.*", "--must-pass", "*diamond"]),
    ] {
        let finished = run(device, demands);
        assert_eq!(finished.code, Some(0), "{demands:?}: {}{}", finished.stdout, finished.stderr);
    }
    // A case of another shard is demanded there.
    let demanded = ["--must-pass", "queue.diamond"];
    for shard in ["1/2", "2/2"] {
        let finished = run(SIMULATED, &[&demanded[..], &["--shard", shard]].concat());
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    }
    // A device that is absent has passed nothing.
    let finished = windlass(
        ["cts", "--device", SIMULATED, "--device", "hip-sim://7", "--must-pass", "queue.diamond"]
            .into_iter()
            .chain(["--exact", "queue.diamond"]),
    );
    assert_eq!(finished.code, Some(1), "{}{}", finished.stdout, finished.stderr);
}

#[test]
fn a_hip_that_does_not_work_is_broken_and_no_absent_device() {
    for (status, code) in [("hipErrorOutOfMemory", 1), ("hipErrorUnknown", 1), ("hipErrorNoDevice", 0)] {
        let device = format!("hip-sim://gfx942?fail=hipInit:{status}");
        let finished = windlass([
            "cts",
            "--device",
            &device,
            "--device",
            "null://",
            "--exact",
            "transfer.fill_pattern_4",
        ]);
        assert_eq!(finished.code, Some(code), "{status}: {}{}", finished.stdout, finished.stderr);
    }
}

#[test]
fn an_absent_device_that_is_required_outranks_the_demands() {
    let demands = ["--max-skips", "0", "--must-pass", "queue.*"];
    let run = |options: &[&str]| {
        windlass(
            [&["cts", "--device", "hip-sim://7", "--exact", "queue.diamond"], &demands[..], options].concat(),
        )
    };
    let finished = run(&["--require"]);
    assert_eq!(finished.code, Some(3), "{}", finished.stderr);
    assert!(finished.stderr.contains("not met: --max-skips 0"), "{}", finished.stderr);
    assert_eq!(run(&[]).code, Some(1));
    // A failure on another device outranks both.
    let finished = run(&["--require", "--device", "hip-sim://gfx942?fail=hipStreamCreateWithFlags"]);
    assert_eq!(finished.code, Some(1), "{}{}", finished.stdout, finished.stderr);
}

#[test]
fn the_advice_after_a_run_of_nothing_names_a_device_that_runs_kernels() {
    let finished = windlass(["cts", "--device", "hip-sim://gfx942?devices=0"]);
    assert!(!finished.stderr.contains("hip-null"), "{}", finished.stderr);
    let finished = windlass(["cts", "--device", "hip-sim://7"]);
    assert_eq!(finished.code, Some(4), "{}", finished.stderr);
    assert!(finished.stderr.contains("windlass cts --device hip-sim://\n"), "{}", finished.stderr);
}

#[test]
fn a_list_of_nothing_says_so() {
    for (options, code, words) in [
        (&["--exact", "nope"][..], 2, "no case is called `nope`"),
        (&["nope"], 4, "no case fits the filters and the level"),
        (&["--level", "smoke", "--exact", "executable_cache.devices_apart"], 4, "no case fits the filters"),
    ] {
        let finished = windlass(["cts", "--list"].iter().chain(options));
        assert_eq!(finished.code, Some(code), "{options:?}: {}{}", finished.stdout, finished.stderr);
        assert!(finished.stderr.contains(words), "{options:?}: {}", finished.stderr);
        assert!(finished.stdout.is_empty(), "{}", finished.stdout);
    }
}

#[test]
fn the_variable_says_which_device_is_tested() {
    let finished =
        finish(command().env("WINDLASS_DEVICE", "null://").args(["cts", "--exact", "queue.diamond"]));
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(finished.stdout.contains("device        null://"), "{}", finished.stdout);
}

#[test]
fn mistakes_are_exit_code_2() {
    for (arguments, message) in [
        (["--shard", "5/4"], "1/4 to 4/4"),
        (["--level", "brief"], "smoke, full, stress"),
        (["--device", "cuda://"], "hip-sim://"),
        (["--device", "null"], "null could not be opened"),
        (["no such case", "--exact"], "--list shows them all"),
        (["--expectations", "no-such-file"], "no-such-file could not be read"),
        (["--timeout", "never"], "0.001 to 86400"),
    ] {
        let finished = windlass(["cts"].into_iter().chain(arguments));
        assert_eq!(finished.code, Some(2), "{arguments:?}: {}", finished.stdout);
        assert!(finished.stderr.contains(message), "{arguments:?}: {}", finished.stderr);
    }
}
