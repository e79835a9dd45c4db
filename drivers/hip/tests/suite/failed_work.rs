// SPDX-License-Identifier: MIT OR Apache-2.0
//! Work that fails while other work is in flight: the notified waiters, the time, and the fate of the memory.

use std::{sync::Arc, thread};

use windlass_hal::{Buffer, BufferParams, Code, Device, HostCallFlags, Point, Queue, Semaphore};
use windlass_hip_sys::{
    bindings::hipError_t,
    interposer::Interposer,
    null::{Instance, Options},
};

use crate::common::{self, SOON, code, eventually, nothing_leaks, open_failing, open_manual};

const FILL: &str = "hipMemsetD8Async";
const INVALID: hipError_t = hipError_t::hipErrorInvalidValue;
const LOSS: hipError_t = hipError_t::hipErrorIllegalAddress;

/// A device whose work stays in flight until the instance completes it, and whose calls the interposer makes fail.
fn open_failing_manual() -> (Arc<Interposer>, Arc<Instance>, Device) {
    open_failing(Options { manual: true, ..Options::default() }, "test://")
}

fn queues(device: &Device) -> [Queue; 3] {
    [0, 1, 2].map(|index| device.queue(index).expect("a queue"))
}

fn memory(device: &Device) -> Buffer {
    device.allocate_device(64).expect("memory")
}

fn fill(queue: &Queue, waits: &[Point], signals: &[Point], target: &Buffer) {
    queue.fill(waits, signals, target, 7_u8).expect("a fill is accepted");
}

/// Neither reached nor failed, at repeated checks.
fn is_open(semaphore: &Semaphore) -> bool {
    (0..100).all(|_| matches!(semaphore.query(), Ok(0)))
}

fn message(semaphore: &Semaphore) -> String {
    semaphore.wait_blocking(1, SOON).expect_err("a failure").to_string()
}

#[test]
fn dependants_fail_with_the_first_error_once_the_work_before_has_retired_and_never_run() {
    let (interposer, instance, device) = open_failing_manual();
    let [q0, q1, q2] = queues(&device);
    let buffer = memory(&device);
    let [a, b, c, d, e] = [(); 5].map(|()| Semaphore::new(0));
    // Submitted before the operation that it waits for; operations of every kind.
    q2.host_call(&[d.at(1)], &[e.at(1)], HostCallFlags::NONE, |_| panic!("ran behind failed work"))
        .expect("submits");
    fill(&q2, &[c.at(1)], &[d.at(1)], &buffer);
    fill(&q0, &[], &[a.at(1)], &buffer);
    interposer.fail(FILL, 1, INVALID);
    fill(&q1, &[a.at(1)], &[b.at(1)], &buffer);
    fill(&q2, &[b.at(1)], &[c.at(1)], &buffer);
    assert_eq!(interposer.count(FILL), 2, "work behind failed work was enqueued");
    for semaphore in [&a, &b, &c, &d, &e] {
        assert!(is_open(semaphore), "told before the work before it had retired");
    }
    instance.complete();
    assert_eq!(code(a.wait_blocking(1, SOON)), None, "the work before it is none of its business");
    let first = message(&b);
    assert!(first.contains(FILL) && first.contains("hipErrorInvalidValue"), "{first}");
    assert!(first.contains("queue_fill"), "{first}");
    for semaphore in [&c, &d, &e] {
        assert_eq!(message(semaphore), first);
    }
    assert_eq!(interposer.count(FILL), 2);
    // The device still works.
    let f = Semaphore::new(0);
    fill(&q1, &[], &[f.at(1)], &buffer);
    instance.complete();
    assert_eq!(code(f.wait_blocking(1, SOON)), None);
    drop((q0, q1, q2, device, buffer));
    nothing_leaks(&instance);
}

