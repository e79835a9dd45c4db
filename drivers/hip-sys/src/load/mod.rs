// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds a HIP library and fills the table from it.
//!
//! A library is opened with private symbols (`RTLD_LOCAL`) and never closed: HIP's runtime crashes when it is
//! unloaded.

mod error;
pub(crate) mod folders;
pub(crate) mod library;
pub(crate) mod linker_script;
mod searched;

use std::ffi::{OsStr, OsString, c_char, c_void};
use std::path::{Path, PathBuf};

pub use error::{Attempt, LoadError, Reason};
use library::{Library, Opening};

use crate::api::{Api, Found, Origin, Version};
use crate::bindings::{c_int, hipError_t};
use crate::end::{Gate, Leave};
use crate::ending_thread;
use crate::table::{EntryPoints, Function};

/// The environment variable with the HIP library: a file, a folder that holds one, or a name for the system's search.
pub const LIBRARY_VARIABLE: &str = "WINDLASS_HIP_LIBRARY";

/// The symbol that marks a library as Windlass's software GPU. Either the library is a simulated HIP, or AMD's HIP
/// runs over Windlass's HSA; the latter behaves as over a GPU, and differs by name only.
pub const MARKER: &std::ffi::CStr = c"windlass_simulator_marker";

/// The symbol of a simulated library's function that explains the latest failed call of the thread. The function
/// writes as much of the report as fits into a buffer, terminated by a zero, and returns the length of the whole
/// report.
const LAST_FAULT: &std::ffi::CStr = c"windlass_simulator_last_fault";
type LastFault = unsafe extern "C" fn(*mut c_char, usize) -> usize;

/// The names of HIP's library, newest first, the unversioned one last.
#[cfg(windows)]
const NAMES: &[&str] = &["amdhip64_7.dll", "amdhip64_6.dll", "amdhip64.dll"];
#[cfg(not(windows))]
const NAMES: &[&str] =
    &["libamdhip64.so.8", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"];

/// The symbol of a simulated library's function that tells whether an exported name has a function behind it.
const HAS: &std::ffi::CStr = c"windlass_simulator_has";
type Has = unsafe extern "C" fn(*const c_char) -> c_int;

/// The place to look for HIP.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// The library that the environment names, else a search of the system; see [`Search::from_environment`].
    System,
    /// One library: a file, a folder that holds one, or a name for the system's search.
    Library(PathBuf),
}

/// A search of the system in all details.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// The library that the user named by [`LIBRARY_VARIABLE`]. If set, nothing else is tried, and the software GPU is
    /// accepted.
    pub variable: Option<OsString>,
    /// Whether to take a library that is in this process already.
    pub already_loaded: bool,
    /// The names to ask the system's library search for, in order.
    pub names: Vec<OsString>,
    /// Folders to search for each of the names afterwards, in order.
    pub folders: Vec<PathBuf>,
}

impl Search {
    /// The default search: the library that `WINDLASS_HIP_LIBRARY` names, and nothing else if it is set; then a
    /// library that is already loaded; then the versioned names, newest first, and the bare name; then the same names
    /// in the library folder below `ROCM_PATH` (`/opt/rocm` if unset), in those of its `core` and `core-X.Y`, where ROCm
    /// 10 is installed, and in that of AMD's packages for Python in the active virtual environment.
    pub fn from_environment() -> Self {
        Self {
            variable: folders::variable(LIBRARY_VARIABLE),
            already_loaded: true,
            names: NAMES.iter().map(OsString::from).collect(),
            folders: folders::of_environment(),
        }
    }
}

