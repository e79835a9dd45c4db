// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass exec`: any program that uses HIP, on a GPU that is not there.

mod child;
mod folder;
mod hidden;
mod machine;

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use clap::Args;
use windlass_simulator::{Options, Tally};

use super::failure::{self, Failure, Outcome, note};
use folder::Folder;

/// Options of `exec`.
#[derive(Args)]
pub(crate) struct Exec {
    /// The machine to simulate; what the URI leaves open WINDLASS_SIM says
    #[arg(long, value_name = "URI", default_value = "hip-sim://")]
    device: String,
    /// The simulator's libamdhip64.so; without it the one beside this command
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Exec {
    /// Runs the program; its exit code becomes this command's.
    pub(crate) fn run(self) -> ExitCode {
        match self.start() {
            Ok(code) => code.into(),
            Err(failure) => failure::report(Err(failure)),
        }
    }

    fn start(self) -> Outcome<u8> {
        let (machine, options) = machine::describe(&self.device)?;
        let library = folder::library(self.library.as_deref())?;
        let Some((program, arguments)) = self.command.split_first() else {
            return Err(Failure::input("there is no command to run"));
        };
        let folder = Folder::new(&library, &options)?;
        let mut command = Command::new(program);
        command.args(arguments);
        surround(&mut command, &folder, &machine);
        let ending = child::run(&mut command)
            .map_err(|error| Failure::input(format!("cannot run {}: {error}", program.display())))?;
        note(&closing_line(&options, Tally::read(&folder.tally()), &ending));
        Ok(ending.code())
    }
}

/// Gives the program an environment in which every way to look for HIP leads to the simulator.
fn surround(command: &mut Command, folder: &Folder, machine: &str) {
    let own = std::env::var_os("LD_LIBRARY_PATH").filter(|path| !path.is_empty());
    let mut path = folder.libraries().into_os_string();
    if let Some(own) = own {
        path.push(":");
        path.push(own);
    }
    command
        .env("LD_LIBRARY_PATH", path)
        .env("ROCM_PATH", folder.root())
        .env("TRITON_LIBHIP_PATH", folder.library())
        .env("WINDLASS_HIP_LIBRARY", folder.library())
        .env("WINDLASS_SIM", machine)
        .env(Tally::VARIABLE, folder.tally());
}

/// What there is to say at the end.
fn closing_line(machine: &Options, tally: std::io::Result<Tally>, ending: &child::Ending) -> String {
    let mut line = match tally {
        Err(error) => format!("windlass exec: what ran on the simulated GPU is not known: {error}"),
        Ok(Tally { processes: 0, .. }) => {
            "windlass exec: nothing used the simulated GPU: no process loaded libamdhip64.so, or none called it".to_owned()
        }
        Ok(tally) => {
            let mut line = format!(
                "windlass exec: {} and {} on a simulated {}",
                count(tally.launches, "launch", "launches"),
                count(tally.faults, "fault", "faults"),
                machine.part.name(),
            );
            if tally.refused > 0 {
                line += &format!(", {} refused", count(tally.refused, "launch", "launches"));
            }
            if tally.processes > 1 {
                line += &format!(", by {} processes", tally.processes);
            }
            if tally.schedules.runs > 0 {
                line += &format!(
                    "; {} under {} with {}",
                    count(tally.schedules.distinct, "schedule", "different schedules"),
                    machine.seed.map_or_else(|| "a replay".to_owned(), |seed| format!("seed {seed}")),
                    count(tally.choices, "choice", "choices"),
                );
            }
            line
        }
    };
    if let Some(signal) = ending.signal() {
        line += &format!("; the program was ended by {signal}");
    }
    line
}

fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Whether a file is named like HIP's library, in any version.
fn is_hip(name: &OsStr) -> bool {
    Path::new(name).as_os_str().as_encoded_bytes().starts_with(b"libamdhip64.so")
}
