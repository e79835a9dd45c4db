// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device is lost in the middle of the program: from some call on, every call fails. That is each third call, or each with
//! `WINDLASS_FAILING_CALLS=all`.

use std::{collections::BTreeSet, sync::Arc};

use windlass::Code;
use windlass_hip_sys::bindings::hipError_t;

use crate::{
    parts::BUFFERS,
    source,
    world::{World, abreast, all_cases, watched},
};

/// It is no fault, which a HIP that contains faults would tell of one piece that has ended.
const STATUS: hipError_t = hipError_t::hipErrorECCNotCorrectable;

fn lost_from(world: World, first: u64, functions: &BTreeSet<&str>) {
    let bench = world.bench();
    bench.interposer.on_call(move |call| (call.overall >= first).then_some(STATUS));
    let report = bench.run();
    let text = format!("{world:?}, every call from {first} on fails: {report:?}");
    report.assert_failures_spread(&text);
    for error in report.errors() {
        assert_ne!(error.code(), Code::DeadlineExceeded, "hangs: {text}");
        let error = error.to_string();
        let named = functions.iter().any(|function| error.contains(function));
        assert!(named && error.contains(" returned hipErrorECCNotCorrectable"), "{error} of {text}");
    }
    // Otherwise the device was intact when its last handle was dropped.
    let began = report.lost() && !report.steps.is_empty();
    drop(report);
    bench.interposer.pass();
    bench.run().assert_healthy(world);
    bench.nothing_refused(&text);
    let memory = bench.memory();
    assert!(!began || memory >= BUFFERS, "memory of a lost device was given back: {memory} of {text}");
}

fn lost_anywhere(world: World) {
    let bench = world.bench();
    bench.run().assert_healthy(world);
    let total = bench.interposer.total();
    let functions = Arc::new(source::functions());
    let step = if all_cases() { 1 } else { 3 };
    abreast((1 + world as u64 % step..=total).step_by(step as usize), |first| {
        let functions = functions.clone();
        let name = format!("{world:?}: every call from {first} on fails");
        watched(&name, move || lost_from(world, first, &functions));
    });
}

#[test]
fn it_is_lost_on_a_simulated_gpu() {
    lost_anywhere(World::SimulatedSecond);
}

#[test]
fn it_is_lost_on_a_pair() {
    lost_anywhere(World::SimulatedPair);
}

#[test]
fn it_is_lost_when_work_completes_at_once() {
    lost_anywhere(World::Null);
}

#[test]
fn it_is_lost_when_all_work_is_in_flight_at_once() {
    lost_anywhere(World::NullLast);
}
