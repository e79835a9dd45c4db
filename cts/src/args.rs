// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command line of the runner.

use std::{ffi::OsString, fmt, path::PathBuf, time::Duration};

use clap::{
    Arg, ArgAction, CommandFactory, Parser,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
    error::ErrorKind,
};

use glob::Pattern;

use crate::{
    options::{Format, Options},
    outcome::Level,
    shard::Shard,
};

/// Runs the Windlass conformance suite over one or several devices.
#[derive(Debug, Parser)]
#[command(
    name = "cts",
    after_help = "Exit codes: 0 nothing failed; 1 a case failed, or passed against the expectations, or --max-skips or \
                  --must-pass was not met, or a device was lost; 2 the command line, the expectations file or that of \
                  --resume is wrong, or a report cannot be opened; 3 a device is absent and --require was given, in use, \
                  not of --expect-arch, or simulated and --real was given; 4 nothing ran (a driver's own suite under cargo test: 0, or 2 if no case fits \
                  the filters).\n`compare OLD NEW` compares the reports of two runs: `compare --help`."
)]
struct Arguments {
    /// Run only cases whose name contains one of these
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// URI of a device under test; may be given several times [default: WINDLASS_DEVICE; else, in windlass, a real GPU
    /// or the simulated one, in other programs the default device of the driver registered last]
    #[arg(long = "device", value_name = "URI")]
    devices: Vec<String>,
    /// Leave out cases whose name contains this
    #[arg(long, value_name = "FILTER")]
    skip: Vec<String>,
    /// Filters are whole names
    #[arg(long)]
    exact: bool,
    /// How thorough to be; a level includes those before it
    #[arg(long, default_value = "full", value_parser = levels())]
    level: Level,
    /// Run the I-th of N parts of the suite: 1/4 to 4/4 together are all of it
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// List the cases with their contracts
    #[arg(long)]
    list: bool,
    /// Open the devices, report them, and run nothing
    #[arg(long)]
    probe: bool,
    /// How to write the results to standard output
    #[arg(long, default_value = "text", value_parser = formats())]
    format: Format,
    /// Write the results as lines of JSON to a file, too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a JUnit report
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Append a summary in Markdown to a file, such as the one that GITHUB_STEP_SUMMARY names
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
    /// Cases that are known not to pass, as TOML
    #[arg(long, value_name = "FILE")]
    expectations: Option<PathBuf>,
    /// Seconds after which a case counts as hung
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = seconds)]
    timeout: Duration,
    /// Run each case this often, each time with the next seed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Run a case again, up to N times, after an unexpected failure; a pass makes it flaky, which fails no run
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=100))]
    retry: u32,
    /// Run N cases at the same time, each in a process of its own
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    jobs: u32,
    /// Seconds for a device to pass a health check after a failure; then it is lost, and the rest is not run [default: 10
    /// for real devices, no check for simulated ones]
    #[arg(long, value_name = "SECONDS", value_parser = seconds_or_none)]
    recovery: Option<Duration>,
    /// Continue the run that this file records, and record this run in it: for machines that hang and reboot
    #[arg(long, value_name = "FILE", conflicts_with_all = ["probe", "list"])]
    resume: Option<PathBuf>,
    /// Run nothing, with exit code 3, unless each device has this architecture (`gfx942`); may be given several times
    #[arg(long, value_name = "ARCHITECTURE", conflicts_with = "list")]
    expect_arch: Vec<String>,
    /// Folder of the locks that keep two runs from one GPU [default: /tmp]
    #[arg(long, value_name = "FOLDER")]
    lock_dir: Option<PathBuf>,
    /// Seconds to wait for a GPU that another run holds; then exit code 3
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = seconds_or_none)]
    lock_timeout: Duration,
    /// File with the kernel's messages, for the report of a failure [default: /dev/kmsg, for real GPUs]
    #[arg(long, value_name = "FILE")]
    kernel_log: Option<PathBuf>,
    /// List the N slowest cases at the end
    #[arg(long, value_name = "N", default_value_t = 0)]
    slowest: usize,
    /// Write expectations under which the same results fail no run
    #[arg(long, value_name = "FILE", conflicts_with_all = ["probe", "list"])]
    write_expectations: Option<PathBuf>,
    /// An absent device is exit code 3 instead of a skip; a simulated device is there
    #[arg(long)]
    require: bool,
    /// Run nothing, with exit code 3, unless each device is there and is not simulated
    #[arg(long, conflicts_with = "list")]
    real: bool,
    /// Fail if more cases than this are skipped, and list them
    #[arg(long, value_name = "N", conflicts_with_all = ["probe", "list"])]
    max_skips: Option<usize>,
    /// Fail unless each case whose name matches has passed (`dispatch.*`), and at least one matches; may be given several times
    #[arg(long, value_name = "PATTERN", value_parser = pattern, conflicts_with_all = ["probe", "list"])]
    must_pass: Vec<Pattern>,
    /// Seed of the random choices
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Run each case in a process of its own: a crash fails only that case
    #[arg(long)]
    isolate: bool,
    #[arg(long, hide = true)]
    child: bool,
    #[arg(long, hide = true)]
    health_check: bool,
    #[command(flatten)]
    ignored: Libtest,
}

