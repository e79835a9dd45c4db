// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds the simulator for a drop-in library: the library of [`Core`], which lies beside it.

use std::path::PathBuf;
use std::sync::OnceLock;

use super::table::Core;

/// The file of [`Core`].
const FILE: &str = "libwindlass_simulator_core.so";

/// The folders of the calling library, as it was loaded and as links lead to it.
static FOLDERS: OnceLock<Vec<PathBuf>> = OnceLock::new();

/// Notes where the calling library lies. A library calls this while it is loaded, as the program may change its current folder
/// before its first call.
pub fn note_folder() {
    FOLDERS.get_or_init(folders);
}

/// The simulator of the process, loaded at the first call; `None`, with a line on standard error, if there is none.
#[allow(clippy::print_stderr, reason = "a program that ignores HIP's results must learn the reason")]
pub fn core() -> Option<&'static Core> {
    static CORE: OnceLock<Option<&'static Core>> = OnceLock::new();
    *CORE.get_or_init(|| {
        let mut refused = Vec::new();
        let found = load(FOLDERS.get_or_init(folders), &mut refused);
        if found.is_none() {
            eprintln!(
                "windlass: this library has the simulated GPU in {FILE}, which must lie beside it: {}. Copy or link both, or \
                 run the program by `windlass exec`",
                refused.join("; ")
            );
        }
        found
    })
}

#[cfg(not(unix))]
fn folders() -> Vec<PathBuf> {
    Vec::new()
}

#[cfg(not(unix))]
fn load(_: &[PathBuf], refused: &mut Vec<String>) -> Option<&'static Core> {
    refused.push("this system has no such libraries".to_owned());
    None
}

#[cfg(unix)]
fn folders() -> Vec<PathBuf> {
    use std::ffi::{CStr, OsStr};
    use std::os::unix::ffi::OsStrExt as _;

    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    let here = folders as fn() -> Vec<PathBuf> as *const std::ffi::c_void;
    // SAFETY: any address may be asked for; the result goes to a local.
    let known = unsafe { libc::dladdr(here, found.as_mut_ptr()) };
    // SAFETY: zeroed is a valid Dl_info, and dladdr has written it.
    let found = unsafe { found.assume_init() };
    if known == 0 || found.dli_fname.is_null() {
        return Vec::new();
    }
    // SAFETY: dladdr gave a C string that lives as long as this library.
    let name = unsafe { CStr::from_ptr(found.dli_fname) };
    let path = PathBuf::from(OsStr::from_bytes(name.to_bytes()));
    let paths = [std::path::absolute(&path).ok(), path.canonicalize().ok()];
    let mut folders: Vec<_> =
        paths.into_iter().flatten().filter_map(|path| Some(path.parent()?.to_owned())).collect();
    folders.dedup();
    folders
}

/// Loads the library from the first folder that has it. Tells why the others do not serve.
#[cfg(unix)]
fn load(folders: &[PathBuf], refused: &mut Vec<String>) -> Option<&'static Core> {
    // Cargo builds it for the tests of the drop-in libraries in `deps`, and leaves an older file beside them.
    let paths = folders.iter().flat_map(|folder| [folder.join("deps").join(FILE), folder.join(FILE)]);
    paths
        .filter(|path| path.exists())
        .find_map(|path| match open(&path) {
            Ok(core) => Some(core),
            Err(reason) => {
                refused.push(format!("{}: {reason}", path.display()));
                None
            }
        })
        .or_else(|| {
            if refused.is_empty() {
                let folders: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
                refused.push(format!("there is none in {}", folders.join(" or ")));
            }
            None
        })
}

#[cfg(unix)]
fn open(path: &std::path::Path) -> Result<&'static Core, String> {
    use std::ffi::{CStr, CString, c_char, c_void};
    use std::os::unix::ffi::OsStrExt as _;

    type Entry = unsafe extern "C" fn(version: *const c_char, size: usize) -> *const Core;

    let name = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
    // SAFETY: a C string. The library lies beside this one, and is as trusted as it is. It is never closed.
    let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if library.is_null() {
        // SAFETY: dlerror gives null or a C string that lives until this thread's next call of the linker.
        let error = unsafe { libc::dlerror().cast_const().as_ref().map(|error| CStr::from_ptr(error)) };
        return Err(error
            .map_or_else(|| "it cannot be loaded".to_owned(), |error| error.to_string_lossy().into_owned()));
    }
    // SAFETY: a handle of a library that stays open, and a C string.
    let entry = unsafe { libc::dlsym(library, c"windlass_simulator_core".as_ptr()) };
    // SAFETY: only the simulator's library has the symbol, and gives it this signature.
    let entry = unsafe { std::mem::transmute::<*mut c_void, Option<Entry>>(entry) };
    let entry = entry.ok_or("it is not the simulator's")?;
    // SAFETY: a C string. The table is static in a library that stays loaded.
    let core = unsafe { entry(super::VERSION.as_ptr(), size_of::<Core>()).as_ref() };
    core.ok_or_else(|| "it is of another version of Windlass".to_owned())
}
