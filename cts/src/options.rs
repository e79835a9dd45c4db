// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options of a run: the selection of cases, and the reports.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use glob::Pattern;

use crate::{case::Case, kernels::Kernels, outcome::Level, shard::Shard};

/// The runner's options, as plain data. [`Options::parse`] makes them from a command line.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The URIs of the devices under test, in order. If empty, the registry's default device.
    pub devices: Vec<String>,
    /// Runs only cases whose name contains one of these. If empty, all cases.
    pub filters: Vec<String>,
    /// Leaves out cases whose name contains one of these.
    pub skip: Vec<String>,
    /// Whether `filters` and `skip` are whole names.
    pub exact: bool,
    /// Leaves out cases of a higher level.
    pub level: Level,
    /// Leaves out cases of other shards.
    pub shard: Option<Shard>,
    /// Lists the selected cases with their contracts instead of running them.
    pub list: bool,
    /// Opens the devices, reports them, and runs nothing.
    pub probe: bool,
    /// The format of the output.
    pub format: Format,
    /// A file for the lines of [`Format::Json`], in addition to the output.
    pub json: Option<PathBuf>,
    /// The file for a JUnit report.
    pub junit: Option<PathBuf>,
    /// The file to which a summary in Markdown is appended.
    pub summary: Option<PathBuf>,
    /// The file of cases that are known to fail; see [`Expectations`](crate::Expectations).
    pub expectations: Option<PathBuf>,
    /// The time after which a case, or the opening of a device, counts as hung.
    pub timeout: Duration,
    /// The number of runs of each case, each with the next seed. The first failure ends them.
    pub repeat: u32,
    /// The number of further runs of a case after an unexpected failure. A pass makes it flaky.
    pub retry: u32,
    /// The number of processes that run cases at the same time. More than one isolate each case, as
    /// [`isolate`](Self::isolate) does.
    pub jobs: u32,
    /// The time that a device has, after a failure, to pass a health check again. Then it counts as lost, and the
    /// remaining cases are not run. `None` for 10 s on real devices, and for no check on simulated ones, whose failures
    /// may be meant.
    pub recovery: Option<Duration>,
    /// The file that remembers the verdicts of an interrupted run, for the run that continues it.
    pub resume: Option<PathBuf>,
    /// The architectures of which each device must have one. If empty, any. A feature that is not named may have any
    /// state.
    pub expect_arch: Vec<String>,
    /// The folder for the files that keep other runs from a device. `None` for the default, `/tmp`.
    pub lock_dir: Option<PathBuf>,
    /// The time to wait for a device that another run holds.
    pub lock_timeout: Duration,
    /// The file with the kernel's messages. `None` for `/dev/kmsg`, which is read for devices that are not simulated.
    pub kernel_log: Option<PathBuf>,
    /// The number of slowest cases that the end of the output lists.
    pub slowest: usize,
    /// The file for the expectations that the results of this run meet.
    pub write_expectations: Option<PathBuf>,
    /// Whether an absent device is [`Exit::Absent`](crate::Exit::Absent) instead of a skip of all its cases.
    pub require: bool,
    /// Whether nothing runs, with [`Exit::Absent`](crate::Exit::Absent), unless each device is there and is not simulated.
    pub real: bool,
    /// Whether a run in which no case ran is [`Exit::Nothing`](crate::Exit::Nothing). A shard without a case of the
    /// selection is no such run.
    pub must_run: bool,
    /// More skips than this fail the run.
    pub max_skips: Option<usize>,
    /// Patterns of names. On each device every selected case that matches one must pass, and each pattern must match a
    /// selected case, of this shard or another.
    pub must_pass: Vec<Pattern>,
    /// The seed of the cases' random choices.
    pub seed: u64,
    /// The suite's kernels in further formats, from drivers that run no AMD code objects.
    pub kernels: Vec<Kernels>,
    /// Runs each case in its own process, started by [`program`](Self::program).
    pub isolate: bool,
    /// The command line that starts this runner again. Options are appended. If empty, this process's executable.
    pub program: Vec<OsString>,
    /// The version and build under test, for reports.
    pub provenance: String,
    /// The reason for the choice of [`devices`](Self::devices), for reports, if the user named none.
    pub choice: Option<String>,
    /// Whether this run is a child of another, which holds the device's lock.
    pub(crate) child: bool,
    /// Whether the only case is the health check.
    pub(crate) health_check: bool,
    /// Whether to show the progress on standard error.
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
            retry: 0,
            jobs: 1,
            recovery: None,
            resume: None,
            expect_arch: Vec::new(),
            lock_dir: None,
            lock_timeout: Duration::from_secs(600),
            kernel_log: None,
            slowest: 0,
            write_expectations: None,
            require: false,
            real: false,
            must_run: false,
            max_skips: None,
            must_pass: Vec::new(),
            seed: 1,
            kernels: Vec::new(),
            isolate: false,
            program: Vec::new(),
            provenance: format!("windlass-cts {}", env!("CARGO_PKG_VERSION")),
            choice: None,
            child: false,
            health_check: false,
            progress: false,
        }
    }
}

impl Options {
    /// Runs all cases over one device.
    pub fn new(device: impl Into<String>) -> Self {
        Self { devices: vec![device.into()], ..Self::default() }
    }

    /// Whether each case has a process of its own.
    pub(crate) fn isolates(&self) -> bool {
        self.isolate || self.jobs > 1
    }

    /// Whether the options select a case.
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

/// A format of the output.
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
