// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes results as lines of JSON, and parses them: a run in child processes reads the lines of its children.

use std::path::Path;

use serde_json::{Value, json};
use windlass_hal::{DeviceInfo, Feature, Lack};

use crate::{
    case::Case,
    options::Options,
    summary::{CaseResult, Problem, Summary, TestedDevice, Verdict},
};

pub(super) fn listed(case: &Case) -> Value {
    let requires: Vec<_> = case.requires.iter().map(|feature| feature.name()).collect();
    json!({
        "event": "listed", "case": case.name, "contract": case.contract, "level": case.level.name(),
        "requires": requires,
    })
}

pub(super) fn device(device: &TestedDevice, options: &Options, cases: usize) -> Value {
    let run = json!({
        "provenance": options.provenance, "cases": cases, "seed": options.seed, "level": options.level.name(),
        "shard": options.shard.map(|shard| shard.to_string()), "isolated": options.isolates(), "jobs": options.jobs,
        "choice": options.choice,
    });
    match (&device.info, &device.problem) {
        (Some(info), _) => {
            json!({ "event": "started", "uri": device.uri, "device": identity(info), "run": run })
        }
        (None, problem) => json!({
            "event": "not_opened", "uri": device.uri, "run": run,
            "problem": problem.as_ref().map(Problem::name), "reason": problem.as_ref().map(Problem::reason),
            "exit": device.exit as u8,
        }),
    }
}

pub(super) fn resumed(ended: usize, cases: usize) -> Value {
    json!({ "event": "resumed", "ended": ended, "cases": cases })
}

pub(super) fn waiting(uri: &str, lock: &Path) -> Value {
    json!({ "event": "waiting", "uri": uri, "lock": lock.display().to_string() })
}

pub(super) fn no_kernel_log(reason: &str) -> Value {
    json!({ "event": "no_kernel_log", "reason": reason })
}

pub(super) fn lost(device: &TestedDevice) -> Value {
    let reason = device.problem.as_ref().map(Problem::reason);
    json!({ "event": "lost", "uri": device.uri, "reason": reason, "exit": device.exit as u8 })
}

pub(super) fn case(summary: &Summary, result: &CaseResult) -> Value {
    json!({
        "event": "case", "case": result.case.name, "contract": result.case.contract,
        "device": summary.devices[result.device].uri, "verdict": result.verdict.name(),
        "message": result.verdict.message(), "seconds": result.elapsed.as_secs_f64(),
        "failures": result.failures,
        "expectation": result.expectation.as_ref().map(|entry| json!({
            "kind": entry.kind.name(), "reason": entry.reason, "link": entry.link, "line": entry.line,
        })),
    })
}

pub(super) fn ended(summary: &Summary, options: &Options) -> Value {
    json!({
        "event": "ended", "passed": summary.passed(), "failed": summary.failed(), "skipped": summary.skipped(),
        "errors": summary.errors(), "expected_failures": summary.expected_failures(), "flaky": summary.flaky(),
        "skip_reasons": summary.skip_reasons(), "filtered_out": summary.filtered_out,
        "unmet": summary.unmet.iter().map(|unmet| json!({
            "demand": unmet.demand, "reason": unmet.reason, "exit": unmet.exit as u8,
        })).collect::<Vec<_>>(),
        "slowest": summary.slowest(options.slowest).into_iter().map(|result| json!({
            "case": result.case.name, "device": summary.devices[result.device].uri,
            "seconds": result.elapsed.as_secs_f64(),
        })).collect::<Vec<_>>(),
        "seconds": summary.elapsed.as_secs_f64(), "exit": summary.exit as u8,
    })
}

fn identity(device: &DeviceInfo) -> Value {
    json!({
        "uri": device.uri, "name": device.name, "architecture": device.architecture, "uuid": device.uuid,
        "library": device.library, "simulated": device.simulated, "executable_formats": device.executable_formats,
        "lacks": device.lacks.iter().map(|lack| json!({
            "feature": lack.feature.name(), "reason": lack.reason,
        })).collect::<Vec<_>>(),
    })
}

/// An event that a child process reports.
pub(crate) enum Event {
    Opened(DeviceInfo),
    NotOpened(Problem),
    Case(Verdict),
    Ended,
}

/// Parses a line. `None` for other text on the same output, such as that of a vendor's library.
pub(crate) fn read(line: &str) -> Option<Event> {
    let value: Value = serde_json::from_str(&line[line.find('{')?..]).ok()?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Some(match value["event"].as_str()? {
        "started" => Event::Opened(device_info(&value["device"])),
        "not_opened" => {
            let reason = text(&value["reason"]);
            Event::NotOpened(match value["problem"].as_str()? {
                "absent" => Problem::Absent(reason),
                "uri" => Problem::Uri(reason),
                _ => Problem::Broken(reason),
            })
        }
        "case" => {
            let message = text(&value["message"]);
            Event::Case(Verdict::named(value["verdict"].as_str()?, message))
        }
        "ended" => Event::Ended,
        _ => return None,
    })
}

fn device_info(value: &Value) -> DeviceInfo {
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    let mut info = DeviceInfo::default();
    info.uri = text("uri").unwrap_or_default();
    info.name = text("name").unwrap_or_default();
    info.architecture = text("architecture").unwrap_or_default();
    info.uuid = text("uuid");
    info.library = text("library");
    info.simulated = value["simulated"].as_bool().unwrap_or_default();
    let formats = value["executable_formats"].as_array().into_iter().flatten();
    info.executable_formats = formats.filter_map(|name| name.as_str().map(str::to_owned)).collect();
    let lacks = value["lacks"].as_array().into_iter().flatten();
    info.lacks = lacks
        .filter_map(|lack| {
            let feature = Feature::ALL.into_iter().find(|feature| lack["feature"] == feature.name())?;
            Some(Lack::new(feature, lack["reason"].as_str().unwrap_or_default()))
        })
        .collect();
    info
}
