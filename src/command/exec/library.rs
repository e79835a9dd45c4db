// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulator's libraries: where they lie, and how to tell them from AMD's.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    super::{
        failure::{Failure, Outcome},
        input,
    },
    embedded,
    trust::Trust,
};
use crate::command::{escape, started};

/// One of the simulator's libraries.
pub(super) struct Library {
    /// The file name of Cargo's build.
    file: &'static str,
    /// The library's name for programs.
    pub(super) name: &'static str,
}

/// The simulator, which HIP's and HSA's libraries load from their folder.
pub(super) const CORE: Library =
    Library { file: "libwindlass_simulator_core.so", name: "libwindlass_simulator_core.so" };

/// HIP.
pub(super) const HIP: Library = Library { file: "libamdhip64.so", name: "libamdhip64.so" };

/// HSA.
pub(super) const HSA: Library = Library { file: "libhsa_runtime64.so", name: "libhsa-runtime64.so.1" };

/// RCCL, which calls the functions of HIP's library.
pub(super) const RCCL: Library = Library { file: "librccl.so", name: "librccl.so.1" };

/// hipRTC, which programs are linked with since HIP 7.
pub(super) const RTC: Library = Library { file: "libhiprtc.so", name: "libhiprtc.so" };

/// The library that starts programs under the loader of AMD's libraries.
pub(super) const RESTART: Library =
    Library { file: "libwindlass_restart.so", name: "libwindlass_restart.so" };

/// The symbol that distinguishes the simulator's libraries from AMD's.
const MARKER: &[u8] = b"windlass_simulator_marker\0";
const BUILD: &str = "`cargo build --release --workspace` leaves one in target/release, beside the command";

impl Library {
    /// Whether the bytes are this library of the simulator, which has its name in it.
    pub(super) fn marks(&self, bytes: &[u8]) -> bool {
        let has = |text: &[u8]| memchr::memmem::find(bytes, text).is_some();
        has(MARKER) && has(self.name.as_bytes())
    }

    /// The path of the library: the named file, else the one beside this command.
    pub(super) fn find(&self, named: Option<&Path>) -> Outcome<PathBuf> {
        if let Some(path) = named {
            let path = fs::canonicalize(path).map_err(|error| {
                Failure::input(format!("--library {}: {error}; {BUILD}", escape::path(path)))
            })?;
            return self.checked(path);
        }
        let command = command()?;
        let folder = command.parent().unwrap_or(Path::new("/"));
        let mut doubts = Vec::new();
        if let Some(path) = self.near(folder, &Trust::of_command(&command), &mut doubts) {
            return Ok(path);
        }
        match embedded::folder()? {
            Some(folder) => self.checked(folder.join(self.file)),
            None if !doubts.is_empty() => Err(Failure::input(format!(
                "another user may have put the simulator's {} there, so it is not used. {}; take the permission away, or name \
                 the file by --library FILE",
                self.name,
                doubts.join("; ")
            ))),
            None => Err(Failure::input(format!(
                "the simulator's {} is neither in {} nor in ../lib/windlass beside it, and this command has none in itself: \
                 {BUILD}, and --library FILE names another",
                self.file,
                folder.display()
            ))),
        }
    }

    /// The library of this command, or advice if there is none.
    pub(super) fn of_the_command(&self) -> Result<PathBuf, String> {
        self.find(None).map_err(|failure| failure.message().to_owned())
    }

    /// The library in the folder of the command, or in `lib/windlass` or `lib` beside it, where others of its name may lie.
    fn near(&self, folder: &Path, trust: &Trust, doubts: &mut Vec<String>) -> Option<PathBuf> {
        let places = [folder.to_owned(), folder.join("../lib/windlass"), folder.join("../lib")];
        places.iter().find_map(|place| self.in_folder(place, trust, doubts))
    }

    /// The library in a folder. A file that another user may have put there is not read.
    fn in_folder(&self, folder: &Path, trust: &Trust, doubts: &mut Vec<String>) -> Option<PathBuf> {
        [self.file, self.name].iter().find_map(|name| {
            let path = trust.find(folder, name, doubts)?;
            let is_it = self.checked(path.clone()).is_ok() && Self::loads_trusted(&path, trust, doubts);
            is_it.then_some(path)
        })
    }

    /// The library beside another one of the simulator's.
    pub(super) fn beside(&self, other: &Path) -> Option<PathBuf> {
        self.in_folder(other.parent()?, &Trust::of_command(&command().ok()?), &mut Vec::new())
    }

    /// Whether the simulator that a library would load is trusted as the library is. A library without one says so itself.
    fn loads_trusted(library: &Path, trust: &Trust, doubts: &mut Vec<String>) -> bool {
        let mut places = core_places(library).filter(|place| place.join(CORE.file).exists());
        places.all(|place| trust.find(&place, CORE.file, doubts).is_some())
    }

    /// Refuses a library that is not the simulator's.
    fn checked(&self, path: PathBuf) -> Outcome<PathBuf> {
        match self.marks(&input::read(&path)?) {
            true => Ok(path),
            false => {
                Err(Failure::input(format!("{} is not the simulator's {}", escape::path(&path), self.name)))
            }
        }
    }
}

/// The folders where a library looks for the simulator, as `windlass_simulator::drop_in::core` has them.
fn core_places(library: &Path) -> impl Iterator<Item = PathBuf> {
    let folder = library.parent().map(Path::to_owned);
    folder.into_iter().flat_map(|folder| [folder.join("deps"), folder])
}

/// The simulator that a library loads, if it is there.
pub(super) fn core_of(library: &Path) -> Option<PathBuf> {
    core_places(library).map(|place| place.join(CORE.file)).find(|path| path.exists())
}

/// The path of this command.
fn command() -> Outcome<PathBuf> {
    started::file().map_err(|error| Failure::input(format!("cannot tell where this command lies: {error}")))
}
