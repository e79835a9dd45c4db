// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cost of a submission with satisfied waits, counted exactly on the null HIP: calls, threads, allocations,
//! futexes.

mod common;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    sync::Arc,
};

use windlass_hal::{
    BindingTable, Deadline, Device, Point, ProfileChunk, ProfileOptions, ProfileSink, Queue, Semaphore,
};
use windlass_hip_sys::null::{Instance, Options};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: passes every call on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's contract.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const WARM_UP: u64 = 64;
const ROUNDS: u64 = 256;

/// Submits and waits `rounds` times, each submission waiting for the one before.
fn replay(
    queue: &Queue,
    timeline: &Semaphore,
    commands: &windlass_hal::CommandBuffer,
    table: &windlass_hal::BindingTable,
    rounds: u64,
) {
    let start = timeline.query().expect("the timeline is sound");
    for value in start..start + rounds {
        queue
            .execute(&[timeline.at(value)], &[timeline.at(value + 1)], commands, table.clone())
            .expect("submits");
        timeline.wait_blocking(value + 1, Deadline::NEVER).expect("completes");
    }
}

fn calls(instance: &Instance) -> u64 {
    instance.calls().iter().map(|(_, count)| count).sum()
}

/// A submission launches `n` kernels and records one event, with `switches` calls to make its GPU current. The wait asks
/// for the event once.
fn check(instance: &Instance, device: &Device, n: u64, by_table: bool, switches: u64) {
    let queue = device.queue(0).expect("a queue");
    let (commands, table) = common::record(device, n as usize, by_table);
    let timeline = Semaphore::new(0);
    replay(&queue, &timeline, &commands, &table, WARM_UP);
    instance.reset_counts();
    let before = ALLOCATIONS.get();
    replay(&queue, &timeline, &commands, &table, ROUNDS);
    assert_eq!(ALLOCATIONS.get() - before, 0, "allocations in {ROUNDS} rounds");
    let with_wait = calls(instance);
    assert_eq!(with_wait, ROUNDS * (n + 2 + switches), "to submit and wait: {:?}", instance.calls());
    assert_eq!(instance.count("hipModuleLaunchKernel"), ROUNDS * n, "launches");
    let threads = instance.calls_by_thread();
    assert_eq!(threads.len(), 1, "{threads:?}");
    assert_eq!(threads[0].thread, Some(std::thread::current().id()));

    let timeline = Semaphore::new(0);
    for value in 0..ROUNDS {
        instance.reset_counts();
        queue
            .execute(&[timeline.at(value)], &[timeline.at(value + 1)], &commands, table.clone())
            .expect("submits");
        let made = calls(instance);
        assert_eq!(made, n + 1 + switches, "for a submission of {n}: {:?}", instance.calls());
        timeline.wait_blocking(value + 1, Deadline::NEVER).expect("completes");
    }
}

#[test]
fn a_submission_makes_a_call_for_each_dispatch_and_one_more_and_allocates_nothing() {
    for n in [1, 2, 10, 100, 1000] {
        for by_table in [false, true] {
            let (instance, device) = common::open();
            check(&instance, &device, n, by_table, 0);
        }
    }
}

/// One operation of a queue, from a point to the next.
type Step<'a> = (&'a str, Box<dyn Fn(&[Point], &[Point]) -> windlass_hal::Result<()> + 'a>);

#[test]
fn an_operation_of_a_queue_allocates_nothing() {
    let (_instance, device) = common::open();
    let (queue, other) = (device.queue(0).expect("a queue"), device.queue(1).expect("another"));
    let function = common::vector_add(&device);
    let [a, b, c] = [(); 3].map(|()| device.allocate_device(4096).expect("4 KiB"));
    let arguments = [a.arg(), b.arg(), c.arg(), 1024_i32.into()];
    let steps: [Step<'_>; 5] = [
        ("barrier", Box::new(|waits, signals| queue.barrier(waits, signals))),
        ("fill", Box::new(|waits, signals| queue.fill(waits, signals, &a, 7_u8))),
        ("copy", Box::new(|waits, signals| queue.copy(waits, signals, &a, &b))),
        (
            "dispatch",
            Box::new(|waits, signals| queue.dispatch(waits, signals, &function, common::grid(), &arguments)),
        ),
        ("barrier on another queue", Box::new(|waits, signals| other.barrier(waits, signals))),
    ];
    let timeline = Semaphore::new(0);
    let round = |start: u64| {
        for (value, (name, step)) in (start..).zip(&steps) {
            let before = ALLOCATIONS.get();
            step(&[timeline.at(value)], &[timeline.at(value + 1)]).expect("submits");
            assert!(value < WARM_UP || ALLOCATIONS.get() == before, "{name} allocates");
        }
        timeline.wait_blocking(start + steps.len() as u64, Deadline::NEVER).expect("completes");
    };
    (0..WARM_UP).for_each(|turn| round(turn * steps.len() as u64));
}

