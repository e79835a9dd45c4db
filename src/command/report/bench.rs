// SPDX-License-Identifier: MIT OR Apache-2.0
//! The short set of the benchmark in a report. A row that hangs or takes its process down is named with its HIP call, and the
//! rows behind it are measured.

use std::{
    io,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::part::{End, Found};
use crate::command::{
    bench,
    child::{Errors, Process, Stopped},
    input,
};

/// The time for the device to open.
const OPEN: Duration = Duration::from_secs(60);
/// The time for a row, and at most a quarter of the part's.
const ROW: Duration = Duration::from_secs(20);
/// The time to find the HIP call in which a row hangs.
const TRACE: Duration = Duration::from_secs(5);
/// The rows that may end without a result before the rest is left out.
const MOST_STOPPED: usize = 3;
/// The exit code of a device that is not there.
const ABSENT: i32 = 3;

/// The rows so far.
struct Rows<'a> {
    uri: &'a str,
    /// The time for a row.
    limit: Duration,
    /// The names of all rows, in order.
    names: Vec<String>,
    /// The number of the row that is measured now.
    next: usize,
    machine: Value,
    device: Value,
    rows: Vec<Value>,
    /// Rows without a result.
    stopped: Vec<Stopped>,
}

/// How a process ended.
enum Pass {
    Ended(Option<i32>, String),
    Stopped(Stopped, String),
}

/// Measures a device.
pub(super) fn run(uri: &str, limit: Duration, say: &dyn Fn(String)) -> Found {
    let until = Instant::now() + limit;
    let mut rows = Rows {
        uri,
        limit: ROW.min(limit / 4),
        names: bench::names_of_rows(uri),
        next: 0,
        machine: Value::Null,
        device: Value::Null,
        rows: Vec::new(),
        stopped: Vec::new(),
    };
    loop {
        let (stopped, reason) = match rows.pass(until, say) {
            Ok(Pass::Stopped(stopped, reason)) => (stopped, reason),
            Ok(Pass::Ended(code, errors)) => return rows.ended(code, &errors),
            Err(error) => return Found::none(End::Died, format!("no process could be started: {error}")),
        };
        if rows.device.is_null() {
            let words = "the device did not open; the part `devices` names a HIP call that does not return";
            let message = if stopped == Stopped::Hung { words.to_owned() } else { reason };
            return rows.found(stopped.into(), message);
        }
        rows.stop(stopped, &reason);
        if rows.stopped.len() == MOST_STOPPED || Instant::now() >= until || rows.next >= rows.names.len() {
            return rows.ended(None, "");
        }
    }
}

impl Rows<'_> {
    fn start(&self, errors: Errors) -> io::Result<Process<Value>> {
        let mut words = ["bench", "--quick", "--format", "jsonl", "--require", "--device", self.uri].to_vec();
        if let Some(before) = self.next.checked_sub(1).and_then(|index| self.names.get(index)) {
            words.extend(["--after", before]);
        }
        Process::start(words, errors)
    }

    /// One process, up to its end or to a row that does not end.
    fn pass(&mut self, until: Instant, say: &dyn Fn(String)) -> io::Result<Pass> {
        let mut process = self.start(Errors::Kept)?;
        let (begin, mut limit) = (self.next, OPEN);
        loop {
            match process.next(until.min(Instant::now() + limit)) {
                Ok((_, line)) => {
                    self.note(line);
                    limit = if self.device.is_null() { OPEN } else { self.limit };
                    self.names.get(self.next).cloned().into_iter().for_each(say);
                }
                Err(Stopped::Hung) => {
                    process.kill();
                    let reason = match (self.device.is_null(), self.traced()) {
                        (false, Some(call)) => format!("no result in time; its last HIP call was {call}"),
                        _ => "no result in time".to_owned(),
                    };
                    return Ok(Pass::Stopped(Stopped::Hung, reason));
                }
                Err(Stopped::Died) => {
                    let status = process.wait()?;
                    let errors = process.errors();
                    let is_over = self.next >= self.names.len() && self.next > begin;
                    return Ok(match status.code() {
                        None if !is_over => {
                            let reason = format!("its process ended with {status}\n{errors}");
                            Pass::Stopped(Stopped::Died, reason)
                        }
                        code => Pass::Ended(code, errors),
                    });
                }
            }
        }
    }

    /// Notes a line.
    fn note(&mut self, mut line: Value) {
        match line["kind"].as_str() {
            Some("machine") => self.machine = line,
            Some("device") => self.device = line,
            Some("row") => {
                let index = self.names.iter().position(|name| line["row"] == **name);
                self.next = index.map_or(self.next, |index| index + 1);
                // These are the same in every row, or empty.
                for same in ["kind", "device", "simulated", "device_clock"] {
                    line.as_object_mut().and_then(|fields| fields.remove(same));
                }
                self.rows.push(line);
            }
            _ => {}
        }
    }

    /// The HIP call in which the row hangs. The row is tried again for it, because a trace would cost all rows time.
    fn traced(&self) -> Option<String> {
        let mut process = self.start(Errors::Traced).ok()?;
        let until = Instant::now() + TRACE.min(self.limit);
        let is_row = |line: &Value| line["kind"] == "row";
        while process.next(until).is_ok_and(|(_, line)| !is_row(&line)) {}
        process.kill();
        let errors = process.errors();
        // The row is measured by the first thread. Others may have made calls since.
        let is_first = |line: &&str| line.contains(" ThreadId(01) ");
        let line = errors.lines().rev().find(is_first).or_else(|| errors.lines().last())?;
        let (_, call) = line.rsplit_once("windlass::hip: ")?;
        Some(call.to_owned())
    }

    /// Leaves out the row that is measured now.
    fn stop(&mut self, stopped: Stopped, reason: &str) {
        self.rows.push(json!({ "row": self.names.get(self.next), "status": stopped, "reason": reason }));
        self.stopped.push(stopped);
        self.next += 1;
    }

    /// The part, when its last process has ended by itself, or after too many stopped rows.
    fn ended(self, code: Option<i32>, errors: &str) -> Found {
        let end = match (self.stopped.contains(&Stopped::Hung), self.stopped.len(), code) {
            (true, ..) => End::Hung,
            (_, 0, Some(0)) => End::Done,
            (_, _, Some(ABSENT)) => End::Absent,
            _ => End::Failed,
        };
        let measured = self.rows.iter().filter(|row| row["status"] == "measured").count();
        let mut message = format!("{} measured", input::count(measured, "row", "rows"));
        for row in self.rows.iter().filter(|row| row["status"] == "hung" || row["status"] == "died") {
            let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
            message += &format!("; {} {}: {}", text("row"), text("status"), text("reason"));
        }
        if end != End::Done && !errors.is_empty() {
            message += &format!("; {}", errors.trim_end());
        }
        self.found(end, message)
    }

    fn found(self, end: End, message: String) -> Found {
        let result = json!({ "machine": self.machine, "device": self.device, "rows": self.rows });
        Found::new(end, message, result)
    }
}