impl Api {
    /// Fills a table from `source`.
    ///
    /// Opening a library may take long the first time, because its initialisers run. The only HIP function called is
    /// `hipRuntimeGetVersion`.
    ///
    /// # Errors
    ///
    /// If nothing was found, a library cannot be opened, or it lacks functions that every driver needs. The error
    /// lists each attempt. A missing optional function is no error; the library then lacks its
    /// [`Feature`](crate::Feature).
    ///
    /// # Safety
    ///
    /// Opening a library runs its code. Each library with HIP's name, and each that the caller or the environment
    /// names, must be an implementation of HIP.
    pub unsafe fn load(source: &Source) -> Result<Self, LoadError> {
        // SAFETY: the caller vouches for the libraries.
        unsafe {
            match source {
                Source::System => Self::search(&Search::from_environment()),
                Source::Library(path) => load_named(path, Found::Explicit),
            }
        }
    }

    /// Fills a table by a given search.
    ///
    /// A library that an earlier search loaded keeps the origin of that search, so repeated searches agree.
    /// [`Found::AlreadyLoaded`] is a library that other code loaded.
    ///
    /// A search skips a library with the [`MARKER`], because Cargo puts its `target` folder, and with it Windlass's
    /// own library, on the library path. A library that [`Search::variable`] names is accepted.
    ///
    /// # Errors
    ///
    /// As for [`load`](Self::load).
    ///
    /// # Safety
    ///
    /// As for [`load`](Self::load).
    pub unsafe fn search(search: &Search) -> Result<Self, LoadError> {
        if let Some(named) = &search.variable {
            // SAFETY: the caller vouches for the libraries.
            return unsafe { load_named(Path::new(named), Found::Environment) };
        }
        let mut attempts = Vec::new();
        let mut searched = searched::lock();
        if search.already_loaded {
            for name in &search.names {
                // SAFETY: as above.
                let found = unsafe { try_library(name.as_ref(), Found::AlreadyLoaded) };
                match found {
                    Ok(api) => return Ok(searched.recall(api)),
                    // A name that is not loaded is not reported as an attempt.
                    Err(Attempt { reason: Reason::NotOpened(_), .. }) => {}
                    Err(attempt) => attempts.push(attempt),
                }
            }
        }
        let in_folders =
            search.folders.iter().flat_map(|folder| search.names.iter().map(|name| folder.join(name)));
        for candidate in search.names.iter().map(PathBuf::from).chain(in_folders) {
            // SAFETY: as above.
            match unsafe { try_library(&candidate, Found::Search) } {
                Ok(api) => return Ok(searched.keep(api)),
                Err(attempt) => attempts.push(attempt),
            }
        }
        Err(LoadError::new(attempts))
    }
}

/// Takes the named library, or the newest in the named folder.
///
/// # Safety
///
/// As for [`Api::load`].
unsafe fn load_named(named: &Path, found: Found) -> Result<Api, LoadError> {
    let candidates: Vec<PathBuf> = if named.is_dir() {
        NAMES.iter().map(|name| named.join(name)).collect()
    } else {
        vec![named.to_owned()]
    };
    let mut attempts = Vec::new();
    for candidate in candidates {
        // SAFETY: the caller vouches for the libraries.
        match unsafe { try_library(&candidate, found) } {
            Ok(api) => return Ok(api),
            Err(attempt) => attempts.push(attempt),
        }
    }
    Err(LoadError::new(attempts))
}

/// Opens one library and fills a table from it.
///
/// # Safety
///
/// As for [`Api::load`].
unsafe fn try_library(name: &Path, found: Found) -> Result<Api, Attempt> {
    // SAFETY: the caller vouches for the libraries.
    let result = unsafe { open_and_fill(name, found) };
    match &result {
        Ok(api) => tracing::debug!(target: "windlass::hip", origin = %api.origin(), "HIP library taken"),
        Err(reason) => {
            tracing::debug!(target: "windlass::hip", library = %name.display(), %found, %reason, "HIP library not taken");
        }
    }
    result.map_err(|reason| Attempt { library: name.to_owned(), found, reason })
}

