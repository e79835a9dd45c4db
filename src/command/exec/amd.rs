// SPDX-License-Identifier: MIT OR Apache-2.0
//! AMD's own HIP runtime: which version is wanted, and where it is installed.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    str::FromStr,
};

use super::super::failure::{Failure, Outcome};
use super::library;
use crate::command::{escape, started};

/// The variable for the folder of runtimes that `simulator/interop/amd-hip` unpacked.
const KEPT: &str = "WINDLASS_AMD_HIP";
/// The library folders of Debian and of other distributions.
const LIBRARIES: [&str; 4] = ["usr/lib/x86_64-linux-gnu", "usr/lib64", "usr/lib", "lib"];

/// The HIP that a program gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Hip {
    /// The simulator's.
    Simulated,
    /// AMD's.
    Amd(Wanted),
}

/// A choice among AMD's runtimes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The newest.
    Newest,
    /// The newest whose version begins with these numbers.
    Version(Vec<u32>),
    /// The one at this path: a library or a folder.
    Path(PathBuf),
}

impl FromStr for Hip {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let which = match text.split_once('=') {
            None if text == "simulated" => return Ok(Self::Simulated),
            None if text == "amd" => return Ok(Self::Amd(Wanted::Newest)),
            Some(("amd", which)) => which,
            _ => return Err("expected `simulated`, `amd`, `amd=6.4`, or `amd=` and a path".to_owned()),
        };
        if which.contains('/') {
            return Ok(Self::Amd(Wanted::Path(which.into())));
        }
        let version: Option<Vec<_>> = which.split('.').map(|number| number.parse().ok()).collect();
        let version = version.ok_or("after `amd=` write a version, such as 6.4, or a path with a slash")?;
        Ok(Self::Amd(Wanted::Version(version)))
    }
}

/// An installed HIP runtime of AMD's.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Runtime {
    /// The library, not a link to it.
    pub(super) library: PathBuf,
    /// The version in the file name `libamdhip64.so.6.4.43484`; empty if the name has none.
    pub(super) version: Vec<u32>,
}

impl Runtime {
    fn new(library: PathBuf) -> Self {
        let name = library.file_name().unwrap_or_default().to_string_lossy();
        let version = name.strip_prefix("libamdhip64.so.").unwrap_or_default();
        let version: Option<_> = version.split('.').map(|number| number.parse().ok()).collect();
        Self { version: version.unwrap_or_default(), library }
    }

    /// The runtimes in a folder, without the simulator's library.
    fn all_in(folder: &Path) -> Vec<Self> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let names = entries.filter(|entry| is_hip(&entry.file_name()));
        let mut libraries: Vec<_> = names.filter_map(|entry| fs::canonicalize(entry.path()).ok()).collect();
        libraries.sort();
        libraries.dedup();
        libraries.retain(|path| fs::read(path).is_ok_and(|bytes| !library::HIP.marks(&bytes)));
        libraries.into_iter().map(Self::new).collect()
    }

    /// The name and version, for messages.
    pub(super) fn name(&self) -> String {
        let numbers: Vec<_> = self.version.iter().map(u32::to_string).collect();
        if numbers.is_empty() { "AMD's HIP".to_owned() } else { format!("AMD's HIP {}", numbers.join(".")) }
    }

    /// # Errors
    /// The runtime's compiler is too old to know the GPU.
    pub(super) fn check_knows(&self, gpu: &str) -> Outcome {
        // LLVM has had gfx942 since May 2023.
        if gpu == "gfx942" && !self.version.is_empty() && self.version < vec![5, 6] {
            return Err(Failure::input(format!(
                "{} does not know {gpu}: name a GPU that it knows, as in --device hip-sim://gfx90a",
                self.name()
            )));
        }
        Ok(())
    }

    /// The folder of the library and its dependencies.
    pub(super) fn folder(&self) -> &Path {
        self.library.parent().unwrap_or(Path::new("/"))
    }

    /// The dynamic loader that was unpacked with the libraries, if they lie in a root folder of their own.
    pub(super) fn loader(&self) -> Option<PathBuf> {
        let root = LIBRARIES.iter().find_map(|inner| {
            let mut root = self.folder();
            for part in Path::new(inner).iter().rev() {
                root = (root.file_name() == Some(part)).then(|| root.parent()).flatten()?;
            }
            Some(root)
        })?;
        let loaders = ["usr/lib64", "lib64"].map(|folder| root.join(folder).join("ld-linux-x86-64.so.2"));
        (root != Path::new("/")).then(|| loaders.into_iter().find(|path| path.exists())).flatten()
    }
}

