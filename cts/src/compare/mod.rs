// SPDX-License-Identifier: MIT OR Apache-2.0
//! `compare OLD NEW`: the cases that changed between the reports of two runs.

mod changes;
mod recorded;

use std::{ffi::OsString, io::Write, path::PathBuf};

use clap::Parser;

use crate::summary::Exit;

use changes::{Change, Limits};
use recorded::Recorded;

/// The first word of the command line of a comparison.
pub(crate) const WORD: &str = "compare";

/// Names the cases that changed between two runs, by their reports: files of --json or of --junit
#[derive(Debug, Parser)]
#[command(
    after_help = "Exit codes: 0 nothing broke; 1 a case broke, a device is not there any more, NEW did not come to its \
                  end, or --max-absent was not met; 2 the command line is wrong, a file is no report, or the runs have no \
                  case in common."
)]
struct Arguments {
    /// The report of the earlier run
    old: PathBuf,
    /// The report of the later run
    new: PathBuf,
    /// A case is slower if it takes more than this many times as long, and more than --floor in addition
    #[arg(long, value_name = "FACTOR", default_value_t = 2.0, value_parser = factor)]
    slower: f64,
    /// Seconds by which a slower case differs at least
    #[arg(long, value_name = "SECONDS", default_value_t = 0.05, value_parser = floor)]
    floor: f64,
    /// Fail if more cases than this are in OLD and not in NEW
    #[arg(long, value_name = "N")]
    max_absent: Option<usize>,
}

fn factor(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|factor| *factor >= 1.0).ok_or_else(|| "a factor is 1 or more".to_owned())
}

fn floor(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|floor| *floor >= 0.0).ok_or_else(|| "seconds are 0 or more".to_owned())
}

/// Compares as a command line says, whose first word is the program's name.
pub(crate) fn main(arguments: &[OsString], out: &mut dyn Write, err: &mut dyn Write) -> Exit {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            let text = error.render().to_string();
            if error.use_stderr() {
                let _ = err.write_all(text.as_bytes());
                return Exit::Usage;
            }
            return if out.write_all(text.as_bytes()).is_ok() { Exit::Passed } else { Exit::Failed };
        }
    };
    let read = Recorded::read(&arguments.old).and_then(|old| Ok((old, Recorded::read(&arguments.new)?)));
    let (old, new) = match read {
        Ok(both) => both,
        Err(message) => {
            let _ = writeln!(err, "cts: {message}");
            return Exit::Usage;
        }
    };
    let limits = Limits { factor: arguments.slower, floor: arguments.floor };
    let (changes, common) = changes::between(&old, &new, limits);
    let absent = changes.iter().filter(|change| change.is_absent()).count();
    let exit = if changes.iter().any(Change::breaks) {
        Exit::Failed
    } else if common == 0 {
        let (old, new) = (arguments.old.display(), arguments.new.display());
        let _ = writeln!(err, "cts: {old} and {new} have no case in common, so nothing was compared");
        Exit::Usage
    } else if let Some(most) = arguments.max_absent.filter(|most| absent > *most) {
        let _ = writeln!(err, "cts: not met: --max-absent {most}: {absent} cases are absent");
        Exit::Failed
    } else {
        Exit::Passed
    };
    match write(out, &changes) {
        Ok(()) => exit,
        Err(error) => {
            let _ = writeln!(err, "cts: the changes could not be written: {error}");
            Exit::Failed
        }
    }
}

/// Writes each change, and their numbers in one line.
fn write(out: &mut dyn Write, changes: &[Change]) -> std::io::Result<()> {
    for change in changes {
        writeln!(out, "{change}")?;
    }
    let counts: Vec<_> = Change::KINDS
        .iter()
        .map(|kind| format!("{} {kind}", changes.iter().filter(|change| change.kind == *kind).count()))
        .collect();
    writeln!(out, "{}", counts.join("; "))
}
