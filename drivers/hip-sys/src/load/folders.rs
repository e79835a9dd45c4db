// SPDX-License-Identifier: MIT OR Apache-2.0
//! The folders of installed ROCms.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The folder with libraries of an installation.
const INNER: &str = if cfg!(windows) { "bin" } else { "lib" };

/// The start of the names of AMD's packages for Python that hold the libraries over HIP; the GPUs follow.
const LIBRARIES: &str = "_rocm_sdk_libraries";

/// A variable of the environment that is set and not empty.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The folders with HIP of the environment's ROCm and Python.
pub(super) fn of_environment() -> Vec<PathBuf> {
    let (root, python) = environment();
    of(root.as_deref(), python.as_deref(), |packages| vec![packages.join("_rocm_sdk_core")])
}

/// The folders with the libraries over HIP, such as RCCL, of the environment's ROCm and Python.
pub(crate) fn of_libraries() -> Vec<PathBuf> {
    let (root, python) = environment();
    of(root.as_deref(), python.as_deref(), |packages| {
        let mut found = below(packages, LIBRARIES);
        found.push(packages.join("_rocm_sdk_core"));
        found
    })
}

/// The folders with the libraries over the HIP in this folder, if that belongs to AMD's packages for Python.
pub(crate) fn libraries_beside(folder: &Path) -> Vec<PathBuf> {
    let Some(package) = folder.parent().filter(|package| package.ends_with("_rocm_sdk_core")) else {
        return Vec::new();
    };
    let packages = package.parent().map(|packages| below(packages, LIBRARIES));
    packages.into_iter().flatten().map(|package| package.join(INNER)).collect()
}

/// The root of ROCm, and the active environment of Python.
fn environment() -> (Option<PathBuf>, Option<PathBuf>) {
    let root = variable("ROCM_PATH").or_else(|| variable("HIP_PATH")).map(PathBuf::from);
    let root = if cfg!(windows) { root } else { root.or_else(|| Some("/opt/rocm".into())) };
    let python = variable("VIRTUAL_ENV").or_else(|| variable("CONDA_PREFIX"));
    (root, python.map(PathBuf::from))
}

/// The folders with libraries of a ROCm at `root`, and of the packages that `of_packages` finds in an environment of
/// Python.
fn of(
    root: Option<&Path>,
    python: Option<&Path>,
    of_packages: impl Fn(&Path) -> Vec<PathBuf>,
) -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> = Vec::new();
    if let Some(root) = root {
        roots.push(root.to_owned());
        roots.extend(cores(root));
    }
    // `lib/python3.13/site-packages`, or `Lib/site-packages` on Windows.
    let packages = |environment: &Path| {
        let mut found = below(&environment.join("lib"), "python");
        found.push(environment.join("lib"));
        found.into_iter().map(|folder| folder.join("site-packages")).collect::<Vec<_>>()
    };
    let all = python.into_iter().flat_map(packages).flat_map(|folder| of_packages(&folder));
    roots.extend(all.filter(|root| root.is_dir()));
    roots.into_iter().map(|root| root.join(INNER)).collect()
}

/// `core`, then `core-X.Y`, the newest first. `core-X` is a link to one of them.
fn cores(root: &Path) -> Vec<PathBuf> {
    let mut cores = below(root, "core");
    let version = |path: &PathBuf| -> Vec<u32> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let version = name.strip_prefix("core-").unwrap_or_default();
        version.split('.').filter_map(|number| number.parse().ok()).collect()
    };
    cores.retain(|path| path.ends_with("core") || !version(path).is_empty());
    cores.sort_by_key(|path| (!path.ends_with("core"), std::cmp::Reverse(version(path))));
    cores
}

/// The folders in a folder whose names begin so.
fn below(folder: &Path, name: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<_> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(name))
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found
}
