// SPDX-License-Identifier: MIT OR Apache-2.0
//! The file of `--resume`: the verdicts of a run as they are reached, for the run that continues it after the machine or
//! the runner went down.
//!
//! Its lines are JSON. The first states the run. Then each case has a line before it runs and one with its verdict. The
//! last line of a run that came to its end says so, and the next run with the file begins anew.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use serde_json::{Map, Value, json};

use crate::{
    bounded_file,
    case::Case,
    options::Options,
    summary::{KILLED, Verdict},
};

use super::{attempts::Ended, error::RunError, lock::try_lock, regular};

/// The verdicts of earlier runs, and the file that gets those of this one.
pub(super) struct Journal {
    path: PathBuf,
    file: Mutex<File>,
    earlier: HashMap<(usize, String), Earlier>,
    resumed: bool,
}

/// A case of an earlier run.
enum Earlier {
    /// It was running when the run ended.
    Running,
    Ended(Ended),
}

impl Journal {
    /// Opens the file, or makes it. A file of a run of other cases, or with other options, is refused.
    pub(super) fn open(path: &Path, options: &Options, selected: &[Case]) -> Result<Self, RunError> {
        let refuse = |reason: String| RunError::Resume(format!("--resume {}: {reason}", path.display()));
        let unusable = |error: io::Error| refuse(format!("it cannot be used: {error}"));
        let mut opening = File::options();
        opening.read(true).write(true).create(true).truncate(false);
        let mut file = regular::open(&mut opening, path).map_err(unusable)?;
        if !try_lock(&file).map_err(unusable)? {
            return Err(refuse("another run is using it".to_owned()));
        }
        let bytes = bounded_file::rest(&mut file, MOST).map_err(unusable)?;
        let run = identity(options, selected);
        let mut journal =
            Self { path: path.to_owned(), file: Mutex::new(file), earlier: HashMap::new(), resumed: false };
        // The machine may have gone down in the middle of a line, and of a letter.
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let whole = str::from_utf8(&bytes[..end]).unwrap_or("no text\n");
        let mut lines = whole.lines();
        let header = lines.next().map(|line| serde_json::from_str::<Value>(line).unwrap_or_default());
        let over = whole.lines().last().is_some_and(|line| line == OVER);
        match header {
            Some(header) if header["run"].is_object() => {
                if !over {
                    if let Some(option) = difference(&header["run"], &run) {
                        return Err(refuse(format!(
                            "it records a run that did not end, with another {option}; give the options of that run, \
                             or remove the file"
                        )));
                    }
                    lines.for_each(|line| journal.note(line));
                    journal.resumed = true;
                }
            }
            None if bytes.is_empty() => {}
            // The file ends in its first line.
            None if bytes.starts_with(b"{\"run\":") => {}
            _ => return Err(refuse("it is no file of this option; give the name of a new one".to_owned())),
        }
        let length = if journal.resumed { whole.len() as u64 } else { 0 };
        journal.cut(length).map_err(unusable)?;
        if !journal.resumed {
            journal.write(&json!({ "run": run }).to_string()).map_err(unusable)?;
        }
        Ok(journal)
    }

    /// Whether an earlier run did not come to its end.
    pub(super) fn resumed(&self) -> bool {
        self.resumed
    }

    /// The number of cases that have a verdict.
    pub(super) fn ended(&self) -> usize {
        self.earlier.values().filter(|known| matches!(known, Earlier::Ended(_))).count()
    }

    /// The verdict of an earlier run on a case. The text is a failure that expectations must still judge.
    pub(super) fn find(&self, device: usize, case: &Case) -> Option<Result<Ended, String>> {
        Some(match self.earlier.get(&(device, case.name.to_owned()))? {
            Earlier::Ended(ended) => Ok(ended.clone()),
            Earlier::Running => Err(KILLED.to_owned()),
        })
    }

    /// Writes that a case runs.
    pub(super) fn begin(&self, device: usize, case: &Case) -> io::Result<()> {
        self.write(&json!({ "device": device, "begin": case.name }).to_string())
    }

    /// Writes a verdict. A case that was not run has none, so that the next run tries it.
    pub(super) fn end(&self, device: usize, case: &Case, ended: &Ended) -> io::Result<()> {
        if ended.not_run {
            return self.write(&json!({ "device": device, "not_run": case.name }).to_string());
        }
        let line = json!({
            "device": device, "end": case.name, "verdict": ended.verdict.name(), "message": ended.verdict.message(),
            "seconds": ended.elapsed.as_secs_f64(), "failures": ended.failures,
        });
        self.write(&line.to_string())
    }

    /// Writes that the run came to its end.
    pub(super) fn over(&self) -> io::Result<()> {
        self.write(OVER)
    }

    /// Reads a line of an earlier run.
    fn note(&mut self, line: &str) {
        let value: Value = serde_json::from_str(line).unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let device = value["device"].as_u64().unwrap_or_default() as usize;
        if let Some(case) = value["begin"].as_str() {
            self.earlier.insert((device, case.to_owned()), Earlier::Running);
        }
        if let Some(case) = value["not_run"].as_str() {
            self.earlier.remove(&(device, case.to_owned()));
        }
        let Some(case) = value["end"].as_str() else { return };
        let verdict = Verdict::named(value["verdict"].as_str().unwrap_or_default(), text(&value["message"]));
        let ended = Ended {
            failures: value["failures"].as_array().into_iter().flatten().map(text).collect(),
            elapsed: Duration::try_from_secs_f64(value["seconds"].as_f64().unwrap_or_default())
                .unwrap_or_default(),
            ..Ended::at_once(verdict)
        };
        self.earlier.insert((device, case.to_owned()), Earlier::Ended(ended));
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        file.set_len(length)?;
        file.seek(SeekFrom::End(0)).map(drop)
    }

    /// Appends a line, and returns once it is on the disk.
    fn write(&self, line: &str) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = file.write_all(format!("{line}\n").as_bytes()).and_then(|()| file.sync_data());
        written.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", self.path.display())))
    }
}

/// The most MiB of a file.
const MOST: u64 = 256;
const OVER: &str = r#"{"over":true}"#;

/// The options that decide which verdicts a run gives.
fn identity(options: &Options, selected: &[Case]) -> Value {
    let cases: Vec<_> = selected.iter().map(|case| case.name).collect();
    json!({
        "build": options.provenance, "devices": options.devices, "level": options.level.name(), "seed": options.seed,
        "repeat": options.repeat, "cases": cases,
    })
}

/// The first entry in which two runs differ.
fn difference(one: &Value, other: &Value) -> Option<String> {
    let none = Map::new();
    let [one, other] = [one, other].map(|run| run.as_object().unwrap_or(&none));
    let name = other.keys().find(|&key| one.get(key) != other.get(key))?;
    Some(match name.as_str() {
        "cases" => "selection of cases".to_owned(),
        "devices" => "list of devices".to_owned(),
        name => name.to_owned(),
    })
}
