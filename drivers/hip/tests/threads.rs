// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many threads on shared queues and semaphores, and foreign code that panics or calls back.

mod common;

use std::{
    future::Future,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    task::{Context, Wake, Waker},
    thread,
};

use common::{SOON, code, eventually, nothing_leaks, open, open_manual};
use windlass_hal::{
    Buffer, BufferParams, Code, Device, Error, HostCallFlags, Point, Queue, Semaphore, WaitPolicy, wait_all,
    wait_any,
};
use windlass_hip_sys::null::Instance;

const THREADS: usize = 8;
const CHAINS: usize = 16;
const LINKS: u64 = 400;

/// Steps of many chains, each waiting for the step before it in its own chain and in the next one.
struct Chains {
    timelines: Vec<Semaphore>,
    queues: Vec<Queue>,
    cells: Vec<Buffer>,
    commands: windlass_hal::CommandBuffer,
    host_calls: Arc<AtomicUsize>,
}

impl Chains {
    fn new(device: &Device) -> Self {
        let cells = |_| device.allocate(&BufferParams::host(), 4 * (LINKS + 1)).expect("memory");
        Self {
            timelines: (0..CHAINS).map(|_| Semaphore::new(0)).collect(),
            queues: (0..4).map(|index| device.queue(index).expect("a queue")).collect(),
            cells: (0..CHAINS).map(cells).collect(),
            commands: common::record(device, 2, false).0,
            host_calls: Arc::default(),
        }
    }

    /// Moves the token of a chain from one cell to the next: it arrives only if every step ran in order.
    fn submit(&self, chain: usize, step: u64) {
        let queue = &self.queues[(chain + step as usize) % self.queues.len()];
        let neighbour = (chain + 1) % CHAINS;
        let waits = [self.timelines[chain].at(step - 1), self.timelines[neighbour].at(step - 1)];
        let signals = [self.timelines[chain].at(step)];
        let result = match step % 8 {
            0 => {
                let calls = self.host_calls.clone();
                let mapping = self.cells[chain].map().expect("host memory maps");
                queue.host_call(&waits, &signals, HostCallFlags::NONE, move |_| {
                    calls.fetch_add(1, SeqCst);
                    let mut token = [0; 4];
                    mapping.read(4 * (step - 1), &mut token)?;
                    mapping.write(4 * step, &token)
                })
            }
            4 => {
                // The copy, and in parallel a command buffer that is in flight many times.
                let copied = Semaphore::new(0);
                self.copy(queue, &waits, &[copied.at(1)], chain, step)
                    .and_then(|()| queue.execute(&[copied.at(1)], &signals, &self.commands, []))
            }
            _ => self.copy(queue, &waits, &signals, chain, step),
        };
        result.expect("submits");
    }

    fn copy(
        &self,
        queue: &Queue,
        waits: &[Point],
        signals: &[Point],
        chain: usize,
        step: u64,
    ) -> windlass_hal::Result<()> {
        let cells = &self.cells[chain];
        queue.copy(waits, signals, &cells.subspan(4 * (step - 1), 4)?, &cells.subspan(4 * step, 4)?)
    }
}

/// All steps of all chains, shuffled among threads: most waits come long before their signals.
fn deal() -> Vec<Vec<(usize, u64)>> {
    let mut hands = vec![Vec::new(); THREADS];
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    for chain in 0..CHAINS {
        for step in 1..=LINKS {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let hand: &mut Vec<_> = &mut hands[(seed >> 33) as usize % THREADS];
            let place = (seed >> 40) as usize % (hand.len() + 1);
            hand.insert(place, (chain, step));
        }
    }
    hands
}

