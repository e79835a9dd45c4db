// SPDX-License-Identifier: MIT OR Apache-2.0
//! `include/windlass_kernel.h` is plain C and plain C++ to every installed compiler, and the compiled kernels run.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
#![allow(clippy::print_stderr, reason = "a skipped test says why")]

mod common;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use windlass_hal::{Code, Semaphore};

use common::{LONG, device, single};

/// A constructor, a library of the system, a thread-local variable, and two kernels.
const SOURCE: &str = r#"
#include <math.h>
#include "windlass_kernel.h"

WINDLASS_KERNEL_EXPORT float factor;
__attribute__((constructor)) static void prepare(void) { factor = 2.0f; }
static __thread int calls;

typedef struct { float *data; uint32_t n; } root_block;

WINDLASS_KERNEL_SIZED(root, root_block, 0, 1, 1, 1, 1, WINDLASS_BUFFER(root_block, data),
                      WINDLASS_VALUE(root_block, n)) {
  const root_block *block = (const root_block *)arguments;
  ++calls;
  for (uint32_t i = 0; i < block->n; ++i) block->data[i] = factor * sqrtf(block->data[i]) + (float)calls;
  return 0;
}

WINDLASS_KERNEL_WITHOUT_PARAMETERS(doubles, 0) {
  factor *= 2.0f;
  return 0;
}
"#;

/// Compiles the source and runs its kernel. `false` if the compiler is not installed.
fn runs(folder: &Path, compiler: &str, standard: &str) -> bool {
    let cpp = standard.contains("++");
    let (source, object) = (folder.join(if cpp { "root.cc" } else { "root.c" }), folder.join("root.so"));
    std::fs::write(&source, SOURCE).unwrap();
    let mut command = Command::new(compiler);
    command.args(["-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-Wpedantic", "-Werror", standard, "-I"]);
    command
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/include"))
        .arg("-o")
        .arg(&object)
        .arg(source)
        .arg("-lm");
    let Ok(finished) = command.output() else { return false };
    let said = String::from_utf8_lossy(&finished.stderr);
    assert!(finished.status.success() && said.is_empty(), "{compiler} {standard}: {said}");
    let (device, done) = (device(), Semaphore::new(0));
    // SAFETY: the kernel stays within the elements that its arguments state.
    let executable = unsafe { device.load_executable(&std::fs::read(object).unwrap()) }.unwrap();
    let (queue, data) = (device.queue(0).unwrap(), device.allocate_device(8).unwrap());
    queue.fill(&[], &[done.at(1)], &data, 9.0_f32).unwrap();
    let arguments = [data.arg(), 2_u32.into()];
    let root = executable.function("root").unwrap();
    queue.dispatch(&[done.at(1)], &[done.at(2)], &root, single(), &arguments).unwrap();
    let bytes = queue.download(&[done.at(2)], &data).unwrap().wait(LONG).unwrap();
    assert_eq!(bytes, 7.0_f32.to_le_bytes().repeat(2), "{compiler} {standard}");
    let doubles = executable.function("doubles").unwrap();
    queue.dispatch(&[done.at(2)], &[done.at(3)], &doubles, single(), &[]).unwrap();
    let factor =
        queue.download(&[done.at(3)], &executable.global("factor").unwrap()).unwrap().wait(LONG).unwrap();
    assert_eq!(factor, 4.0_f32.to_le_bytes(), "{compiler} {standard}");
    true
}

#[test]
fn compilers_take_it_without_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let mut none = true;
    for (c, cpp) in [("cc", "c++"), ("gcc", "g++"), ("clang", "clang++"), ("clang-19", "clang++-19")] {
        for (compiler, standards) in
            [(c, ["-std=c99", "-std=c11", "-std=c17"]), (cpp, ["-std=c++11", "-std=c++17", "-std=c++20"])]
        {
            for standard in standards {
                none &= !runs(folder.path(), compiler, standard);
            }
        }
    }
    if none {
        eprintln!("skipped: there is no C compiler (cc, gcc, clang)");
    }
}

/// The object that the C compiler makes of a kernel `bump` after `text`. `None` if there is no C compiler.
fn compiled(folder: &Path, text: &str, options: &[&str]) -> Option<PathBuf> {
    const BUMP: &str = "typedef struct { int *out; } bump_block;\n\
                        WINDLASS_KERNEL(bump, bump_block, 0, WINDLASS_BUFFER(bump_block, out)) {\n\
                        *((const bump_block *)arguments)->out = next(); return 0; }\n";
    let (source, object) = (folder.join("bump.c"), folder.join("bump.so"));
    std::fs::write(&source, format!("#include \"windlass_kernel.h\"\n{text}\n{BUMP}")).unwrap();
    let mut command = Command::new("cc");
    command.args(["-O1", "-shared", "-fPIC", "-I", concat!(env!("CARGO_MANIFEST_DIR"), "/include"), "-o"]);
    let Ok(finished) = command.arg(&object).arg(source).args(options).output() else {
        eprintln!("skipped: there is no C compiler (cc)");
        return None;
    };
    assert!(finished.status.success(), "{}", String::from_utf8_lossy(&finished.stderr));
    Some(object)
}