/// A submitting thread also retires, but checks only its own queue and one other.
#[test]
fn a_submission_costs_the_same_however_many_queues_are_busy() {
    for queues in [2, 16, 64] {
        let options = Options { manual: true, ..Options::default() };
        let (instance, device) = common::open_with(options, &format!("test://?queues={queues}"));
        let buffer = device.allocate_device(4096).expect("4 KiB");
        let done = Semaphore::new(0);
        let fill = |index: u32| {
            let queue = device.queue(index).expect("a queue");
            instance.reset_counts();
            queue.fill(&[], &[done.at(1)], &buffer, 7_u8).expect("submits");
        };
        (0..queues).for_each(fill);
        // Work in flight needs an event of its own; completed work returns one.
        let made = || calls(&instance) - instance.count("hipEventCreateWithFlags");
        // A check of busy work is two calls, because it leaves the thread's last error unchanged.
        assert_eq!(made(), 2 + 2, "{:?}, all but its own of {queues} queues busy", instance.calls());
        for index in (0..queues).rev() {
            fill(index);
            assert_eq!(made(), 2 + 4, "{:?}, all of {queues} queues busy", instance.calls());
            assert_eq!(instance.count("hipEventQuery"), 2);
        }
        instance.complete();
        // Submissions to one of the queues check every queue in turn.
        for _ in 0..queues {
            fill(0);
        }
        assert_eq!(done.query().expect("nothing fails"), 1);
        fill(0);
        assert_eq!(instance.count("hipEventQuery"), 1, "only its own of {queues} queues is busy now");
    }
}

#[test]
fn a_device_that_is_not_the_current_one_costs_three_calls_more() {
    let options = Options { devices: 2, ..Options::default() };
    let (instance, device) = common::open_with(options, "test://1");
    let before = device.info().uri.clone();
    // It asks for the current device, switches, and switches back.
    check(&instance, &device, 10, true, 3);
    assert_eq!(before, "test://1");
}

struct Nothing;

impl ProfileSink for Nothing {
    fn records(&self, _: ProfileChunk) {}
}

#[test]
fn a_profiled_submission_makes_one_call_more_and_its_retirement_two() {
    for n in [1, 100] {
        let (instance, device) = common::open();
        let queue = device.queue(0).expect("a queue");
        let (commands, table) = common::record(&device, n as usize, false);
        device.profiling_begin(ProfileOptions::default(), Arc::new(Nothing)).expect("begins");
        let timeline = Semaphore::new(0);
        replay(&queue, &timeline, &commands, &table, WARM_UP);
        instance.reset_counts();
        replay(&queue, &timeline, &commands, &table, ROUNDS);
        assert_eq!(instance.count("hipModuleLaunchKernel"), ROUNDS * n);
        assert_eq!(instance.count("hipEventRecord"), ROUNDS * 2);
        assert_eq!(instance.count("hipEventElapsedTime"), ROUNDS * 2);
        let made = instance.count("hipEventCreateWithFlags");
        // The queue's reference may have moved, and keeps an event.
        assert!(made <= 2, "{made} events in {ROUNDS} rounds");
        assert_eq!(calls(&instance) - made, ROUNDS * (n + 2 + 3), "{:?}", instance.calls());
        device.profiling_end().expect("ends");
        replay(&queue, &timeline, &commands, &table, WARM_UP);
        instance.reset_counts();
        replay(&queue, &timeline, &commands, &table, ROUNDS);
        assert_eq!(calls(&instance), ROUNDS * (n + 2), "{:?}", instance.calls());
    }
}

