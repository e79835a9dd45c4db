// SPDX-License-Identifier: MIT OR Apache-2.0
//! The conformance suite in a report. A case that takes its process down costs its own verdict: the suite goes on behind it.

use std::{
    collections::BTreeMap,
    io,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::part::{End, Found};
use crate::command::{
    child::{Errors, Process, Stopped},
    input,
};

/// The time for the device to open.
const OPEN: Duration = Duration::from_secs(60);
/// The times that the suite is started again behind a case that took its process down.
const RESTARTS: usize = 20;
/// Seconds for a case, and for another run to leave the GPU. Both are short of the part's time.
const OPTIONS: [&str; 6] = ["--timeout", "30", "--lock-timeout", "30", "--require", "--resume"];
/// The exit code of a device that is not there, or in use.
const ABSENT: i32 = windlass_cts::Exit::Absent as i32;

/// The suite so far.
#[derive(Default)]
struct Suite {
    /// By the name of the case.
    cases: BTreeMap<String, Value>,
    device: Value,
    ended: Value,
    /// Why the device was not opened, or was lost.
    problem: Option<String>,
    deaths: Vec<Value>,
}

/// How a process of the suite ended.
enum Pass {
    Ended(Option<i32>),
    Hung,
    Died,
}

/// Runs the suite over a device.
pub(super) fn run(uri: &str, limit: Duration, say: &dyn Fn(String)) -> Found {
    let until = Instant::now() + limit;
    let mut suite = Suite::default();
    let folder = match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(error) => return Found::none(End::Died, format!("no folder for its verdicts: {error}")),
    };
    let journal = folder.path().join("verdicts");
    loop {
        match suite.pass(uri, &journal, until, say) {
            Ok(Pass::Died) if suite.deaths.len() <= RESTARTS && !suite.device.is_null() => {}
            Ok(pass) => return suite.found(&pass, limit),
            Err(error) => return Found::none(End::Died, format!("no process could be started: {error}")),
        }
    }
}

impl Suite {
    /// One process, up to its end.
    fn pass(&mut self, uri: &str, journal: &Path, until: Instant, say: &dyn Fn(String)) -> io::Result<Pass> {
        let begin = ["cts", "--device", uri, "--format", "json"].map(AsRef::as_ref);
        let options = OPTIONS.map(AsRef::as_ref);
        let words = begin.into_iter().chain(options).chain([journal.as_os_str()]);
        let mut process = Process::<Value>::start(words, Errors::Kept)?;
        let (mut opens, mut last) = (until.min(Instant::now() + OPEN), String::new());
        loop {
            match process.next(opens) {
                Ok((_, event)) => {
                    opens = until;
                    if let Some(case) = self.note(event) {
                        say(case.clone());
                        last = case;
                    }
                }
                Err(Stopped::Hung) => {
                    process.kill();
                    return Ok(Pass::Hung);
                }
                Err(Stopped::Died) => {
                    let status = process.wait()?;
                    if status.code().is_some() && !self.ended.is_null() || self.problem.is_some() {
                        return Ok(Pass::Ended(status.code()));
                    }
                    let end = format!("its process ended with {status}");
                    self.deaths.push(json!({ "after": last, "end": end, "errors": process.errors() }));
                    return Ok(Pass::Died);
                }
            }
        }
    }

    /// Notes an event, and gives the name of a case that ended.
    fn note(&mut self, mut event: Value) -> Option<String> {
        match event["event"].as_str()? {
            "started" => {
                self.device = json!({ "device": event["device"].take(), "run": event["run"].take() })
            }
            "not_opened" | "lost" => self.problem = event["reason"].as_str().map(str::to_owned),
            "ended" => self.ended = event,
            "case" => {
                let name = event["case"].as_str()?.to_owned();
                let verdict = event["verdict"].as_str().unwrap_or_default();
                let mut told = json!({ "verdict": verdict, "seconds": event["seconds"] });
                if verdict != "pass" {
                    told["message"] = event["message"].clone();
                }
                if !["pass", "skip"].contains(&verdict) {
                    told["contract"] = event["contract"].clone();
                }
                self.cases.insert(name.clone(), told);
                return Some(name);
            }
            _ => {}
        }
        None
    }

    fn count(&self, verdict: &str) -> usize {
        self.cases.values().filter(|case| case["verdict"] == verdict).count()
    }

    fn found(self, pass: &Pass, limit: Duration) -> Found {
        let (passed, skipped) = (self.count("pass"), self.count("skip"));
        let others = self.cases.len() - passed - skipped;
        let counts = format!("{passed} passed, {others} failed, {skipped} skipped");
        let is_opened = !self.device.is_null();
        let end = match pass {
            Pass::Ended(Some(ABSENT)) if !is_opened => End::Absent,
            Pass::Ended(Some(0)) if self.deaths.is_empty() => End::Done,
            Pass::Ended(_) => End::Failed,
            Pass::Hung => End::Hung,
            Pass::Died => End::Died,
        };
        let message = match (end, &self.problem) {
            (End::Hung, _) if !is_opened => {
                let seconds = limit.min(OPEN).as_secs_f64();
                format!("the device did not open within {seconds} s; the part `devices` names the HIP call")
            }
            (End::Hung, _) => format!("{counts}, and the rest did not end within {} s", limit.as_secs_f64()),
            (End::Died, _) => {
                let last = self.deaths.last().unwrap_or(&Value::Null);
                format!("{counts}; {}\n{}", text(&last["end"]), text(&last["errors"])).trim_end().to_owned()
            }
            (_, Some(problem)) => format!("{counts}; {problem}"),
            _ if self.deaths.is_empty() => counts,
            _ => {
                let times = input::count(self.deaths.len(), "case", "cases");
                format!("{counts}; {times} took the process down")
            }
        };
        let result = json!({
            "opened": self.device,
            "ended": self.ended,
            "cases": self.cases,
            "deaths": self.deaths,
        });
        Found::new(end, message, result)
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