/// The result of `bump`, or the error of loading it.
fn bumped(object: &Path) -> windlass_hal::Result<i32> {
    let (device, done) = (device(), Semaphore::new(0));
    // SAFETY: the kernel stays within the four bytes that it gets.
    let executable = unsafe { device.load_executable(&std::fs::read(object).unwrap()) }?;
    let (queue, out) = (device.queue(0)?, device.allocate_device(4)?);
    queue.dispatch(&[], &[done.at(1)], &executable.function("bump")?, single(), &[out.arg()])?;
    let bytes = queue.download(&[done.at(1)], &out)?.wait(LONG)?;
    Ok(i32::from_ne_bytes(bytes.try_into().unwrap()))
}

#[test]
fn a_variable_that_the_process_has_too_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    const OPTIND: &str = "int optind = 41; static int next(void) { return ++optind; }";
    let Some(object) = compiled(folder.path(), OPTIND, &[]) else { return };
    let error = bumped(&object).unwrap_err();
    assert_eq!(error.code(), Code::FailedPrecondition, "{error}");
    for said in ["`optind`", "-Wl,-Bsymbolic", "static"] {
        assert!(error.to_string().contains(said), "{error}");
    }
    for (text, options) in [
        (OPTIND, &["-Wl,-Bsymbolic"][..]),
        (&OPTIND.replacen("int", "static int", 1), &[]),
        (&OPTIND.replace("optind", "windlass_test_index"), &[]),
        (&OPTIND.replacen("int", "__attribute__((visibility(\"protected\"))) int", 1), &[]),
        // The object's code does not use the variable by name.
        ("int optind = 7; static int next(void) { return 42; }", &[]),
    ] {
        let object = compiled(folder.path(), text, options).unwrap();
        assert_eq!(bumped(&object).unwrap(), 42, "{text}");
    }
}

#[test]
#[cfg(target_env = "gnu")]
fn thread_local_storage_without_room_is_refused_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    const LARGE: &str = "__attribute__((tls_model(\"initial-exec\"))) static _Thread_local char large[1 << 20];\n\
                         static int next(void) { return ++large[9]; }";
    let Some(object) = compiled(folder.path(), LARGE, &[]) else { return };
    let error = bumped(&object).unwrap_err();
    assert_eq!(error.code(), Code::FailedPrecondition, "{error}");
    assert!(error.to_string().contains("-ftls-model=global-dynamic"), "{error}");
}

/// Reading many symbols that share one long description reads no more bytes than the file has.
#[test]
fn descriptions_that_overlap_are_refused() {
    use std::fmt::Write as _;
    let (parameters, kernels) = (300, 400);
    let mut source = format!(
        ".section .rodata,\"a\"\n.balign 8\ntold:\n.long 1,48,64,{parameters},{},0,0,0,0,0,0,0\n",
        parameters * 8
    );
    for index in 0..parameters {
        writeln!(source, ".long 1,{},8,0\n.zero 48", index * 8).unwrap();
    }
    source.push_str(".text\n");
    for kernel in 0..kernels {
        let told = format!("windlass_kernel_k{kernel}");
        writeln!(source, ".globl {told}\n.type {told},%object\n.set {told},told").unwrap();
        writeln!(source, ".globl k{kernel}\n.type k{kernel},%function\nk{kernel}: ret").unwrap();
    }
    source.push_str(".section .note.GNU-stack,\"\",%progbits\n");
    let folder = tempfile::tempdir().unwrap();
    let (assembly, object) = (folder.path().join("told.s"), folder.path().join("told.so"));
    std::fs::write(&assembly, source).unwrap();
    let built = Command::new("cc").args(["-shared", "-nostdlib", "-o"]).arg(&object).arg(&assembly).status();
    if !built.is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no C compiler (cc)");
        return;
    }
    let bytes = std::fs::read(object).unwrap();
    let library = windlass_codeobject::HostLibrary::parse(&bytes).unwrap();
    let read: usize = library.kernels().iter().map(|kernel| kernel.parameters.len()).sum();
    assert!(read * 64 < bytes.len(), "{read} parameters of {} bytes", bytes.len());
    assert_eq!(library.kernels().len() + library.rejected().len(), kernels);
    assert!(library.rejected().iter().all(|kernel| kernel.reason.contains("overlap")));
}
