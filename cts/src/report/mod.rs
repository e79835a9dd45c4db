// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reports: results as they come, to the output, to a file of JSON lines, and as progress to the terminal; then the
//! reports of the whole run.

mod expectations;
pub(crate) mod json;
mod junit;
mod markdown;
mod progress;
mod text;

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
};

use serde_json::Value;

use crate::{
    case::Case,
    options::{Format, Options},
    summary::{CaseResult, Summary, TestedDevice},
};

use progress::ProgressLine;

/// The receivers of results.
pub(crate) struct Report<'a> {
    out: &'a mut dyn Write,
    options: &'a Options,
    json: Option<ReportFile<'a>>,
    junit: Option<ReportFile<'a>>,
    summary: Option<ReportFile<'a>>,
    expectations: Option<ReportFile<'a>>,
    /// The first error of a file. The other receivers still get the results.
    trouble: io::Result<()>,
    /// The first error of the output, if files still get the results.
    said: io::Result<()>,
    progress: ProgressLine,
}

impl<'a> Report<'a> {
    /// Opens every file that the run will need, so that a wrong path fails before the run.
    pub(crate) fn new(out: &'a mut dyn Write, options: &'a Options) -> io::Result<Self> {
        let mut anew = File::options();
        anew.write(true).create(true).truncate(true);
        // Several steps of a job append to the same page.
        let mut behind = File::options();
        behind.append(true).create(true);
        // The run may have read the same file.
        let mut kept = File::options();
        kept.write(true).create(true).truncate(false);
        let at_end = |path: &'a Option<_>| path.as_deref().filter(|_| !options.list);
        Ok(Self {
            json: ReportFile::open(options.json.as_deref(), &anew)?,
            junit: ReportFile::open(at_end(&options.junit), &anew)?,
            summary: ReportFile::open(at_end(&options.summary), &behind)?,
            expectations: ReportFile::open(at_end(&options.write_expectations), &kept)?,
            trouble: Ok(()),
            said: Ok(()),
            progress: ProgressLine::hidden(),
            out,
            options,
        })
    }

    pub(crate) fn list(&mut self, cases: &[Case]) -> io::Result<()> {
        for case in cases {
            self.event(&json::listed(case), |out| text::listed(out, self.options.format, case))?;
        }
        Ok(())
    }

    /// Reports a device, opened or not, and the number of its cases.
    pub(crate) fn device(&mut self, device: &TestedDevice, cases: usize) -> io::Result<()> {
        self.progress = ProgressLine::new(self.options.progress, cases);
        let event = json::device(device, self.options, cases);
        self.event(&event, |out| text::device(out, device, self.options, cases))
    }

    /// Reports that the run continues one of which a number of cases have a verdict.
    pub(crate) fn resumed(&mut self, ended: usize, cases: usize) -> io::Result<()> {
        self.event(&json::resumed(ended, cases), |out| text::resumed(out, ended, cases))
    }

    /// Reports that another run holds a device.
    pub(crate) fn waiting(&mut self, uri: &str, lock: &Path) -> io::Result<()> {
        let seconds = self.options.lock_timeout.as_secs_f64();
        self.event(&json::waiting(uri, lock), |out| text::waiting(out, uri, lock, seconds))
    }

    /// Reports why failures on a device come without the kernel's messages.
    pub(crate) fn no_kernel_log(&mut self, reason: &str) -> io::Result<()> {
        self.event(&json::no_kernel_log(reason), |out| text::no_kernel_log(out, reason))
    }

    /// Reports that a device did not recover.
    pub(crate) fn lost(&mut self, device: &TestedDevice) -> io::Result<()> {
        self.event(&json::lost(device), |out| text::lost(out, device))
    }

    /// Reports that a case begins.
    pub(crate) fn running(&mut self, case: &Case) {
        self.progress.running(case.name);
    }

    /// Reports the latest result.
    pub(crate) fn case(&mut self, summary: &Summary) -> io::Result<()> {
        let Some(result) = summary.results.last() else { return Ok(()) };
        self.progress.ended();
        self.event(&json::case(summary, result), |out| text::case(out, summary, result))
    }

    /// Writes the counts and the reports of the whole run. Returns the first error of all receivers.
    pub(crate) fn end(mut self, summary: &Summary) -> io::Result<()> {
        self.progress = ProgressLine::hidden();
        let said =
            self.event(&json::ended(summary, self.options), |out| text::ended(out, summary, self.options));
        let options = self.options;
        self.write(|it| &mut it.junit, |file| junit::write(file, summary, options));
        self.write(|it| &mut it.summary, |file| markdown::write(file, summary, options));
        // Without the results of all cases, entries would be lost.
        if summary.interrupted.is_none() {
            self.write(|it| &mut it.expectations, |file| expectations::write(file, summary));
        }
        self.said.and(said).and(self.trouble)
    }

    /// Writes to a file, if there is one. After an error the file is not used any more.
    fn write(
        &mut self,
        place: impl Fn(&mut Self) -> &mut Option<ReportFile<'a>>,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) {
        let Some(report) = place(self) else { return };
        if let Err(error) = naming(report.path, write(&mut report.file)) {
            *place(self) = None;
            self.trouble = std::mem::replace(&mut self.trouble, Ok(())).and(Err(error));
        }
    }

    fn event(
        &mut self,
        event: &Value,
        text: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let line = format!("{event}\n");
        self.write(|it| &mut it.json, |file| file.write_all(line.as_bytes()));
        if self.said.is_err() {
            return Ok(());
        }
        let out = &mut *self.out;
        let said = self.progress.aside(|| match self.options.format {
            Format::Json => out.write_all(line.as_bytes()),
            Format::Text | Format::Terse => text(out),
        });
        let files = [&self.json, &self.junit, &self.summary, &self.expectations];
        if files.iter().all(|file| file.is_none()) {
            return said;
        }
        self.said = said;
        Ok(())
    }
}

/// The file of a report.
struct ReportFile<'a> {
    path: &'a Path,
    file: File,
}

impl<'a> ReportFile<'a> {
    fn open(path: Option<&'a Path>, how: &OpenOptions) -> io::Result<Option<Self>> {
        path.map(|path| Ok(Self { path, file: naming(path, how.open(path))? })).transpose()
    }
}

/// Adds the file's name to an error.
fn naming<T>(path: &Path, result: io::Result<T>) -> io::Result<T> {
    result.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

/// The expectation of a result, for reports.
fn expected(result: &CaseResult) -> Option<String> {
    result.expectation.as_ref().map(ToString::to_string)
}
