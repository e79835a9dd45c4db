// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random programs on a simulated GPU with failing HIP calls: a successful operation has done its work, a failed one
//! fails its dependants, and nothing hangs.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use windlass::Registry;
use windlass_cts::program::{Bench, Mix, search_with};
use windlass_hip_sys::{bindings::hipError_t, interposer::Interposer};
use windlass_simulator::Simulator;

/// Longer than any step takes, so a timeout is a failure.
const LIMIT: Duration = Duration::from_secs(120);

/// Statuses that fail an operation, and one that loses the device.
const HARMLESS: [hipError_t; 2] = [hipError_t::hipErrorOutOfMemory, hipError_t::hipErrorInvalidValue];
const LOST: hipError_t = hipError_t::hipErrorUnknown;

/// Runs programs on devices of which one call out of `every` fails. Returns the number of failed calls.
fn run(options: &str, uri: &str, every: u64, count: u32) -> u64 {
    let simulator = Simulator::new(options.parse().unwrap()).unwrap();
    let interposer = Interposer::new(simulator.api());
    let mut registry = Registry::new();
    registry.register(windlass_hip::Driver::new("test", windlass_hip::table(interposer.api())));
    let (calls, failed) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let mut bench = None;
    let mut everything = Mix::for_device(registry.open(uri).unwrap().info()).with_failures();
    // A channel that fails stays failed.
    everything.ranks = 0;
    let result = search_with(every, count, everything, |program| {
        // A lost device is useless for the next program.
        let lost = bench.as_ref().is_none_or(|bench: &Bench| bench.device().allocate_device(4).is_err());
        if lost {
            bench = Some(Bench::new(registry.open(uri).unwrap(), &[], LIMIT).unwrap());
        }
        let result = bench.as_ref().unwrap().run_unreliable(program, |may| {
            let (calls, failed) = (calls.clone(), failed.clone());
            match may {
                false => interposer.pass(),
                true => interposer.on_call(move |_| {
                    let number =
                        calls.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
                    (number % every == 0).then(|| {
                        failed.fetch_add(1, Ordering::Relaxed);
                        if number % 16 == 0 { LOST } else { HARMLESS[(number / 16 % 2) as usize] }
                    })
                }),
            }
        });
        // State left by one call may fail the next program before it begins.
        if result.is_err() {
            bench = None;
        }
        result
    });
    result.unwrap_or_else(|found| panic!("one of {every} calls fails: {found}"));
    failed.load(Ordering::Relaxed)
}

#[test]
fn a_gpu_whose_calls_fail_says_so() {
    for every in [7, 40, 250] {
        assert!(run("?threads=1&faults=submission", "test://", every, 60) > 3, "one of {every} calls");
    }
}

#[test]
fn two_gpus_whose_calls_fail_say_so() {
    assert!(run("?threads=1&faults=submission&devices=2", "test://0,1?queues=2", 60, 60) > 3);
}
