// SPDX-License-Identifier: MIT OR Apache-2.0
//! The suite as a program.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, IsTerminal as _, Write},
    process::ExitCode,
    sync::Arc,
};

use windlass_hal::{Registry, near_names};

use crate::{
    case::Case,
    compare,
    health::HEALTH,
    interrupt,
    kernels::Kernels,
    options::Options,
    outcome::Level,
    runner::{self, RunError},
    shuffle, suites,
    summary::{Exit, Summary},
};

/// A program that runs the suite. [`run`](crate::run) runs it without changes.
#[derive(Clone, Debug)]
pub struct Harness {
    registry: Registry,
    cases: Vec<Case>,
    kernels: Vec<Kernels>,
    program: Vec<OsString>,
    provenance: Option<String>,
    must_run: bool,
    choose_device: Option<fn() -> ChosenDevice>,
}

/// The device of a run that names none.
#[derive(Clone, Debug)]
pub struct ChosenDevice {
    /// Its URI.
    pub uri: String,
    /// The reason for an unexpected choice. Reports show it.
    pub reason: Option<String>,
}

impl Harness {
    /// The suite over the drivers of a registry, and over [`shuffle://`](crate::shuffle) over each of them.
    pub fn new(registry: Registry) -> Self {
        let registry = with_shuffle(registry);
        Self {
            registry,
            cases: suites::cases(),
            kernels: Vec::new(),
            program: Vec::new(),
            provenance: None,
            must_run: false,
            choose_device: None,
        }
    }

    /// Replaces the cases of [`cases`](crate::cases).
    #[must_use]
    pub fn cases(self, cases: Vec<Case>) -> Self {
        Self { cases, ..self }
    }

    /// Adds the suite's kernels in further formats, for drivers that run no AMD code objects.
    #[must_use]
    pub fn kernels(self, kernels: &[Kernels]) -> Self {
        Self { kernels: kernels.to_vec(), ..self }
    }

    /// Sets the command line that starts this program again, up to the runner's options. `--isolate` needs it. The
    /// default is this process's executable.
    #[must_use]
    pub fn program<T: Into<OsString>>(self, words: impl IntoIterator<Item = T>) -> Self {
        Self { program: words.into_iter().map(Into::into).collect(), ..self }
    }

    /// Sets the line in reports that describes the build under test.
    #[must_use]
    pub fn provenance(self, provenance: impl Into<String>) -> Self {
        Self { provenance: Some(provenance.into()), ..self }
    }

    /// Makes a run in which no case ran [`Exit::Nothing`]. The default suits the suites of single drivers, which may run
    /// on machines without a device and under the filters of other tests.
    #[must_use]
    pub fn must_run(self) -> Self {
        Self { must_run: true, ..self }
    }

    /// Sets the choice of the device of a run that names none, by the command line or by `WINDLASS_DEVICE`. The default
    /// is the default device of the driver that was registered last.
    #[must_use]
    pub fn choose_device(self, choose: fn() -> ChosenDevice) -> Self {
        Self { choose_device: Some(choose), ..self }
    }

