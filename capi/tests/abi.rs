// SPDX-License-Identifier: MIT OR Apache-2.0
//! `.ci/abi` notices each way in which a header breaks programs, and accepts those in which it may grow.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a skip must be seen")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

/// A repository with the header and the script, and nothing else.
struct Copy(PathBuf);

impl Copy {
    fn new() -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("abi-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join(".ci")).unwrap();
        fs::create_dir_all(folder.join("capi/include/windlass")).unwrap();
        let (package, copy) = (Path::new(PACKAGE), Self(folder));
        fs::copy(package.join("../.ci/abi"), copy.0.join(".ci/abi")).unwrap();
        let include = package.join("include");
        fs::copy(include.join("windlass.h"), copy.0.join("capi/include/windlass.h")).unwrap();
        for page in fs::read_dir(include.join("windlass")).unwrap() {
            let page = page.unwrap();
            fs::copy(page.path(), copy.page(page.file_name().to_str().unwrap())).unwrap();
        }
        copy.git(&["init", "--quiet"]);
        copy.git(&["add", "."]);
        copy.git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message", "base"]);
        copy
    }

    fn page(&self, name: &str) -> PathBuf {
        self.0.join("capi/include/windlass").join(name)
    }

    fn git(&self, arguments: &[&str]) {
        let output = Command::new("git").arg("-C").arg(&self.0).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// The script after changes, each a page with a text and its replacement.
    fn check(&self, changes: &[(&str, &str, &str)]) -> Output {
        for (page, old, new) in changes {
            let text = fs::read_to_string(self.page(page)).unwrap();
            assert!(text.contains(old), "{page} has no {old}");
            fs::write(self.page(page), text.replacen(old, new, 1)).unwrap();
        }
        let output = Command::new("bash").arg(self.0.join(".ci/abi")).arg("HEAD").output().unwrap();
        self.git(&["checkout", "--quiet", "."]);
        output
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The number of functions that the sources export.
fn functions() -> usize {
    let count = |text: &str| text.lines().filter(|line| line.contains("extern \"C\" fn windlass_")).count();
    let mut folders = vec![Path::new(PACKAGE).join("src")];
    let mut found = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else {
                found += count(&fs::read_to_string(entry).unwrap());
            }
        }
    }
    found
}

const NEWER: (&str, &str, &str) = ("version.h", "WINDLASS_ABI_VERSION 1", "WINDLASS_ABI_VERSION 2");
const OTHER: (&str, &str, &str) = ("version.h", "WINDLASS_ABI_VERSION 1", "WINDLASS_ABI_VERSION 65536");

#[test]
fn the_script_tells_breaks_from_growth() {
    for tool in ["abidiff", "gcc", "git"] {
        if Command::new(tool).arg("--version").output().is_err() {
            eprintln!("skipped: {tool} is not installed");
            return;
        }
    }
    let copy = Copy::new();
    let function = (
        "semaphore.h",
        "uint64_t windlass_semaphore_id(windlass_semaphore_t *semaphore);",
        "uint64_t windlass_semaphore_id(windlass_semaphore_t *semaphore);\nvoid windlass_new(void);",
    );
    let grown = ("heap.h", "} windlass_heap_t;", "    uint64_t later;\n} windlass_heap_t;");
    for (what, changes) in [
        ("nothing", &[][..]),
        ("a field at the end of a struct that states its size", &[grown]),
        ("a function, with a greater minor number", &[function, NEWER]),
    ] {
        let output = copy.check(changes);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{what}: {text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(text.contains("keep working"), "{what}: {text}");
        assert!(text.contains(&format!("functions: {} at HEAD", functions())), "{what}: {text}");
    }

    let gone = (
        "device.h",
        "windlass_device_poll(windlass_device_t *device)",
        "windlass_device_pool(windlass_device_t *device)",
    );
    let parameter = ("queue.h", "uint32_t index,", "uint64_t index,");
    let inner = ("heap.h", "    uint64_t max_size;", "    uint32_t max_size;\n    uint32_t rest;");
    let fixed = ("semaphore.h", "} windlass_point_t;", "    uint64_t later;\n} windlass_point_t;");
    let constant = ("error.h", "#define WINDLASS_CODE_ABORTED 10", "#define WINDLASS_CODE_ABORTED 11");
    for (what, change) in [
        ("a function that is gone", gone),
        ("a parameter of another type", parameter),
        ("a field of another type", inner),
        ("a field in a struct without a size", fixed),
        ("a constant with another value", constant),
    ] {
        let output = copy.check(&[change, NEWER]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(
            output.status.code(),
            Some(1),
            "{what}: {text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(text.contains("the interface breaks programs"), "{what}: {text}");
        let output = copy.check(&[change, OTHER]);
        assert_eq!(output.status.code(), Some(0), "{what}, with a greater major number");
    }
    let output = copy.check(&[function]);
    assert_eq!(output.status.code(), Some(1), "a new function without a new number");
}
