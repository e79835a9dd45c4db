// SPDX-License-Identifier: MIT OR Apache-2.0
//! The paths of the library and of the one that it loads.
#![allow(dead_code, reason = "each test uses a part")]

use std::path::PathBuf;

/// The library that has the simulator.
pub(crate) const CORE: &str = "libwindlass_simulator_core.so";

/// Cargo builds the library beside the tests of its package.
pub(crate) fn library() -> PathBuf {
    built(&format!("{}amdhip64{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX))
}

/// The library that has the simulator.
pub(crate) fn core() -> PathBuf {
    built(CORE)
}

fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let mut candidates = test.ancestors().skip(1).take(2).map(|folder| folder.join(name));
    candidates.find(|path| path.exists()).expect("the library beside the tests")
}
