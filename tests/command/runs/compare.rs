// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cts compare`: the changes between two runs, from both kinds of reports.

use std::fs;

use super::{BROKEN, FLAKY, SOUND, Scratch, cts};
use crate::support::{Finished, command, finish, windlass};

fn compare(old: &Scratch, new: &Scratch, options: &[&str]) -> Finished {
    windlass(["cts", "compare", old.path(), new.path()].iter().chain(options))
}

/// The reports of a run, in JSON and JUnit.
fn run(device: &str, cases: &[&str], options: &[&str]) -> [Scratch; 2] {
    let files = [Scratch::new("jsonl"), Scratch::new("xml")];
    let [json, junit] = files.each_ref().map(Scratch::path);
    let reports = ["--junit", junit, "--format", "json"];
    let (finished, _) = cts(device, cases, &[&reports[..], options].concat());
    fs::write(json, &finished.stdout).unwrap();
    files
}

#[test]
fn what_broke_is_exit_code_1_and_the_rest_is_0() {
    let cases = ["dispatch.vector_add", "dispatch.positions", "queue.diamond"];
    let sound = run(SOUND, &cases, &[]);
    let broken = run(BROKEN, &cases, &[]);
    let flaky = run(FLAKY, &cases, &["--retry", "1"]);
    let fewer = run("null://", &[cases[0], cases[1], "semaphore.starts_at_initial"], &[]);
    for form in 0..2 {
        let all = |old: &[Scratch; 2], new: &[Scratch; 2]| {
            // Times differ between runs of tests.
            let finished = compare(&old[form], &new[form], &["--floor", "1000"]);
            (finished.code, finished.stdout)
        };
        let (code, text) = all(&sound, &sound);
        assert_eq!(code, Some(0), "{text}");
        let none = "0 broken; 0 fixed; 0 newly flaky; 0 newly skipped; 0 newly run; 0 absent; 0 slower\n";
        assert_eq!(text, none);

        let (code, text) = all(&sound, &broken);
        assert_eq!(code, Some(1), "{text}");
        assert!(
            text.contains("broken        dispatch.vector_add: fail instead of pass: unexpected"),
            "{text}"
        );
        assert!(text.contains("2 broken; 0 fixed"), "{text}");

        let (code, text) = all(&broken, &sound);
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("fixed         dispatch.positions: pass instead of fail\n"), "{text}");

        let (code, text) = all(&sound, &flaky);
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("newly flaky   dispatch.positions: flaky instead of pass"), "{text}");

        let (code, text) = all(&sound, &fewer);
        assert_eq!(code, Some(0), "{text}");
        assert!(
            text.contains("newly skipped dispatch.vector_add: skip instead of pass: declared lack"),
            "{text}"
        );
        assert!(
            text.contains("absent        queue.diamond: was pass, and is not in the later run"),
            "{text}"
        );

        let (code, text) = all(&fewer, &sound);
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("newly run     dispatch.vector_add: pass instead of skip"), "{text}");
        assert!(text.contains("newly run     queue.diamond: pass instead of absent"), "{text}");
    }
    // A JSON report and a JUnit report of one run are the same.
    let finished = compare(&broken[0], &broken[1], &["--floor", "1000"]);
    assert_eq!((finished.code, finished.stdout.lines().count()), (Some(0), 1), "{}", finished.stdout);
}

#[test]
fn a_run_that_did_not_end_or_lost_its_device_broke() {
    let cases = ["queue.diamond", "dispatch.vector_add", "dispatch.positions"];
    let sound = run(SOUND, &cases, &[]);
    let cut = Scratch::new("jsonl");
    let text = sound[0].text();
    let ended = text.trim_end().rfind('\n').unwrap();
    fs::write(&cut.0, &text[..ended]).unwrap();
    let finished = compare(&sound[0], &cut, &[]);
    assert_eq!(finished.code, Some(1), "{}", finished.stdout);
    assert!(
        finished.stdout.contains("broken        the run: it did not come to its end"),
        "{}",
        finished.stdout
    );

    let absent = run("hip-sim://7", &cases, &["--require"]);
    let lost = run(BROKEN, &cases, &["--recovery", "0"]);
    for form in 0..2 {
        for (new, words) in
            [(&absent, "broken        the run: hip-sim://7: "), (&lost, "after dispatch.vector_add")]
        {
            let finished = compare(&sound[form], &new[form], &[]);
            assert_eq!(finished.code, Some(1), "{}{}", finished.stdout, finished.stderr);
            assert!(finished.stdout.contains(words), "{words}: {}", finished.stdout);
        }
    }
}

