// SPDX-License-Identifier: MIT OR Apache-2.0
//! The output of clang 19 for one small kernel, in each way of packing.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use windlass_codeobject::{Container, File, Options};

use super::bundles::{compare_all, compare_archive, compare_offload_binaries, open};
use super::{Scratch, ask, installed};
use crate::support::skipped;

const CLANG: &str = "clang++-19";
const SOURCE: &str = r#"
struct dim3 { unsigned x, y, z; };
extern "C" int hipLaunchKernel(const void *, dim3, dim3, void **, unsigned long, void *);
extern "C" __attribute__((global)) void seven(int *p) { *p = 7; }
"#;

/// Compiles the kernel with those options; `None`, with a message, if this clang lacks the targets.
fn compiled(scratch: &Scratch, name: &str, options: &[&str]) -> Option<PathBuf> {
    let source = scratch.write("seven.hip", SOURCE.as_bytes());
    let output = scratch.path(name);
    let mut clang = Command::new(CLANG);
    clang.current_dir(&scratch.0).args(["-x", "hip", "-O1", "-nogpulib", "-nogpuinc"]);
    clang.args(["--offload-arch=gfx942", "--offload-arch=gfx1100"]).args(options);
    let done = clang.arg(&source).arg("-o").arg(&output).output().unwrap();
    if !done.status.success() {
        skipped(&format!("{CLANG} makes no {name}: {}", String::from_utf8_lossy(&done.stderr)));
        return None;
    }
    Some(output)
}

#[test]
fn host_objects() {
    if !installed(CLANG) || !installed("clang-offload-bundler-19") {
        return;
    }
    let scratch = Scratch::new();
    for (name, options) in [
        ("plain.o", &["-c"][..]),
        ("compressed.o", &["-c", "--offload-compress"]),
        ("new-driver.o", &["-c", "--offload-new-driver"]),
        ("library.so", &["-shared", "-fPIC", "-nostdlib", "--hip-link", "-fuse-ld=lld"]),
    ] {
        let Some(path) = compiled(&scratch, name, options) else { continue };
        let bytes = fs::read(path).unwrap();
        assert!(!open(&bytes).bundles().is_empty(), "{name}");
        compare_all(&bytes, &scratch);
    }
}

#[test]
fn relocatable_device_code() {
    let tools = ["clang-offload-packager-19", "llvm-objdump-19", CLANG];
    if !tools.into_iter().all(installed) {
        return;
    }
    let scratch = Scratch::new();
    let Some(path) = compiled(&scratch, "rdc.o", &["-c", "-fgpu-rdc", "--offload-new-driver"]) else {
        return;
    };
    let bytes = fs::read(&path).unwrap();
    let file = open(&bytes);
    assert!(
        file.bundles().iter().all(|bundle| matches!(
            bundle.container(),
            Container::OffloadBinary { version: 1, method: None }
        ))
    );
    compare_offload_binaries(&file, &path, &scratch);
    for bundle in file.bundles() {
        let verdicts = bundle.select(&"gfx942".parse().unwrap(), &Options::default()).verdicts;
        assert!(verdicts.iter().all(|verdict| verdict.fit.is_none()));
    }
    let bitcode = |target: &str| {
        let verdicts = file
            .bundles()
            .iter()
            .flat_map(|bundle| bundle.select(&target.parse().unwrap(), &Options::default()).verdicts);
        verdicts.filter(|verdict| verdict.reason.contains("bitcode")).count()
    };
    assert_eq!((bitcode("gfx942"), bitcode("gfx1100"), bitcode("gfx90a")), (1, 1, 0));
}

#[test]
fn archives() {
    let tools = ["llvm-ar-19", "clang-offload-bundler-19", CLANG];
    if !tools.into_iter().all(installed) {
        return;
    }
    let scratch = Scratch::new();
    if let Some(path) = compiled(&scratch, "libdevice.a", &["-fgpu-rdc", "--emit-static-lib"]) {
        compare_archive(&path, &scratch);
    }
    let long = "an_object_with_a_name_that_does_not_fit_into_the_header.o";
    let Some(object) = compiled(&scratch, long, &["-c"]) else { return };
    let Some(bundle) = compiled(&scratch, "rdc.o", &["-c", "-fgpu-rdc"]) else { return };
    for (format, thin) in [("gnu", false), ("bsd", false), ("darwin", false), ("gnu", true)] {
        let archive = scratch.path(&format!("{format}-{thin}.a"));
        let paths = [&archive, &object, &bundle].map(|path| path.display().to_string());
        let mut arguments = vec![format!("--format={format}"), "rcs".to_owned()];
        if thin {
            arguments.push("--thin".to_owned());
        }
        ask("llvm-ar-19", &[&arguments[..], &paths].concat());
        if !thin {
            compare_archive(&archive, &scratch);
            continue;
        }
        let error = File::parse(&fs::read(&archive).unwrap(), &Options::default()).unwrap_err().to_string();
        assert!(error.contains("thin archive") && error.contains(long), "{error}");
    }
}
