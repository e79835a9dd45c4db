// SPDX-License-Identifier: MIT OR Apache-2.0
//! Starts the children of a program under the same dynamic loader as the program, if they use HIP. A library in
//! `LD_AUDIT`, which the machine's loader loads first, does so.

use std::{ffi::OsStr, path::Path, process::Command};

use super::super::failure::{Outcome, note};
use super::{folder::Folder, library};

/// The variable for the library: the loader and the folders to search, separated by colons.
const HOW: &str = "WINDLASS_RESTART";
/// The variable for the machine's loader.
const AUDIT: &str = "LD_AUDIT";

/// Makes the command's children start under a loader that searches `libraries`. If the audit library was not built, a
/// line on standard error says so.
pub(super) fn provide(command: &mut Command, folder: &Folder, loader: &Path, libraries: &[&Path]) -> Outcome {
    let library = match library::RESTART.of_the_command() {
        Ok(library) => library,
        Err(reason) => {
            note(&format!("windlass exec: children of the program do not get AMD's HIP: {reason}"));
            without(command);
            return Ok(());
        }
    };
    let link = folder.audit(&library)?;
    let how: Vec<_> = [loader].iter().chain(libraries).map(|path| path.as_os_str()).collect();
    command.env(HOW, how.join(OsStr::new(":")));
    let own = std::env::var_os(AUDIT).filter(|own| !own.is_empty());
    let all: Vec<_> = [link.into_os_string()].into_iter().chain(own).collect();
    command.env(AUDIT, all.join(OsStr::new(":")));
    Ok(())
}

/// Lets the command's children start under the loaders that they name.
pub(super) fn without(command: &mut Command) {
    command.env_remove(HOW);
}
