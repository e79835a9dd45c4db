// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kernels by packets: the effects of a queue, their order, and the reports to its client.

mod common;

use std::ptr::null;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

use common::*;
use hsa_runtime64 as hsa;
use windlass_simulator::hsa::abi::Signal;

fn start() {
    machine("gfx942?devices=2&memory=1G");
}

fn none() -> Signal {
    Signal::default()
}

/// `values[i] = values[i] * factor + addend` for 64 values.
fn multiply_add(
    code: &Code,
    values: *mut u8,
    [factor, addend]: [u32; 2],
    header: u16,
    completion: Signal,
) -> Dispatch {
    let explicit = packed(&[
        &(values as u64).to_le_bytes(),
        &64_u32.to_le_bytes(),
        &factor.to_le_bytes(),
        &addend.to_le_bytes(),
    ]);
    let arguments = arguments(&explicit, 64, 64);
    Dispatch { kernel: code.kernel("multiply_add"), workgroup: 64, grid: 64, arguments, header, completion }
}

/// Waits until the flag has the value.
fn spin_until(
    code: &Code,
    flag: *mut u8,
    value: u32,
    out: *mut u8,
    header: u16,
    completion: Signal,
) -> Dispatch {
    let explicit =
        packed(&[&(flag as u64).to_le_bytes(), &u64::from(value).to_le_bytes(), &(out as u64).to_le_bytes()]);
    let arguments = arguments(&explicit, 1, 1);
    let kernel = code.kernel("spin_until_host");
    Dispatch { kernel, workgroup: 1, grid: 1, arguments, header, completion }
}

fn set_flag(code: &Code, flag: *mut u8, value: u32, header: u16, completion: Signal) -> Dispatch {
    let explicit = packed(&[&(flag as u64).to_le_bytes(), &value.to_le_bytes()]);
    let arguments = arguments(&explicit, 1, 1);
    Dispatch { kernel: code.kernel("set_flag"), workgroup: 1, grid: 1, arguments, header, completion }
}

#[test]
fn a_kernel_adds_and_its_signal_and_the_read_index_tell() {
    start();
    let gpu = gpu(0);
    let queue = Queue::new(gpu, 64);
    let code = Code::load(gpu, VECTOR_ADD);
    let [a, b, sum] = [(); 3].map(|()| device_memory(gpu, 4000));
    upload(a, &1.5_f32.to_le_bytes().repeat(1000));
    upload(b, &2_f32.to_le_bytes().repeat(1000));
    let explicit = packed(&[
        &(a as u64).to_le_bytes(),
        &(b as u64).to_le_bytes(),
        &(sum as u64).to_le_bytes(),
        &1000_u32.to_le_bytes(),
    ]);
    let done = signal(1);
    let arguments = arguments(&explicit, 256, 1000);
    let kernel = code.kernel("vector_add");
    queue.dispatch(Dispatch {
        kernel,
        workgroup: 256,
        grid: 1000,
        arguments,
        header: BARRIER | FENCES,
        completion: done,
    });
    wait(done);
    assert_eq!(download(sum, 4000), 3.5_f32.to_le_bytes().repeat(1000));
    while queue.read_index() != 1 {
        std::thread::yield_now();
    }
}

#[test]
fn the_barrier_bit_orders_and_rings_go_round() {
    start();
    let gpu = gpu(0);
    let queue = Queue::new(gpu, 4);
    let code = Code::load(gpu, ORDER);
    let values = device_memory(gpu, 256);
    upload(values, &[0; 256]);
    let done = signal(1);
    let mut expected = 0_u32;
    for step in 0..40_u32 {
        // The ring has four slots.
        while u64::from(step) - queue.read_index() >= 4 {
            std::thread::yield_now();
        }
        let completion = if step == 39 { done } else { none() };
        queue.dispatch(multiply_add(&code, values, [3, step], BARRIER | FENCES, completion));
        expected = expected.wrapping_mul(3).wrapping_add(step);
    }
    wait(done);
    assert_eq!(words(&download(values, 256)), [expected; 64]);
}

#[test]
fn packets_without_the_barrier_bit_run_beside_each_other() {
    start();
    let gpu = gpu(0);
    let queue = Queue::new(gpu, 64);
    let code = Code::load(gpu, SPIN);
    let (flag, out) = (host_memory(64), host_memory(64));
    let (first, second) = (signal(1), signal(1));
    // The first waits for the second, which a serial queue would never begin.
    queue.dispatch(spin_until(&code, flag, 7, out, FENCES, first));
    queue.dispatch(set_flag(&code, flag, 7, FENCES, second));
    wait(second);
    wait(first);
}

