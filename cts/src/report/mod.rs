// SPDX-License-Identifier: MIT OR Apache-2.0
//! Results as they come: to the output, to a file of JSON lines, and how far the run is to the terminal; then the
//! reports that are written at the end.

pub(crate) mod json;
mod junit;
mod markdown;
mod progress;
mod text;

use std::{
    fs::File,
    io::{self, Write},
};

use serde_json::Value;

use crate::{
    case::Case,
    options::{Format, Options},
    summary::{CaseResult, Summary, TestedDevice},
};

use progress::Progress;

/// Where results go.
pub(crate) struct Report<'a> {
    out: &'a mut dyn Write,
    options: &'a Options,
    json: Option<File>,
    progress: Progress,
}

impl<'a> Report<'a> {
    pub(crate) fn new(out: &'a mut dyn Write, options: &'a Options) -> io::Result<Self> {
        let json = options.json.as_deref().map(|path| naming(path, File::create(path))).transpose()?;
        Ok(Self { out, options, json, progress: Progress::hidden() })
    }

    pub(crate) fn list(&mut self, cases: &[Case]) -> io::Result<()> {
        for case in cases {
            self.event(&json::listed(case), |out| text::listed(out, self.options.format, case))?;
        }
        Ok(())
    }

    /// A device that was opened or not, and the number of cases that it is for.
    pub(crate) fn device(&mut self, device: &TestedDevice, cases: usize) -> io::Result<()> {
        self.progress = Progress::new(self.options.progress, cases);
        let event = json::device(device, self.options, cases);
        self.event(&event, |out| text::device(out, device, self.options, cases))
    }

    /// A case that begins.
    pub(crate) fn running(&mut self, case: &Case) {
        self.progress.running(case.name);
    }

    /// The latest result.
    pub(crate) fn case(&mut self, summary: &Summary) -> io::Result<()> {
        let Some(result) = summary.results.last() else { return Ok(()) };
        self.progress.ended();
        self.event(&json::case(summary, result), |out| text::case(out, summary, result))
    }

    /// Counts, and the reports that hold the whole run.
    pub(crate) fn end(&mut self, summary: &Summary) -> io::Result<()> {
        self.progress = Progress::hidden();
        if let Some(path) = &self.options.junit {
            naming(path, junit::write(path, summary, self.options))?;
        }
        if let Some(path) = &self.options.summary {
            naming(path, markdown::append(path, summary, self.options))?;
        }
        self.event(&json::ended(summary), |out| text::ended(out, summary))
    }

    fn event(
        &mut self,
        event: &Value,
        text: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let line = format!("{event}\n");
        if let Some(file) = &mut self.json {
            file.write_all(line.as_bytes())?;
        }
        let out = &mut *self.out;
        self.progress.aside(|| match self.options.format {
            Format::Json => out.write_all(line.as_bytes()),
            Format::Text | Format::Terse => text(out),
        })
    }
}

/// An error of a file, with its name.
fn naming<T>(path: &std::path::Path, result: io::Result<T>) -> io::Result<T> {
    result.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

/// The result's expectation in reports, behind what was seen.
fn expected(result: &CaseResult) -> Option<String> {
    result.expectation.as_ref().map(ToString::to_string)
}
