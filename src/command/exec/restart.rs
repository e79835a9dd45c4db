// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a program under another loader starts in turn comes under that loader too, where it uses HIP: by a library that the
//! machine's loader asks first.

use std::{ffi::OsStr, path::Path, process::Command};

use super::super::failure::{Outcome, note};
use super::{folder::Folder, library};

/// What the library reads: the loader, and the folders that it is to search, with colons between.
const HOW: &str = "WINDLASS_RESTART";
/// What the machine's loader reads.
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