#[test]
fn with_the_barrier_bit_a_packet_waits_for_those_before_it() {
    start();
    let gpu = gpu(0);
    let (queue, other) = (Queue::new(gpu, 64), Queue::new(gpu, 64));
    let code = Code::load(gpu, SPIN);
    let (flag, out, second_flag) = (host_memory(64), host_memory(64), host_memory(64));
    let (first, second) = (signal(1), signal(1));
    queue.dispatch(spin_until(&code, flag, 1, out, FENCES, first));
    queue.dispatch(set_flag(&code, second_flag, 1, BARRIER | FENCES, second));
    // SAFETY: live memory that kernels change by atomics.
    let second_flag = unsafe { AtomicU32::from_ptr(second_flag.cast()) };
    // Another queue is not blocked, and runs long enough for the second packet to have run too.
    for _ in 0..50 {
        let elsewhere = signal(1);
        other.dispatch(set_flag(&code, host_memory(64), 1, FENCES, elsewhere));
        wait(elsewhere);
        assert_eq!((load(second), second_flag.load(Ordering::Acquire)), (1, 0));
    }
    // SAFETY: as above.
    unsafe { AtomicU32::from_ptr(flag.cast()) }.store(1, Ordering::Release);
    wait(first);
    wait(second);
    assert_eq!(second_flag.load(Ordering::Acquire), 1);
}

#[test]
fn barriers_wait_for_signals_and_hold_up_their_queue() {
    start();
    let gpu = gpu(0);
    let code = Code::load(gpu, SPIN);
    for (kind, needed) in [(3, 3), (5, 1)] {
        let queue = Queue::new(gpu, 64);
        let flag = host_memory(64);
        let dependencies = [(); 3].map(|()| signal(1));
        let (passed, done) = (signal(1), signal(1));
        queue.barrier(kind, 0, &dependencies, passed);
        queue.dispatch(set_flag(&code, flag, 1, FENCES, done));
        for (index, dependency) in dependencies.iter().enumerate().take(needed) {
            assert_eq!((load(passed), load(done)), (1, 1), "packet type {kind}, {index} signals");
            // SAFETY: a live signal.
            unsafe { hsa::hsa_signal_store_screlease(*dependency, 0) };
        }
        wait(passed);
        wait(done);
    }
}

#[test]
fn a_barrier_sees_a_value_that_its_client_wrote_by_itself() {
    start();
    let queue = Queue::new(gpu(0), 64);
    for _ in 0..20 {
        let (dependency, passed) = (signal(1), signal(1));
        queue.barrier(3, 0, &[dependency], passed);
        // SAFETY: the value of a live `amd_signal_t`, which changes only by atomics.
        unsafe { AtomicI64::from_ptr((dependency.handle + 8) as *mut i64) }.store(0, Ordering::Release);
        // SAFETY: a live signal. Ten seconds by the clock of the agents, a gigahertz.
        let value = unsafe { hsa::hsa_signal_wait_scacquire(passed, 2, 1, 10_000_000_000, 0) };
        assert_eq!(value, 0, "nobody looked at the signal");
    }
}

#[test]
fn amds_barrier_compares_a_value() {
    start();
    let queue = Queue::new(gpu(0), 64);
    let (watched, passed) = (signal(0), signal(1));
    let mut body = [0; 60];
    let mut put = |at: usize, bytes: &[u8]| body[at - 4..at - 4 + bytes.len()].copy_from_slice(bytes);
    put(8, &watched.handle.to_le_bytes());
    // (value & 0xff) >= 5
    put(16, &5_u64.to_le_bytes());
    put(24, &0xff_u64.to_le_bytes());
    put(32, &3_u32.to_le_bytes());
    put(56, &passed.handle.to_le_bytes());
    queue.push(0, 2, body);
    for (value, open) in [(4, false), (0x104, false), (0x105, true)] {
        assert_eq!(load(passed), 1);
        // SAFETY: a live signal.
        unsafe { hsa::hsa_signal_store_screlease(watched, value) };
        if open {
            wait(passed);
        }
    }
}

