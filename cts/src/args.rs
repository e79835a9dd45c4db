// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command line of the runner.

use std::{ffi::OsString, fmt, path::PathBuf, time::Duration};

use clap::{Parser, ValueEnum};

use crate::{
    case::Level,
    options::{Format, Options},
};

/// Runs the Windlass conformance suite over a device.
#[derive(Debug, Parser)]
#[command(name = "cts")]
struct Arguments {
    /// Run only cases whose name contains one of these
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// URI of the device under test [default: WINDLASS_DEVICE, or the default device of the last driver]
    #[arg(long, value_name = "URI", default_value = "", hide_default_value = true)]
    device: String,
    /// Leave out cases whose name contains this
    #[arg(long, value_name = "FILTER")]
    skip: Vec<String>,
    /// How thorough to be; a level includes those before it
    #[arg(long, value_enum, default_value_t = LevelArgument::Full)]
    level: LevelArgument,
    /// Filters are whole names
    #[arg(long)]
    exact: bool,
    /// List the cases with their contracts
    #[arg(long)]
    list: bool,
    /// How to write the results
    #[arg(long, value_enum, default_value_t = FormatArgument::Text)]
    format: FormatArgument,
    /// Write a JUnit report
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Seconds after which a case counts as hung
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86400))]
    timeout: u64,
    /// Run each case this often
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// An absent device is exit code 3 instead of a skip
    #[arg(long)]
    require: bool,
    /// Seed of the random choices
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    ignored: Libtest,
}

/// What `cargo test` may pass to every test binary. It changes nothing here.
#[derive(Debug, clap::Args)]
struct Libtest {
    #[arg(long, hide = true)]
    nocapture: bool,
    #[arg(long, hide = true)]
    no_capture: bool,
    #[arg(long, hide = true)]
    show_output: bool,
    #[arg(long, hide = true)]
    include_ignored: bool,
    #[arg(long, hide = true)]
    ignored: bool,
    #[arg(long, short, hide = true)]
    quiet: bool,
    #[arg(long, hide = true)]
    test_threads: Option<u32>,
    #[arg(long, hide = true)]
    color: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LevelArgument {
    /// A few quick cases of each suite
    Smoke,
    /// Every contract
    Full,
    /// Also what repeats a contract long or often
    Stress,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FormatArgument {
    Text,
    Json,
    /// What `cargo nextest` asks for when it lists tests.
    #[value(hide = true)]
    Terse,
}

/// A command line that could not be read, or a request for help.
#[derive(Debug)]
pub struct Usage {
    text: String,
    asked: bool,
}

impl Usage {
    /// True for `--help`: the text belongs on standard output, and nothing is wrong.
    pub fn is_help(&self) -> bool {
        self.asked
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text.trim_end())
    }
}

impl std::error::Error for Usage {}

impl Options {
    /// Reads a command line, whose first word is the program's name.
    pub fn parse<T: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = T>) -> Result<Self, Usage> {
        let arguments = Arguments::try_parse_from(arguments)
            .map_err(|error| Usage { asked: !error.use_stderr(), text: error.render().to_string() })?;
        // `--ignored` alone asks a test binary for its ignored tests, of which there are none.
        let filters = if arguments.ignored.ignored && arguments.list {
            vec!["(none)".to_owned()]
        } else {
            arguments.filters
        };
        Ok(Self {
            device: arguments.device,
            filters,
            skip: arguments.skip,
            level: match arguments.level {
                LevelArgument::Smoke => Level::Smoke,
                LevelArgument::Full => Level::Full,
                LevelArgument::Stress => Level::Stress,
            },
            exact: arguments.exact,
            list: arguments.list,
            format: match arguments.format {
                FormatArgument::Text => Format::Text,
                FormatArgument::Json => Format::Json,
                FormatArgument::Terse => Format::Terse,
            },
            junit: arguments.junit,
            timeout: Duration::from_secs(arguments.timeout),
            repeat: arguments.repeat,
            require: arguments.require,
            seed: arguments.seed,
            kernels: Vec::new(),
        })
    }
}