#[test]
fn runs_without_a_common_case_are_not_compared() {
    let cases = ["queue.diamond", "dispatch.vector_add"];
    let sound = run(SOUND, &cases, &[]);
    let other = run(SOUND, &["semaphore.starts_at_initial"], &[]);
    // Nothing of an absent device is known, in both kinds of reports.
    let absent = run("hip-sim://7", &cases, &[]);
    for form in 0..2 {
        let finished = compare(&sound[form], &other[form], &[]);
        assert_eq!(finished.code, Some(2), "{}", finished.stdout);
        assert!(finished.stderr.contains("have no case in common"), "{}", finished.stderr);
    }
    let both = [0, 1].map(|form| compare(&sound[form], &absent[form], &[]));
    assert_eq!((both[0].code, &both[0].stdout), (Some(1), &both[1].stdout), "{}", both[1].stderr);
    assert!(both[0].stdout.contains("0 newly skipped; 0 newly run; 2 absent"), "{}", both[0].stdout);
    let fewer = run(SOUND, &cases[..1], &[]);
    for (most, code) in [("1", 0), ("0", 1)] {
        let finished = compare(&sound[0], &fewer[0], &["--max-absent", most]);
        assert_eq!(finished.code, Some(code), "{}{}", finished.stdout, finished.stderr);
        assert_eq!(finished.stderr.contains("not met: --max-absent 0"), code == 1, "{}", finished.stderr);
    }
}

#[test]
fn a_case_is_slower_beyond_a_factor_and_a_floor() {
    let report = |seconds: [f64; 3]| {
        let file = Scratch::new("jsonl");
        let mut text = "{\"event\":\"started\",\"uri\":\"hip://\"}\n".to_owned();
        for (case, seconds) in ["a.long", "a.short", "a.same"].iter().zip(seconds) {
            text += &format!(
                "{{\"event\":\"case\",\"case\":\"{case}\",\"device\":\"hip://\",\"verdict\":\"pass\",\"message\":null,\
                 \"seconds\":{seconds}}}\n"
            );
        }
        fs::write(&file.0, text + "{\"event\":\"ended\"}\n").unwrap();
        file
    };
    let (old, new) = (report([1.0, 0.01, 1.0]), report([2.5, 0.04, 1.9]));
    let finished = compare(&old, &new, &[]);
    assert_eq!(finished.code, Some(0), "{}", finished.stdout);
    let lines: Vec<_> = finished.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{}", finished.stdout);
    assert_eq!(lines[0], "slower        a.long: 2.500 s instead of 1.000 s");
    assert!(lines[1].ends_with("1 slower"), "{}", lines[1]);
    let finished = compare(&old, &new, &["--slower", "1.5", "--floor", "0.02"]);
    assert!(finished.stdout.ends_with("3 slower\n"), "{}", finished.stdout);
}

#[test]
fn what_is_no_report_is_exit_code_2() {
    let none = Scratch::new("jsonl");
    let missing = compare(&none, &none, &[]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.contains(none.path()), "{}", missing.stderr);
    for text in ["", "{\"bench\": 1}\n", "<html/>"] {
        fs::write(&none.0, text).unwrap();
        let finished = compare(&none, &none, &[]);
        assert_eq!(finished.code, Some(2), "{text}: {}", finished.stdout);
        assert!(finished.stderr.contains("is no report of --json or --junit"), "{}", finished.stderr);
    }
    assert_eq!(windlass(["cts", "compare", "--help"]).code, Some(0));
    assert_eq!(windlass(["cts", "compare", "one"]).code, Some(2));
    // It opens no device, so it does not ask which.
    let finished = finish(command().env("WINDLASS_DEVICE", "nope://").args(["cts", "compare", "--help"]));
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
}
