// SPDX-License-Identifier: MIT OR Apache-2.0
//! The folder that stands for ROCm: links to the drop-in libraries, or to AMD's HIP over the simulator's HSA, under
//! every name that programs look for.

use std::{
    ffi::OsStr,
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use windlass_simulator::{Options, Tally, hip::version_has};

use super::super::failure::{Failure, Outcome};
use super::{
    amd::{self, Runtime, is_hip},
    hidden, library,
};
use crate::command::escape;

/// The names of HIP: the one for linking, then the sonames of ROCm 5, 6, 7 and, as planned, the next.
const NAMES: [&str; 5] =
    ["libamdhip64.so", "libamdhip64.so.5", "libamdhip64.so.6", "libamdhip64.so.7", "libamdhip64.so.8"];
/// The names of RCCL.
const RCCL_NAMES: [&str; 2] = ["librccl.so", "librccl.so.1"];
/// The names of hipRTC, which has the versions of HIP.
const RTC_NAMES: [&str; 5] =
    ["libhiprtc.so", "libhiprtc.so.5", "libhiprtc.so.6", "libhiprtc.so.7", "libhiprtc.so.8"];
/// The names of HSA.
const HSA_NAMES: [&str; 2] = ["libhsa-runtime64.so", "libhsa-runtime64.so.1"];

/// The simulator's libraries beside HIP, as far as there are any.
pub(super) struct Companions {
    /// The library that HIP's and HSA's load. They find it beside the files that the links lead to, too.
    pub(super) core: Option<PathBuf>,
    pub(super) hsa: Option<PathBuf>,
    pub(super) rccl: Option<PathBuf>,
    pub(super) rtc: Option<PathBuf>,
}

/// The folder, deleted on drop.
pub(super) struct Folder {
    root: TempDir,
    /// The path of HIP's library for environment variables.
    library: PathBuf,
}

impl Folder {
    /// Makes the folder. Its `lib` has the names of the simulator's libraries and links to the other libraries of an
    /// installed ROCm; the rest links to that ROCm. If the machine lacks functions, the library is a copy without
    /// them.
    pub(super) fn new(library: &Path, companions: &Companions, machine: &Options) -> Outcome<Self> {
        let mut folder = Self::empty()?;
        let copy = copy(library, machine)?;
        folder.library = folder.libraries().join(NAMES[0]);
        let fill = || {
            let changed = folder.libraries().join("libamdhip64.so.windlass");
            if let Some(copy) = &copy {
                fs::write(&changed, copy)?;
            }
            let library = if copy.is_some() { &changed } else { library };
            folder.link(library, NAMES.iter().map(OsStr::new))?;
            let companions: [(_, &[&str]); 4] = [
                (&companions.core, &[library::CORE.name]),
                (&companions.hsa, &HSA_NAMES),
                (&companions.rccl, &RCCL_NAMES),
                (&companions.rtc, &RTC_NAMES),
            ];
            for (library, names) in companions {
                if let Some(library) = library {
                    folder.link(library, names.iter().map(OsStr::new))?;
                }
            }
            folder.complete()
        };
        fill().map_err(|error| folder.not_filled(&error))?;
        Ok(folder)
    }

    /// As [`new`](Self::new), with AMD's HIP over the simulator's HSA. With `lacking`, the folder also links those
    /// libraries beside AMD's that the machine lacks. AMD's folder may have a libc newer than the machine's.
    pub(super) fn amd(runtime: &Runtime, hsa: &Path, lacking: bool) -> Outcome<Self> {
        let mut folder = Self::empty()?;
        folder.library.clone_from(&runtime.library);
        let major = runtime.version.first().map(|major| format!("{}.{major}", NAMES[0]));
        let fill = || {
            folder.link(&runtime.library, [NAMES[0]].into_iter().chain(major.as_deref()).map(OsStr::new))?;
            folder.link(hsa, HSA_NAMES.iter().map(OsStr::new))?;
            if let Some(core) = library::core_of(hsa) {
                folder.link(&core, [library::CORE.name].into_iter().map(OsStr::new))?;
            }
            if lacking {
                link_all(runtime.folder(), &folder.libraries(), |name| {
                    is_library(name) && !is_hip(name) && !is_hsa(name) && !amd::machine_has(name)
                })?;
            }
            folder.complete()
        };
        fill().map_err(|error| folder.not_filled(&error))?;
        Ok(folder)
    }

    fn empty() -> Outcome<Self> {
        // Programs may change their current folder.
        let outer = std::env::temp_dir();
        let outer = std::path::absolute(&outer).unwrap_or(outer);
        let named = escape::path(&outer);
        if outer.as_os_str().as_encoded_bytes().iter().any(|byte| matches!(byte, b':' | b';' | b'$')) {
            return Err(Failure::input(format!(
                "TMPDIR={named}: LD_LIBRARY_PATH cannot name it, as colons and semicolons end a folder there, and the dynamic \
                 linker replaces words behind `$`; name another folder"
            )));
        }
        let root = tempfile::Builder::new().prefix("windlass-exec-").tempdir_in(&outer).map_err(|error| {
            let error = error
                .get_ref()
                .and_then(|inner| inner.source())
                .map_or(error.to_string(), ToString::to_string);
            Failure::input(format!(
                "cannot make a folder for links in {named}: {error}; TMPDIR names another one"
            ))
        })?;
        let folder = Self { root, library: PathBuf::new() };
        fs::create_dir(folder.libraries()).map_err(|error| folder.not_filled(&error))?;
        Ok(folder)
    }

    fn not_filled(&self, error: &io::Error) -> Failure {
        Failure::input(format!(
            "cannot make links in {}: {error}; TMPDIR names another folder",
            escape::path(self.root())
        ))
    }

    fn link<'a>(&self, library: &Path, names: impl Iterator<Item = &'a OsStr>) -> io::Result<()> {
        names.into_iter().try_for_each(|name| symlink(library, self.libraries().join(name)))
    }

    fn complete(&self) -> io::Result<()> {
        // Programs may ask ROCM_PATH for compilers and device libraries too.
        let installed = std::env::var_os("ROCM_PATH").filter(|path| !path.is_empty());
        let installed = installed.map_or_else(|| PathBuf::from("/opt/rocm"), PathBuf::from);
        // An outer `windlass exec` keeps its own counts beside its links.
        let is_ours = |name: &OsStr| name.as_encoded_bytes().starts_with(b"windlass-");
        link_all(&installed, self.root(), |name| name != "lib" && !is_ours(name))?;
        let libraries = self.libraries();
        let is_here = |name: &OsStr| fs::symlink_metadata(libraries.join(name)).is_ok();
        link_all(&installed.join("lib"), &libraries, |name| !is_hip(name) && !is_here(name))?;
        Tally::create(&self.tally())
    }

    /// The value of `ROCM_PATH`.
    pub(super) fn root(&self) -> &Path {
        self.root.path()
    }

    /// The folder with HIP under all of its names.
    pub(super) fn libraries(&self) -> PathBuf {
        self.root().join("lib")
    }

    /// The path of HIP.
    pub(super) fn library(&self) -> &Path {
        &self.library
    }

    /// Links a library for `LD_AUDIT`, whose paths must not contain colons, and gives the link.
    pub(super) fn audit(&self, library: &Path) -> Outcome<PathBuf> {
        let link = self.root().join("windlass-restart.so");
        symlink(library, &link).map_err(|error| self.not_filled(&error))?;
        Ok(link)
    }

    /// Has the program's processes keep the reports of their faults, and gives the file.
    pub(super) fn keep_reports(&self) -> Outcome<PathBuf> {
        let reports = Tally::reports(&self.tally());
        fs::write(&reports, "").map_err(|error| self.not_filled(&error))?;
        Ok(reports)
    }

    /// The file for the counts of launches and faults.
    pub(super) fn tally(&self) -> PathBuf {
        self.root().join("windlass-tally")
    }
}