impl Arguments {
    /// An error if two reports would be written to one file. Both may go to what is no file, such as `/dev/stderr`.
    fn with_a_file_for_each_report(self) -> Result<Self, clap::Error> {
        let reports = [
            ("json", &self.json),
            ("junit", &self.junit),
            ("summary", &self.summary),
            ("resume", &self.resume),
            ("write-expectations", &self.write_expectations),
        ];
        let mut seen: Vec<(&str, PathBuf)> = Vec::new();
        for (option, path) in reports {
            let Some(path) = path else { continue };
            if path.exists() && !path.is_file() {
                continue;
            }
            let path = path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or(path.clone());
            if let Some((other, _)) = seen.iter().find(|(_, others)| *others == path) {
                let text =
                    format!("--{other} and --{option} name one file, {}: each needs its own", path.display());
                return Err(Self::command().error(ErrorKind::ArgumentConflict, text));
            }
            seen.push((option, path));
        }
        Ok(self)
    }
}

/// Options that `cargo test` may pass to every test binary. They change nothing here.
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

const LEVELS: [(Level, &str); 3] = [
    (Level::Smoke, "A few quick cases of each suite"),
    (Level::Full, "Every contract"),
    (Level::Stress, "Also cases that repeat a contract long or often"),
];

fn levels() -> impl TypedValueParser<Value = Level> {
    let values = LEVELS.map(|(level, help)| PossibleValue::new(level.name()).help(help));
    PossibleValuesParser::new(values).map(|name| {
        LEVELS.iter().map(|(level, _)| *level).find(|level| level.name() == name).unwrap_or_default()
    })
}

fn formats() -> impl TypedValueParser<Value = Format> {
    // `cargo nextest` passes `--format terse` when it lists tests.
    let values =
        [PossibleValue::new("text"), PossibleValue::new("json"), PossibleValue::new("terse").hide(true)];
    PossibleValuesParser::new(values).map(|name| match name.as_str() {
        "json" => Format::Json,
        "terse" => Format::Terse,
        _ => Format::Text,
    })
}

fn pattern(text: &str) -> Result<Pattern, String> {
    Pattern::new(text).map_err(|error| format!("it is no pattern: {}", error.msg))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.001..=86400.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "seconds are 0.001 to 86400".to_owned())
}

fn seconds_or_none(text: &str) -> Result<Duration, String> {
    if text == "0" { Ok(Duration::ZERO) } else { seconds(text).map_err(|error| format!("{error}, or 0")) }
}

/// An option of the runner, for the manual pages and completions of a program that contains it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CommandOption {
    /// The name behind `--`, or that of a word without one.
    pub name: String,
    /// True for a word without `--`.
    pub is_positional: bool,
    /// The names of its values; none for a flag.
    pub values: Vec<String>,
    /// Its possible values, if it has a fixed set.
    pub possible: Vec<String>,
    /// True if it may be given several times.
    pub repeats: bool,
    /// One sentence.
    pub help: String,
}

/// The options of the runner, in the order of its help.
pub fn command_options() -> Vec<CommandOption> {
    let mut command = Arguments::command();
    command.build();
    let shown =
        command.get_arguments().filter(|argument| !argument.is_hide_set() && argument.get_id() != "help");
    let names = |argument: &Arg| -> Vec<String> {
        let names = argument.get_value_names().unwrap_or_default();
        names.iter().map(ToString::to_string).filter(|_| argument.get_action().takes_values()).collect()
    };
    let possible = |argument: &Arg| {
        let values = argument.get_possible_values().into_iter().filter(|value| !value.is_hide_set());
        values
            .map(|value| value.get_name().to_owned())
            .filter(|_| argument.get_action().takes_values())
            .collect()
    };
    shown
        .map(|argument| CommandOption {
            name: argument.get_long().unwrap_or(argument.get_id().as_str()).to_owned(),
            is_positional: argument.is_positional(),
            values: names(argument),
            possible: possible(argument),
            repeats: matches!(argument.get_action(), ArgAction::Append),
            help: argument.get_help().map(ToString::to_string).unwrap_or_default(),
        })
        .collect()
}

/// An invalid command line, or a request for help.
#[derive(Debug)]
pub struct Usage {
    text: String,
    asked: bool,
}

impl Usage {
    /// True for `--help`: the text belongs on standard output, and the command line is valid.
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
            .and_then(Arguments::with_a_file_for_each_report)
            .map_err(|error| Usage { asked: !error.use_stderr(), text: error.render().to_string() })?;
        // `--ignored` alone asks a test binary for its ignored tests. This one has none.
        let filters = if arguments.ignored.ignored && arguments.list {
            vec!["(none)".to_owned()]
        } else {
            arguments.filters
        };
        Ok(Self {
            devices: arguments.devices,
            filters,
            skip: arguments.skip,
            exact: arguments.exact,
            level: arguments.level,
            shard: arguments.shard,
            list: arguments.list,
            probe: arguments.probe,
            format: arguments.format,
            json: arguments.json,
            junit: arguments.junit,
            summary: arguments.summary,
            expectations: arguments.expectations,
            timeout: arguments.timeout,
            repeat: arguments.repeat,
            retry: arguments.retry,
            jobs: arguments.jobs,
            recovery: arguments.recovery,
            resume: arguments.resume,
            expect_arch: arguments.expect_arch,
            lock_dir: arguments.lock_dir,
            lock_timeout: arguments.lock_timeout,
            kernel_log: arguments.kernel_log,
            slowest: arguments.slowest,
            write_expectations: arguments.write_expectations,
            child: arguments.child,
            health_check: arguments.health_check,
            require: arguments.require,
            real: arguments.real,
            max_skips: arguments.max_skips,
            must_pass: arguments.must_pass,
            seed: arguments.seed,
            isolate: arguments.isolate,
            ..Self::default()
        })
    }
}
