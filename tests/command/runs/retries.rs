// SPDX-License-Identifier: MIT OR Apache-2.0
//! Retries, and the expectations that a run writes.

use std::fs;

use super::{BROKEN, FLAKY, SOUND, Scratch, cts, event, verdicts};

const CASES: [&str; 2] = ["dispatch.vector_add", "dispatch.positions"];

#[test]
fn a_case_that_passes_at_a_retry_is_flaky_and_fails_no_run() {
    let (finished, events) = cts(FLAKY, &CASES, &[]);
    assert_eq!(finished.code, Some(1), "{}", finished.stdout);
    assert_eq!(verdicts(&events)[1], ("dispatch.positions", "fail"));

    let junit = Scratch::new("xml");
    let (finished, events) = cts(FLAKY, &CASES, &["--retry", "2", "--junit", junit.path()]);
    assert_eq!(finished.code, Some(0), "{}", finished.stdout);
    assert_eq!(verdicts(&events), [("dispatch.vector_add", "pass"), ("dispatch.positions", "flaky")]);
    let failures = event(&events, "dispatch.positions")["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 1, "one retry was enough");
    assert!(failures[0].as_str().unwrap().contains("fail=hipModuleLaunchKernel@6"), "{failures:?}");
    assert_eq!(events.last().unwrap()["flaky"], 1);
    let (_, end) = finished.stdout.split_once("flaky dispatch.positions: passed at a retry").unwrap();
    assert!(end.contains("\nflaky         dispatch.positions\n"), "listed at the end: {}", finished.stdout);
    let xml = junit.text();
    assert!(xml.contains("<flakyFailure ") && xml.contains("failures=\"0\""), "{xml}");
}

#[test]
fn a_case_that_fails_at_each_retry_fails_with_all_of_its_failures() {
    let junit = Scratch::new("xml");
    for isolate in [&[][..], &["--isolate"]] {
        let options = [&["--retry", "2", "--junit", junit.path()], isolate].concat();
        let (finished, events) = cts(BROKEN, &["dispatch.vector_add"], &options);
        assert_eq!(finished.code, Some(1), "{}", finished.stdout);
        let failures = event(&events, "dispatch.vector_add")["failures"].as_array().unwrap();
        assert_eq!(failures.len(), 2, "{failures:?}");
        let xml = junit.text();
        assert_eq!(
            (xml.matches("<rerunFailure ").count(), xml.matches("<failure ").count()),
            (2, 1),
            "{xml}"
        );
    }
}

#[test]
fn a_run_meets_the_expectations_that_it_wrote() {
    let file = Scratch::new("toml");
    for (device, kind) in [(BROKEN, "kind = \"expected-failure\""), (FLAKY, "kind = \"flake\"")] {
        let (finished, _) = cts(device, &CASES, &["--retry", "1", "--write-expectations", file.path()]);
        assert_eq!(finished.code, Some(i32::from(device == BROKEN)), "{}", finished.stdout);
        let written = file.text();
        assert!(written.contains(kind) && written.contains("case = \"dispatch.positions\""), "{written}");
        assert!(written.contains("fail=hipModuleLaunchKernel"), "the failure is the reason: {written}");
        assert!(written.contains("architecture = \"gfx942"), "{written}");
        let (finished, _) = cts(device, &CASES, &["--expectations", file.path()]);
        assert_eq!(finished.code, Some(0), "{written}{}", finished.stdout);
    }
    // What people wrote in is kept. The entry of a case that is mended goes.
    let text = file.text().replace("todo://where-this-is-handled", "https://bugs.example/3")
        + "[[expect]]\ncase = \"dispatch.vec*\"\nkind = \"expected-failure\"\nreason = \"r\"\nlink = \"x://y\"\n";
    fs::write(&file.0, text).unwrap();
    let both = ["--expectations", file.path(), "--write-expectations", file.path()];
    let (finished, _) = cts(FLAKY, &CASES, &both);
    assert_eq!(finished.code, Some(1), "{}", finished.stdout);
    let written = file.text();
    assert!(written.contains("https://bugs.example/3") && !written.contains("dispatch.vec"), "{written}");
    assert_eq!(cts(FLAKY, &CASES, &["--expectations", file.path()]).0.code, Some(0), "{written}");
}

#[test]
fn the_slowest_cases_are_listed_at_the_end() {
    let cases = ["semaphore.starts_at_initial", "dispatch.vector_add", "queue.diamond"];
    let (finished, events) = cts(SOUND, &cases, &["--slowest", "2"]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let mut times: Vec<_> = events
        .iter()
        .filter(|event| event["event"] == "case")
        .map(|event| (event["seconds"].as_f64().unwrap(), event["case"].as_str().unwrap()))
        .collect();
    times.sort_by(|one, other| other.0.total_cmp(&one.0));
    let listed: Vec<_> = finished
        .stdout
        .lines()
        .filter(|line| line.starts_with("slow "))
        .map(|line| line.split_whitespace().last().unwrap())
        .collect();
    assert_eq!(listed, [times[0].1, times[1].1], "{}", finished.stdout);
    let slowest = events.last().unwrap()["slowest"].as_array().unwrap();
    assert_eq!((slowest.len(), &slowest[0]["case"]), (2, &listed[0].into()));
}
