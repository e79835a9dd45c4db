// SPDX-License-Identifier: MIT OR Apache-2.0
//! LLVM 19's tools, if installed, see the same in every real file that they support.

mod arguments;
mod bundles;
mod code_objects;
mod made_here;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::fixtures;
use crate::support::{self, skipped};

/// The way in which LLVM's tools read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Check {
    /// `llvm-readelf` reads it.
    CodeObject,
    /// `llvm-readelf` reads it as unlinked: without segments and dynamic symbols.
    Object,
    /// `clang-offload-bundler` lists and unbundles each of its bundles.
    Bundles,
    /// `llvm-objcopy` takes `.hip_fatbin` out of it.
    HostElf,
    /// `clang-offload-bundler` lists and unbundles it as an object.
    ObjectBundle,
    /// `llvm-ar` lists and takes out its members.
    Archive,
    /// `llvm-objdump --offloading` lists it and `clang-offload-packager` takes out its images.
    OffloadBinary,
    /// No tool reads it, with the reason.
    None(&'static str),
}

const IREE: &str = "LLVM knows no container of IREE; fixtures.rs compares it with what IREE's compiler dumps";
const KPACK: &str = "LLVM 19 is older than kpack; kpack.rs compares it";

/// (directory, how the name ends, check)
const FILES: &[(&str, &str, Check)] = &[
    ("fatbin", ".hip_fatbin", Check::Bundles),
    ("fatbin", ".hipfb", Check::Bundles),
    ("fatbin", ".ccob", Check::Bundles),
    ("fatbin", "roofline-ubuntu22_04-rocm7", Check::HostElf),
    ("fatbin", "vadd.offloadbinary", Check::OffloadBinary),
    ("fatbin", "text.bundle.ll", Check::None("text bundles are refused")),
    ("hostelf", ".so", Check::HostElf),
    ("hostelf", ".o", Check::HostElf),
    ("clang", ".co", Check::CodeObject),
    ("clang", "argname_N.o", Check::Object),
    ("clang", "v2note_yn.o", Check::None("code object version 2 is refused")),
    ("clang", "vadd.newdriver.o", Check::HostElf),
    ("clang", "vadd.rdc.o", Check::ObjectBundle),
    ("clang", "fatobjs.a", Check::Archive),
    ("iree", ".hsaco", Check::CodeObject),
    ("iree", ".hip1", Check::None(IREE)),
    ("iree", ".vmfb", Check::None(IREE)),
    ("iree", ".mlir", Check::None("it is source")),
    ("triton", ".hsaco", Check::CodeObject),
    ("triton", ".json", Check::None("it says how a kernel is launched")),
    ("kpack", ".kpack", Check::None(KPACK)),
];

fn check(directory: &str, path: &Path) -> Option<Check> {
    let name = path.file_name()?.to_str()?;
    let row = FILES.iter().find(|(place, end, _)| *place == directory && name.ends_with(end));
    row.map(|(_, _, check)| *check)
}

/// The fixtures to be checked in that way; none, with a message, without fixtures.
fn files(wanted: Check) -> Vec<PathBuf> {
    let Some(root) = support::fixtures() else { return Vec::new() };
    let mut found = Vec::new();
    for (directory, _, _) in FILES.iter().filter(|(_, _, check)| *check == wanted) {
        for path in fixtures::files(&root.join(directory)) {
            if check(directory, &path) == Some(wanted) && !found.contains(&path) {
                found.push(path);
            }
        }
    }
    assert!(!found.is_empty(), "{wanted:?}");
    found
}

#[test]
fn every_fixture_is_compared_or_the_table_says_why_not() {
    let Some(root) = support::fixtures() else { return };
    for directory in ["fatbin", "hostelf", "clang", "iree", "triton", "kpack"] {
        for path in fixtures::files(&root.join(directory)) {
            assert!(check(directory, &path).is_some(), "{} is in no row of `FILES`", path.display());
        }
    }
}

/// Whether a tool is installed, with a message if not.
fn installed(tool: &str) -> bool {
    let asked = || Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success());
    // Miri cannot start processes.
    let found = !cfg!(miri) && asked();
    if !found {
        skipped(&format!("{tool} is not installed"));
    }
    found
}

/// The standard output of a tool, which must succeed.
fn ask<A: AsRef<OsStr>>(tool: &str, arguments: &[A]) -> String {
    let output = Command::new(tool).args(arguments).output().unwrap();
    let arguments: Vec<&OsStr> = arguments.iter().map(AsRef::as_ref).collect();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{tool} {arguments:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn option(name: &str, value: impl AsRef<Path>) -> String {
    format!("--{name}={}", value.as_ref().display())
}

/// A directory of one test, deleted on drop.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!(
            "windlass-codeobject-tools-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