fn run_chains(instance: &Instance, device: &Device) {
    let chains = Chains::new(device);
    for (chain, cells) in chains.cells.iter().enumerate() {
        let mapping = cells.map().expect("host memory maps");
        mapping.write(0, &(0xc0de_0000 + chain as u32).to_le_bytes()).expect("in bounds");
    }
    instance.reset_counts();
    thread::scope(|scope| {
        for hand in deal() {
            let chains = &chains;
            scope.spawn(move || hand.into_iter().for_each(|(chain, step)| chains.submit(chain, step)));
        }
        // Waiters of every kind, from before the first signal.
        for chain in 0..CHAINS {
            let timeline = &chains.timelines[chain];
            scope.spawn(move || match chain % 3 {
                0 => assert_eq!(code(timeline.wait_blocking_with(LINKS, SOON, WaitPolicy::Block)), None),
                1 => assert_eq!(code(pollster::block_on(timeline.wait(LINKS))), None),
                _ => (1..=LINKS).for_each(|step| assert_eq!(code(timeline.wait_blocking(step, SOON)), None)),
            });
        }
    });
    for (chain, cells) in chains.cells.iter().enumerate() {
        let mapping = cells.map().expect("host memory maps");
        let mut token = [0; 4];
        mapping.read(4 * LINKS, &mut token).expect("in bounds");
        assert_eq!(u32::from_le_bytes(token), 0xc0de_0000 + chain as u32, "chain {chain} ran out of order");
        assert_eq!(chains.timelines[chain].query().expect("no failure"), LINKS);
        assert_eq!(chains.timelines[chain].waiter_count(), 0);
    }
    let steps = CHAINS as u64 * LINKS;
    assert_eq!(instance.count("hipMemcpyAsync"), steps * 7 / 8);
    assert_eq!(instance.count("hipModuleLaunchKernel"), steps / 8 * 2);
    assert_eq!(chains.host_calls.load(SeqCst) as u64, steps / 8);
}

#[test]
fn thousands_of_submissions_from_many_threads_all_complete_in_order() {
    let (instance, device) = open();
    run_chains(&instance, &device);
    assert_eq!(code(device.drain(SOON)), None);
    drop(device);
    nothing_leaks(&instance);
}

/// The same while another thread completes work in the background, so that edges, reapers and retirement take part.
#[test]
fn so_they_do_when_work_stays_in_flight_for_a_while() {
    let (instance, device) = open_manual();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(SeqCst) {
                instance.complete();
                thread::yield_now();
            }
        });
        run_chains(&instance, &device);
        over.store(true, SeqCst);
    });
    drop(device);
    nothing_leaks(&instance);
}

#[test]
fn a_chain_of_a_hundred_thousand_needs_no_stack() {
    const LENGTH: u64 = 100_000;
    let run = |fail: bool| {
        let (_instance, device) = open();
        let queue = device.queue(0).expect("a queue");
        let timeline = Semaphore::new(0);
        let links: Vec<_> = (0..LENGTH).map(|_| Semaphore::new(0)).collect();
        for (before, after) in links.iter().zip(&links[1..]) {
            queue.barrier(&[before.at(1)], &[after.at(1)]).expect("submits");
        }
        queue.barrier(&[links[links.len() - 1].at(1)], &[timeline.at(1)]).expect("submits");
        let start = links[0].clone();
        let small = thread::Builder::new().stack_size(128 << 10).spawn(move || match fail {
            true => start.fail(Error::data_loss("planned")),
            false => start.signal(1).expect("a signal"),
        });
        small.expect("a thread").join().expect("no overflow");
        assert_eq!(code(timeline.wait_blocking(1, SOON)), fail.then_some(Code::DataLoss));
    };
    run(false);
    run(true);
}

/// A waker that runs a function.
struct Act(Box<dyn Fn() + Send + Sync>);

impl Wake for Act {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}

/// Waits for `point` with a waker that runs `act`; the future must be kept.
fn on_wake(semaphore: &Semaphore, value: u64, act: impl Fn() + Send + Sync + 'static) -> windlass_hal::Wait {
    let waker = Waker::from(Arc::new(Act(Box::new(act))));
    let mut wait = semaphore.wait(value);
    let pinned = std::pin::Pin::new(&mut wait);
    assert!(pinned.poll(&mut Context::from_waker(&waker)).is_pending());
    wait
}

fn fill(queue: &Queue, waits: &[Point], signals: &[Point]) {
    let target = queue.device().allocate_device(64).expect("memory");
    queue.fill(waits, signals, &target, 7_u8).expect("a fill is accepted");
}

