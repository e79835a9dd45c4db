// SPDX-License-Identifier: MIT OR Apache-2.0
//! Windlass's own libamdhip64.so, which a build leaves in `target`, is never mistaken for AMD's.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// The folder of the build that contains this test.
fn artifacts() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_windlass")).parent().expect("the binary is in a folder").to_owned()
}

/// The drop-in, if it was built: `cargo test --workspace` builds it, `cargo test` alone does not.
fn drop_in() -> Option<PathBuf> {
    let candidates = [artifacts().join("libamdhip64.so"), artifacts().join("deps/libamdhip64.so")];
    let found = candidates.into_iter().find(|path| path.exists());
    if found.is_none() {
        eprintln!("skipped: there is no drop-in libamdhip64.so here; cargo build --workspace makes it");
    }
    found
}

fn devices(library_path: &[PathBuf], library: Option<&Path>) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
    command.args(["devices", "--json"]);
    for name in ["WINDLASS_DEVICE", "WINDLASS_SIM", "WINDLASS_LOG", "WINDLASS_HIP_LIBRARY"] {
        command.env_remove(name);
    }
    if let Some(library) = library {
        command.env("WINDLASS_HIP_LIBRARY", library);
    }
    let system = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let folders = library_path.iter().cloned().chain(env::split_paths(&system));
    let folders: OsString = env::join_paths(folders).expect("folders without a colon");
    let output = command.env("LD_LIBRARY_PATH", folders).output().expect("the command starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let sources: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    sources.as_array().expect("a list").iter().find(|source| source["scheme"] == "hip").expect("hip").clone()
}

#[test]
fn the_drop_in_is_passed_over_by_a_search() {
    let Some(drop_in) = drop_in() else { return };
    let folder = drop_in.parent().expect("a folder").to_owned();
    // As cargo runs programs: with its own folders first on the library path.
    let hip = devices(&[folder.clone(), folder.join("deps")], None);
    for device in hip["devices"].as_array().expect("a list") {
        assert_eq!(device["simulated"], false, "a search found {device}");
    }
    if !Path::new("/dev/kfd").exists() {
        assert_eq!(
            hip["devices"].as_array().map(Vec::len),
            Some(0),
            "a machine without GPU lists none: {hip}"
        );
        assert!(hip["problem"].as_str().is_some_and(|problem| problem.len() > 20), "and says why: {hip}");
    }
}

#[test]
fn the_drop_in_is_taken_and_marked_where_the_user_names_it() {
    let Some(drop_in) = drop_in() else { return };
    let hip = devices(&[], Some(&drop_in));
    let device = &hip["devices"][0];
    assert_eq!((&device["simulated"], &device["real_gpu"]), (&true.into(), &false.into()), "{hip}");
}

/// A copy of the drop-in without its marker, under AMD's name. A search takes it for AMD's.
#[cfg(target_os = "linux")]
fn disguised(drop_in: &Path, folder: &Path) {
    const MARKER: &[u8] = b"windlass_simulator_marker\0";
    let mut library = std::fs::read(drop_in).expect("the drop-in is readable");
    let mut found = 0;
    for at in 0..library.len() - MARKER.len() {
        if library[at..].starts_with(MARKER) {
            library[at] = b'W';
            found += 1;
        }
    }
    assert!(found > 0, "the drop-in has its marker");
    std::fs::write(folder.join("libamdhip64.so.7"), library).expect("the folder is writable");
    // Where Cargo has built it for tests, else beside the drop-in.
    let core = "libwindlass_simulator_core.so";
    let cores = [drop_in.with_file_name("deps").join(core), drop_in.with_file_name(core)];
    let core_built = cores.iter().find(|path| path.exists()).expect("the drop-in has its simulator");
    std::fs::copy(core_built, folder.join(core)).expect("the folder is writable");
}

/// Windlass opens HIP more than once in a process, and the second time the library is loaded already.
#[cfg(target_os = "linux")]
#[test]
fn a_device_found_by_search_is_the_same_when_it_is_opened_again() {
    let Some(drop_in) = drop_in() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    disguised(&drop_in, folder.path());
    let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
    command.args(["cts", "--device", "hip://", "driver.opens_by_reported_uri", "driver.reports_itself"]);
    for name in ["WINDLASS_DEVICE", "WINDLASS_SIM", "WINDLASS_LOG", "WINDLASS_HIP_LIBRARY"] {
        command.env_remove(name);
    }
    let output = command.env("LD_LIBRARY_PATH", folder.path()).output().expect("the command starts");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("found by search"), "{text}");
    assert!(text.contains("2 passed"), "{text}");
}
