// SPDX-License-Identifier: MIT OR Apache-2.0
//! The symbols of the built library, as a linker reads them: its name, its symbols and their versions.

#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

mod common;
#[path = "common/exports.rs"]
mod exports;

use exports::{exports, versioned_exports};

#[test]
fn it_goes_by_the_name_of_rocm_7() {
    assert_eq!(exports().soname, "libamdhip64.so.7");
}

/// The list has the exports of Debian's libamdhip64-5 5.2.3, by `readelf --dyn-syms`, without its debugger's
/// and C++ templates' symbols.
#[test]
fn whatever_hip_5_2_exports_has_the_same_version_here() {
    let Some(exports) = versioned_exports() else { return };
    let mut compared = 0;
    for line in include_str!("hip-5.2-symbols.txt").lines() {
        let (name, version) = line.split_once(' ').unwrap();
        assert_eq!(exports.symbols.get(name).cloned().flatten().as_deref(), Some(version), "{name}");
        compared += 1;
    }
    assert_eq!(compared, 405);
}

#[test]
fn every_function_of_hip_has_a_version() {
    let Some(exports) = versioned_exports() else { return };
    for name in windlass_hip_sys::EntryPoints::NAMES {
        assert!(exports.symbols.contains_key(*name), "{name} is not exported");
    }
    let ours = |name: &str| name.starts_with("windlass_simulator_");
    for (name, version) in &exports.symbols {
        let known = version.as_ref().is_some_and(|version| exports.nodes.contains(version));
        // Some linkers list the nodes as symbols.
        assert!(known || ours(name) || exports.nodes.contains(name), "{name} has the version {version:?}");
    }
    let mut own: Vec<_> = exports.symbols.keys().filter(|name| ours(name)).collect();
    own.sort_unstable();
    let suffixes = ["has", "last_fault", "marker", "rccl"];
    assert_eq!(own, suffixes.map(|suffix| format!("windlass_simulator_{suffix}")).each_ref());
}

/// One name of each version of AMD's linker map, as in the sources of its runtime.
#[test]
fn later_functions_have_the_versions_that_clients_ask_for() {
    let Some(exports) = versioned_exports() else { return };
    for (name, version) in [
        ("hipInit", "hip_4.2"),
        ("hipGraphCreate", "hip_4.3"),
        ("hipGraphAddEmptyNode", "hip_4.4"),
        ("hipGraphAddEventRecordNode", "hip_4.5"),
        ("hipPointerGetAttribute", "hip_5.0"),
        ("hipMallocAsync", "hip_5.1"),
        ("hipMemcpyAsync_spt", "hip_5.2"),
        ("hipLaunchHostFunc", "hip_5.3"),
        ("hipModuleLaunchCooperativeKernel", "hip_5.5"),
        ("hipDrvGraphAddMemcpyNode", "hip_5.6"),
        ("hipGetDevicePropertiesR0600", "hip_6.0"),
        ("hipGetProcAddress", "hip_6.1"),
        ("hipGetFuncBySymbol", "hip_6.2"),
        ("hipExtHostAlloc", "hip_6.3"),
        ("hipEventRecordWithFlags", "hip_6.4"),
        ("hipDrvLaunchKernelEx", "hip_6.5"),
        ("hipModuleGetFunctionCount", "hip_7.1"),
        ("hipLibraryLoadData", "hip_7.2"),
    ] {
        assert_eq!(exports.symbols.get(name).cloned().flatten().as_deref(), Some(version), "{name}");
        assert!(exports.nodes.contains(version), "{version}");
    }
    // Nodes of later HIPs exist without a function: a program that is linked with one is loaded, and misses functions alone.
    for version in ["hip_profiler_ext", "hip_7.14", "hip_7.15"] {
        assert!(exports.nodes.contains(version), "{version}");
    }
    assert_eq!(exports.nodes.len(), 21);
}
