// SPDX-License-Identifier: MIT OR Apache-2.0
//! The folder that stands for ROCm: the drop-in library under every name that programs ask for.

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use windlass_simulator::{Options, Tally, hip::version_has};

use super::super::failure::{Failure, Outcome};
use super::{hidden, is_hip};
use crate::command::escape;

/// What programs look for: the name for linking, then the sonames of ROCm 5, 6 and 7.
const NAMES: [&str; 4] = ["libamdhip64.so", "libamdhip64.so.5", "libamdhip64.so.6", "libamdhip64.so.7"];
/// The symbol that tells the simulator's library from AMD's.
const MARKER: &[u8] = b"windlass_simulator_marker\0";

/// The folder. It goes when this value does.
pub(super) struct Folder {
    root: TempDir,
}

impl Folder {
    /// Makes the folder: `lib` with the names of the library and with what an installed ROCm has there, and links to
    /// everything else of that. Where the machine lacks functions, the library is a copy without them.
    pub(super) fn new(library: &Path, machine: &Options) -> Outcome<Self> {
        let root = tempfile::Builder::new().prefix("windlass-exec-").tempdir();
        let root =
            root.map_err(|error| Failure::failed(format!("cannot make a folder for links: {error}")))?;
        let folder = Self { root };
        if folder.root().as_os_str().as_encoded_bytes().iter().any(|byte| matches!(byte, b':' | b';')) {
            return Err(Failure::input(format!(
                "TMPDIR: LD_LIBRARY_PATH cannot name {}, as colons and semicolons end a folder there; name another folder",
                folder.root().display()
            )));
        }
        let copy = copy(library, machine)?;
        folder.fill(library, copy.as_deref()).map_err(|error| {
            Failure::failed(format!("cannot make links in {}: {error}", folder.root().display()))
        })?;
        Ok(folder)
    }

    fn fill(&self, library: &Path, copy: Option<&[u8]>) -> io::Result<()> {
        let libraries = self.libraries();
        fs::create_dir(&libraries)?;
        let changed = libraries.join("libamdhip64.so.windlass");
        if let Some(copy) = copy {
            fs::write(&changed, copy)?;
        }
        for name in NAMES {
            symlink(if copy.is_some() { &changed } else { library }, libraries.join(name))?;
        }
        // Programs may ask ROCM_PATH for compilers and device libraries too.
        let installed = std::env::var_os("ROCM_PATH").filter(|path| !path.is_empty());
        let installed = installed.map_or_else(|| PathBuf::from("/opt/rocm"), PathBuf::from);
        link_all(&installed, self.root(), |name| name != "lib")?;
        link_all(&installed.join("lib"), &libraries, |name| !is_hip(name))?;
        Tally::create(&self.tally())
    }

    /// What `ROCM_PATH` is to be.
    pub(super) fn root(&self) -> &Path {
        self.root.path()
    }

    /// Where the library lies under all of its names.
    pub(super) fn libraries(&self) -> PathBuf {
        self.root().join("lib")
    }

    /// The library under its plain name.
    pub(super) fn library(&self) -> PathBuf {
        self.libraries().join(NAMES[0])
    }

    /// The file that launches and faults are counted in.
    pub(super) fn tally(&self) -> PathBuf {
        self.root().join("windlass-tally")
    }
}

/// The library without the symbols that the machine lacks, where it lacks any: those of functions that were taken away,
/// and of later versions of HIP.
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
        // What is for the thread's own stream goes with the function that it stands for.
        let plain = name.strip_suffix("_spt").and_then(|plain| version_has(machine, plain));
        let present = version_has(machine, name).unwrap_or_else(|| !is_later(version));
        // The versions are symbols themselves.
        version != Some(name) && (!present || plain == Some(false))
    };
    let mut bytes = super::super::input::read(library)?;
    hidden::hide(&mut bytes, lacks)
        .map_err(|error| Failure::failed(format!("cannot make a copy of {}: {error}", library.display())))?;
    Ok(Some(bytes))
}

/// Links what a folder holds into another; nothing where there is no such folder.
fn link_all(from: &Path, to: &Path, wanted: impl Fn(&std::ffi::OsStr) -> bool) -> io::Result<()> {
    let Ok(entries) = fs::read_dir(from) else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        if wanted(&entry.file_name()) {
            symlink(fs::canonicalize(from)?.join(entry.file_name()), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// The simulator's library: the one that is named, or the one beside this command.
pub(super) fn library(named: Option<&Path>) -> Outcome<PathBuf> {
    const BUILD: &str =
        "`cargo build --release --workspace` leaves one in target/release, beside the command";
    if let Some(path) = named {
        let path = fs::canonicalize(path)
            .map_err(|error| Failure::input(format!("--library {}: {error}; {BUILD}", escape::path(path))))?;
        return checked(path);
    }
    let command = std::env::current_exe()
        .map_err(|error| Failure::failed(format!("cannot tell where this command lies: {error}")))?;
    let folder = command.parent().unwrap_or(Path::new("/"));
    let places = [folder.join(NAMES[0]), folder.join("../lib").join(NAMES[0])];
    let found = places.iter().find_map(|path| fs::canonicalize(path).ok());
    match found {
        Some(path) => checked(path),
        None => Err(Failure::input(format!(
            "the simulator's {} is neither in {} nor in ../lib beside it: {BUILD}, and --library FILE names another",
            NAMES[0],
            folder.display()
        ))),
    }
}

/// Refuses a library that is not the simulator's.
fn checked(path: PathBuf) -> Outcome<PathBuf> {
    let bytes = super::super::input::read(&path)?;
    let is_ours = bytes.windows(MARKER.len()).any(|window| window == MARKER);
    match is_ours {
        true => Ok(path),
        false => {
            Err(Failure::input(format!("{} is not the simulator's libamdhip64.so", escape::path(&path))))
        }
    }
}
