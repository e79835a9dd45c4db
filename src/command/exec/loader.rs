// SPDX-License-Identifier: MIT OR Apache-2.0
//! Starts a program by another dynamic loader than the one that it names: that of a folder with a newer libc.
//!
//! The kernel does not record this, so a child of the program begins with the machine's loader again: see `restart`.

use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
    process::Command,
};

use super::super::failure::{Failure, Outcome, note};
use super::program::{self, Start};
use crate::command::escape;

/// The kernel follows scripts that name scripts to this depth.
const DEPTH: usize = 5;

/// The default loader of the machine.
const MACHINES: &str = "/lib64/ld-linux-x86-64.so.2";

/// How to start a program.
pub(super) enum Plan {
    /// By a loader.
    Loader {
        /// The loader that the program names.
        machines: PathBuf,
        /// The program, or the interpreter of the script, and its arguments.
        words: Vec<OsString>,
    },
    /// As it is, because no loader of this machine starts it.
    Alone,
}

impl Plan {
    /// Plans the start of a command. If no loader can start it, a line on standard error says so.
    pub(super) fn new(command: &[OsString]) -> Outcome<Self> {
        let mut words = command.to_vec();
        for _ in 0..DEPTH {
            let Some(name) = words.first() else { break };
            let path = program::find(name).and_then(|path| Ok((program::look(&path)?, path)));
            let (start, path) = path.map_err(|error| refused(&command[0], &error))?;
            match start {
                Start::Loader(machines) => {
                    words[0] = path.into();
                    return Ok(Self::Loader { machines, words });
                }
                Start::Script(interpreter, word) => {
                    words[0] = path.into();
                    // Skip `env`, which would start the program under the machine's loader again.
                    let is_env = Path::new(&interpreter).file_name() == Some(OsStr::new("env"));
                    let is_name =
                        |word: &OsString| !word.as_encoded_bytes().iter().any(|byte| b"-= \t".contains(byte));
                    match word {
                        Some(name) if is_env && is_name(&name) => words.insert(0, name),
                        word => drop(words.splice(0..0, [interpreter].into_iter().chain(word))),
                    }
                }
                Start::Alone(reason) => {
                    note(&format!(
                        "windlass exec: {} itself does not get AMD's HIP: {reason}",
                        escape::path(&path)
                    ));
                    return Ok(Self::Alone);
                }
            }
        }
        Err(refused(&command[0], &io::Error::other("its scripts name further scripts without end")))
    }

    /// The loader that the program names; for other programs the machine's default.
    pub(super) fn machines_loader(&self) -> &Path {
        match self {
            Self::Loader { machines, .. } => machines,
            Self::Alone => Path::new(MACHINES),
        }
    }

    /// The command that starts the program by `loader`, which searches `libraries` before the system's folders. `own`
    /// is the command for a program that starts as it is.
    pub(super) fn command(self, own: Command, loader: &Path, libraries: &OsStr) -> Command {
        let Self::Loader { words, .. } = self else { return own };
        let mut command = Command::new(loader);
        command.arg("--library-path").arg(libraries).args(words);
        command
    }
}

fn refused(program: &OsStr, error: &io::Error) -> Failure {
    Failure::input(format!("cannot run {}: {error}", program.display()))
}

/// The version of a loader's libc, as `--version` tells from 2.33 on. `None` before that.
pub(super) fn version(loader: &Path) -> Option<Vec<u32>> {
    let output =
        Command::new(loader).arg("--version").output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (_, version) = text.lines().next()?.rsplit_once(" version ")?;
    version.trim_end_matches('.').split('.').map(|number| number.parse().ok()).collect()
}