    /// Parses the command line, whose first word is the program's name, and runs. Results go to standard output,
    /// messages to standard error.
    pub fn run<T: Into<OsString> + Clone>(self, arguments: impl IntoIterator<Item = T>) -> ExitCode {
        let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
        if arguments.get(1).is_some_and(|word| word == compare::WORD) {
            return compare::main(&arguments[1..], &mut io::stdout(), &mut io::stderr()).into();
        }
        let name = arguments.first().map_or("cts".into(), |name| name.to_string_lossy().into_owned());
        let exit = match Options::parse(arguments) {
            Ok(mut options) => {
                options.kernels = self.kernels;
                options.program = self.program;
                options.must_run = self.must_run;
                if options.child {
                    end_with_parent();
                }
                options.progress = io::stderr().is_terminal();
                if let Some(provenance) = self.provenance {
                    options.provenance = provenance;
                }
                if options.devices.is_empty() {
                    options.devices =
                        device_of_environment(&self.registry, &mut io::stderr()).into_iter().collect();
                }
                if let Some(choose) = self.choose_device
                    && options.devices.is_empty()
                    && !options.list
                {
                    let chosen = choose();
                    options.devices = vec![chosen.uri];
                    options.choice = chosen.reason;
                }
                let name = if self.must_run { &*name } else { PROGRAM };
                let (out, err) = (&mut io::stdout(), &mut io::stderr());
                // A list ends at once, and a child with its parent.
                if !options.child
                    && !options.list
                    && let Err(error) = interrupt::listen()
                {
                    let _ = writeln!(err, "cts: a signal will end this run without its reports: {error}");
                }
                let exit = main_as(name, &self.registry, &self.cases, options, out, err);
                interrupt::end();
                exit
            }
            Err(usage) if usage.is_help() => {
                let written = io::stdout().write_all(usage.to_string().as_bytes());
                if written.is_ok() { Exit::Passed } else { Exit::Failed }
            }
            Err(usage) => {
                let _ = io::stderr().write_all(usage.to_string().as_bytes());
                Exit::Usage
            }
        };
        exit.into()
    }
}