#[test]
fn a_failure_reaches_sleepers_though_nobody_polls() {
    let (interposer, instance, device) = open_failing_manual();
    let [q0, q1, _] = queues(&device);
    let buffer = memory(&device);
    let [a, b, c] = [(); 3].map(|()| Semaphore::new(0));
    fill(&q1, &[b.at(1)], &[c.at(1)], &buffer);
    let sleeping = c.clone();
    let sleeper = thread::spawn(move || code(sleeping.wait_blocking(1, SOON)));
    eventually("the thread sleeps", || c.waiter_count() > 0);
    fill(&q0, &[], &[a.at(1)], &buffer);
    interposer.fail(FILL, 1, INVALID);
    fill(&q0, &[], &[b.at(1)], &buffer);
    assert!(!sleeper.is_finished());
    instance.complete();
    assert_eq!(sleeper.join().expect("no panic"), Some(Code::InvalidArgument));
}

#[test]
fn half_a_command_buffer_fails_once_that_half_has_retired() {
    let (interposer, instance, device) = open_failing_manual();
    let [q0, ..] = queues(&device);
    let (commands, table) = common::record(&device, 3, true);
    let done = Semaphore::new(0);
    interposer.fail("hipModuleLaunchKernel", 2, hipError_t::hipErrorLaunchOutOfResources);
    q0.execute(&[], &[done.at(1)], &commands, table).expect("submits");
    assert_eq!(interposer.count("hipModuleLaunchKernel"), 2, "went on after a failure");
    assert!(is_open(&done));
    instance.complete();
    let error = message(&done);
    assert!(error.contains("hipModuleLaunchKernel") && error.contains("queue_execute"), "{error}");
    assert_eq!(code(done.wait_blocking(1, SOON)), Some(Code::ResourceExhausted));
}

#[test]
fn work_whose_event_fails_is_not_reported_as_done() {
    for function in ["hipEventRecord", "hipEventCreateWithFlags"] {
        let (interposer, instance, device) = open_failing_manual();
        let [q0, q1, _] = queues(&device);
        let buffer = memory(&device);
        let [a, b, c] = [(); 3].map(|()| Semaphore::new(0));
        interposer.fail(function, 1, INVALID);
        fill(&q0, &[], &[a.at(1)], &buffer);
        fill(&q1, &[a.at(1)], &[b.at(1)], &buffer);
        assert_eq!(instance.count(FILL), 1);
        assert!(is_open(&a) && is_open(&b), "{function}: told while the work may run");
        fill(&q0, &[], &[c.at(1)], &buffer);
        instance.complete();
        assert_eq!(code(c.wait_blocking(1, SOON)), None);
        for semaphore in [&a, &b] {
            assert!(message(semaphore).contains(function));
        }
    }
}

#[test]
fn a_semaphore_that_the_host_fails_takes_enqueued_dependants_with_it_after_they_ran() {
    let (instance, device) = open_manual();
    let [q0, q1, _] = queues(&device);
    let buffer = memory(&device);
    let [a, b] = [(); 2].map(|()| Semaphore::new(0));
    fill(&q0, &[], &[a.at(1)], &buffer);
    fill(&q1, &[a.at(1)], &[b.at(1)], &buffer);
    assert_eq!(instance.count(FILL), 2);
    a.fail(windlass_hal::Error::data_loss("planned"));
    assert_eq!(code(a.wait_blocking(1, SOON)), Some(Code::DataLoss), "at once");
    assert!(is_open(&b), "its dependant still runs");
    instance.complete();
    assert_eq!(code(b.wait_blocking(1, SOON)), Some(Code::DataLoss));
}

#[test]
fn a_refused_operation_leaves_its_signals_alone() {
    let (interposer, instance, device) = open_failing_manual();
    let [q0, ..] = queues(&device);
    let buffer = memory(&device);
    let done = Semaphore::new(0);
    interposer.fail("hipHostMalloc", 1, INVALID);
    let error = q0.update(&[], &[done.at(1)], &[1; 64], &buffer).expect_err("no staging");
    assert!(error.to_string().contains("hipHostMalloc"), "{error}");
    assert!(is_open(&done));
    q0.update(&[], &[done.at(1)], &[1; 64], &buffer).expect("submits");
    instance.complete();
    assert_eq!(code(done.wait_blocking(1, SOON)), None);
}