/// Finds a runtime of AMD's.
///
/// # Errors
/// No runtime matches. The error lists the searched folders and says how to get one.
pub(super) fn find(wanted: &Wanted) -> Outcome<Runtime> {
    if let Wanted::Path(path) = wanted {
        return at(path);
    }
    let begins = |runtime: &Runtime| match wanted {
        Wanted::Version(version) => runtime.version.starts_with(version),
        _ => true,
    };
    let (folders, unpacked, kept) = folders();
    let all: Vec<_> = folders.iter().flat_map(|folder| Runtime::all_in(folder)).collect();
    // Reversed, because `max_by_key` takes the last of equal versions.
    let found = all.iter().rev().filter(|runtime| begins(runtime)).max_by_key(|runtime| &runtime.version);
    if let Some(found) = found {
        return Ok(Runtime { library: found.library.clone(), version: found.version.clone() });
    }
    let wanted = match wanted {
        Wanted::Version(version) => version.iter().map(u32::to_string).collect::<Vec<_>>().join("."),
        _ => String::new(),
    };
    let there: Vec<_> = all.iter().map(|runtime| escape::path(&runtime.library)).collect();
    let there =
        if there.is_empty() { String::new() } else { format!(" (the folders hold {})", there.join(", ")) };
    let version = if wanted.starts_with('5') { "5.2" } else { "6.4" };
    Err(Failure::absent(format!(
        "{} is in none of {}, {}/*{there}; `simulator/interop/amd-hip {version}` unpacks AMD's HIP {version} there",
        format!("AMD's HIP {wanted}").trim_end(),
        list(&folders[unpacked..]),
        escape::path(&kept),
    )))
}

fn list(folders: &[PathBuf]) -> String {
    folders.iter().map(|folder| escape::path(folder)).collect::<Vec<_>>().join(", ")
}

/// The folders to search, the number of unpacked runtimes among them (they come first), and the folder of those.
fn folders() -> (Vec<PathBuf>, usize, PathBuf) {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // The default is `amd-hip` beside `release` or `debug`, where the script unpacks runtimes.
    let built = || Some(started::file().ok()?.parent()?.parent()?.join("amd-hip"));
    let kept = set(KEPT).or_else(built).unwrap_or_default();
    let mut roots: Vec<_> =
        fs::read_dir(&kept).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    // A folder that is being unpacked has a name with a leading dot.
    roots.retain(|root| root.file_name().is_some_and(|name| !name.as_encoded_bytes().starts_with(b".")));
    roots.sort();
    let rocm = set("ROCM_PATH").unwrap_or_else(|| "/opt/rocm".into()).join("lib");
    let machine = LIBRARIES[..3].iter().map(|inner| Path::new("/").join(inner));
    let unpacked = roots.iter().map(|root| root.join(LIBRARIES[0]));
    (unpacked.chain([rocm]).chain(machine).collect(), roots.len(), kept)
}

/// The runtime at a path: a library, a folder with one, or a root folder.
fn at(path: &Path) -> Outcome<Runtime> {
    let absent = |reason: String| Failure::absent(format!("--hip amd={}: {reason}", escape::path(path)));
    let real = fs::canonicalize(path).map_err(|error| absent(error.to_string()))?;
    if real.is_file() {
        let bytes = super::super::input::read(&real)?;
        if library::HIP.marks(&bytes) {
            return Err(Failure::input(format!(
                "--hip amd={}: it is the simulator's library",
                escape::path(path)
            )));
        }
        return Ok(Runtime::new(real));
    }
    let folders: Vec<_> = [real.clone()].into_iter().chain(LIBRARIES.map(|inner| real.join(inner))).collect();
    let newest =
        folders.iter().flat_map(|folder| Runtime::all_in(folder)).max_by(|a, b| a.version.cmp(&b.version));
    newest.ok_or_else(|| absent(format!("a libamdhip64.so of AMD's is in none of {}", list(&folders))))
}

/// Whether the machine has this library itself.
pub(super) fn machine_has(name: &OsStr) -> bool {
    ["/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64", "/lib64"]
        .iter()
        .any(|folder| Path::new(folder).join(name).exists())
}

/// Whether a file has the name of HIP's library, in any version.
pub(super) fn is_hip(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b"libamdhip64.so")
}
