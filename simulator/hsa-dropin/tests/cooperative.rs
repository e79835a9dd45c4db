// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cooperative queues: all workgroups of a dispatch are in flight, and wait for each other.

mod common;

use std::process::Command;
use std::ptr::{null, null_mut};

use common::*;
use hsa_runtime64 as hsa;
use windlass_simulator::hsa::Status;
use windlass_simulator::hsa::abi::HsaQueue;

const COOPERATIVE: u32 = 2;

fn start() {
    machine("gfx942?memory=256M");
}

/// The kernels of `grid_barrier.hip`, by clang.
#[allow(clippy::print_stderr, reason = "a skip is told")]
fn compiled(test: &str) -> Option<Vec<u8>> {
    let compiler = std::env::var("CLANG").unwrap_or_else(|_| "clang-19".to_owned());
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/grid_barrier.hip");
    let made = std::env::temp_dir().join(format!("windlass-hsa-{test}-{}.co", std::process::id()));
    let options =
        "-x hip --offload-arch=gfx942 --cuda-device-only --no-gpu-bundle-output -nogpuinc -nogpulib -O2";
    let ran = Command::new(&compiler).args(options.split(' ')).arg(source).arg("-o").arg(&made).output();
    let Ok(ran) = ran else {
        eprintln!("skipped: no compiler for GPUs ({compiler}); set CLANG");
        return None;
    };
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let code = std::fs::read(&made).unwrap();
    std::fs::remove_file(&made).unwrap();
    Some(code)
}

fn queue(kind: u32) -> (Queue, &'static Noted) {
    let noted = Noted::new();
    let mut queue = null_mut();
    // SAFETY: the pointer is a local, and the note stays.
    ok(unsafe { hsa::hsa_queue_create(gpu(0), 64, kind, Some(Noted::note), noted.data(), 0, 0, &mut queue) });
    (Queue(queue), noted)
}

#[test]
fn workgroups_meet_by_atomics() {
    start();
    const GROUPS: u32 = 700;
    let (queue, noted) = queue(COOPERATIVE);
    // SAFETY: a live queue.
    assert_eq!(unsafe { (*queue.0.cast::<HsaQueue>()).kind }, COOPERATIVE);
    let code = Code::load(gpu(0), SPIN);
    let (arrivals, out) = (device_memory(gpu(0), 64), device_memory(gpu(0), 4 * GROUPS as usize));
    upload(arrivals, &[0; 64]);
    let explicit = packed(&[&(arrivals as u64).to_le_bytes(), &(out as u64).to_le_bytes()]);
    let done = signal(1);
    let arguments = arguments(&explicit, 1, GROUPS);
    let kernel = code.kernel("meet");
    queue.dispatch(Dispatch {
        kernel,
        workgroup: 1,
        grid: GROUPS,
        arguments,
        header: FENCES,
        completion: done,
    });
    wait(done);
    assert_eq!(words(&download(out, 4 * GROUPS as usize)), [1; GROUPS as usize]);
    assert_eq!(noted.status(), None);
}

#[test]
fn workgroups_meet_by_the_global_wave_sync() {
    start();
    const GROUPS: u32 = 100;
    let Some(code) = compiled("sync") else { return };
    let code = Code::load(gpu(0), &code);
    let (queue, noted) = queue(COOPERATIVE);
    let (arrivals, seen) = (device_memory(gpu(0), 64), device_memory(gpu(0), 8 * GROUPS as usize));
    for _ in 0..2 {
        upload(arrivals, &[0; 64]);
        let initialise = arguments(&(GROUPS - 1).to_le_bytes(), 64, 64);
        queue.dispatch(Dispatch {
            kernel: code.kernel("gws_init"),
            workgroup: 64,
            grid: 64,
            arguments: initialise,
            header: BARRIER | FENCES,
            completion: windlass_simulator::hsa::abi::Signal::default(),
        });
        let explicit = packed(&[&(arrivals as u64).to_le_bytes(), &(seen as u64).to_le_bytes()]);
        let done = signal(1);
        queue.dispatch(Dispatch {
            kernel: code.kernel("meet_twice"),
            workgroup: 64,
            grid: 64 * GROUPS,
            arguments: arguments(&explicit, 64, 64 * GROUPS),
            header: BARRIER | FENCES,
            completion: done,
        });
        wait(done);
        let expected = [GROUPS, 2 * GROUPS].repeat(GROUPS as usize);
        assert_eq!(words(&download(seen, 8 * GROUPS as usize)), expected);
    }
    assert_eq!(noted.status(), None);
}

#[test]
fn other_queues_have_no_such_barriers() {
    start();
    let Some(code) = compiled("others") else { return };
    let code = Code::load(gpu(0), &code);
    let (queue, noted) = queue(0);
    queue.dispatch(Dispatch {
        kernel: code.kernel("gws_init"),
        workgroup: 64,
        grid: 64,
        arguments: arguments(&[0; 4], 64, 64),
        header: FENCES,
        completion: windlass_simulator::hsa::abi::Signal::default(),
    });
    assert_eq!(noted.wait(), Status::ILLEGAL_INSTRUCTION);
}

#[test]
fn agents_say_that_they_have_them() {
    start();
    let mut value = 9_u8;
    // SAFETY: the value is a local of this type.
    ok(unsafe { hsa::hsa_agent_get_info(gpu(0), 0xa010, (&raw mut value).cast()) });
    assert_eq!(value, 1);
    // SAFETY: null must be refused.
    let nowhere = unsafe { hsa::hsa_agent_get_info(gpu(0), 0xa010, null::<u8>().cast_mut().cast()) };
    assert_eq!(nowhere, Status::INVALID_ARGUMENT);
}
