// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass exec --print-env`: the variables of a program that somebody else starts, for as long as standard input is open.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, BufRead, Read, Seek, SeekFrom, Write},
    path::Path,
    process::Command,
    sync::mpsc,
    thread,
};

use serde::Serialize;
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};
use windlass_simulator::Tally;

use super::{
    super::failure::{Failure, Outcome},
    folder::Folder,
};

/// The answer to a line of input.
#[derive(Serialize)]
struct Counts {
    /// The line, so that an answer that nobody read is not taken for a later one.
    question: String,
    processes: u64,
    launches: u64,
    faults: u64,
    refused: u64,
    /// The reports of faults since the last answer.
    reports: Vec<String>,
}

/// Prints the variables that the command would get, and answers lines of input until it ends or a signal asks for the
/// end.
pub(super) fn serve(command: &Command, folder: &Folder) -> Outcome {
    let reports = folder.keep_reports()?;
    let lines = lines().map_err(|error| Failure::failed(format!("cannot watch standard input: {error}")))?;
    print(&variables(command)?)?;
    let mut read = 0;
    while let Ok(Some(question)) = lines.recv() {
        let tally = Tally::read(&folder.tally());
        let tally = tally.map_err(|error| {
            Failure::failed(format!("the counts of the simulated GPU cannot be read: {error}"))
        })?;
        let reports = new_reports(&reports, &mut read).map_err(|error| {
            Failure::failed(format!("the reports of the simulated GPU cannot be read: {error}"))
        })?;
        let Tally { processes, launches, faults, refused, .. } = tally;
        print(&Counts { question, processes, launches, faults, refused, reports })?;
    }
    Ok(())
}

/// The lines of input, and `None` at the end.
fn lines() -> io::Result<mpsc::Receiver<Option<String>>> {
    let (sender, lines) = mpsc::channel();
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    let ended = sender.clone();
    thread::spawn(move || {
        let _ = signals.forever().next();
        ended.send(None)
    });
    thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let _ = sender.send(line.ok());
        }
        sender.send(None)
    });
    Ok(lines)
}

fn variables(command: &Command) -> Outcome<BTreeMap<String, Option<String>>> {
    let text = |value: &std::ffi::OsStr| {
        value.to_str().map(str::to_owned).ok_or_else(|| {
            Failure::input(format!("--print-env: JSON cannot hold {value:?}, which is not UTF-8: change LD_LIBRARY_PATH or TMPDIR"))
        })
    };
    command.get_envs().map(|(name, value)| Ok((text(name)?, value.map(text).transpose()?))).collect()
}

/// The whole reports after the first `read` bytes of the file.
fn new_reports(path: &Path, read: &mut u64) -> io::Result<Vec<String>> {
    let mut file = fs::File::open(path)?;
    file.seek(SeekFrom::Start(*read))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let mut reports = Vec::new();
    for report in bytes.split_inclusive(|byte| *byte == 0) {
        if let Some(report) = report.strip_suffix(&[0]) {
            *read += report.len() as u64 + 1;
            reports.push(String::from_utf8_lossy(report).into_owned());
        }
    }
    Ok(reports)
}

fn print(value: &impl Serialize) -> Outcome {
    let line = serde_json::to_string(value).map_err(|error| Failure::failed(error.to_string()))?;
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}").and_then(|()| stdout.flush()).map_err(|error| Failure::output(&error))
}
