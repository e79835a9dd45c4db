// SPDX-License-Identifier: MIT OR Apache-2.0
//! Results as a JUnit report, for CI systems that show one.

use std::{fs::File, io, path::Path};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::report::{Summary, Verdict, describe};

/// Writes a report: a test suite for each suite of the CTS, the device as properties.
pub(crate) fn write(path: &Path, summary: &Summary) -> io::Result<()> {
    let mut report = Report::new("windlass-cts");
    report.set_time(summary.elapsed);
    let mut suites: Vec<TestSuite> = Vec::new();
    for result in &summary.results {
        let (suite, name) = result.case.name.split_once('.').unwrap_or(("cts", result.case.name));
        let status = match &result.verdict {
            Verdict::Pass => TestCaseStatus::success(),
            Verdict::Fail(message) => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status.set_message(message.as_str());
                status.set_description(result.case.contract);
                status
            }
            Verdict::Skip(reason) => {
                let mut status = TestCaseStatus::skipped();
                status.set_message(reason.as_str());
                status
            }
        };
        let mut case = TestCase::new(name, status);
        case.set_classname(format!("windlass-cts.{suite}"));
        case.set_time(result.elapsed);
        let place = match suites.iter().position(|known| known.name.as_str() == suite) {
            Some(place) => place,
            None => {
                let mut fresh = TestSuite::new(suite);
                if let Some(device) = &summary.device {
                    fresh.add_property(("device", device.uri.as_str()));
                    fresh.add_property(("device-description", describe(device).as_str()));
                    fresh.add_property(("library", device.library.as_deref().unwrap_or("none")));
                }
                suites.push(fresh);
                suites.len() - 1
            }
        };
        suites[place].add_test_case(case);
    }
    report.add_test_suites(suites);
    report.serialize(File::create(path)?).map_err(io::Error::other)
}
