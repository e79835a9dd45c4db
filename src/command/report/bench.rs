// SPDX-License-Identifier: MIT OR Apache-2.0
//! The short set of the benchmark in a report.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::part::{End, Found};
use crate::command::{
    child::{Errors, Process, Stopped},
    input,
};

/// The time for the device to open.
const OPEN: Duration = Duration::from_secs(60);
/// The exit code of a device that is not there.
const ABSENT: i32 = 3;

/// The rows so far.
#[derive(Default)]
struct Rows {
    machine: Value,
    device: Value,
    rows: Vec<Value>,
}

/// Measures a device.
pub(super) fn run(uri: &str, limit: Duration, say: &dyn Fn(String)) -> Found {
    let words = ["bench", "--quick", "--format", "jsonl", "--require", "--device", uri];
    let mut process = match Process::<Value>::start(words, Errors::Kept) {
        Ok(process) => process,
        Err(error) => return Found::none(End::Died, format!("no process could be started: {error}")),
    };
    let until = Instant::now() + limit;
    let opens = until.min(Instant::now() + OPEN);
    let mut rows = Rows::default();
    loop {
        let end = if rows.device.is_null() { opens } else { until };
        match process.next(end) {
            Ok((_, line)) => rows.note(line).into_iter().for_each(say),
            Err(Stopped::Hung) => {
                process.kill();
                return rows.found(End::Hung, String::new());
            }
            Err(Stopped::Died) => {
                let end = match process.wait().ok().and_then(|status| status.code()) {
                    Some(0) => End::Done,
                    Some(ABSENT) => End::Absent,
                    Some(_) => End::Failed,
                    None => End::Died,
                };
                let errors = if end == End::Done { String::new() } else { process.errors() };
                let died = if end == End::Died { process.end() + "\n" } else { String::new() };
                return rows.found(end, died + &errors);
            }
        }
    }
}

impl Rows {
    /// Notes a line, and gives the name of a row.
    fn note(&mut self, mut line: Value) -> Option<String> {
        match line["kind"].as_str()? {
            "machine" => self.machine = line,
            "device" => self.device = line,
            "row" => {
                let name = line["row"].as_str().map(str::to_owned);
                // These are the same in every row, or empty.
                for same in ["kind", "device", "simulated", "device_clock"] {
                    line.as_object_mut()?.remove(same);
                }
                self.rows.push(line);
                return name;
            }
            _ => {}
        }
        None
    }

    fn found(self, end: End, errors: String) -> Found {
        let measured = self.rows.iter().filter(|row| row["status"] == "measured").count();
        let counts = format!("{} measured", input::count(measured, "row", "rows"));
        let last = self.rows.last().and_then(|row| row["row"].as_str());
        let message = match (end, last) {
            (End::Hung, None) => {
                "no row was measured in time; the part `devices` names a HIP call that does not return"
                    .to_owned()
            }
            (End::Hung, Some(last)) => format!("{counts}, and the rest did not end in time, after {last}"),
            (_, _) if errors.is_empty() => counts,
            _ => format!("{counts}; {}", errors.trim_end()),
        };
        let result = json!({ "machine": self.machine, "device": self.device, "rows": self.rows });
        Found::new(end, message, result)
    }
}
