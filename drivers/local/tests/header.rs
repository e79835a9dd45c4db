// SPDX-License-Identifier: MIT OR Apache-2.0
//! `include/windlass_kernel.h` is plain C and plain C++ to every compiler that is installed, and what they make of it runs.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
#![allow(clippy::print_stderr, reason = "a skipped test says why")]

mod common;

use std::{path::Path, process::Command};

use windlass_hal::Semaphore;

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
  (void)workgroup;
  ++calls;
  for (uint32_t i = 0; i < block->n; ++i) block->data[i] = factor * sqrtf(block->data[i]) + (float)calls;
  return 0;
}

WINDLASS_KERNEL_WITHOUT_PARAMETERS(doubles, 0) {
  (void)arguments;
  (void)workgroup;
  factor *= 2.0f;
  return 0;
}
"#;

/// Compiles the source and runs its kernel; `false` where there is no such compiler.
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
    // SAFETY: the kernel stays within the elements that it is told of.
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