#[test]
fn a_chain_of_submissions_without_host_waits_needs_no_other_thread() {
    let (instance, device) = common::open();
    let (commands, table) = common::record(&device, 1, false);
    instance.reset_counts();
    let timeline = Semaphore::new(0);
    for value in 0..1000 {
        let queue = device.queue((value % 4) as u32).expect("a queue");
        queue
            .execute(&[timeline.at(value)], &[timeline.at(value + 1)], &commands, table.clone())
            .expect("submits");
    }
    timeline.wait_blocking(1000, Deadline::NEVER).expect("completes");
    assert_eq!(instance.count("hipModuleLaunchKernel"), 1000);
    assert!(instance.count("hipEventRecord") <= 1000, "one event for each submission at most");
    assert_eq!(instance.calls_by_thread().len(), 1);
}

/// Starts itself as a child that the kernel kills at its first futex call after the warm-up.
#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn a_submission_makes_no_futex_call() {
    const CHILD: &str = "WINDLASS_TEST_NO_FUTEX";
    const NAME: &str = "a_submission_makes_no_futex_call";
    if let Ok(mode) = std::env::var(CHILD) {
        let (_instance, device) = common::open();
        let queue = device.queue(0).expect("a queue");
        let (commands, table) = common::record(&device, 10, mode == "table");
        let timeline = Semaphore::new(0);
        replay(&queue, &timeline, &commands, &table, WARM_UP);
        forbid_futex();
        if mode == "wake" {
            // The filter works: even a wake without a waiter is a futex call.
            let word = 0_u32;
            // SAFETY: a futex call on a local word.
            unsafe { libc::syscall(libc::SYS_futex, &raw const word, 129, 1) };
        }
        replay(&queue, &timeline, &commands, &table, ROUNDS);
        // SAFETY: exits without running exit handlers, which may use futexes.
        unsafe { libc::_exit(0) };
    }
    let run = |mode: &str| {
        let program = std::env::current_exe().expect("the test binary");
        let mut command = std::process::Command::new(program);
        command.args([NAME, "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, mode);
        command.output().expect("the child runs").status
    };
    assert!(run("direct").success(), "a futex call in a submission by direct ranges");
    assert!(run("table").success(), "a futex call in a submission through a table");
    assert!(!run("wake").success(), "the filter lets futex calls pass");
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn forbid_futex() {
    let statement = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let mut filter = [
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0),
        libc::sock_filter {
            code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
            jt: 0,
            jf: 1,
            k: libc::SYS_futex as u32,
        },
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_KILL_PROCESS),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: a filter for this process only; the program lives during the call.
    let installed = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    };
    assert!(installed, "seccomp filters are not allowed here");
}

/// Compilers that record a command buffer for each invocation meet this path.
#[test]
fn a_command_buffer_for_one_submission_allocates_once() {
    let (_instance, device) = common::open();
    let queue = device.queue(0).expect("a queue");
    let function = common::vector_add(&device);
    let [a, b, c] = [(); 3].map(|()| device.allocate_device(4096).expect("4 KiB"));
    let timeline = Semaphore::new(0);
    let round = |value: u64| {
        let mut recorder = device.record().expect("records");
        for _ in 0..4 {
            let arguments = [a.arg(), b.arg(), c.arg(), 1024_i32.into()];
            recorder.dispatch(&function, common::grid(), &arguments).expect("valid");
            recorder.barrier();
        }
        let commands = recorder.finish().expect("finishes");
        queue
            .execute(&[timeline.at(value)], &[timeline.at(value + 1)], &commands, BindingTable::empty())
            .expect("submits");
        timeline.wait_blocking(value + 1, Deadline::NEVER).expect("completes");
    };
    (0..WARM_UP).for_each(round);
    let before = ALLOCATIONS.get();
    (WARM_UP..WARM_UP + ROUNDS).for_each(round);
    // The handle of the command buffer.
    assert_eq!(ALLOCATIONS.get() - before, ROUNDS);
}
