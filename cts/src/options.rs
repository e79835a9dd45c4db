// SPDX-License-Identifier: MIT OR Apache-2.0
//! What to run, and how to tell about it.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use crate::{case::Case, kernels::Kernels, outcome::Level, shard::Shard};

/// The runner's options, as plain data. [`Options::parse`] makes them from a command line.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The URIs of the devices under test, one after the other; the registry's default where there is none.
    pub devices: Vec<String>,
    /// Runs only cases whose name contains one of these; all where there is none.
    pub filters: Vec<String>,
    /// Leaves out cases whose name contains one of these.
    pub skip: Vec<String>,
    /// `filters` and `skip` are whole names.
    pub exact: bool,
    /// How thorough to be: leaves out cases of a higher level.
    pub level: Level,
    /// Leaves out cases of other shards.
    pub shard: Option<Shard>,
    /// Lists the selected cases with their contracts instead of running them.
    pub list: bool,
    /// Opens the devices, reports them, and runs nothing.
    pub probe: bool,
    /// How to write to the output.
    pub format: Format,
    /// Where to write what [`Format::Json`] writes, whatever the output is.
    pub json: Option<PathBuf>,
    /// Where to write a JUnit report.
    pub junit: Option<PathBuf>,
    /// Where to append a summary in Markdown.
    pub summary: Option<PathBuf>,
    /// Cases that are known not to pass; see [`Expectations`](crate::Expectations).
    pub expectations: Option<PathBuf>,
    /// The longest a case, or the opening of a device, may take before it counts as hung.
    pub timeout: Duration,
    /// How often to run each case, each time with the next seed; the first failure ends it.
    pub repeat: u32,
    /// An absent device is [`Exit::Absent`](crate::Exit::Absent) instead of a skip of everything.
    pub require: bool,
    /// Repeats the random choices of the cases.
    pub seed: u64,
    /// The suite's kernels in other formats than its own: what drivers bring that run no AMD code objects.
    pub kernels: Vec<Kernels>,
    /// Runs each case in a process of its own, started by [`program`](Self::program).
    pub isolate: bool,
    /// The command line that starts this runner again, to which options are appended; this process's own executable
    /// where it is empty.
    pub program: Vec<OsString>,
    /// What is being tested, for reports: version and build.
    pub provenance: String,
    /// Shows on standard error how far the run is.
    pub progress: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            devices: Vec::new(),
            filters: Vec::new(),
            skip: Vec::new(),
            exact: false,
            level: Level::Full,
            shard: None,
            list: false,
            probe: false,
            format: Format::Text,
            json: None,
            junit: None,
            summary: None,
            expectations: None,
            timeout: Duration::from_secs(120),
            repeat: 1,
            require: false,
            seed: 1,
            kernels: Vec::new(),
            isolate: false,
            program: Vec::new(),
            provenance: format!("windlass-cts {}", env!("CARGO_PKG_VERSION")),
            progress: false,
        }
    }
}

impl Options {
    /// Everything over one device.
    pub fn new(device: impl Into<String>) -> Self {
        Self { devices: vec![device.into()], ..Self::default() }
    }

    /// Whether the options let a case run.
    pub fn selects(&self, case: &Case) -> bool {
        let matches = |pattern: &String| {
            if self.exact { case.name == pattern } else { case.name.contains(pattern.as_str()) }
        };
        case.level <= self.level
            && (self.filters.is_empty() || self.filters.iter().any(matches))
            && !self.skip.iter().any(matches)
            && self.shard.is_none_or(|shard| shard.holds(case.name))
    }
}

/// How to write to the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// A line for each case, skips with their reasons, and counts.
    #[default]
    Text,
    /// A JSON object on each line: one for each device, one for each case, one for the counts.
    Json,
    /// Text, with lists in the form that `cargo nextest` reads.
    Terse,
}