/// Panics on drop, with a payload that also panics on drop.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        std::panic::panic_any(Bomb);
    }
}

#[test]
fn a_waker_that_panics_harms_nobody_else() {
    let (instance, device) = open_manual();
    let queue = device.queue(0).expect("a queue");
    let done = Semaphore::new(0);
    let woken = Arc::new(AtomicUsize::new(0));
    let count = |woken: &Arc<AtomicUsize>| {
        let woken = woken.clone();
        move || {
            woken.fetch_add(1, SeqCst);
        }
    };
    let _waits = [
        on_wake(&done, 1, count(&woken)),
        on_wake(&done, 1, || panic!("a planned panic")),
        on_wake(&done, 1, || std::panic::panic_any(Bomb)),
        on_wake(&done, 1, count(&woken)),
    ];
    fill(&queue, &[], &[done.at(1)]);
    fill(&queue, &[done.at(1)], &[done.at(2)]);
    // A reaper calls the wakers, and must survive for the next sleeper.
    instance.complete();
    eventually("everybody else is woken", || woken.load(SeqCst) == 2);
    let _wait = on_wake(&done, 3, || panic!("a planned panic"));
    done.signal(3).expect("the signaller does not feel it");
    let last = Semaphore::new(0);
    fill(&queue, &[], &[last.at(1)]);
    let sleeping = last.clone();
    let sleeper = thread::spawn(move || code(sleeping.wait_blocking_with(1, SOON, WaitPolicy::Block)));
    eventually("the thread sleeps", || last.waiter_count() > 0);
    instance.complete();
    assert_eq!(sleeper.join().expect("no panic"), None);
}

#[test]
fn a_closure_that_panics_when_dropped_still_fails_its_signals() {
    let (_instance, device) = open();
    let queue = device.queue(0).expect("a queue");
    let (host, never) = (Semaphore::new(0), Semaphore::new(0));
    let dones = [(); 3].map(|()| Semaphore::new(0));
    let submit = |wait: &Semaphore, done: &Semaphore| {
        let bomb = Bomb;
        let call = move |_: &mut windlass_hal::HostCallContext| {
            let _bomb = &bomb;
            Ok(())
        };
        queue.host_call(&[wait.at(1)], &[done.at(1)], HostCallFlags::NONE, call).expect("submits");
    };
    submit(&host, &dones[0]);
    host.fail(Error::data_loss("planned"));
    submit(&host, &dones[1]);
    submit(&never, &dones[2]);
    device.close();
    let codes = dones.map(|done| code(done.wait_blocking(1, SOON)));
    assert_eq!(codes, [Some(Code::DataLoss), Some(Code::DataLoss), Some(Code::Cancelled)]);
}

