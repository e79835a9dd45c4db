// SPDX-License-Identifier: MIT OR Apache-2.0
//! The document of a report: the JSON, from which the page is made. It is written after each part, so that a machine that
//! goes down leaves all that is known.

use serde::Serialize;
use serde_json::Value;

use super::{
    markdown,
    part::{End, Entry, Found, Part, SCHEMA},
    place::Place,
    redact::Redactor,
    sections,
};
use crate::command::failure::{Failure, Outcome};

/// Its version. A field that goes or changes its meaning changes the version.
const VERSION: u32 = 1;

/// The device of a report.
#[derive(Serialize)]
pub(super) struct Chosen {
    pub(super) uri: String,
    /// Whether the command line or the environment names it.
    pub(super) named: bool,
    /// Why there is no real GPU, if a simulated one took its place.
    pub(super) no_real_gpu: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Document {
    schema: &'static str,
    version: u32,
    windlass: &'static str,
    /// Whether all parts have ended.
    complete: bool,
    device: Chosen,
    parts: Vec<Entry>,
}

impl Document {
    /// A report whose parts wait.
    pub(super) fn new(device: Chosen, parts: Vec<Entry>) -> Self {
        Self {
            schema: SCHEMA,
            version: VERSION,
            windlass: crate::build_info::PROVENANCE,
            complete: false,
            device,
            parts,
        }
    }

    /// Notes that a part has begun. If the machine goes down, the file names the part.
    pub(super) fn begin(&mut self, part: Part) {
        self.entry(part, |entry| entry.outcome = End::Running);
    }

    /// Notes the end of a part.
    pub(super) fn end(&mut self, part: Part, found: Found, seconds: f64) {
        self.entry(part, |entry| {
            entry.outcome = found.end;
            entry.message = found.message;
            entry.result = found.result;
            entry.seconds = Some((seconds * 1e3).round() / 1e3);
        });
        self.complete = self.parts.iter().all(|entry| ![End::Waiting, End::Running].contains(&entry.outcome));
    }

    fn entry(&mut self, part: Part, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.parts.iter_mut().find(|entry| entry.name == part) {
            change(entry);
        }
    }

    pub(super) fn parts(&self) -> &[Entry] {
        &self.parts
    }

    pub(super) fn device(&self) -> &Chosen {
        &self.device
    }

    /// Whether no part ran on hardware.
    pub(super) fn is_simulated(&self) -> bool {
        serde_json::to_value(self).is_ok_and(|value| sections::is_simulated(&value))
    }

    /// Writes both files, without the names of people and machines.
    pub(super) fn write(&self, place: &Place, redactor: &Redactor) -> Outcome {
        let wrong = |error: serde_json::Error| Failure::failed(format!("the report: {error}"));
        let mut value = serde_json::to_value(self).map_err(wrong)?;
        redactor.clean(&mut value);
        let json = serde_json::to_string_pretty(&Ordered::of(&value)).map_err(wrong)?;
        place.write(&(json + "\n"), &markdown::page(&value))
    }
}

/// The same document with its schema first.
#[derive(Serialize)]
struct Ordered<'v> {
    schema: &'v Value,
    version: &'v Value,
    windlass: &'v Value,
    complete: &'v Value,
    device: &'v Value,
    parts: &'v Value,
}

impl<'v> Ordered<'v> {
    fn of(value: &'v Value) -> Self {
        Self {
            schema: &value["schema"],
            version: &value["version"],
            windlass: &value["windlass"],
            complete: &value["complete"],
            device: &value["device"],
            parts: &value["parts"],
        }
    }
}