#[test]
fn a_doorbell_may_come_before_an_earlier_packet_is_written() {
    start();
    let gpu = gpu(0);
    let queue = Queue::new(gpu, 64);
    let code = Code::load(gpu, SPIN);
    let [first, second] = [(); 2].map(|()| signal(1));
    let flags = [(); 2].map(|()| host_memory(64));
    let (early, late) = (queue.claim(), queue.claim());
    queue.write(late, 2 | FENCES, 1, set_flag(&code, flags[1], 1, 0, second).body());
    queue.ring(late);
    assert_eq!(load(second), 1, "a packet was passed over that nobody had written");
    queue.write(early, 2 | FENCES, 1, set_flag(&code, flags[0], 1, 0, first).body());
    queue.ring(early);
    wait(first);
    wait(second);
}

#[test]
fn two_gpus_run_their_own_code() {
    start();
    let gpus = [gpu(0), gpu(1)];
    for gpu in gpus {
        let queue = Queue::new(gpu, 64);
        let code = Code::load(gpu, ORDER);
        let values = device_memory(gpu, 256);
        upload(values, &[0; 256]);
        let done = signal(1);
        queue.dispatch(multiply_add(&code, values, [1, 9], FENCES, done));
        wait(done);
        assert_eq!(words(&download(values, 256)), [9; 64]);
    }
}

#[test]
fn dispatches_are_timed() {
    start();
    let gpu = gpu(0);
    let queue = Queue::new(gpu, 64);
    let code = Code::load(gpu, ORDER);
    let values = device_memory(gpu, 256);
    let done = [signal(1), signal(1)];
    let mut times = Vec::new();
    for signal in done {
        queue.dispatch(multiply_add(&code, values, [1, 1], BARRIER | FENCES, signal));
        wait(signal);
        let mut time = windlass_simulator::hsa::abi::ProfilingTime { start: 0, end: 0 };
        // SAFETY: a live signal and a local.
        ok(unsafe { hsa::hsa_amd_profiling_get_dispatch_time(gpu, signal, &mut time) });
        times.push((time.start, time.end));
    }
    assert!(times[0].0 < times[0].1 && times[0].1 <= times[1].0 && times[1].0 < times[1].1, "{times:?}");
}

#[test]
fn handlers_are_called_once_or_again_and_again() {
    start();
    use std::ffi::c_void;
    unsafe extern "C" fn count(value: i64, counts: *mut c_void) -> bool {
        // SAFETY: the counters that are passed below, which outlive the handler.
        let [calls, last] = unsafe { &*counts.cast::<[AtomicU32; 2]>() };
        last.store(value as u32, Ordering::Release);
        // True for the first call, which asks for a second.
        calls.fetch_add(1, Ordering::AcqRel) == 0
    }
    let counts: &'static [AtomicU32; 2] = Box::leak(Box::default());
    let watched = signal(1);
    // SAFETY: a live signal, and counters that stay.
    ok(unsafe {
        hsa::hsa_amd_signal_async_handler(watched, 2, 1, Some(count), (&raw const *counts).cast_mut().cast())
    });
    assert_eq!(counts[0].load(Ordering::Acquire), 0);
    // SAFETY: a live signal.
    unsafe { hsa::hsa_signal_store_screlease(watched, -3) };
    while counts[0].load(Ordering::Acquire) < 2 {
        std::thread::yield_now();
    }
    assert_eq!(counts[1].load(Ordering::Acquire) as i32, -3);
}

#[test]
fn waits_end_with_their_time_and_name_the_signal_that_came() {
    start();
    let signals = [signal(1), signal(1)];
    // SAFETY: live signals, and lists of the stated lengths.
    unsafe {
        assert_eq!(hsa::hsa_signal_wait_scacquire(signals[0], 2, 1, 1_000_000, 0), 1);
        let (conditions, values) = ([2_u32; 2], [1_i64; 2]);
        let mut satisfying = 9;
        let lists = (signals.as_ptr().cast_mut(), conditions.as_ptr().cast_mut(), values.as_ptr().cast_mut());
        let any = |timeout, satisfying: &mut i64| {
            hsa::hsa_amd_signal_wait_any(2, lists.0, lists.1, lists.2, timeout, 0, satisfying)
        };
        assert_eq!(any(1_000_000, &mut satisfying), u32::MAX);
        hsa::hsa_signal_store_relaxed(signals[1], -5);
        assert_eq!(any(WAIT_FOR_EVER, &mut satisfying), 1);
        assert_eq!(satisfying, -5);
        let mut each = [0; 2];
        assert_eq!(
            hsa::hsa_amd_signal_wait_all(2, lists.0, lists.1, lists.2, 1_000_000, 0, each.as_mut_ptr()),
            u32::MAX
        );
        assert_eq!(hsa::hsa_signal_create(0, 1, null(), &mut Signal::default()).0, 0x1001);
    }
}
