// SPDX-License-Identifier: MIT OR Apache-2.0
//! The results that a report recorded.

use std::{collections::BTreeMap, path::Path};

use quick_junit::{Report, TestCaseStatus, TestSuite};
use serde_json::Value;

use crate::bounded_file;

/// The most MiB of a report.
const MOST: u64 = 256;

/// The results of a run.
#[derive(Default)]
pub(super) struct Recorded {
    /// By device and name.
    pub(super) cases: BTreeMap<(String, String), Outcome>,
    /// The faults of the run that belong to no case.
    pub(super) problems: Vec<String>,
}

/// The result of a case.
pub(super) struct Outcome {
    /// The word of the JSON reports.
    pub(super) verdict: String,
    pub(super) message: String,
    pub(super) seconds: f64,
}

impl Outcome {
    pub(super) fn ran(&self) -> bool {
        self.verdict == "pass"
    }
}

impl Recorded {
    /// Reads the lines of `--json` or the document of `--junit`.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let name = path.display();
        let text =
            bounded_file::read(path, MOST).map_err(|error| format!("{name} could not be read: {error}"))?;
        let recorded = if text.trim_start().starts_with('<') { junit(&text) } else { json(&text) };
        recorded.map_err(|error| format!("{name} is no report of --json or --junit: {error}"))
    }

    /// The devices that have cases.
    pub(super) fn devices(&self) -> Vec<String> {
        let mut devices: Vec<_> = self.cases.keys().map(|(device, _)| device.clone()).collect();
        devices.dedup();
        devices
    }
}

fn json(text: &str) -> Result<Recorded, String> {
    let mut recorded = Recorded::default();
    let (mut begun, mut ended) = (false, false);
    let string = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let line = |value: &Value| string(value).lines().next().unwrap_or_default().to_owned();
    // A line that was cut off when the machine went down is no event.
    for event in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        match event["event"].as_str() {
            Some("started") => begun = true,
            Some("case") => {
                let outcome = Outcome {
                    verdict: string(&event["verdict"]),
                    message: string(&event["message"]),
                    seconds: event["seconds"].as_f64().unwrap_or_default(),
                };
                recorded.cases.insert((string(&event["device"]), string(&event["case"])), outcome);
            }
            Some("not_opened") => {
                begun = true;
                if event["exit"] != 0 {
                    recorded.problems.push(problem(&string(&event["uri"]), &line(&event["reason"])));
                }
            }
            Some("lost") => recorded.problems.push(problem(&string(&event["uri"]), &line(&event["reason"]))),
            Some("ended") => {
                ended = true;
                let unmet = event["unmet"].as_array().into_iter().flatten();
                recorded.problems.extend(unmet.map(|unmet| not_met(&string(&unmet["demand"]))));
            }
            _ => {}
        }
    }
    if !begun {
        return Err("it names no device".to_owned());
    }
    if !ended {
        recorded.problems.push("it did not come to its end".to_owned());
    }
    Ok(recorded)
}

/// An error of a device, the same from both kinds of reports.
fn problem(device: &str, reason: &str) -> String {
    format!("{device}: {reason}")
}

fn not_met(demand: &str) -> String {
    format!("not met: {demand}")
}

fn junit(text: &str) -> Result<Recorded, String> {
    let report = Report::deserialize_from_str(text).map_err(|error| error.to_string())?;
    let mut recorded = Recorded::default();
    for suite in &report.test_suites {
        suite_of(suite, &mut recorded);
    }
    Ok(recorded)
}

fn suite_of(suite: &TestSuite, recorded: &mut Recorded) {
    let property = |name: &str| {
        let found = suite.properties.iter().find(|property| property.name.as_str() == name);
        found.map(|property| property.value.as_str())
    };
    let device = property("device").unwrap_or_default();
    // JSON has no cases of a device that was never opened. A lost device has a description beside its problem.
    let opened = property("not-opened").is_none() || property("device-description").is_some();
    for case in &suite.test_cases {
        let classname = case.classname.as_ref().map_or("", |name| name.as_str());
        let group = classname.trim_start_matches("windlass-cts.");
        let group = group.split(" on ").next().unwrap_or_default();
        let (verdict, message) = match &case.status {
            TestCaseStatus::Success { flaky_runs } if !flaky_runs.is_empty() => ("flaky", None),
            TestCaseStatus::Success { .. } => ("pass", None),
            TestCaseStatus::NonSuccess { message, .. } => ("fail", message.as_ref()),
            TestCaseStatus::Skipped { message, .. } => {
                let message = message.as_ref();
                let known = message.is_some_and(|text| text.as_str().starts_with("expected-failure: "));
                (if known { "expected_failure" } else { "skip" }, message)
            }
        };
        let message = message.map_or(String::new(), |text| text.as_str().to_owned());
        // These suites hold the device's errors and the demands on the run.
        match group {
            "device" => recorded.problems.push(problem(device, &message)),
            "run" => recorded.problems.push(not_met(case.name.as_str())),
            _ => {}
        }
        if matches!(group, "device" | "run") || !opened {
            continue;
        }
        let outcome = Outcome {
            verdict: verdict.to_owned(),
            message,
            seconds: case.time.map_or(0.0, |time| time.as_secs_f64()),
        };
        recorded.cases.insert((device.to_owned(), format!("{group}.{}", case.name.as_str())), outcome);
    }
}
