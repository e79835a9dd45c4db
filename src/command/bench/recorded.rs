// SPDX-License-Identifier: MIT OR Apache-2.0
//! A file of `--format jsonl`: its rows, and the facts of its machines and devices.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::result::RowResult;
use crate::command::{
    escape,
    failure::{Failure, Outcome},
    input,
};

/// The facts of a machine that explain a change, by their field and their name for people.
const OF_MACHINES: [(&str, &str); 10] = [
    ("commit", "commit"),
    ("windlass", "version"),
    ("rustc", "compiler"),
    ("profile", "profile"),
    ("target", "target"),
    ("cpu", "CPU"),
    ("cpus", "number of CPUs"),
    ("governor", "governor"),
    ("system", "system"),
    ("kernel_driver", "kernel driver of GPUs"),
];

/// The same of a device.
const OF_DEVICES: [(&str, &str); 4] = [
    ("name", "name"),
    ("architecture", "architecture"),
    ("library", "library"),
    ("hip_version", "version of HIP"),
];

/// A file of one run or of several.
pub(super) struct Recorded {
    path: PathBuf,
    pub(super) rows: Vec<RowResult>,
    machines: Vec<Value>,
    devices: Vec<Value>,
}

impl Recorded {
    /// Reads a file. A last line that was cut off, as by the end of its process, is left out.
    pub(super) fn read(path: &Path) -> Outcome<Self> {
        let bytes = input::read(path)?;
        let text = String::from_utf8_lossy(&bytes);
        let wrong = |at: String, error: String| {
            Failure::input(format!(
                "{}{at}: {error}; compare reads the output of `windlass bench --format jsonl`",
                escape::path(path)
            ))
        };
        let mut file =
            Self { path: path.to_owned(), rows: Vec::new(), machines: Vec::new(), devices: Vec::new() };
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            let at = || format!(", line {number}");
            let object: Value = match serde_json::from_str(line) {
                Ok(object) => object,
                Err(_) if !line.ends_with('\n') || line.trim().is_empty() => continue,
                Err(error) => return Err(wrong(at(), error.to_string())),
            };
            match object.get("kind").and_then(Value::as_str) {
                Some("row") => {
                    let row =
                        serde_json::from_value(object).map_err(|error| wrong(at(), error.to_string()))?;
                    file.rows.push(row);
                }
                Some("machine") => file.machines.push(object),
                Some("device") => file.devices.push(object),
                Some("end") => {}
                _ => return Err(wrong(at(), "the line has no kind".to_owned())),
            }
        }
        match (file.rows.is_empty(), text.trim().is_empty()) {
            (true, true) => Err(wrong(String::new(), "the file is empty".to_owned())),
            (true, false) => Err(wrong(String::new(), "the file has no row".to_owned())),
            _ => Ok(file),
        }
    }

    /// The name of the file.
    pub(super) fn name(&self) -> String {
        escape::path(&self.path)
    }

    /// The devices with numbers, as a list for people.
    pub(super) fn measured_devices(&self) -> String {
        let measured = self.rows.iter().filter(|row| row.host.is_some());
        let devices: BTreeSet<_> = measured.map(|row| row.device.as_str()).collect();
        match devices.is_empty() {
            true => "no device".to_owned(),
            false => devices.into_iter().collect::<Vec<_>>().join(", "),
        }
    }

    /// The facts that differ between two files, a sentence each.
    pub(super) fn differences(&self, new: &Self) -> Vec<String> {
        let mut differences = Vec::new();
        for (field, name) in OF_MACHINES {
            let values = |file: &Self| values(&file.machines, field);
            differences.extend(difference(name, &values(self), &values(new)));
        }
        let uris = values(&self.devices, "uri");
        for uri in uris.intersection(&values(&new.devices, "uri")) {
            for (field, name) in OF_DEVICES {
                let values = |file: &Self| {
                    let is_it = |device: &&Value| device.get("uri").and_then(Value::as_str) == Some(uri);
                    values(file.devices.iter().filter(is_it), field)
                };
                differences.extend(difference(&format!("{name} of {uri}"), &values(self), &values(new)));
            }
        }
        differences
    }
}

/// The values of a field, each once.
fn values<'a>(objects: impl IntoIterator<Item = &'a Value>, field: &str) -> BTreeSet<String> {
    let text = |object: &Value| match object.get(field) {
        None | Some(Value::Null) => "unknown".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    objects.into_iter().map(text).collect()
}

/// Nothing if the values are the same, or if a file does not have the fact at all.
fn difference(name: &str, old: &BTreeSet<String>, new: &BTreeSet<String>) -> Option<String> {
    let list = |values: &BTreeSet<String>| values.iter().cloned().collect::<Vec<_>>().join(" and ");
    (old != new && !old.is_empty() && !new.is_empty())
        .then(|| format!("the {name} differs: {} in OLD, {} in NEW", list(old), list(new)))
}
