// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options of a run, and the rows and devices that they choose.

use std::{path::PathBuf, time::Duration};

use crate::build_info;
use clap::Args;

use super::{cpus::Cpus, peers::Peer, report::Format, row::Row, rows};
use crate::command::{
    escape,
    failure::{Failure, Outcome},
    output,
};

/// The devices of a run that names none, if this build has their drivers.
const DEVICES: [&str; 3] = ["hip-null://", "hip-sim://gfx942", "local://"];

/// Options of a run.
#[derive(Args)]
pub(super) struct Options {
    /// Rows, each by a part of its name; all without a pattern
    #[arg(value_name = "PATTERN")]
    pub(super) patterns: Vec<String>,
    /// Print the names of the rows, and measure nothing
    #[arg(long)]
    pub(super) list: bool,
    /// A device, as a URI; may be repeated [default: WINDLASS_DEVICE, else hip-null://, hip-sim://gfx942 and local://]
    #[arg(long = "device", value_name = "URI")]
    devices: Vec<String>,
    /// Fail with exit code 3 if a device is absent
    #[arg(long)]
    pub(super) require: bool,
    /// The format of standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(super) format: Format,
    /// The time to measure a row, such as 300ms or 2s
    #[arg(long, value_name = "TIME", default_value = "300ms", value_parser = time)]
    time: Duration,
    /// A few samples of each row, to see that it works
    #[arg(long)]
    quick: bool,
    /// The CPUs of the run: one of them, or all
    #[arg(long, value_enum, default_value_t = Cpus::All)]
    pub(super) cpus: Cpus,
    /// Also measure a peer in turns with the rows that it can do; may be repeated
    #[arg(long = "peer", value_enum, value_name = "PEER")]
    pub(super) peers: Vec<Peer>,
    /// The Python that has IREE's packages
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    pub(super) python: PathBuf,
    /// Leave out this row and all in front of it, for a report that goes on behind a row
    #[arg(long, value_name = "ROW", hide = true)]
    after: Option<String>,
    /// Count instructions under valgrind instead of measuring times
    #[arg(long, conflicts_with_all = ["time", "quick", "cpus", "peers"])]
    pub(super) icount: bool,
    /// Fail with exit code 1 if a row executes more instructions than this file allows
    #[arg(long, value_name = "FILE", requires = "icount")]
    pub(super) budgets: Option<PathBuf>,
}

impl Options {
    /// Whether the command line names devices.
    pub(super) fn names_devices(&self) -> bool {
        !self.devices.is_empty()
    }

    /// The URIs of the devices. An unknown scheme is a wrong command line.
    pub(super) fn devices(&self) -> Outcome<Vec<String>> {
        let named = std::env::var_os(crate::DEVICE_VARIABLE).filter(|uri| !uri.is_empty());
        let uris = match (&self.devices[..], named) {
            ([], Some(uri)) => vec![uri.to_string_lossy().into_owned()],
            ([], None) => {
                let is_built = |uri: &&&str| {
                    let scheme = uri.split("://").next().unwrap_or_default();
                    build_info::DRIVERS.contains(&scheme)
                };
                DEVICES.iter().filter(is_built).map(|uri| (*uri).to_owned()).collect()
            }
            (devices, _) => devices.to_vec(),
        };
        for uri in &uris {
            let scheme = uri.split_once("://").map_or(uri.as_str(), |(scheme, _)| scheme);
            if let Err(error) = crate::registry().driver(scheme) {
                return Err(Failure::input(format!("{}: {error}", self.origin(uri))));
            }
        }
        match uris.is_empty() {
            true => Err(Failure::input(
                "this build has no driver with a default device; name one with --device URI",
            )),
            false => Ok(uris),
        }
    }

    /// The place that names a device, for messages.
    pub(super) fn origin(&self, uri: &str) -> String {
        let uri = escape::line(uri);
        match self.names_devices() {
            true => format!("--device {uri}"),
            false if std::env::var_os(crate::DEVICE_VARIABLE).is_some_and(|named| !named.is_empty()) => {
                format!("{}={uri}", crate::DEVICE_VARIABLE)
            }
            false => uri.into_owned(),
        }
    }

    /// Writes the names of rows.
    pub(super) fn write_list(&self, rows: &[Row]) -> Outcome {
        let lines: Vec<_> = match self.format {
            Format::Table => rows.iter().map(|row| row.name.clone()).collect(),
            Format::Jsonl => rows.iter().map(|row| row.listed().to_string()).collect(),
            Format::Bmf | Format::Github | Format::Gbench => {
                return Err(Failure::input(
                    "--list writes --format table or jsonl; the other formats hold measured values only",
                ));
            }
        };
        output::write(&lines.join("\n"))
    }

    /// The rows that the patterns choose. A pattern that fits none is an error with the names of all.
    pub(super) fn rows(&self) -> Outcome<Vec<Row>> {
        let mut rows = rows::all();
        for pattern in &self.patterns {
            if !rows.iter().any(|row| row.name.contains(pattern.as_str())) {
                let names: Vec<_> = rows.iter().map(|row| row.name.as_str()).collect();
                return Err(Failure::input(format!(
                    "no row has `{}` in its name; there are\n  {}",
                    escape::line(pattern),
                    names.join("\n  ")
                )));
            }
        }
        rows.retain(|row| {
            self.patterns.is_empty()
                || self.patterns.iter().any(|pattern| row.name.contains(pattern.as_str()))
        });
        let last = self.after.as_ref().and_then(|after| rows.iter().position(|row| row.name == *after));
        Ok(rows.split_off(last.map_or(0, |last| last + 1)))
    }

    /// How long each row is measured.
    pub(super) fn plan(&self) -> super::sample::Plan {
        use super::sample::Plan;

        match self.quick {
            true => Plan { time: Duration::ZERO, least: 3, batch: Duration::from_micros(1) },
            false => Plan { time: self.time, least: 7, batch: Duration::from_micros(20) },
        }
    }
}

/// Parses `300ms` or `2s`.
fn time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no time; write a number with its unit, such as 300ms or 2s");
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => (text.strip_suffix('s').ok_or_else(wrong)?, 1.0),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number * unit).map_err(|_| wrong())
}
