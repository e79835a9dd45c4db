// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass exec`: runs any program that uses HIP on a simulated GPU.

mod amd;
mod child;
mod embedded;
mod folder;
mod hidden;
mod kernel_driver;
mod library;
mod loader;
mod machine;
mod print_env;
mod program;
mod restart;
mod trust;

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use clap::Args;
use windlass_simulator::{Options, Tally};

use super::failure::{self, Failure, Outcome, note};
pub(crate) use kernel_driver::Beside;

use amd::Hip;
use folder::Folder;
use loader::Plan;

/// The path of the simulated HIP's library, or advice if there is none.
pub(crate) fn simulated_hip() -> Result<PathBuf, String> {
    library::HIP.of_the_command()
}

/// Options of `exec`.
#[derive(Args)]
pub(crate) struct Exec {
    /// The machine to simulate; WINDLASS_SIM completes the URI
    #[arg(long, value_name = "URI", default_value = "hip-sim://")]
    device: String,
    /// The HIP of the program: `simulated`, or AMD's own: `amd` for the newest installed, `amd=6.4`, `amd=PATH`
    #[arg(long, value_name = "HIP", default_value = "simulated")]
    hip: Hip,
    /// The simulator's libamdhip64.so, or its libhsa_runtime64.so with --hip amd; by default the one beside this
    /// command
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// Show the program a kernel driver: a /dev/kfd that does nothing, in a mount namespace; rocminfo always gets it
    #[arg(long)]
    kernel_driver: bool,
    /// Start no program. Print the variables for one as a line of JSON, with null for those to remove. They serve until
    /// standard input ends. A line of input is answered by a line with the counts, and the reports of new faults
    #[arg(long, conflicts_with_all = ["kernel_driver", "command"])]
    print_env: bool,
    /// Fail if a kernel, a copy or a fill faulted or a launch was refused (exit code 1), or if no process used the simulated
    /// GPU (4). A program that fails keeps its exit code
    #[arg(long, conflicts_with = "print_env")]
    check: bool,
    /// The program and its arguments
    #[arg(last = true, required_unless_present = "print_env", value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Exec {
    /// Runs the program. Its exit code becomes this command's.
    pub(crate) fn run(self) -> ExitCode {
        match self.start() {
            Ok(code) => code.into(),
            Err(failure) => failure::report(Err(failure)),
        }
    }

    fn start(self) -> Outcome<u8> {
        let (machine, options) = machine::describe(&self.device)?;
        if self.print_env {
            return self.print_env(&machine, &options);
        }
        let named = self.library.as_deref();
        let Some((program, arguments)) = self.command.split_first() else {
            return Err(Failure::input("there is no command to run"));
        };
        let mut own = Command::new(program);
        own.args(arguments);
        let (mut command, folder, runtime) = match &self.hip {
            Hip::Simulated => {
                let folder = self.simulated(&mut own, &options)?;
                (own, folder, None)
            }
            Hip::Amd(wanted) => {
                machine::without_hip(&machine, &options)?;
                let runtime = amd::find(wanted)?;
                for gpu in options.processors() {
                    runtime.check_knows(gpu)?;
                }
                let hsa = library::HSA.find(named)?;
                let (command, folder) = self.over_hsa(own, &runtime, &hsa)?;
                (command, folder, Some(runtime))
            }
        };
        surround(&mut command, &folder, &machine);
        if self.kernel_driver || kernel_driver::is_wanted_by(program) {
            command = kernel_driver::beside(&command, folder.root())?;
        }
        let ending = child::run(&mut command)
            .map_err(|error| Failure::input(format!("cannot run {}: {error}", program.display())))?;
        let tally = Tally::read(&folder.tally());
        note(&closing_line(&options, runtime.as_ref(), &tally, &ending));
        if self.check && ending.code() == 0 {
            judge(&tally)?;
        }
        Ok(ending.code())
    }

    /// Prepares a command over the simulated HIP.
    fn simulated(&self, own: &mut Command, options: &Options) -> Outcome<Folder> {
        let library = library::HIP.find(self.library.as_deref())?;
        let companions = folder::Companions {
            core: library::core_of(&library),
            hsa: library::HSA.beside(&library),
            rccl: library::RCCL.beside(&library),
            rtc: library::RTC.beside(&library),
        };
        let folder = Folder::new(&library, &companions, options)?;
        restart::without(own);
        own.env("LD_LIBRARY_PATH", search(&[&folder.libraries()]));
        Ok(folder)
    }

