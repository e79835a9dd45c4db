// SPDX-License-Identifier: MIT OR Apache-2.0
//! What to run, and how to tell about it.

use std::{path::PathBuf, time::Duration};

use crate::{
    case::{Case, Level},
    kernels::Kernels,
};

/// The runner's options, as plain data. [`Options::parse`] makes them from a command line.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The URI of the device under test; empty for the registry's default.
    pub device: String,
    /// Runs only cases whose name contains one of these; all where there is none.
    pub filters: Vec<String>,
    /// Leaves out cases whose name contains one of these.
    pub skip: Vec<String>,
    /// How thorough to be: leaves out cases of a higher level.
    pub level: Level,
    /// `filters` and `skip` are whole names.
    pub exact: bool,
    /// Lists the selected cases with their contracts instead of running them.
    pub list: bool,
    /// How to write to the output.
    pub format: Format,
    /// Where to write a JUnit report.
    pub junit: Option<PathBuf>,
    /// The longest a case may take before it counts as hung.
    pub timeout: Duration,
    /// How often to run each case; the first failure ends it.
    pub repeat: u32,
    /// An absent device is [`Exit::Absent`](crate::Exit::Absent) instead of a skip of everything.
    pub require: bool,
    /// Repeats the random choices of the cases.
    pub seed: u64,
    /// The suite's kernels in other formats than its own: what drivers bring that run no AMD code objects.
    pub kernels: Vec<Kernels>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            device: String::new(),
            filters: Vec::new(),
            skip: Vec::new(),
            level: Level::Full,
            exact: false,
            list: false,
            format: Format::Text,
            junit: None,
            timeout: Duration::from_secs(120),
            repeat: 1,
            require: false,
            seed: 1,
            kernels: Vec::new(),
        }
    }
}

impl Options {
    /// Everything over one device.
    pub fn new(device: impl Into<String>) -> Self {
        Self { device: device.into(), ..Self::default() }
    }

    pub(crate) fn selects(&self, case: &Case) -> bool {
        let matches = |pattern: &String| {
            if self.exact { case.name == pattern } else { case.name.contains(pattern.as_str()) }
        };
        case.level <= self.level
            && (self.filters.is_empty() || self.filters.iter().any(matches))
            && !self.skip.iter().any(matches)
    }
}

/// How to write to the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// A line for each case, skips with their reasons, and counts.
    #[default]
    Text,
    /// A JSON object on each line: one for the device, one for each case, one for the counts.
    Json,
    /// Text, with lists in the form that `cargo nextest` reads.
    Terse,
}
