// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds the RCCL that belongs to a HIP and fills the table from it.
//!
//! A library is opened with private symbols (`RTLD_LOCAL`) and never closed, like HIP.

use std::ffi::{CStr, OsStr, OsString, c_void};
use std::path::{Path, PathBuf};

use super::api::{Found, LIBRARY_VARIABLE, Origin, Rccl};
use super::error::{Attempt, LoadError, Reason};
use super::functions::{Functions, pfn};
use super::types::{Version, ncclResult_t};
use crate::api::{Api, Found as HipFound};
use crate::end::Gate;
use crate::load::library::{self, Library, Opening};
use crate::load::{MARKER, folders, linker_script};

/// The names of RCCL's library, the unversioned one last.
#[cfg(windows)]
const NAMES: &[&str] = &["rccl.dll", "librccl.dll"];
#[cfg(not(windows))]
const NAMES: &[&str] = &["librccl.so.1", "librccl.so"];

/// A function of HIP. The file that has it, seen from an RCCL, is the HIP to which that RCCL is linked.
const HIP_ANCHOR: &CStr = c"hipGetDeviceCount";

/// A search for RCCL in all details.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Search {
    /// The library that the user named by [`LIBRARY_VARIABLE`]. If set, nothing else is tried.
    pub variable: Option<OsString>,
    /// Whether to take a library that is in this process already.
    pub already_loaded: bool,
    /// Folders that belong to the HIP in use, to search first for each of the names.
    pub beside: Vec<PathBuf>,
    /// The names to ask the system's library search for, in order.
    pub names: Vec<OsString>,
    /// Folders to search for each of the names afterwards, in order.
    pub folders: Vec<PathBuf>,
    /// Whether the library must be Windlass's, for simulated GPUs. If not, it must not be.
    pub simulated: bool,
    /// The file of the HIP in use. A library that is linked to another HIP is refused; `None` accepts every library, and so
    /// does a system that does not tell the files.
    pub hip: Option<PathBuf>,
}

impl Search {
    /// The search for the RCCL of a HIP: the library that `WINDLASS_RCCL_LIBRARY` names, and nothing else if it is set;
    /// then a library that is already loaded; then the folder of HIP's library, and AMD's packages for Python beside it;
    /// then the system's search; then the folders in which HIP is searched. A simulated HIP takes only its own RCCL, from
    /// the folder of its library.
    pub fn for_hip(hip: &Api) -> Self {
        let origin = hip.origin();
        let mut beside: Vec<PathBuf> = Vec::new();
        if let Some(path) = &origin.path {
            // A link may lead to another folder, which has the other libraries.
            let files = [Some(path.clone()), std::fs::canonicalize(path).ok()];
            for folder in files.iter().flatten().filter_map(|file| file.parent()) {
                let found = std::iter::once(folder.to_owned()).chain(folders::libraries_beside(folder));
                beside.extend(found.filter(|folder| folder.is_dir()));
            }
            beside.dedup();
        }
        Self {
            variable: folders::variable(LIBRARY_VARIABLE),
            already_loaded: true,
            beside,
            names: if origin.simulated_hip { Vec::new() } else { names() },
            folders: if origin.simulated_hip { Vec::new() } else { folders::of_libraries() },
            simulated: origin.simulated_hip,
            hip: origin.path.clone(),
        }
    }
}

fn names() -> Vec<OsString> {
    NAMES.iter().map(OsString::from).collect()
}

impl Rccl {
    /// The RCCL of a HIP: that of a HIP in this process, the named library, or a search by [`Search::for_hip`].
    ///
    /// `library` is a file, a folder that holds one, or a name for the system's search. Opening a library may take long
    /// the first time. The only RCCL function called is `ncclGetVersion`.
    ///
    /// # Errors
    ///
    /// If HIP is in this process and has no RCCL, nothing was found, a library cannot be opened, it is linked to another
    /// HIP, or it lacks functions that every RCCL has. The error lists each attempt. A newer function that is missing is no error.
    ///
    /// # Safety
    ///
    /// Opening a library runs its code. Each library with RCCL's name, and each that the caller or the environment names,
    /// must be an implementation of RCCL. Where the system does not tell the file of a library's HIP, it must be over this one.
    pub unsafe fn load(hip: &Api, library: Option<&Path>) -> Result<Self, LoadError> {
        if hip.origin().found == HipFound::InProcess {
            return hip.rccl().cloned().ok_or_else(|| LoadError::of_process(hip.origin().name.clone()));
        }
        // SAFETY: the caller vouches for the libraries.
        unsafe {
            match library {
                Some(path) => load_named(path, Found::Explicit, hip.origin().path.as_deref()),
                None => Self::search(&Search::for_hip(hip)),
            }
        }
    }