/// # Safety
///
/// As for [`Api::load`].
unsafe fn open_and_fill(name: &Path, found: Found) -> Result<Api, Reason> {
    let opening = if found == Found::AlreadyLoaded { Opening::OnlyIfLoaded } else { Opening::Load };
    // SAFETY: the caller vouches for the library.
    let opened = unsafe { Library::open(name.as_os_str(), opening) }.or_else(|reason| {
        let named = linker_script::library(name).ok_or(reason)?;
        // SAFETY: as above.
        unsafe { Library::open(named.as_os_str(), opening) }
    });
    let library = opened.map_err(Reason::NotOpened)?;
    // A symbol lookup also searches the library's dependencies.
    let marked = library.address(MARKER);
    let file_of = |address: Option<*const c_void>| address.and_then(library::path_of);
    let over_simulated =
        marked.is_some() && file_of(marked) != file_of(library.address(c"hipGetDeviceCount"));
    let simulated_hip = marked.is_some() && !over_simulated;
    if simulated_hip && matches!(found, Found::AlreadyLoaded | Found::Search) {
        return Err(Reason::Simulated);
    }
    // SAFETY: the library is HIP, so its functions have the declared signatures; it is never closed.
    let entries = unsafe { EntryPoints::resolve(|name| present(&library, simulated_hip, name)) };
    let gate = Gate::for_library(entries.address("hipInit").map_or(0, <*const c_void>::addr));
    let version = version_of(&entries, gate);
    let missing = entries.missing_required();
    if !missing.is_empty() {
        return Err(Reason::MissingEntryPoints { names: missing, version });
    }
    let path = entries.address("hipGetDeviceCount").and_then(library::path_of);
    let mut short_name = name.file_name().unwrap_or(OsStr::new("libamdhip64")).to_string_lossy().into_owned();
    if over_simulated {
        short_name += " over a simulated GPU";
    }
    let origin =
        Origin { name: short_name, path, version, found, simulated: marked.is_some(), simulated_hip };
    // SAFETY: as for the table above.
    let api = unsafe { Api::of_library(entries, origin, gate) };
    let last_fault = library.address(LAST_FAULT).filter(|_| simulated_hip);
    Ok(match last_fault {
        Some(address) => {
            // SAFETY: a library with the marker is the simulator's, which gives the symbol this signature.
            let last_fault = unsafe { core::mem::transmute::<*const c_void, LastFault>(address) };
            api.with_diagnosis(move || read_report(last_fault))
        }
        None => api,
    })
}

/// The address of a function; null if the library lacks it.
fn present(library: &Library, simulated: bool, name: &std::ffi::CStr) -> *const c_void {
    if let Some(has) = library.address(HAS).filter(|_| simulated) {
        // SAFETY: a library with the marker is the simulator's, which gives the symbol this signature.
        let has = unsafe { core::mem::transmute::<*const c_void, Has>(has) };
        // SAFETY: the name is zero-terminated.
        if unsafe { has(name.as_ptr()) } == 0 {
            return core::ptr::null();
        }
    }
    library.address(name).unwrap_or(core::ptr::null())
}

fn read_report(last_fault: LastFault) -> Option<String> {
    let mut report = vec![0_u8; 16 << 10];
    // SAFETY: the buffer has the stated size.
    let length = unsafe { last_fault(report.as_mut_ptr().cast(), report.len()) };
    // The report is cut to the buffer, terminator included.
    report.truncate(length.min(report.len().saturating_sub(1)));
    (!report.is_empty()).then(|| String::from_utf8_lossy(&report).into_owned())
}

fn version_of(entries: &EntryPoints, gate: &Gate) -> Option<Version> {
    let entry = entries.hipRuntimeGetVersion?;
    let mut number: c_int = 0;
    let leave = gate.enter(Function::hipRuntimeGetVersion as usize);
    // SAFETY: the function takes only a pointer to an int, and works before initialisation.
    let mut call = || unsafe { entry(&mut number) };
    let status = match leave {
        Leave::Refused => return None,
        Leave::Elsewhere { thread } => ending_thread::call(thread, call),
        _ => call(),
    };
    gate.leave(Function::hipRuntimeGetVersion as usize, leave);
    if status == hipError_t::hipSuccess { Version::from_number(number) } else { None }
}