#[test]
fn a_waker_may_submit() {
    let (instance, device) = open();
    let queue = device.queue(0).expect("a queue");
    let (host, first, second, third) =
        (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
    // In the drain of pending work: new submissions pend, are issued, and refer to the work that is being drained.
    let _wait = on_wake(&first, 1, {
        let (queue, first, second, third) = (queue.clone(), first.clone(), second.clone(), third.clone());
        move || {
            queue.barrier(&[second.at(1)], &[third.at(1)]).expect("submits");
            fill(&queue, &[first.at(1)], &[second.at(1)]);
        }
    });
    queue.barrier(&[host.at(1)], &[first.at(1)]).expect("submits");
    host.signal(1).expect("a signal");
    assert_eq!(code(third.wait_blocking(1, SOON)), None);
    assert_eq!(instance.count("hipMemsetD8Async"), 1);
}

#[test]
fn a_waker_may_drop_the_device() {
    for by_reaper in [false, true] {
        let (instance, device) = open_manual();
        let queue = device.queue(0).expect("a queue");
        let (host, done, pending) = (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
        let never = Semaphore::new(0);
        fill(&queue, &[never.at(1)], &[pending.at(1)]);
        fill(&queue, &[host.at(1)], &[done.at(1)]);
        if by_reaper {
            host.signal(1).expect("a signal");
        }
        let last = Mutex::new(Some((queue, device)));
        let watched = if by_reaper { &done } else { &host };
        let wait = on_wake(watched, 1, move || drop(last.lock().expect("no panic").take()));
        if !by_reaper {
            host.signal(1).expect("a signal");
        }
        instance.complete();
        assert_eq!(code(pending.wait_blocking(1, SOON)), Some(Code::Cancelled));
        eventually("the waker ran", || watched.query().is_ok_and(|value| value == 1));
        drop(wait);
        nothing_leaks(&instance);
    }
}

#[test]
fn a_host_call_may_submit_wait_and_drop_the_device() {
    let (instance, device) = open();
    let queue = device.queue(0).expect("a queue");
    let (inner, outer) = (Semaphore::new(0), Semaphore::new(0));
    let call = {
        let (inner, queue) = (inner.clone(), queue.clone());
        move |_: &mut windlass_hal::HostCallContext| {
            fill(&queue, &[], &[inner.at(1)]);
            inner.wait_blocking(1, SOON)?;
            // A host call may wait for another host call.
            queue.host_call(&[inner.at(1)], &[inner.at(2)], HostCallFlags::NONE, |_| Ok(()))?;
            inner.wait_blocking(2, SOON)?;
            drop((queue, device));
            Ok(())
        }
    };
    queue.host_call(&[], &[outer.at(1)], HostCallFlags::NONE, call).expect("submits");
    drop(queue);
    assert_eq!(code(outer.wait_blocking(1, SOON)), None);
    nothing_leaks(&instance);
}

#[test]
fn independent_work_goes_on_while_host_calls_block() {
    let (_instance, device) = open();
    let queue = device.queue(0).expect("a queue");
    let (release, done) = (Semaphore::new(0), Semaphore::new(0));
    let blocked: Vec<_> = (0..32).map(|_| Semaphore::new(0)).collect();
    for semaphore in &blocked {
        let release = release.clone();
        let call = move |_: &mut windlass_hal::HostCallContext| release.wait_blocking(1, SOON);
        queue.host_call(&[], &[semaphore.at(1)], HostCallFlags::NONE, call).expect("submits");
    }
    fill(&queue, &[], &[done.at(1)]);
    assert_eq!(code(done.wait_blocking(1, SOON)), None);
    queue.host_call(&[done.at(1)], &[release.at(1)], HostCallFlags::NONE, |_| Ok(())).expect("submits");
    let points: Vec<_> = blocked.iter().map(|semaphore| semaphore.at(1)).collect();
    assert_eq!(code(wait_all(&points, SOON, WaitPolicy::Block)), None);
}

#[test]
fn closing_races_with_submitting() {
    for round in 0..50 {
        let (instance, device) = open_manual();
        let host = Semaphore::new(0);
        let outcomes: Vec<_> = thread::scope(|scope| {
            let submitters: Vec<_> = (0..3)
                .map(|index| {
                    let (queue, host) = (device.queue(index).expect("a queue"), host.clone());
                    scope.spawn(move || {
                        let mut accepted = Vec::new();
                        for turn in 0..20 {
                            let done = Semaphore::new(0);
                            let waits = [host.at(1)];
                            let target = device_memory(&queue);
                            let waits = if turn % 2 == 0 { &waits[..] } else { &[] };
                            if queue.fill(waits, &[done.at(1)], &target, 1_u8).is_ok() {
                                accepted.push(done);
                            }
                        }
                        accepted
                    })
                })
                .collect();
            scope.spawn(|| host.signal(1).expect("a signal"));
            if round % 2 == 0 {
                device.close();
            }
            submitters.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
        });
        drop(device);
        // All accepted work ends, although no handle is left: reached, or cancelled.
        let deadline = std::time::Instant::now() + SOON;
        for done in &outcomes {
            while matches!(done.query(), Ok(0)) {
                assert!(std::time::Instant::now() < deadline, "accepted, and then forgotten");
                instance.complete();
            }
            assert!(matches!(code(done.wait_blocking(1, SOON)), None | Some(Code::Cancelled)));
        }
        nothing_leaks(&instance);
    }
}

fn device_memory(queue: &Queue) -> Buffer {
    queue.device().allocate_device(64).expect("memory")
}

#[test]
fn the_first_of_several_points_ends_a_wait_for_any() {
    let (instance, device) = open_manual();
    let queue = device.queue(0).expect("a queue");
    let [a, b] = [(); 2].map(|()| Semaphore::new(0));
    fill(&queue, &[], &[b.at(1)]);
    let points = [a.at(1), b.at(1)];
    let waiter = thread::spawn(move || wait_any(&points, SOON, WaitPolicy::Block));
    eventually("the thread sleeps", || a.waiter_count() + b.waiter_count() == 2);
    instance.complete();
    assert_eq!(waiter.join().expect("no panic").expect("reached"), 1);
    assert_eq!(a.waiter_count() + b.waiter_count(), 0);
}

/// An idle reaper stays for seconds while its device is open, and would be left over here.
#[test]
#[cfg(target_os = "linux")]
fn a_device_that_is_gone_leaves_no_thread() {
    const DEVICES: usize = 128;
    for _ in 0..DEVICES {
        let (instance, device) = open_manual();
        let queue = device.queue(0).expect("a queue");
        let done = Semaphore::new(0);
        fill(&queue, &[], &[done.at(1)]);
        let waiter = thread::spawn({
            let done = done.clone();
            move || done.wait_blocking_with(1, SOON, WaitPolicy::Block)
        });
        eventually("the thread sleeps", || done.waiter_count() == 1);
        instance.complete();
        waiter.join().expect("no panic").expect("reached");
    }
    let tasks = std::fs::read_dir("/proc/self/task").expect("Linux tells of threads");
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    let reapers = names.filter(|name| name.starts_with("windlass-reaper")).count();
    // Other tests of this process have a few, and the last ones here are ending.
    assert!(reapers < DEVICES / 2, "{reapers} reapers are left of {DEVICES} devices");
}

/// Starts itself as a child whose address space has no room for more threads.
#[test]
#[cfg(target_os = "linux")]
fn host_calls_do_not_run_on_their_submitter_when_no_thread_is_left() {
    const CHILD: &str = "WINDLASS_TEST_NO_THREADS";
    const NAME: &str = "host_calls_do_not_run_on_their_submitter_when_no_thread_is_left";
    if std::env::var_os(CHILD).is_some() {
        let (_instance, device) = open();
        let queue = device.queue(0).expect("a queue");
        let release = Semaphore::new(0);
        let (begun, calls) = mpsc::channel();
        let dones: Vec<_> = (0..16).map(|_| Semaphore::new(0)).collect();
        let submit = |done: &Semaphore| {
            let (begun, release, submitter) = (begun.clone(), release.clone(), thread::current().id());
            let call = move |_: &mut windlass_hal::HostCallContext| {
                assert_ne!(thread::current().id(), submitter);
                begun.send(()).expect("the test listens");
                release.wait_blocking(1, SOON)
            };
            queue.host_call(&[], &[done.at(1)], HostCallFlags::NONE, call).expect("submits");
        };
        submit(&dones[0]);
        calls.recv_timeout(SOON).expect("a thread for the first call");
        // Room for small allocations, and not for a stack.
        let pages = std::fs::read_to_string("/proc/self/statm").expect("Linux");
        let pages: u64 = pages.split(' ').next().and_then(|pages| pages.parse().ok()).expect("a number");
        let full = libc::rlimit { rlim_cur: pages * 4096 + (1 << 20), rlim_max: libc::RLIM_INFINITY };
        // SAFETY: limits only this child process.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const full) }, 0);
        assert!(thread::Builder::new().spawn(|| ()).is_err(), "the limit does not hold");
        dones[1..].iter().for_each(submit);
        release.signal(1).expect("a signal");
        assert!(dones.iter().all(|done| code(done.wait_blocking(1, SOON)).is_none()));
        return;
    }
    let program = std::env::current_exe().expect("the test binary");
    let output = std::process::Command::new(program)
        .args([NAME, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        // A thread's first allocation would map 64 MiB of its own, which would count towards the limit.
        .env("MALLOC_ARENA_MAX", "1")
        .output()
        .expect("the child runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