    /// Fills a table by a given search.
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
            return unsafe { load_named(Path::new(named), Found::Environment, search.hip.as_deref()) };
        }
        let known = if search.names.is_empty() { names() } else { search.names.clone() };
        let in_folders = |folders: &[PathBuf]| -> Vec<PathBuf> {
            folders.iter().flat_map(|folder| known.iter().map(|name| folder.join(name))).collect()
        };
        let by_name: Vec<PathBuf> = search.names.iter().map(PathBuf::from).collect();
        let loaded =
            if search.already_loaded { known.iter().map(PathBuf::from).collect() } else { Vec::new() };
        let mut attempts = Vec::new();
        for (candidates, found) in [
            (loaded, Found::AlreadyLoaded),
            (in_folders(&search.beside), Found::BesideHip),
            (by_name, Found::Search),
            (in_folders(&search.folders), Found::Search),
        ] {
            for candidate in candidates {
                // SAFETY: as above.
                match unsafe { try_library(&candidate, found, Some(search.simulated), search.hip.as_deref()) }
                {
                    Ok(rccl) => return Ok(rccl),
                    // A name that is not loaded is not reported as an attempt.
                    Err(Attempt { found: Found::AlreadyLoaded, reason: Reason::NotOpened(_), .. }) => {}
                    Err(attempt) => attempts.push(attempt),
                }
            }
        }
        Err(LoadError::new(attempts))
    }
}

/// Takes the named library, or the first in the named folder.
///
/// # Safety
///
/// As for [`Rccl::load`].
unsafe fn load_named(named: &Path, found: Found, hip: Option<&Path>) -> Result<Rccl, LoadError> {
    let candidates: Vec<PathBuf> = match named.is_dir() {
        true => NAMES.iter().map(|name| named.join(name)).collect(),
        false => vec![named.to_owned()],
    };
    let mut attempts = Vec::new();
    for candidate in candidates {
        // SAFETY: the caller vouches for the libraries.
        match unsafe { try_library(&candidate, found, None, hip) } {
            Ok(rccl) => return Ok(rccl),
            Err(attempt) => attempts.push(attempt),
        }
    }
    Err(LoadError::new(attempts))
}

/// Opens one library and fills a table from it. `simulated` tells whether it must be Windlass's, `hip` which HIP is in use.
///
/// # Safety
///
/// As for [`Rccl::load`].
unsafe fn try_library(
    name: &Path,
    found: Found,
    simulated: Option<bool>,
    hip: Option<&Path>,
) -> Result<Rccl, Attempt> {
    // SAFETY: the caller vouches for the libraries.
    let result = unsafe { open_and_fill(name, found, simulated, hip) };
    match &result {
        Ok(rccl) => tracing::debug!(target: "windlass::rccl", origin = %rccl.origin(), "RCCL library taken"),
        Err(reason) => {
            tracing::debug!(target: "windlass::rccl", library = %name.display(), %found, %reason, "RCCL library not taken");
        }
    }
    result.map_err(|reason| Attempt { library: name.to_owned(), found, reason })
}

/// # Safety
///
/// As for [`Rccl::load`].
unsafe fn open_and_fill(
    name: &Path,
    found: Found,
    simulated: Option<bool>,
    hip: Option<&Path>,
) -> Result<Rccl, Reason> {
    let opening = if found == Found::AlreadyLoaded { Opening::OnlyIfLoaded } else { Opening::Load };
    // SAFETY: the caller vouches for the library.
    let opened = unsafe { Library::open(name.as_os_str(), opening) }.or_else(|reason| {
        let named = linker_script::library(name).ok_or(reason)?;
        // SAFETY: as above.
        unsafe { Library::open(named.as_os_str(), opening) }
    });
    let library = opened.map_err(Reason::NotOpened)?;
    // A symbol lookup also searches the library's dependencies.
    let file_of = |address: Option<*const c_void>| address.and_then(library::path_of);
    let marked = library.address(MARKER);
    let anchor = library.address(c"ncclGetVersion");
    let is_simulated = marked.is_some() && file_of(marked) == file_of(anchor);
    match simulated {
        Some(true) if !is_simulated => return Err(Reason::NotSimulated),
        Some(false) if is_simulated => return Err(Reason::Simulated),
        _ => {}
    }
    if let Some((of_rccl, in_use)) = file_of(library.address(HIP_ANCHOR)).zip(hip)
        && let (Ok(its), Ok(ours)) = (of_rccl.canonicalize(), in_use.canonicalize())
        && its != ours
    {
        return Err(Reason::OtherHip { linked: of_rccl, in_use: in_use.to_owned() });
    }
    let version = anchor.and_then(|entry| {
        // SAFETY: the library is RCCL, so its function has the declared signature.
        let entry = unsafe { core::mem::transmute::<*const c_void, pfn::ncclGetVersion>(entry) };
        let mut number = 0;
        // SAFETY: the function takes only a pointer to an int.
        let result = unsafe { entry(&mut number) };
        if result == ncclResult_t::ncclSuccess { Version::from_number(number) } else { None }
    });
    // SAFETY: the library is RCCL, so its functions have the declared signatures; it is never closed.
    let functions =
        unsafe { Functions::resolve(|function| library.address(function).unwrap_or(core::ptr::null())) };
    let functions = functions.map_err(|names| Reason::MissingFunctions { names, version })?;
    let short_name = name.file_name().unwrap_or(OsStr::new("librccl")).to_string_lossy().into_owned();
    let path = anchor.and_then(library::path_of);
    let origin = Origin { name: short_name, path, version, found, simulated: is_simulated };
    let gate = Gate::for_library(anchor.map_or(0, <*const c_void>::addr));
    // SAFETY: as for the table above.
    Ok(unsafe { Rccl::of_library(functions, origin, gate) })
}
