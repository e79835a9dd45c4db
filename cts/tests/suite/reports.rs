// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reports of a run: text, JSON, JUnit, Markdown.

use std::fs;

use crate::common::{FAILS, LACKING, PANICS, PASSES, SKIPS, Scratch, options, registry, run};
use quick_junit::{NonSuccessKind, TestCaseStatus};
use serde_json::Value;
use windlass_cts::{
    Case, Context, Exit, Format, Level, Options, Outcome, RunError, Shard, Stop, main_with, run_cases,
};

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn lists_tell_the_contract_of_each_case() {
    let mut options = options();
    options.list = true;
    options.format = Format::Json;
    options.level = Level::Stress;
    let (summary, text) = run(&[FAILS, LACKING.level(Level::Stress)], &options);
    assert!(summary.results.is_empty() && summary.exit == Exit::Passed);
    let listed = lines(&text);
    assert_eq!((&listed[0]["case"], &listed[0]["contract"]), (&"own.fails".into(), &"It fails.".into()));
    assert_eq!((&listed[0]["level"], &listed[1]["level"]), (&"full".into(), &"stress".into()));
    assert_eq!(listed[1]["requires"], serde_json::json!(["dispatch"]));
    options.level = Level::Full;
    assert_eq!(lines(&run(&[FAILS, LACKING.level(Level::Stress)], &options).1).len(), 1);
}

#[test]
fn json_lines_hold_what_the_text_holds() {
    let file = Scratch::new("jsonl");
    let mut options = options();
    options.format = Format::Json;
    options.json = Some(file.0.clone());
    options.provenance = "this build".to_owned();
    options.seed = 9;
    options.shard = Shard::new(1, 1);
    options.devices.push("absent://".to_owned());
    let (_, text) = run(&[PASSES, FAILS, SKIPS], &options);
    let events = lines(&text);
    assert_eq!(events.len(), 6);
    let device = &events[0]["device"];
    assert_eq!((&device["simulated"], &device["library"]), (&true.into(), &Value::Null));
    assert_eq!(device["lacks"][0]["feature"], "dispatch");
    let run_of = &events[0]["run"];
    assert_eq!((&run_of["provenance"], &run_of["seed"]), (&"this build".into(), &9.into()));
    assert_eq!((&run_of["level"], &run_of["shard"]), (&"full".into(), &"1/1".into()));
    assert_eq!((&events[1]["verdict"], &events[1]["message"]), (&"pass".into(), &Value::Null));
    assert_eq!(events[2]["message"], "seen & expected <differ>\nin the | second line");
    assert_eq!((&events[4]["event"], &events[4]["problem"]), (&"not_opened".into(), &"absent".into()));
    assert!(events[4]["reason"].as_str().unwrap().contains("how to mend it"));
    let ended = &events[5];
    assert_eq!(ended["skip_reasons"]["no such thing here"], 1);
    assert_eq!((&ended["passed"], &ended["failed"], &ended["skipped"]), (&1.into(), &1.into(), &4.into()));
    assert_eq!(ended["exit"], 1);
    // The file has the same lines as the output.
    assert_eq!(file.text(), text);
    options.format = Format::Text;
    assert!(run(&[PASSES], &options).1.contains("pass  own.passes"));
    assert_eq!(lines(&file.text())[1]["verdict"], "pass");
}

/// Fails with control characters and characters that XML forbids.
fn dirty(_: &Context) -> Outcome {
    Err(Stop::fail("red \u{1b}[31m, zero \0, end of data ]]>, \u{fffe}"))
}

const DIRTY: Case = Case::new("own.dirty", "It writes what XML forbids.", &[], dirty);

