// SPDX-License-Identifier: MIT OR Apache-2.0
//! AMD's device libraries as bitcode, where ROCm or a distribution installs them.

use std::path::{Path, PathBuf};

use crate::target::Target;

/// The folder with the libraries for a target.
pub(super) fn folder(clang: &Path, target: &Target) -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let rocm = variable("ROCM_PATH").into_iter().chain([PathBuf::from("/opt/rocm")]);
    let real = std::fs::canonicalize(clang).unwrap_or_else(|_| clang.to_owned());
    let beside = real.parent().and_then(Path::parent).map(|root| root.join("lib/clang"));
    let versions = beside.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let places = variable("HIP_DEVICE_LIB_PATH").into_iter();
    let places = places.chain(versions.map(|version| version.path().join("lib/amdgcn/bitcode")));
    let places = places.chain(rocm.map(|rocm| rocm.join("amdgcn/bitcode")));
    let mut places = places.chain([PathBuf::from("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode")]);
    let version = target.processor().trim_start_matches("gfx");
    let needed = ["ocml.bc".to_owned(), "ockl.bc".to_owned(), format!("oclc_isa_version_{version}.bc")];
    places.find(|place| needed.iter().all(|name| place.join(name).is_file()))
}