/// Ends this process with its parent, which holds the device's lock, so that no case goes on after a killed run.
fn end_with_parent() {
    #[cfg(target_os = "linux")]
    // A system without this call only lets the case end by itself.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}

/// The same drivers in the same order, with `shuffle://` if it is missing.
fn with_shuffle(drivers: Registry) -> Registry {
    if drivers.drivers().next().is_none() || drivers.driver("shuffle").is_ok() {
        return drivers;
    }
    let mut registry = Registry::new();
    registry.register(Arc::new(shuffle::Driver::new(drivers.clone())));
    // Registries list the driver that was registered last first.
    let listed: Vec<_> = drivers.drivers().cloned().collect();
    for driver in listed.into_iter().rev() {
        registry.register(driver);
    }
    registry
}

/// The name of a program that has none.
const PROGRAM: &str = "cts";

/// The command line to use after a run of nothing.
fn remedy(program: &str, registry: &Registry, summary: &Summary) -> String {
    if summary.devices.iter().any(|device| device.info.is_some()) {
        return match summary.results.is_empty() {
            true => format!("see the names of all cases: {program} --list --level stress"),
            false => format!("run the whole suite: {program} --device {}", summary.devices[0].uri),
        };
    }
    let tried =
        |scheme: &str| summary.devices.iter().any(|device| device.uri.split("://").next() == Some(scheme));
    // A driver that was tried may have other devices than the one that was named.
    let has_devices = |driver: &&Arc<dyn windlass_hal::driver::Driver>| {
        driver.enumerate().is_ok_and(|devices| !devices.is_empty())
    };
    let here = registry.drivers().filter(|driver| tried(driver.scheme())).find(has_devices);
    let there =
        here.or_else(|| registry.drivers().filter(|driver| !tried(driver.scheme())).find(has_devices));
    match there {
        Some(driver) => format!("run the suite on another device: {program} --device {}://", driver.scheme()),
        None => format!("name a device: {program} --device URI"),
    }
}

const VARIABLE: &str = "WINDLASS_DEVICE";

/// `WINDLASS_DEVICE`, if it names a device of these drivers. A test of one driver must not fail because the variable
/// names another.
fn device_of_environment(registry: &Registry, messages: &mut impl Write) -> Option<String> {
    let uri = std::env::var_os(VARIABLE).filter(|uri| !uri.is_empty())?;
    let uri = uri.to_string_lossy().into_owned();
    if uri.split_once("://").is_some_and(|(scheme, _)| registry.driver(scheme).is_ok()) {
        return Some(uri);
    }
    let _ = writeln!(messages, "{VARIABLE}={uri:?} names no device of the drivers here, and is passed over");
    None
}

/// Warns of filters that match no case, so that a renamed case is noticed. A whole name that no case has is an error.
fn unmatched(cases: &[Case], options: &Options, warn: &mut impl FnMut(String)) -> Result<(), String> {
    for filter in options.filters.iter().chain(&options.skip) {
        let only = Options {
            filters: vec![filter.clone()],
            skip: Vec::new(),
            level: Level::Stress,
            ..options.clone()
        };
        if cases.iter().any(|case| only.selects(case)) {
            continue;
        }
        if options.exact {
            let near = near_names(filter, cases.iter().map(|case| case.name));
            return Err(format!(
                "no case is called `{filter}`; the nearest are {near}; --list shows them all"
            ));
        }
        warn(format!("no name contains the filter `{filter}`; --list shows them all"));
    }
    for filter in options.filters.iter().filter(|_| options.exact) {
        let only = Options { filters: vec![filter.clone()], ..options.clone() };
        if !cases.iter().any(|case| only.selects(case)) {
            warn(format!("`{filter}` is left out by the level or by --skip"));
        }
    }
    Ok(())
}

/// Runs cases like the program, with the caller's writers: results go to `out`, messages to `err`.
pub fn main_with(
    registry: &Registry,
    cases: &[Case],
    options: Options,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Exit {
    main_as(PROGRAM, registry, cases, options, out, err)
}

/// [`main_with`] for a program of that name.
fn main_as(
    program: &str,
    registry: &Registry,
    cases: &[Case],
    mut options: Options,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Exit {
    let health = [HEALTH];
    let cases = if options.health_check { &health } else { cases };
    // Ignores write errors, because there is no other place for messages.
    let mut say = |message: String| drop(writeln!(err, "cts: {message}"));
    if let Some(report) = options.junit.as_deref().filter(|path| !options.list && path.is_file()) {
        // The report of an earlier run must not pass for that of a run which does not begin.
        let _ = File::options().write(true).truncate(true).open(report);
    }
    if options.devices.is_empty() {
        options.devices = vec![runner::default_device(registry)];
    }
    if registry.drivers().next().is_none() && !options.list {
        say("no driver is registered; register yours before the suite runs".to_owned());
        return Exit::Usage;
    }
    if !options.list {
        for uri in &options.devices {
            let scheme = uri.split("://").next().unwrap_or_default();
            if let Err(error) = registry.driver(scheme) {
                say(format!("--device `{uri}`: {error}"));
                return Exit::Usage;
            }
        }
    }
    let filtered = !options.filters.is_empty() || !options.skip.is_empty();
    // An empty shard is no mistake, but filters that match no case at all are one.
    let everywhere = Options { shard: None, ..options.clone() };
    // Other programs list the cases of a driver's suite under filters of their own.
    let judges = options.must_run || !options.list;
    if judges && let Err(message) = unmatched(cases, &everywhere, &mut say) {
        say(message);
        return Exit::Usage;
    }
    // With `must_run` the run reports this itself, but not a list.
    let none = filtered && !cases.iter().any(|case| everywhere.selects(case));
    if none && judges && (options.list || !options.must_run) {
        say("no case fits the filters and the level; --list shows them all".to_owned());
        return if options.must_run { Exit::Nothing } else { Exit::Usage };
    }
    match runner::run_cases(registry, cases, &options, out) {
        Ok(summary) => {
            for device in &summary.devices {
                if let Some(problem) = &device.problem
                    && device.exit != Exit::Passed
                {
                    say(format!("{} {}: {}", device.uri, problem.words(), problem.reason()));
                }
            }
            for unmet in &summary.unmet {
                say(format!("not met: {}: {}", unmet.demand, unmet.reason));
            }
            if summary.exit == Exit::Nothing {
                say(format!("nothing ran; {}", remedy(program, registry, &summary)));
            }
            summary.exit
        }
        // The reader of a list may close the pipe early.
        Err(RunError::Output(error)) if options.list && error.kind() == io::ErrorKind::BrokenPipe => {
            Exit::Passed
        }
        Err(error) => {
            say(error.to_string());
            match error {
                RunError::Output(_) => Exit::Failed,
                RunError::Expectations(_) | RunError::Report(_) | RunError::Resume(_) => Exit::Usage,
            }
        }
    }
}
