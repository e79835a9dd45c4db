// SPDX-License-Identifier: MIT OR Apache-2.0
//! The folders of installed ROCms.

use std::path::{Path, PathBuf};

/// The folders with libraries of a ROCm at `root`, and of AMD's packages in an environment of Python.
pub(super) fn of(root: Option<&Path>, python: Option<&Path>) -> Vec<PathBuf> {
    let inner = if cfg!(windows) { "bin" } else { "lib" };
    let mut roots: Vec<PathBuf> = Vec::new();
    if let Some(root) = root {
        roots.push(root.to_owned());
        roots.extend(cores(root));
    }
    // `lib/python3.13/site-packages`, or `Lib/site-packages` on Windows.
    let packages = |environment: &Path| {
        let mut found = below(&environment.join("lib"), "python");
        found.push(environment.join("lib"));
        found.into_iter().map(|folder| folder.join("site-packages/_rocm_sdk_core"))
    };
    roots.extend(python.into_iter().flat_map(packages).filter(|root| root.is_dir()));
    roots.into_iter().map(|root| root.join(inner)).collect()
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
