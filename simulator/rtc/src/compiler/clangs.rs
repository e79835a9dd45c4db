// SPDX-License-Identifier: MIT OR Apache-2.0
//! The clangs of this machine, and the first that compiles for a target.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use super::clang::Clang;
use super::device_libraries;
use crate::child;
use crate::target::Target;

/// The variable that names a clang, and no other is tried.
pub(crate) const VARIABLE: &str = "WINDLASS_RTC_CLANG";
/// The variable of HIP's tools for the folder of their clang.
const HIP_FOLDER: &str = "HIP_CLANG_PATH";
/// The versions under whose names distributions install clang, the newest first.
const VERSIONS: std::ops::RangeInclusive<u32> = 15..=30;

/// A target, and the files that may be clang.
type Key = (Target, Vec<PathBuf>);

/// The first clang for the target, or what each lacks.
pub(crate) fn find(target: &Target) -> Result<Clang, String> {
    /// The clangs found before, by target and by the variables that decide it. A target without one is looked for again, since
    /// somebody may install it.
    static FOUND: Mutex<BTreeMap<Key, Clang>> = Mutex::new(BTreeMap::new());
    let candidates = candidates();
    let key = (target.clone(), candidates);
    let known = FOUND.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
    if let Some(clang) = known {
        return Ok(clang);
    }
    let mut reasons = Vec::new();
    for path in &key.1 {
        match usable(path, target) {
            Ok(clang) => {
                let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
                found.insert(key, clang.clone());
                return Ok(clang);
            }
            Err(reason) => reasons.push(format!("{}: {reason}", path.display())),
        }
    }
    if reasons.is_empty() {
        reasons.push("there is no clang in PATH, in /opt/rocm and in /usr/lib/llvm-*".to_owned());
    }
    Err(reasons.join("; "))
}

/// The files that may be clang, in the order in which they are tried.
fn candidates() -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(named) = variable(VARIABLE) {
        return vec![named];
    }
    let mut places = Vec::new();
    if let Some(folder) = variable(HIP_FOLDER) {
        places.extend([folder.join("clang++"), folder.join("clang")]);
    }
    let rocm = variable("ROCM_PATH").into_iter().chain([PathBuf::from("/opt/rocm")]);
    places.extend(rocm.flat_map(|rocm| [rocm.join("llvm/bin/clang++"), rocm.join("lib/llvm/bin/clang++")]));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
    places.extend(folders.iter().map(|folder| folder.join("clang")));
    for version in VERSIONS.rev() {
        places.extend(folders.iter().map(|folder| folder.join(format!("clang-{version}"))));
        places.push(format!("/usr/lib/llvm-{version}/bin/clang").into());
    }
    let mut known = Vec::new();
    let mut kept = Vec::new();
    for place in places.into_iter().filter(|place| place.is_file()) {
        let real = std::fs::canonicalize(&place).unwrap_or_else(|_| place.clone());
        if !known.contains(&real) {
            known.push(real);
            kept.push(place);
        }
    }
    kept
}

/// The clang, if it compiles for the target and has a linker.
fn usable(path: &Path, target: &Target) -> Result<Clang, String> {
    let failed = |error: std::io::Error| format!("it was not started: {error}");
    let asked = child::run(Command::new(path).arg("-print-prog-name=lld")).map_err(failed)?;
    let linker = PathBuf::from(asked.messages.trim());
    if !asked.success || !linker.is_file() {
        return Err("lld is not beside it".to_owned());
    }
    let libraries = device_libraries::folder(path, target);
    let mut reason = String::new();
    for libraries in libraries.into_iter().map(Some).chain([None]) {
        let clang = Clang { path: path.to_owned(), linker: linker.clone(), libraries };
        match clang.probe(target) {
            Ok(()) => return Ok(clang),
            Err(error) => reason = error,
        }
    }
    Err(format!("it does not compile for {}: {}", target.id(), reason.lines().next().unwrap_or_default()))
}