/// The memory of a failed dealloca stays with its last user, because no other stream was made to wait for that.
#[test]
fn memory_does_not_pass_on_by_a_dealloca_that_failed() {
    let (interposer, instance, device) = open_failing_manual();
    let [q0, q1, _] = queues(&device);
    let [a, b] = [(); 2].map(|()| Semaphore::new(0));
    let old = memory(&device);
    fill(&q1, &[], &[a.at(1)], &old);
    interposer.fail("hipStreamWaitEvent", 1, INVALID);
    q0.dealloca(&[a.at(1)], &[b.at(1)], &old).expect("submits");
    let new = q0.alloca(&[], &[], &BufferParams::device(), 64).expect("memory");
    assert_ne!(new.device_address(), old.device_address(), "in use by work in flight");
    instance.complete();
    assert!(message(&b).contains("hipStreamWaitEvent"));
}

/// An alloca whose wait failed does not use the memory, and no other user gets it.
#[test]
fn memory_does_not_pass_on_by_an_alloca_that_failed() {
    let (interposer, instance, device) = open_failing_manual();
    let [q0, q1, _] = queues(&device);
    let [a, b, c, d] = [(); 4].map(|()| Semaphore::new(0));
    let old = memory(&device);
    let address = old.device_address();
    fill(&q1, &[], &[a.at(1)], &old);
    q1.dealloca(&[a.at(1)], &[b.at(1)], &old).expect("submits");
    drop(old);
    interposer.fail("hipStreamWaitEvent", 1, INVALID);
    let new = q0.alloca(&[], &[c.at(1)], &BufferParams::device(), 64).expect("memory");
    assert_eq!(new.device_address(), address, "reused, with a device wait");
    fill(&q0, &[c.at(1)], &[d.at(1)], &new);
    assert_eq!(instance.count(FILL), 1, "wrote to memory that work in flight uses");
    drop(new);
    let other = device.allocate_device(64).expect("memory");
    assert_ne!(other.device_address(), address, "the last user is still in flight");
    instance.complete();
    assert_eq!(code(b.wait_blocking(1, SOON)), None);
    assert!(message(&c).contains("hipStreamWaitEvent"));
    assert_eq!(message(&c), message(&d));
}

/// An alloca that never entered a stream, because the operation that it waits for failed.
#[test]
fn memory_does_not_pass_on_by_an_alloca_that_was_never_issued() {
    let (instance, device) = open_manual();
    let [q0, q1, _] = queues(&device);
    let [a, b, host, c] = [(); 4].map(|()| Semaphore::new(0));
    let old = memory(&device);
    let address = old.device_address();
    fill(&q1, &[], &[a.at(1)], &old);
    q1.dealloca(&[a.at(1)], &[b.at(1)], &old).expect("submits");
    let new = q0.alloca(&[host.at(1)], &[c.at(1)], &BufferParams::device(), 64).expect("memory");
    assert_eq!(new.device_address(), address);
    host.fail(windlass_hal::Error::aborted("planned"));
    assert_eq!(code(c.wait_blocking(1, SOON)), Some(Code::Aborted));
    drop(new);
    let other = memory(&device);
    assert_ne!(other.device_address(), address, "the last user is still in flight");
    instance.complete();
    assert_eq!(code(b.wait_blocking(1, SOON)), None);
    drop(old);
    assert_eq!(memory(&device).device_address(), address, "now it is free");
}

/// Work in flight on two queues, an operation that waits for the host, and one behind each.
fn in_flight_and_pending(device: &Device) -> (Vec<Semaphore>, Semaphore) {
    let [q0, q1, q2] = queues(device);
    let buffer = memory(device);
    let host = Semaphore::new(0);
    let [a, b, c, d] = [(); 4].map(|()| Semaphore::new(0));
    fill(&q0, &[], &[a.at(1)], &buffer);
    fill(&q1, &[a.at(1)], &[b.at(1)], &buffer);
    fill(&q1, &[host.at(1)], &[c.at(1)], &buffer);
    q2.host_call(&[b.at(1)], &[d.at(1)], HostCallFlags::NONE, |_| panic!("ran on a lost device"))
        .expect("submits");
    (vec![a, b, c, d], host)
}

