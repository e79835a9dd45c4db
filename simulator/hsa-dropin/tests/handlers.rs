// SPDX-License-Identifier: MIT OR Apache-2.0
//! The client's functions: when, where and how often they are called, and what they may do. And
//! `hsa_shut_down`.
//!
//! Each client is a process of its own, which is killed if it hangs.

mod common;

use std::ffi::c_void;
use std::process::{Command, Stdio};
use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use common::*;
use hsa_runtime64 as hsa;
use windlass_simulator::hsa::Status;
use windlass_simulator::hsa::abi::*;

/// The variable that makes this program run as a client.
const CLIENT: &str = "WINDLASS_TEST_CLIENT";
/// The longest time of a client on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a client, which is the test of this name, on each machine.
fn on_each(test: &str, machines: &[String], client: fn()) {
    if std::env::var_os(CLIENT).is_some() {
        machine(&std::env::var("WINDLASS_SIM").unwrap());
        return client();
    }
    for machine in machines {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(CLIENT, "1")
            .env("WINDLASS_SIM", machine)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        let status = loop {
            if let Some(status) = process.try_wait().unwrap() {
                break status;
            }
            if start.elapsed() > PATIENCE {
                process.kill().unwrap();
                process.wait().unwrap();
                panic!("{machine}: the client hangs");
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        assert!(status.success(), "{machine}: {status}");
    }
}

/// A machine without a seed, and with some.
fn machines(seeds: u64) -> Vec<String> {
    let plain = "gfx942?memory=256M".to_owned();
    let seeded = (0..seeds).map(|seed| format!("gfx942?memory=256M&seed={seed}"));
    std::iter::once(plain).chain(seeded).collect()
}

/// Waits outside of HSA.
fn wait_for(flag: &AtomicBool) {
    while !flag.load(Ordering::Acquire) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Makes calls on another thread, and waits for that thread.
fn join_a_thread_that_calls() {
    let calls = || {
        let made = signal(1);
        // SAFETY: a live signal.
        ok(unsafe { hsa::hsa_signal_destroy(made) });
    };
    std::thread::spawn(calls).join().unwrap();
}

/// A queue with this callback.
fn queue(callback: ErrorCallback, data: *mut c_void) -> Queue {
    let mut queue = null_mut();
    // SAFETY: the pointer is a local.
    ok(unsafe { hsa::hsa_queue_create(gpu(0), 64, 0, Some(callback), data, 0, 0, &mut queue) });
    Queue(queue)
}

/// Stores 1 at an address.
fn set_flag(at: u64, completion: Signal) -> Dispatch {
    let code = Code::load(gpu(0), SPIN);
    Dispatch {
        kernel: code.kernel("set_flag"),
        workgroup: 1,
        grid: 1,
        arguments: arguments(&packed(&[&at.to_le_bytes(), &1_u32.to_le_bytes()]), 1, 1),
        header: 0,
        completion,
    }
}

#[test]
fn who_is_told_of_a_fault_may_call_and_wait() {
    static EVENTS: AtomicU32 = AtomicU32::new(0);
    static TOLD: AtomicBool = AtomicBool::new(false);
    unsafe extern "C" fn event(_: *const Event, _: *mut c_void) -> Status {
        device_memory(gpu(0), 4096);
        join_a_thread_that_calls();
        EVENTS.fetch_add(1, Ordering::AcqRel);
        Status::SUCCESS
    }
    unsafe extern "C" fn told(status: Status, _: *mut HsaQueue, _: *mut c_void) {
        assert_eq!(status, Status::MEMORY_FAULT);
        assert_eq!(EVENTS.load(Ordering::Acquire), 1, "the event comes first");
        let (other, done) = (Queue::new(gpu(0), 64), signal(1));
        other.dispatch(set_flag(host_memory(64) as u64, done));
        wait(done);
        TOLD.store(true, Ordering::Release);
    }
    on_each("who_is_told_of_a_fault_may_call_and_wait", &machines(6), || {
        // SAFETY: a static function.
        ok(unsafe { hsa::hsa_amd_register_system_event_handler(Some(event), null_mut()) });
        let queue = queue(told, null_mut());
        queue.dispatch(set_flag(0x10_0000, Signal::default()));
        wait_for(&TOLD);
    });
}

#[test]
fn a_queue_is_told_of_on_the_thread_of_handlers() {
    static LOCK: Mutex<()> = Mutex::new(());
    static THREADS: Mutex<Vec<ThreadId>> = Mutex::new(Vec::new());
    static TOLD: AtomicBool = AtomicBool::new(false);
    unsafe extern "C" fn told(status: Status, _: *mut HsaQueue, _: *mut c_void) {
        assert_eq!(status, Status::INVALID_PACKET_FORMAT);
        let _held = LOCK.lock().unwrap();
        THREADS.lock().unwrap().push(std::thread::current().id());
        TOLD.store(true, Ordering::Release);
    }
    on_each("a_queue_is_told_of_on_the_thread_of_handlers", &machines(3), || {
        let queue = queue(told, null_mut());
        let held = LOCK.lock().unwrap();
        // No packet has this type.
        queue.push(6, 0, [0; 60]);
        assert!(!TOLD.load(Ordering::Acquire));
        drop(held);
        wait_for(&TOLD);
        assert_ne!(THREADS.lock().unwrap()[0], std::thread::current().id());
    });
}

#[test]
fn a_queue_that_is_gone_is_not_told_of() {
    static HELD: Mutex<()> = Mutex::new(());
    static TOLD: AtomicU32 = AtomicU32::new(0);
    static LAST: AtomicBool = AtomicBool::new(false);
    unsafe extern "C" fn told(_: Status, _: *mut HsaQueue, _: *mut c_void) {
        TOLD.fetch_add(1, Ordering::AcqRel);
    }
    unsafe extern "C" fn hold(_: *mut c_void) {
        drop(HELD.lock().unwrap());
    }
    unsafe extern "C" fn last(_: *mut c_void) {
        LAST.store(true, Ordering::Release);
    }
    on_each("a_queue_that_is_gone_is_not_told_of", &machines(0), || {
        let held = HELD.lock().unwrap();
        // SAFETY: static functions.
        ok(unsafe { hsa::hsa_amd_async_function(Some(hold), null_mut()) });
        let queue = queue(told, null_mut());
        queue.push(6, 0, [0; 60]);
        drop(queue);
        drop(held);
        // SAFETY: as above.
        ok(unsafe { hsa::hsa_amd_async_function(Some(last), null_mut()) });
        wait_for(&LAST);
        assert_eq!(TOLD.load(Ordering::Acquire), 0);
    });
}

#[test]
fn a_queue_is_gone_only_when_its_callback_has_returned() {
    static TOLD: AtomicBool = AtomicBool::new(false);
    static GOES: AtomicBool = AtomicBool::new(false);
    static RETURNS: AtomicBool = AtomicBool::new(false);
    unsafe extern "C" fn told(_: Status, _: *mut HsaQueue, _: *mut c_void) {
        TOLD.store(true, Ordering::Release);
        wait_for(&GOES);
        (0..200).for_each(|_| join_a_thread_that_calls());
        RETURNS.store(true, Ordering::Release);
    }
    on_each("a_queue_is_gone_only_when_its_callback_has_returned", &machines(2), || {
        let queue = queue(told, null_mut());
        queue.push(6, 0, [0; 60]);
        wait_for(&TOLD);
        GOES.store(true, Ordering::Release);
        drop(queue);
        assert!(RETURNS.load(Ordering::Acquire));
    });
}

#[test]
fn a_callback_may_destroy_its_queue() {
    static GONE: AtomicBool = AtomicBool::new(false);
    unsafe extern "C" fn told(_: Status, queue: *mut HsaQueue, _: *mut c_void) {
        // SAFETY: the live queue of this callback.
        ok(unsafe { hsa::hsa_queue_destroy(queue) });
        GONE.store(true, Ordering::Release);
    }
    on_each("a_callback_may_destroy_its_queue", &machines(2), || {
        let queue = std::mem::ManuallyDrop::new(queue(told, null_mut()));
        queue.push(6, 0, [0; 60]);
        wait_for(&GONE);
    });
}

#[test]
fn a_handler_that_is_called_again_and_again_starves_nobody() {
    static STOP: AtomicBool = AtomicBool::new(false);
    unsafe extern "C" fn again(_: i64, calls: *mut c_void) -> bool {
        // SAFETY: the counter that is passed below, which is never freed.
        unsafe { &*calls.cast::<AtomicU64>() }.fetch_add(1, Ordering::AcqRel);
        !STOP.load(Ordering::Acquire)
    }
    on_each("a_handler_that_is_called_again_and_again_starves_nobody", &machines(16), || {
        let calls: &'static [AtomicU64; 2] = Box::leak(Box::default());
        for count in calls {
            let watched = signal(1);
            let data = (&raw const *count).cast_mut().cast();
            // SAFETY: a live signal, and a counter that is never freed.
            unsafe {
                ok(hsa::hsa_amd_signal_async_handler(watched, 2, 1, Some(again), data));
                hsa::hsa_signal_store_relaxed(watched, 0);
            }
        }
        // Other work continues, and so do both handlers.
        let (queue, done) = (Queue::new(gpu(0), 64), signal(1));
        queue.dispatch(set_flag(host_memory(64) as u64, done));
        wait(done);
        while calls.iter().any(|calls| calls.load(Ordering::Acquire) < 3) {
            load(signal(1));
        }
        STOP.store(true, Ordering::Release);
    });
}

#[test]
fn a_callback_may_wait_for_threads_that_call() {
    unsafe extern "C" fn agent(_: Agent, calls: *mut c_void) -> Status {
        join_a_thread_that_calls();
        // SAFETY: the counter that is passed below.
        unsafe { &*calls.cast::<AtomicU32>() }.fetch_add(1, Ordering::AcqRel);
        Status::SUCCESS
    }
    unsafe extern "C" fn freed(_: *mut c_void, calls: *mut c_void) {
        // SAFETY: as above.
        unsafe { agent(Agent::default(), calls) };
    }
    on_each("a_callback_may_wait_for_threads_that_call", &machines(4), || {
        let calls = AtomicU32::new(0);
        let data: *mut c_void = (&raw const calls).cast_mut().cast();
        let memory: *mut c_void = device_memory(gpu(0), 4096).cast();
        // SAFETY: a counter that outlives the calls, and live memory.
        unsafe {
            ok(hsa::hsa_iterate_agents(Some(agent), data));
            ok(hsa::hsa_amd_register_deallocation_callback(memory, Some(freed), data));
            ok(hsa::hsa_amd_memory_pool_free(memory));
        }
        assert_eq!(calls.load(Ordering::Acquire), 3);
    });
}

#[cfg(target_os = "linux")]
#[test]
fn handlers_take_one_thread() {
    static CALLED: AtomicU32 = AtomicU32::new(0);
    static AT_ONCE: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn called(_: i64, _: *mut c_void) -> bool {
        assert_eq!(AT_ONCE.fetch_add(1, Ordering::AcqRel), 0);
        std::thread::sleep(Duration::from_micros(100));
        AT_ONCE.fetch_sub(1, Ordering::AcqRel);
        CALLED.fetch_add(1, Ordering::AcqRel);
        false
    }
    const MANY: u32 = 300;
    on_each("handlers_take_one_thread", &machines(1), || {
        let signals: Vec<Signal> = (0..MANY).map(|_| signal(1)).collect();
        for signal in &signals {
            // SAFETY: a live signal.
            ok(unsafe { hsa::hsa_amd_signal_async_handler(*signal, 2, 1, Some(called), null_mut()) });
        }
        for signal in signals {
            // SAFETY: a live signal.
            unsafe { hsa::hsa_signal_store_relaxed(signal, 0) };
        }
        while CALLED.load(Ordering::Acquire) < MANY {
            std::thread::sleep(Duration::from_millis(1));
        }
        let threads = std::fs::read_dir("/proc/self/task").unwrap().count();
        assert!(threads < 20, "{threads} threads");
    });
}

#[test]
fn a_queue_keeps_its_signals() {
    on_each("a_queue_keeps_its_signals", &machines(0), || {
        let made = Queue::new(gpu(0), 64);
        // SAFETY: a live queue, which is the first part of this structure.
        let inactive = unsafe { (*made.0.cast::<AmdQueue>()).queue_inactive_signal };
        // SAFETY: handles, live and stale.
        assert_eq!(unsafe { hsa::hsa_signal_destroy(inactive) }, Status::INVALID_SIGNAL);
        let own: Vec<Signal> = (0..3000).map(|_| signal(42)).collect();
        drop(made);
        own.into_iter().for_each(|signal| assert_eq!(load(signal), 42));
    });
}

#[test]
fn the_last_shut_down_ends_handlers_kernels_and_handles() {
    unsafe extern "C" fn again(_: i64, calls: *mut c_void) -> bool {
        // SAFETY: the counter that is passed below, which is never freed.
        unsafe { &*calls.cast::<AtomicU64>() }.fetch_add(1, Ordering::AcqRel);
        true
    }
    on_each("the_last_shut_down_ends_handlers_kernels_and_handles", &machines(2), || {
        let calls: &'static AtomicU64 = Box::leak(Box::default());
        for round in 0..4 {
            let before = calls.load(Ordering::Acquire);
            // More than half of the memory.
            device_memory(gpu(0), 160 << 20);
            let (queue, watched) = (Queue::new(gpu(0), 64), signal(0));
            let data = (&raw const *calls).cast_mut().cast();
            // SAFETY: a live signal, and a counter that is never freed.
            ok(unsafe { hsa::hsa_amd_signal_async_handler(watched, 2, 1, Some(again), data) });
            // A kernel that waits for ever.
            let (code, flag) = (Code::load(gpu(0), SPIN), host_memory(64) as u64);
            let explicit = packed(&[&flag.to_le_bytes(), &1_u64.to_le_bytes(), &flag.to_le_bytes()]);
            queue.dispatch(Dispatch {
                kernel: code.kernel("spin_until_host"),
                arguments: arguments(&explicit, 1, 1),
                ..set_flag(flag, Signal::default())
            });
            while calls.load(Ordering::Acquire) == before {
                load(watched);
            }
            // A thread that waits for ever returns.
            let waits = std::thread::spawn(move || {
                // SAFETY: a signal that was live.
                unsafe { hsa::hsa_signal_wait_scacquire(Signal { ..watched }, 2, -5, WAIT_FOR_EVER, 0) }
            });
            std::thread::sleep(Duration::from_millis(20));
            let start = Instant::now();
            // SAFETY: they take no arguments, or handles, which may be invalid.
            unsafe {
                ok(hsa::hsa_shut_down());
                let called = calls.load(Ordering::Acquire);
                assert!(start.elapsed() < Duration::from_secs(20));
                assert_eq!(hsa::hsa_shut_down(), Status::NOT_INITIALIZED);
                waits.join().unwrap();
                // A client may still access its signals while it exits.
                (watched.handle as *mut i64).add(1).write_volatile(1);
                std::thread::sleep(Duration::from_millis(20));
                assert_eq!(calls.load(Ordering::Acquire), called, "round {round}");
                ok(hsa::hsa_init());
                assert_eq!(hsa::hsa_signal_destroy(watched), Status::INVALID_SIGNAL);
                assert_eq!(hsa::hsa_queue_destroy(queue.0), Status::INVALID_QUEUE);
            }
            std::mem::forget(queue);
        }
    });
}

#[test]
fn a_handler_may_be_the_last_to_shut_down() {
    static DOWN: AtomicBool = AtomicBool::new(false);
    unsafe extern "C" fn end(_: *mut c_void) {
        // SAFETY: it has no arguments.
        ok(unsafe { hsa::hsa_shut_down() });
        DOWN.store(true, Ordering::Release);
    }
    on_each("a_handler_may_be_the_last_to_shut_down", &machines(3), || {
        // SAFETY: a static function.
        ok(unsafe { hsa::hsa_amd_async_function(Some(end), null_mut()) });
        wait_for(&DOWN);
        // SAFETY: they have no arguments.
        unsafe {
            assert_eq!(hsa::hsa_shut_down(), Status::NOT_INITIALIZED);
            ok(hsa::hsa_init());
        }
        join_a_thread_that_calls();
    });
}
