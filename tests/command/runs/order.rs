// SPDX-License-Identifier: MIT OR Apache-2.0
//! Several cases at the same time, and the silence of runs that pass.

use serde_json::Value;

use super::{FLAKY, SOUND, Scratch, cts, verdicts};
use crate::support::windlass;

/// The events without times.
fn timeless(events: &[Value]) -> Vec<Value> {
    let mut events = events.to_vec();
    for event in &mut events {
        let Some(event) = event.as_object_mut() else { continue };
        event.remove("seconds");
        if let Some(run) = event.get_mut("run").and_then(Value::as_object_mut) {
            run.remove("jobs");
        }
    }
    events
}

#[test]
fn several_jobs_report_as_one_does() {
    let cases: [&str; 0] = [];
    let options = ["--isolate", "--level", "smoke", "--timeout", "60"];
    let (one, events) = cts(FLAKY, &cases, &options);
    let (many, same) = cts(FLAKY, &cases, &[&options[..], &["--jobs", "4"]].concat());
    assert_eq!((one.code, many.code), (Some(1), Some(1)), "{}{}", one.stdout, many.stdout);
    assert!(verdicts(&events).len() > 50, "{}", one.stdout);
    assert_eq!(timeless(&events), timeless(&same));
    assert!(many.stdout.contains("each in a process of its own, 4 at the same time"), "{}", many.stdout);
}

#[test]
fn a_passing_run_prints_no_panics_of_its_own() {
    for device in [SOUND, "local://", "null://"] {
        let finished = windlass(["cts", "--device", device]);
        assert_eq!(finished.code, Some(0), "{device}: {}", finished.stdout);
        assert_eq!(finished.stderr, "", "{device}");
    }
}

#[test]
fn options_of_labs_that_are_wrong_are_exit_code_2() {
    let file = Scratch::new("toml");
    for (arguments, message) in [
        (["--jobs", "0"], "1..=1024"),
        (["--retry", "-1"], "-1"),
        (["--recovery", "soon"], "0.001 to 86400, or 0"),
        (["--write-expectations", "/nowhere/expectations.toml"], "/nowhere/expectations.toml"),
        (["--resume", "/nowhere/run"], "/nowhere/run"),
    ] {
        let (finished, _) = cts(SOUND, &["queue.diamond"], &arguments);
        assert_eq!(finished.code, Some(2), "{arguments:?}: {}", finished.stdout);
        assert!(finished.stderr.contains(message), "{arguments:?}: {}", finished.stderr);
    }
    assert!(!file.0.exists());
}
