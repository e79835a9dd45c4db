// SPDX-License-Identifier: MIT OR Apache-2.0
//! Children of a program under another loader come under that loader too, where they use HIP. A library that the machine's
//! loader asks first sees to it.

use std::{ffi::OsStr, path::Path, process::Command};

use super::super::failure::{Outcome, note};
use super::{folder::Folder, library};

/// The variable that the library reads: the loader, then the folders that it searches, with colons between.
const HOW: &str = "WINDLASS_RESTART";
/// The variable that the machine's loader reads.
const AUDIT: &str = "LD_AUDIT";

/// Has the command's children come under a loader that searches folders for libraries. Where the library was not built, that
/// is said.
pub(super) fn provide(command: &mut Command, folder: &Folder, loader: &Path, libraries: &[&Path]) -> Outcome {
    let library = match library::RESTART.beside_the_command() {
        Ok(library) => library,
        Err(reason) => {
            note(&format!("windlass exec: what the program starts itself gets no HIP of AMD's: {reason}"));
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

/// Has the command's children stay under the loaders that they name, whatever this process is under.
pub(super) fn without(command: &mut Command) {
    command.env_remove(HOW);
}