    fn print_env(&self, machine: &str, options: &Options) -> Outcome<u8> {
        if !matches!(self.hip, Hip::Simulated) {
            return Err(Failure::input(
                "--print-env: AMD's HIP may need a loader of its own, which variables cannot choose: `windlass exec --hip amd -- \
                 COMMAND` starts a program over it",
            ));
        }
        let mut command = Command::new("");
        let folder = self.simulated(&mut command, options)?;
        surround(&mut command, &folder, machine);
        print_env::serve(&command, &folder)?;
        Ok(0)
    }

    /// A command for the program over AMD's HIP. It uses the loader beside the runtime if that has a newer libc than
    /// the machine.
    fn over_hsa(&self, mut own: Command, runtime: &amd::Runtime, hsa: &Path) -> Outcome<(Command, Folder)> {
        restart::without(&mut own);
        if let Some(loader) = runtime.loader() {
            let plan = Plan::new(&self.command)?;
            if loader::version(&loader) > loader::version(plan.machines_loader()) {
                let folder = Folder::amd(runtime, hsa, false)?;
                let libraries = [&*folder.libraries(), runtime.folder()];
                let mut command = plan.command(own, &loader, &search(&libraries));
                restart::provide(&mut command, &folder, &loader, &libraries)?;
                return Ok((command, folder));
            }
        }
        let folder = Folder::amd(runtime, hsa, runtime.loader().is_some())?;
        own.env("LD_LIBRARY_PATH", search(&[&folder.libraries()]));
        Ok((own, folder))
    }
}

/// The folders, followed by the present library path.
fn search(folders: &[&Path]) -> OsString {
    let own = std::env::var_os("LD_LIBRARY_PATH").filter(|path| !path.is_empty());
    let folders: Vec<_> = folders.iter().map(|folder| folder.as_os_str()).chain(own.as_deref()).collect();
    folders.join(OsStr::new(":"))
}

/// Points every variable that programs use to find HIP to the folder.
fn surround(command: &mut Command, folder: &Folder, machine: &str) {
    command
        .env("ROCM_PATH", folder.root())
        .env("IREE_HIP_DYLIB_PATH", folder.libraries())
        .env("TRITON_LIBHIP_PATH", folder.library())
        .env("WINDLASS_HIP_LIBRARY", folder.library())
        .env("WINDLASS_SIM", machine)
        .env(Tally::VARIABLE, folder.tally());
}

/// The verdict of `--check`.
fn judge(tally: &std::io::Result<Tally>) -> Outcome {
    match tally {
        Err(_) => Err(Failure::failed("--check: the counts cannot be read")),
        Ok(Tally { processes: 0, .. }) => Err(Failure::nothing("--check: no process used the simulated GPU")),
        Ok(Tally { faults: 1.., .. }) => Err(Failure::failed("--check: a kernel, a copy or a fill faulted")),
        Ok(Tally { refused: 1.., .. }) => Err(Failure::failed("--check: a launch was refused")),
        Ok(_) => Ok(()),
    }
}

/// The line on standard error at the end of the program.
fn closing_line(
    machine: &Options,
    runtime: Option<&amd::Runtime>,
    tally: &std::io::Result<Tally>,
    ending: &child::Ending,
) -> String {
    let library = if runtime.is_some() { library::HSA.name } else { library::HIP.name };
    let mut line = match tally {
        Err(error) => format!("windlass exec: the counts of the simulated GPU cannot be read: {error}"),
        Ok(Tally { processes: 0, .. }) => {
            format!(
                "windlass exec: nothing used the simulated GPU: no process loaded {library}, or none called it"
            )
        }
        Ok(tally) => {
            let mut line = format!(
                "windlass exec: {} and {} on a simulated {}",
                count(tally.launches, "launch", "launches"),
                count(tally.faults, "fault", "faults"),
                machine.processors().join(" + "),
            );
            if let Some(runtime) = runtime {
                line += &format!(" under {}", runtime.name());
            }
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
