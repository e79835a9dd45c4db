// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two files of a report. A file that is no report is never replaced.

use std::{
    fs,
    io::{ErrorKind, Read},
    path::{Path, PathBuf},
};

use super::{markdown, part::SCHEMA};
use crate::command::{
    escape,
    failure::{Failure, Outcome},
    output,
};

/// The name of the files in a folder.
const STEM: &str = "windlass-report";
/// The bytes at the start of a file that tell whether it is a report.
const START: u64 = 256;

/// Where the report goes.
pub(super) struct Place {
    pub(super) page: PathBuf,
    pub(super) json: PathBuf,
}

impl Place {
    /// The files of a folder, or of a name without its ending.
    pub(super) fn of(path: Option<&Path>) -> Outcome<Self> {
        let stem = match path {
            None => PathBuf::from(STEM),
            Some(path) if path.is_dir() => path.join(STEM),
            Some(path) => stem(path)?,
        };
        let with = |ending: &str| {
            let mut name = stem.clone().into_os_string();
            name.push(ending);
            PathBuf::from(name)
        };
        let place = Self { page: with(".md"), json: with(".json") };
        refuse_foreign(&place.page, |start| start.starts_with(markdown::TITLE))?;
        refuse_foreign(&place.json, |start| start.contains(SCHEMA))?;
        Ok(place)
    }

    /// Writes both files.
    pub(super) fn write(&self, json: &str, page: &str) -> Outcome {
        for (path, text) in [(&self.json, json), (&self.page, page)] {
            output::write_file_to_disk(path, text.as_bytes()).map_err(|error| {
                let folder = "name a folder that you may write to: windlass report FOLDER";
                Failure::input(format!("cannot write {}: {error}; {folder}", escape::path(path)))
            })?;
        }
        Ok(())
    }
}

/// A name in a folder that is there.
fn stem(path: &Path) -> Outcome<PathBuf> {
    let shown = escape::path(path);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let names_folder = path.as_os_str().as_encoded_bytes().ends_with(b"/") || path.file_name().is_none();
    if names_folder || !folder.is_dir() {
        let absent = if names_folder { shown.clone() } else { escape::path(folder) };
        return Err(Failure::input(format!(
            "{shown}: there is no folder {absent}; make it, or name another"
        )));
    }
    let is_ours = path.extension().is_some_and(|ending| ending == "md" || ending == "json");
    Ok(if is_ours { path.with_extension("") } else { path.to_owned() })
}

/// An error for a file that is there and was not written by this command.
fn refuse_foreign(path: &Path, is_report: impl Fn(&str) -> bool) -> Outcome {
    let refused = |reason: &str| {
        let shown = escape::path(path);
        Err(Failure::input(format!(
            "{shown} {reason}; move it away, or name another folder: windlass report FOLDER"
        )))
    };
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return refused(&format!("cannot be looked at: {error}")),
        Ok(data) if !data.is_file() => return refused("is there and is no file"),
        Ok(_) => {}
    }
    let mut start = Vec::new();
    match fs::File::open(path).and_then(|file| file.take(START).read_to_end(&mut start)) {
        Ok(_) if is_report(&String::from_utf8_lossy(&start)) => Ok(()),
        Ok(_) => refused("is there, and windlass report has not written it"),
        Err(error) => refused(&format!("is there and cannot be read: {error}")),
    }
}
