// SPDX-License-Identifier: MIT OR Apache-2.0
//! `audit`: the code in files, folders and wheels for each target.

mod budget;
mod carriers;
mod damaged;
pub(crate) mod made;
mod one_answer;
mod packed;
mod targets;

use std::{fs, path::PathBuf};

use serde_json::Value;

use crate::support::{Finished, scratch, windlass};

pub(super) const BUNDLES: &str = "cts/kernels/bundles";
pub(super) const VECTOR_ADD: &str = "cts/kernels/bundles/vector_add.ccob";

/// A folder of one test, deleted on drop.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    pub(super) fn new() -> Self {
        let folder = scratch("audit");
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub(super) fn put(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path.display().to_string()
    }

    /// Extracts the code object for a target from a file to another.
    pub(super) fn extract(&self, from: &str, target: &str, name: &str) -> String {
        let path = self.put(name, b"");
        let finished = windlass(["extract", from, "--target", target, "-o", &path]);
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
        path
    }

    pub(super) fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(super) fn audit(paths: &[&str], targets: &str) -> Finished {
    windlass([&["audit", "--targets", targets][..], paths].concat())
}

pub(super) fn report(paths: &[&str], targets: &str) -> (Option<i32>, Value) {
    let finished = windlass([&["audit", "--json", "--targets", targets][..], paths].concat());
    let report = serde_json::from_str(&finished.stdout);
    (finished.code, report.unwrap_or_else(|error| panic!("{error}: {}", finished.stderr)))
}

/// The report on the file whose path has this ending.
pub(super) fn file<'r>(report: &'r Value, ending: &str) -> &'r Value {
    let files = report["files"].as_array().unwrap();
    let found = files.iter().find(|file| file["path"].as_str().unwrap().ends_with(ending));
    found.unwrap_or_else(|| panic!("{ending} in {report:#}"))
}

pub(super) fn verdicts(file: &Value) -> Vec<&str> {
    file["targets"].as_array().unwrap().iter().map(|target| target["verdict"].as_str().unwrap()).collect()
}
