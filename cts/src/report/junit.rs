// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes results as a JUnit report, which many CI systems display.

use std::{
    fs::File,
    io::{self, Write as _},
};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestRerun, TestSuite};

use crate::{
    demands::Unmet,
    options::Options,
    summary::{CaseResult, Exit, Problem, Summary, TestedDevice, Verdict},
};

/// Writes a report: a test suite for each device and suite of the CTS, with the device as properties. A device that
/// could not be opened and so fails the run is an error in its own suite.
pub(super) fn write(file: &mut File, summary: &Summary, options: &Options) -> io::Result<()> {
    let mut report = Report::new("windlass-cts");
    report.set_time(summary.elapsed);
    let mut suites: Vec<(usize, &str, TestSuite)> = Vec::new();
    for result in &summary.results {
        let name = suite_of(result).0;
        let known = suites.iter().position(|(device, suite, _)| (*device, *suite) == (result.device, name));
        let place = known.unwrap_or_else(|| {
            let mut suite = TestSuite::new(format!("{name}{}", summary.on(result.device)));
            describe(&mut suite, &summary.devices[result.device], options);
            suites.push((result.device, name, suite));
            suites.len() - 1
        });
        suites[place].2.add_test_case(test_case(summary, result));
    }
    for (index, device) in summary.devices.iter().enumerate().filter(|(_, it)| it.exit != Exit::Passed) {
        let mut suite = TestSuite::new(format!("device{}", summary.on(index)));
        describe(&mut suite, device, options);
        suite.add_test_case(not_opened(summary, index));
        report.add_test_suite(suite);
    }
    if !summary.unmet.is_empty() {
        let mut suite = TestSuite::new("run");
        suite.add_test_cases(summary.unmet.iter().map(not_met));
        report.add_test_suite(suite);
    }
    report.add_test_suites(suites.into_iter().map(|(_, _, suite)| suite));
    let text = report.to_string().map_err(io::Error::other)?;
    // Jenkins' schemas do not allow this attribute on the root, which comes first in the text.
    let text = text.replacen(&format!(" skipped=\"{}\"", report.skipped), "", 1);
    file.write_all(text.as_bytes())
}

fn suite_of(result: &CaseResult) -> (&'static str, &'static str) {
    result.case.name.split_once('.').unwrap_or(("cts", result.case.name))
}

fn describe(suite: &mut TestSuite, device: &TestedDevice, options: &Options) {
    let mut property = |name: &str, value: &str| {
        suite.add_property((name, value));
    };
    property("windlass", &options.provenance);
    property("device", &device.uri);
    if let Some(choice) = &options.choice {
        property("choice-of-device", choice);
    }
    property("seed", &options.seed.to_string());
    property("level", options.level.name());
    if let Some(shard) = options.shard {
        property("shard", &shard.to_string());
    }
    if let Some(problem) = &device.problem {
        property("not-opened", problem.reason());
    }
    if let Some(info) = &device.info {
        property("device-description", &device.describe());
        property("architecture", &info.architecture);
        property("simulated", if info.simulated { "true" } else { "false" });
        property("uuid", info.uuid.as_deref().unwrap_or("none"));
        property("library", info.library.as_deref().unwrap_or("none"));
    }
}

fn not_opened(summary: &Summary, device: usize) -> TestCase {
    let reason = summary.devices[device].problem.as_ref().map_or("", |problem| problem.reason());
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_message(reason.lines().next().unwrap_or_default());
    status.set_description(reason);
    let lost = matches!(summary.devices[device].problem, Some(Problem::Lost(_)));
    let mut case = TestCase::new(if lost { "health" } else { "open" }, status);
    case.set_classname(format!("windlass-cts.device{}", summary.on(device)));
    case
}

fn not_met(unmet: &Unmet) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(unmet.reason.lines().next().unwrap_or_default());
    status.set_description(&unmet.reason);
    let mut case = TestCase::new(&unmet.demand, status);
    case.set_classname("windlass-cts.run");
    case
}

fn test_case(summary: &Summary, result: &CaseResult) -> TestCase {
    let (suite, name) = suite_of(result);
    let expected = super::expected(result);
    let mut output = None;
    let status = match &result.verdict {
        Verdict::Pass => TestCaseStatus::success(),
        Verdict::Flaky(message) => {
            let known = expected.map_or(String::new(), |expected| format!("; {expected}"));
            output = Some(format!("passed at a retry{known}\n{message}"));
            let mut status = TestCaseStatus::success();
            status.add_reruns(result.failures.iter().map(|failure| rerun(failure)));
            status
        }
        Verdict::ExpectedFailure(message) => {
            output = Some(message.clone());
            skipped(&expected.unwrap_or_default())
        }
        Verdict::Skip(reason) => skipped(reason),
        Verdict::Fail(message) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(message.lines().next().unwrap_or_default());
            status.set_description(format!("contract: {}\n{message}", result.case.contract));
            status.add_reruns(result.failures.iter().map(|failure| rerun(failure)));
            status
        }
    };
    let mut case = TestCase::new(name, status);
    case.set_classname(format!("windlass-cts.{suite}{}", summary.on(result.device)));
    case.set_time(result.elapsed);
    if let Some(output) = output {
        case.set_system_out(output);
    }
    case
}

/// A failure that a retry followed. Surefire's elements for it are `flakyFailure` before a pass and `rerunFailure` before
/// a failure.
fn rerun(failure: &str) -> TestRerun {
    let mut rerun = TestRerun::new(NonSuccessKind::Failure);
    rerun
        .set_type("failure")
        .set_message(failure.lines().next().unwrap_or_default())
        .set_stack_trace(failure);
    rerun
}

fn skipped(message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(message);
    status
}
