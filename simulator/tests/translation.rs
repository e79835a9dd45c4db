// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hot code is translated unless an option or the system forbids it, and the results are the same.
//!
//! A program by itself: it reads the mappings of the process, and in the end forbids the process new executable memory.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(clippy::print_stderr, reason = "a test says what it skips")]

#[macro_use]
mod common;

use std::ptr::null_mut;

use common::events::listen;
use common::{Block, Machine};
use windlass_hip_sys::bindings::*;

/// The executable mappings of no file.
fn executable_memory() -> Vec<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let anonymous = maps.lines().map(words).filter(|words| words.len() == 5 && words[1].contains('x'));
    anonymous.map(|words| words[0].clone()).collect()
}

/// Runs a kernel with so many waves that its first step is hot, and returns the sums.
fn run(machine: &Machine) -> Vec<f32> {
    const COUNT: u32 = 64 * 256;
    let module = machine.load(include_bytes!("../../cts/kernels/bundles/vector_add.ccob"));
    let function = machine.function(module, c"vector_add");
    let numbers: Vec<f32> = (0..COUNT).map(|number| number as f32).collect();
    let (a, b) = (machine.upload(&numbers), machine.upload(&numbers));
    let out = machine.malloc(numbers.len() * 4);
    let arguments = Block::default().pointer(a).pointer(b).pointer(out).u32(COUNT).done();
    for _ in 0..2 {
        assert_eq!(machine.launch(function, 64, 256, null_mut(), &arguments), hipError_t::hipSuccess);
        assert_eq!(hip!(machine, hipStreamSynchronize(null_mut())), hipError_t::hipSuccess);
    }
    machine.download(out, numbers.len())
}

#[test]
fn hot_code_is_translated_unless_it_must_not_be() {
    let log = listen();
    let expected: Vec<f32> = (0..64 * 256).map(|number| 2.0 * number as f32).collect();
    let before = executable_memory();

    let interpreted = Machine::new("?translate=off");
    assert_eq!(run(&interpreted), expected);
    assert_eq!(executable_memory(), before);

    if !std::is_x86_feature_detected!("avx2") || !std::is_x86_feature_detected!("fma") {
        eprintln!("skipped: this processor has no AVX2 or no FMA, for which the simulator translates");
        return;
    }
    let translated = Machine::new("");
    assert_eq!(run(&translated), expected);
    assert!(executable_memory().len() > before.len());

    // Linux 6.3 has this request, which also systemd's MemoryDenyWriteExecute makes.
    const REFUSE_EXEC_GAIN: libc::c_ulong = 1;
    const SET_MEMORY_DENY_WRITE_EXECUTE: libc::c_int = 65;
    // SAFETY: the request takes numbers only.
    if unsafe { libc::prctl(SET_MEMORY_DENY_WRITE_EXECUTE, REFUSE_EXEC_GAIN, 0, 0, 0) } != 0 {
        eprintln!("skipped: this Linux cannot forbid a process executable memory");
        return;
    }
    let held = executable_memory();
    let refused = Machine::new("");
    assert_eq!(run(&refused), expected);
    assert_eq!(executable_memory(), held);
    let lines: Vec<_> = log.try_iter().collect();
    assert!(lines.iter().any(|(_, text)| text.contains("interpreted, not translated")), "{lines:?}");
}