fn is_lost(instance: &Instance, device: &Device, all: &[Semaphore], function: &str) {
    for semaphore in all {
        let error = semaphore.wait_blocking(1, SOON).expect_err("fails, though HIP completes nothing");
        assert_eq!(error.code(), Code::DataLoss, "{error}");
        assert!(error.to_string().contains(function) && error.to_string().contains("lost"), "{error}");
    }
    let calls = instance.calls();
    let refused = Semaphore::new(0);
    let [q0, ..] = queues(device);
    let errors = [
        q0.barrier(&[], &[refused.at(1)]).expect_err("refused"),
        q0.alloca(&[], &[], &BufferParams::device(), 64).expect_err("refused"),
        device.allocate_device(64).expect_err("refused"),
        device.allocate(&BufferParams::host(), 64).expect_err("refused"),
        device.drain(SOON).expect_err("refused"),
    ];
    for error in errors {
        assert!(error.to_string().contains(function), "{error}");
    }
    assert!(is_open(&refused));
    device.trim();
    assert_eq!(instance.calls(), calls, "HIP was asked again");
}

/// A HIP function, and an operation that calls it.
type Losing = (&'static str, fn(&Device));

#[test]
fn a_lost_device_fails_everything_at_once_and_keeps_its_memory() {
    let losing: [Losing; 4] = [
        ("hipModuleLaunchKernel", |device| {
            let (commands, table) = common::record(device, 1, false);
            queues(device)[2].execute(&[], &[], &commands, table).expect("submits");
        }),
        ("hipMalloc", |device| drop(device.allocate_device(1 << 20).expect_err("the device is lost"))),
        ("hipHostMalloc", |device| {
            let target = memory(device);
            queues(device)[0].update(&[], &[], &[0; 64], &target).expect_err("the device is lost");
        }),
        ("hipEventQuery", |device| device.poll()),
    ];
    for (function, lose) in losing {
        let (interposer, instance, device) = open_failing_manual();
        let kept = memory(&device);
        let (all, host) = in_flight_and_pending(&device);
        interposer.fail(function, 1, LOSS);
        lose(&device);
        is_lost(&instance, &device, &all, function);
        assert_eq!(host.waiter_count(), 0);
        drop((kept, device));
        instance.complete();
        let quarantined = instance.live();
        let again = windlass_hal::Registry::new()
            .register(windlass_hip::Driver::new("test", windlass_hip::table(instance.api())))
            .open("test://")
            .expect("opens anew");
        let done = Semaphore::new(0);
        fill(&queues(&again)[0], &[], &[done.at(1)], &memory(&again));
        instance.complete();
        assert_eq!(code(done.wait_blocking(1, SOON)), None, "a new device works");
        drop(again);
        eventually("the new device leaves nothing", || instance.live() == quarantined);
        assert_eq!(instance.count("hipFree"), 1, "memory of a lost device was given back: {function}");
        assert_eq!(instance.count("hipHostFree"), 0);
    }
}

#[test]
fn a_loss_that_a_reaper_finds_wakes_sleepers() {
    let (interposer, instance, device) = open_failing_manual();
    let [q0, q1, _] = queues(&device);
    let buffer = memory(&device);
    let [a, b] = [(); 2].map(|()| Semaphore::new(0));
    fill(&q0, &[], &[a.at(1)], &buffer);
    fill(&q1, &[], &[b.at(1)], &buffer);
    // One reaper sleeps inside HIP on healthy work; the other finds the loss.
    let sleeper = |semaphore: &Semaphore| {
        let sleeping = semaphore.clone();
        thread::spawn(move || code(sleeping.wait_blocking(1, SOON)))
    };
    let first = sleeper(&a);
    eventually("the reaper sleeps", || instance.count("hipEventSynchronize") == 1);
    interposer.fail("hipEventSynchronize", 1, LOSS);
    let second = sleeper(&b);
    assert_eq!(second.join().expect("no panic"), Some(Code::DataLoss));
    assert_eq!(first.join().expect("no panic"), Some(Code::DataLoss));
    is_lost(&instance, &device, &[a, b], "hipEventSynchronize");
    // Wakes the sleeping reaper.
    instance.complete();
}

#[test]
fn hips_sticky_error_is_cleared_behind_a_failure() {
    let (interposer, _, device) = open_failing(Options::default(), "test://");
    interposer.fail("hipMalloc", 1, INVALID);
    device.allocate_device(64).expect_err("planned");
    let api = interposer.api();
    // SAFETY: no arguments.
    assert_eq!(unsafe { api.hipGetLastError() }, hipError_t::hipSuccess);
}