#[test]
fn junit_holds_device_cases_and_messages() {
    let file = Scratch::new("xml");
    let mut options = options();
    options.junit = Some(file.0.clone());
    options.provenance = "this build".to_owned();
    let other = Case::new("other.fails", "It fails, too.", &[], |_| Err(Stop::fail("again")));
    let (summary, _) = run(&[PASSES, FAILS, other, SKIPS, PANICS, DIRTY], &options);
    let xml = file.text();
    // Jenkins' schema does not allow this attribute.
    assert!(xml.lines().any(|line| line.starts_with("<testsuites") && !line.contains("skipped")), "{xml}");
    let report = quick_junit::Report::deserialize_from_str(&xml).unwrap();
    assert_eq!((report.tests, report.failures, report.errors), (6, summary.failed(), 0));
    let names: Vec<_> = report.test_suites.iter().map(|suite| suite.name.as_str()).collect();
    assert_eq!(names, ["own", "other"]);
    let suite = &report.test_suites[0];
    let property = |name: &str| {
        suite.properties.iter().find(|property| property.name.as_str() == name).map(|it| it.value.as_str())
    };
    assert_eq!(property("device"), Some("null://"));
    assert_eq!(property("device-description"), Some("Null device, none, simulated"));
    assert_eq!((property("simulated"), property("library")), (Some("true"), Some("none")));
    assert_eq!((property("seed"), property("windlass")), (Some("1"), Some("this build")));
    let case = &suite.test_cases[1];
    assert_eq!((case.name.as_str(), case.classname.as_deref()), ("fails", Some("windlass-cts.own")));
    match &case.status {
        TestCaseStatus::NonSuccess { kind, message, description, .. } => {
            assert_eq!(*kind, NonSuccessKind::Failure);
            assert_eq!(message.as_deref(), Some("seen & expected <differ>"));
            let description = description.as_deref().unwrap();
            assert!(description.contains("contract: It fails.") && description.contains("second line"));
        }
        other => panic!("{other:?}"),
    }
    match &suite.test_cases[2].status {
        TestCaseStatus::Skipped { message, .. } => {
            assert_eq!(message.as_deref(), Some("no such thing here"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn junit_tells_devices_apart() {
    let file = Scratch::new("xml");
    let mut options = Options::new("null://");
    options.devices.push("absent://".to_owned());
    options.junit = Some(file.0.clone());
    run(&[PASSES], &options);
    let report = quick_junit::Report::deserialize_from_str(&file.text()).unwrap();
    let names: Vec<_> = report.test_suites.iter().map(|suite| suite.name.as_str()).collect();
    assert_eq!(names, ["own on null://", "own on absent://"]);
    let absent = &report.test_suites[1];
    let reason = absent.properties.iter().find(|property| property.name.as_str() == "not-opened").unwrap();
    assert!(reason.value.contains("how to mend it"));
    assert_eq!(absent.test_cases[0].classname.as_deref(), Some("windlass-cts.own on absent://"));
}

/// A run that fails because of a device says so in every report. A run whose device is only absent does not.
#[test]
fn a_device_that_fails_the_run_is_an_error_of_every_report() {
    for (uri, require, exit, errors) in [
        ("broken://", false, Exit::Failed, 1),
        ("null://?colour=red", false, Exit::Usage, 1),
        ("absent://", true, Exit::Absent, 1),
        ("absent://", false, Exit::Passed, 0),
    ] {
        let (junit, json, page) = (Scratch::new("xml"), Scratch::new("jsonl"), Scratch::new("md"));
        let mut options = Options::new(uri);
        options.require = require;
        options.junit = Some(junit.0.clone());
        options.json = Some(json.0.clone());
        options.summary = Some(page.0.clone());
        let (summary, text) = run(&[PASSES, FAILS], &options);
        assert_eq!((summary.exit, summary.errors(), summary.skipped()), (exit, errors, 2), "{uri}");
        assert_eq!(text.contains(&format!("error         {uri} could not be opened")), errors == 1, "{text}");

        let report = quick_junit::Report::deserialize_from_str(&junit.text()).unwrap();
        assert_eq!((report.tests, report.errors, report.failures), (2 + errors, errors, 0), "{uri}");
        let suite = report.test_suites.iter().find(|suite| suite.name.as_str() == "device");
        assert_eq!(suite.is_some(), errors == 1, "{}", junit.text());
        if let Some(suite) = suite {
            let reason = summary.devices[0].problem.as_ref().unwrap().reason();
            match &suite.test_cases[0].status {
                TestCaseStatus::NonSuccess { kind, message, description, .. } => {
                    assert_eq!(*kind, NonSuccessKind::Error);
                    assert_eq!(message.as_deref(), reason.lines().next());
                    assert_eq!(description.as_deref(), Some(reason));
                }
                other => panic!("{other:?}"),
            }
        }

        let events = lines(&json.text());
        assert_eq!(events[0]["exit"], exit as u8);
        let ended = events.last().unwrap();
        assert_eq!((&ended["errors"], &ended["exit"]), (&errors.into(), &(exit as u8).into()));

        let page = page.text();
        let row = page.lines().find(|line| line.contains("could not be opened |")).unwrap();
        assert!(row.ends_with(&format!("| {errors} | 0 | 0 | 0 | 0 | 2 |")), "{page}");
    }
}

#[test]
fn a_page_in_markdown_is_appended() {
    let file = Scratch::holding("md", "what an earlier step said\n");
    let mut options = options();
    options.summary = Some(file.0.clone());
    options.devices.push("absent://".to_owned());
    run(&[PASSES, FAILS, SKIPS], &options);
    let page = file.text();
    assert!(page.starts_with("what an earlier step said\n## Windlass conformance: failed\n"), "{page}");
    assert!(page.contains("| null:// | Null device, none, simulated | 0 | 1 | 1 | 0 | 0 | 1 |"), "{page}");
    assert!(page.contains("| absent:// | could not be opened | 0 | 0 | 0 | 0 | 0 | 3 |"), "{page}");
    assert!(page.contains("<b>own.fails</b> on null://: It fails."), "{page}");
    assert!(page.contains("<pre>seen &amp; expected &lt;differ&gt;\nin the | second line</pre>"), "{page}");
    assert!(page.contains("| 1 | no such thing here |"), "{page}");
    assert!(page.contains("and here is how to mend it"), "{page}");
    options.devices.remove(0);
    run(&[PASSES], &options);
    assert!(file.text().contains("## Windlass conformance: nothing was run"), "{}", file.text());
}

#[test]
fn reports_that_cannot_be_opened_are_named_before_anything_is_run() {
    for set in [
        |options: &mut Options, path| options.junit = Some(path),
        |options: &mut Options, path| options.json = Some(path),
        |options: &mut Options, path| options.summary = Some(path),
    ] as [fn(&mut Options, std::path::PathBuf); 3]
    {
        let folder = Scratch::new("gone");
        let path = folder.0.join("report");
        let mut options = options();
        set(&mut options, path.clone());
        let mut out = Vec::new();
        let error = run_cases(&registry(), &[PASSES], &options, &mut out).unwrap_err();
        assert!(matches!(error, RunError::Report(_)) && out.is_empty(), "{error}");
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
        let exit = main_with(&registry(), &[PASSES], options, &mut Vec::new(), &mut Vec::new());
        assert_eq!(exit, Exit::Usage);
        assert!(fs::metadata(&folder.0).is_err());
    }
}

/// A disk that fills up during the run costs a report, not the result.
#[test]
#[cfg(target_os = "linux")]
fn a_report_that_cannot_be_written_any_more_costs_no_other() {
    for set in [
        |options: &mut Options, path| options.junit = Some(path),
        |options: &mut Options, path| options.json = Some(path),
        |options: &mut Options, path| options.summary = Some(path),
    ] as [fn(&mut Options, std::path::PathBuf); 3]
    {
        let files = [(); 3].map(|()| Scratch::new("report"));
        let mut options = options();
        [options.junit, options.json, options.summary] = files.each_ref().map(|file| Some(file.0.clone()));
        set(&mut options, "/dev/full".into());
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let exit = main_with(&registry(), &[PASSES, SKIPS], options, &mut out, &mut err);
        let [out, err] = [out, err].map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(exit, Exit::Failed, "{err}");
        assert!(out.contains("test result: ok. 1 passed; 0 failed; 1 ignored"), "{out}");
        assert!(err.contains("/dev/full: "), "{err}");
        let whole = files.iter().filter(|file| fs::metadata(&file.0).is_ok_and(|file| file.len() > 0));
        assert_eq!(whole.count(), 2);
    }
}
