// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command line and its subcommands.

mod asked;
mod audit;
mod bench;
mod bundle;
mod child;
mod code;
mod cts;
mod devices;
mod environment;
mod escape;
#[cfg(all(feature = "sim", target_os = "linux"))]
mod exec;
mod executes;
mod extract;
mod failure;
#[cfg(feature = "sim")]
mod hip;
mod input;
mod inspect;
mod log;
#[cfg(feature = "manual")]
mod manual;
mod modes;
mod output;
mod progress;
mod ranges;
mod replay;
mod report;
mod run;
mod started;
mod table;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use failure::{Failure, Outcome};

/// Loads the code objects that compilers make for AMD GPUs, and runs them on a real GPU or a simulated one.
#[derive(Parser)]
#[command(
    name = "windlass",
    version = crate::build_info::PROVENANCE,
    disable_help_subcommand = true,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = format!("{}\nEnvironment variables: windlass help environment.", failure::exit_codes())
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List each source of HIP with its GPUs, or why there are none and how to get some
    Devices(devices::Devices),
    /// List the bundles, entries and kernels of a file, and the entry that each device would get
    Inspect(inspect::Inspect),
    /// Write the code object for one target, or any other entry, to a file
    Extract(extract::Extract),
    /// List which GPUs the code in files, folders and wheels serves
    Audit(audit::Audit),
    /// Write code objects, and the entries of bundles, as one bundle, compressed or not
    Bundle(bundle::Bundle),
    /// Run a kernel of a file, and print, save or check its results
    Run(run::Run),
    /// Replay a recording of record:// on any device, and compare the results
    Replay(replay::Replay),
    /// Run any program that uses HIP on a simulated GPU (windlass exec -- COMMAND)
    #[cfg(all(feature = "sim", target_os = "linux"))]
    Exec(exec::Exec),
    #[cfg(all(feature = "sim", target_os = "linux"))]
    #[command(hide = true)]
    ExecBesideKernelDriver(exec::Beside),
    /// Measure the host's cost of recording, submitting and completing work, beside floors and peers
    Bench(Box<bench::Bench>),
    /// Write all that a maintainer asks for about this machine and its GPU to one file
    Report(report::Report),
    /// Run the conformance suite over a device (options: windlass cts --help)
    Cts(cts::Cts),
    /// Write manual pages and completions of shells, as packages hold them
    #[cfg(feature = "manual")]
    #[command(hide = true)]
    Manual(manual::Manual),
    /// Show this help, that of a subcommand, or the table of environment variables
    Help {
        /// A subcommand, or `environment`
        topic: Option<String>,
    },
}

/// Parses the command line, runs the subcommand, and gives the exit code.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // clap returns help and version as errors too; their exit code is 0.
            let code = if error.use_stderr() { failure::Exit::Input } else { failure::Exit::Done };
            match code {
                // The message quotes the command line, which may hold control characters.
                failure::Exit::Input => failure::note(error.render().to_string().trim_end()),
                _ => drop(error.print()),
            }
            return code.into();
        }
    };
    let tells_calls = match &cli.command {
        Command::Devices(devices) => devices.tells_calls(),
        Command::Report(report) => report.tells_calls(),
        _ => false,
    };
    match log::start(tells_calls) {
        Ok(()) => dispatch(cli.command),
        Err(failure) => failure::report(Err(failure)),
    }
}

fn dispatch(command: Command) -> ExitCode {
    failure::report(match command {
        Command::Devices(devices) => devices.run(),
        Command::Inspect(inspect) => inspect.run(),
        Command::Extract(extract) => extract.run(),
        Command::Audit(audit) => audit.run(),
        Command::Bundle(bundle) => bundle.run(),
        Command::Run(run) => run.run(),
        Command::Replay(replay) => replay.run(),
        Command::Bench(bench) => bench.run(),
        Command::Report(report) => report.run(),
        #[cfg(feature = "manual")]
        Command::Manual(manual) => manual.run(Cli::command()),
        // The runner knows its options.
        Command::Help { topic } if topic.as_deref() == Some("cts") => return cts::Cts::help().run(),
        Command::Help { topic } => help(topic.as_deref()),
        // The exit code is the program's.
        #[cfg(all(feature = "sim", target_os = "linux"))]
        Command::Exec(exec) => return exec.run(),
        #[cfg(all(feature = "sim", target_os = "linux"))]
        Command::ExecBesideKernelDriver(beside) => return beside.run(),
        // The runner's exit codes have the same meanings.
        Command::Cts(cts) => return cts.run(),
    })
}

fn help(topic: Option<&str>) -> Outcome {
    let mut command = Cli::command();
    let topics = |command: &clap::Command| {
        let names: Vec<_> = command
            .get_subcommands()
            .filter(|sub| !sub.is_hide_set())
            .map(|sub| sub.get_name().to_owned())
            .collect();
        names.join(", ")
    };
    match topic {
        None => output::write(&format!("{}", command.render_long_help())),
        Some("environment") => output::write(&environment::table()),
        Some(name) => {
            let known = topics(&command);
            match command.find_subcommand_mut(name) {
                Some(sub) => output::write(&format!(
                    "{}",
                    sub.clone().bin_name(format!("windlass {name}")).render_long_help()
                )),
                None => Err(Failure::input(format!(
                    "there is no help on `{name}`; there is help on {known} and environment"
                ))),
            }
        }
    }
}
