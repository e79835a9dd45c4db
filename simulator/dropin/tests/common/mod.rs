// SPDX-License-Identifier: MIT OR Apache-2.0
//! The path of the library.

use std::path::PathBuf;

/// Cargo builds the library beside the tests of its package.
pub(crate) fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folders = test.ancestors().skip(1).take(2);
    let name = format!("{}amdhip64{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let mut candidates = folders.map(|folder| folder.join(&name));
    candidates.find(|path| path.exists()).expect("the library beside the tests")
}
