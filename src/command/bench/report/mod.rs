// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reports of a run, a file for each format.

mod bmf;
mod gbench;
mod github;
mod jsonl;
mod table;

use clap::ValueEnum;
use serde::Serialize;

pub(super) use table::number;

use super::{
    environment::{self, DeviceFacts, Machine},
    result::{RowResult, Status},
};
use crate::command::{failure::Outcome, output};

/// The format of standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Columns for people
    Table,
    /// An object on each line: the machine, each device, each row, the end
    Jsonl,
    /// Bencher's metric format
    Bmf,
    /// customSmallerIsBetter of github-action-benchmark
    Github,
    /// Google Benchmark's JSON
    Gbench,
}

/// The last line of a run that was not cut off.
#[derive(Serialize)]
struct End {
    /// The load of the last minute.
    load: Option<f64>,
}

/// Writes a run. Formats with lines write each row when it is done, the others at the end.
pub(super) struct Report {
    format: Format,
    machine: Machine,
    devices: Vec<DeviceFacts>,
    rows: Vec<RowResult>,
    /// The width of the column of names.
    width: usize,
}

impl Report {
    /// Begins the report of rows whose longest name has `width` letters.
    pub(super) fn new(format: Format, machine: Machine, width: usize) -> Outcome<Self> {
        match format {
            Format::Table => output::write(&machine.lines().join("\n"))?,
            Format::Jsonl => output::write(&jsonl::line("machine", &machine)?)?,
            Format::Bmf | Format::Github | Format::Gbench => {}
        }
        Ok(Self { format, machine, devices: Vec::new(), rows: Vec::new(), width })
    }

    /// The rows from here on are of this device.
    pub(super) fn device(&mut self, device: DeviceFacts) -> Outcome {
        match self.format {
            Format::Table => output::write(&format!("\n{}\n{}", device.line(), table::heading(self.width)))?,
            Format::Jsonl => output::write(&jsonl::line("device", &device)?)?,
            Format::Bmf | Format::Github | Format::Gbench => {}
        }
        self.devices.push(device);
        Ok(())
    }

    /// Adds a row.
    pub(super) fn row(&mut self, row: RowResult) -> Outcome {
        match self.format {
            Format::Table => output::write(&table::line(&row, self.width))?,
            Format::Jsonl => output::write(&jsonl::line("row", &row)?)?,
            Format::Bmf | Format::Github | Format::Gbench => {}
        }
        self.rows.push(row);
        Ok(())
    }

    /// Ends the report.
    pub(super) fn finish(&self) -> Outcome {
        match self.format {
            Format::Table => match environment::load() {
                Some(load) => output::write(&format!("\nload at the end {load:.2}")),
                None => Ok(()),
            },
            Format::Jsonl => output::write(&jsonl::line("end", &End { load: environment::load() })?),
            Format::Bmf => output::write_json(&bmf::document(&self.rows)),
            Format::Github => output::write_json(&github::document(&self.machine, &self.devices, &self.rows)),
            Format::Gbench => output::write_json(&gbench::document(&self.machine, &self.devices, &self.rows)),
        }
    }

    /// The rows that ended in a way.
    pub(super) fn with(&self, status: Status) -> impl Iterator<Item = &RowResult> {
        self.rows.iter().filter(move |row| row.status == status)
    }
}