/// A copy of the library without the symbols that the machine lacks: functions that were taken away, and those of
/// later HIP versions. `None` if the machine lacks none.
fn copy(library: &Path, machine: &Options) -> Outcome<Option<Vec<u8>>> {
    let newest = Options::default();
    if machine.hip == newest.hip && machine.without.is_empty() {
        return Ok(None);
    }
    let is_later = |version: Option<&str>| {
        let numbers = version.and_then(|version| version.strip_prefix("hip_")?.split_once('.'));
        let numbers = numbers.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        numbers.is_some_and(|numbers: (u32, u32)| numbers > machine.hip)
    };
    let lacks = |name: &str, version: Option<&str>| {
        // The variant of a function for the thread's own stream goes with the function.
        let plain = name.strip_suffix("_spt").and_then(|plain| version_has(machine, plain));
        let present = version_has(machine, name).unwrap_or_else(|| !is_later(version));
        // A version is also a symbol of that name.
        version != Some(name) && (!present || plain == Some(false))
    };
    let mut bytes = super::super::input::read(library)?;
    hidden::hide(&mut bytes, lacks)
        .map_err(|error| Failure::input(format!("cannot make a copy of {}: {error}", library.display())))?;
    Ok(Some(bytes))
}

/// Links the content of a folder into another. Does nothing if there is no such folder.
fn link_all(from: &Path, to: &Path, wanted: impl Fn(&OsStr) -> bool) -> io::Result<()> {
    let Ok(entries) = fs::read_dir(from) else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        if wanted(&entry.file_name()) {
            symlink(fs::canonicalize(from)?.join(entry.file_name()), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

fn is_hsa(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(HSA_NAMES[0].as_bytes())
}

fn is_library(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(b"lib") && name.windows(3).any(|part| part == b".so")
}
