// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cts` in a lab: runs of flaky cases, on lost devices, in several processes, after reboots, and their comparison.

mod compare;
mod devices;
mod order;
mod resume;
mod retries;
#[cfg(unix)]
mod signals;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Finished, windlass};

/// The launches of `vector_add` are calls 1 to 5, so that of `positions` fails, and passes on a device that is opened
/// anew.
const FLAKY: &str = "hip-sim://gfx942?threads=2&fail=hipModuleLaunchKernel@6";
const BROKEN: &str = "hip-sim://gfx942?threads=2&fail=hipModuleLaunchKernel";
const SOUND: &str = "hip-sim://gfx942?threads=2";

/// Runs `cts` with whole names of cases, and returns it with its JSON events.
fn cts(device: &str, cases: &[&str], options: &[&str]) -> (Finished, Vec<Value>) {
    let file = Scratch::new("jsonl");
    let mut words = vec!["cts", "--device", device, "--json", file.path()];
    words.extend(options);
    if !cases.is_empty() {
        words.push("--exact");
        words.extend(cases);
    }
    let finished = windlass(words);
    let text = std::fs::read_to_string(&file.0).unwrap_or_default();
    let events = text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    (finished, events)
}

/// The names and verdicts of the cases, in order.
fn verdicts(events: &[Value]) -> Vec<(&str, &str)> {
    let cases = events.iter().filter(|event| event["event"] == "case");
    cases.map(|event| (event["case"].as_str().unwrap(), event["verdict"].as_str().unwrap())).collect()
}

fn event<'a>(events: &'a [Value], case: &str) -> &'a Value {
    events
        .iter()
        .find(|event| event["event"] == "case" && event["case"] == case)
        .expect("the case has an event")
}

/// A file that is deleted when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(ending: &str) -> Self {
        Self(crate::support::scratch(ending))
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    fn text(&self) -> String {
        read(&self.0)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}
