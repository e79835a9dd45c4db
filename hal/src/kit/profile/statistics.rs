// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statistics of a profile: how often and how long functions and operations ran.

use std::{collections::BTreeMap, fmt, sync::Mutex};

use super::histogram::Histogram;
use crate::words::{
    profile::{CommandKind, ProfileChunk, ProfileRecord, ProfileSink, TimeSpan},
    sync::lock_std,
};

/// Statistics of a profile, as a sink. Its memory does not grow with the number of records.
#[derive(Debug, Default)]
pub struct ProfileStatistics(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    rows: BTreeMap<Key, Counts>,
    dropped: u64,
    simulated: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    kind: &'static str,
    name: String,
    is_device_time: bool,
}

#[derive(Debug, Default)]
struct Counts {
    times: Histogram,
    failed: u64,
}

/// The statistics of one function, operation, kind of command, or debug group. Times are in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProfileStatisticsRow {
    /// `dispatch`, or the kind of a command, or the name of an operation.
    pub kind: &'static str,
    /// The name of a function or the label of a group; empty for others.
    pub name: String,
    /// Whether the times are those of the device. Otherwise they are from the issue to the retirement, as the host saw it.
    pub is_device_time: bool,
    /// The number of records.
    pub count: u64,
    /// How many of them failed.
    pub failed: u64,
    /// The sum of the times.
    pub total: u64,
    /// The least time.
    pub least: u64,
    /// The mean.
    pub mean: u64,
    /// The median, less than 1 % too great.
    pub median: u64,
    /// The time that 99 % do not exceed, less than 1 % too great.
    pub p99: u64,
    /// The greatest time.
    pub most: u64,
}

impl ProfileStatistics {
    /// Statistics of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The rows, the one with the greatest total first.
    pub fn rows(&self) -> Vec<ProfileStatisticsRow> {
        let counted = lock_std(&self.0);
        let row = |(key, counts): (&Key, &Counts)| {
            let Counts { times, failed } = counts;
            ProfileStatisticsRow {
                kind: key.kind,
                name: key.name.clone(),
                is_device_time: key.is_device_time,
                count: times.count,
                failed: *failed,
                total: times.total,
                least: times.least,
                mean: times.total.checked_div(times.count).unwrap_or_default(),
                median: times.quantile(500),
                p99: times.quantile(990),
                most: times.most,
            }
        };
        let mut rows: Vec<_> = counted.rows.iter().map(row).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.total));
        rows
    }

    /// The number of records that were lost.
    pub fn dropped(&self) -> u64 {
        lock_std(&self.0).dropped
    }
}

impl Counted {
    fn add(
        &mut self,
        kind: &'static str,
        name: &str,
        device: Option<TimeSpan>,
        host: Option<TimeSpan>,
        failed: bool,
    ) {
        let Some(time) = device.or(host) else { return };
        let key = Key { kind, name: name.to_owned(), is_device_time: device.is_some() };
        let counts = self.rows.entry(key).or_default();
        counts.times.add(time.ended.saturating_sub(time.begun));
        counts.failed += u64::from(failed);
    }
}

impl ProfileSink for ProfileStatistics {
    fn records(&self, chunk: ProfileChunk) {
        let mut counted = lock_std(&self.0);
        counted.dropped += chunk.dropped;
        counted.simulated |= chunk.device.simulated;
        for record in &chunk.records {
            match record {
                ProfileRecord::Operation(operation) => {
                    let span = operation.issued.or(Some(operation.submitted)).zip(operation.retired);
                    let host = span.map(|(begun, ended)| TimeSpan { begun, ended });
                    let name = operation.function().unwrap_or_default();
                    counted.add(
                        operation.operation,
                        name,
                        operation.device,
                        host,
                        operation.failure.is_some(),
                    );
                }
                ProfileRecord::Command(command) => {
                    let name = command.name.as_deref().unwrap_or_default();
                    counted.add(command.kind.name(), name, command.device, None, false);
                }
                ProfileRecord::HostCall(call) => {
                    counted.add("host_call", "", None, Some(call.time), call.failure.is_some());
                }
                ProfileRecord::Memory(_) => {}
            }
        }
    }
}

const HEADINGS: [&str; 11] =
    ["kind", "name", "time of", "count", "failed", "total us", "least", "mean", "median", "p99", "most"];

/// A table. Its times are in microseconds.
impl fmt::Display for ProfileStatistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let device = if lock_std(&self.0).simulated { "device (simulated)" } else { "device" };
        let micros = |time: u64| format!("{}.{}", time / 1000, time % 1000 / 100);
        let mut table = vec![HEADINGS.map(str::to_owned)];
        table.extend(self.rows().into_iter().map(|row| {
            let name =
                if row.kind == CommandKind::Group.name() { format!("[{}]", row.name) } else { row.name };
            [
                row.kind.to_owned(),
                name.escape_debug().to_string(),
                if row.is_device_time { device.to_owned() } else { "host".to_owned() },
                row.count.to_string(),
                row.failed.to_string(),
                micros(row.total),
                micros(row.least),
                micros(row.mean),
                micros(row.median),
                micros(row.p99),
                micros(row.most),
            ]
        }));
        let width =
            |column: usize| table.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
        let widths: [usize; HEADINGS.len()] = std::array::from_fn(width);
        for row in &table {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
                match column {
                    0..3 => line.push_str(&format!("{cell:width$}  ")),
                    _ => line.push_str(&format!("{cell:>width$}  ")),
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        match self.dropped() {
            0 => Ok(()),
            dropped => writeln!(f, "{dropped} records were lost"),
        }
    }
}
