// SPDX-License-Identifier: MIT OR Apache-2.0
//! Work in flight, and work that waits, when its device is closed, dropped, drained or slept on. The null HIP holds
//! work in flight until the test completes it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::{Context, Poll, Wake, Waker},
    thread,
    time::Duration,
};

use windlass_hal::{
    Buffer, BufferParams, Code, Deadline, Device, HostCallFlags, Point, Queue, Semaphore, WaitPolicy,
};
use windlass_hip_sys::null::Instance;

use crate::common::{self, SOON, code, eventually, nothing_leaks, open, open_manual};

/// Calls that release memory, code or streams.
const GIVING_BACK: [&str; 5] =
    ["hipFree", "hipHostFree", "hipModuleUnload", "hipEventDestroy", "hipStreamDestroy"];

fn given_back(instance: &Instance) -> u64 {
    GIVING_BACK.iter().map(|name| instance.count(name)).sum()
}

fn fill(queue: &Queue, waits: &[Point], signals: &[Point], target: &Buffer) {
    queue.fill(waits, signals, target, 7_u8).expect("a fill is accepted");
}

/// Submits one operation with its buffers, and drops everything except the queue.
type Submit = fn(&Device, &Queue, &[Point]);

const OPERATIONS: [(&str, Submit); 8] = [
    ("fill", |device, queue, signals| {
        fill(queue, &[], signals, &device.allocate_device(64).expect("memory"));
    }),
    ("update", |device, queue, signals| {
        let target = device.allocate_device(64).expect("memory");
        queue.update(&[], signals, &[1; 64], &target).expect("submits");
    }),
    ("copy", |device, queue, signals| {
        let source = device.allocate_device(64).expect("memory");
        let target = device.allocate(&BufferParams::host(), 64).expect("memory");
        queue.copy(&[], signals, &source, &target).expect("submits");
    }),
    ("dispatch", |device, queue, signals| {
        let [a, b, c] = [(); 3].map(|()| device.allocate_device(4096).expect("memory"));
        let function = common::vector_add(device);
        let arguments = [a.arg(), b.arg(), c.arg(), 1024_i32.into()];
        queue.dispatch(&[], signals, &function, common::grid(), &arguments).expect("submits");
    }),
    ("execute", |device, queue, signals| {
        let (commands, table) = common::record(device, 3, false);
        queue.execute(&[], signals, &commands, table).expect("submits");
    }),
    ("execute with a table", |device, queue, signals| {
        let (commands, table) = common::record(device, 3, true);
        queue.execute(&[], signals, &commands, table).expect("submits");
    }),
    ("execute with recorded bytes", |device, queue, signals| {
        let mut recorder = device.record().expect("a recorder");
        recorder.update(&[1; 64], device.allocate_device(64).expect("memory")).expect("records");
        queue.execute(&[], signals, &recorder.finish().expect("finishes"), []).expect("submits");
    }),
    ("download", |device, queue, signals| {
        let source = device.allocate_device(64).expect("memory");
        let copied = Semaphore::new(0);
        fill(queue, &[], &[copied.at(1)], &source);
        drop(queue.download(&[copied.at(1)], &source).expect("submits"));
        queue.barrier(&[copied.at(1)], signals).expect("submits");
    }),
];

#[test]
fn whatever_is_in_flight_outlives_every_handle_and_then_nothing_is_left() {
    for (name, submit) in OPERATIONS {
        for signalled in [true, false] {
            let (instance, device) = open_manual();
            let queue = device.queue(0).expect("a queue");
            let done = Semaphore::new(0);
            let signals = [done.at(1)];
            submit(&device, &queue, if signalled { &signals } else { &[] });
            drop((queue, device));
            eventually("the reaper takes over", || instance.count("hipEventSynchronize") > 0);
            assert_eq!(given_back(&instance), 0, "{name}: {:?}", instance.calls());
            assert!(instance.live().allocations > 0, "{name}");
            assert_eq!(done.query().expect("no failure"), 0, "{name}");
            instance.complete();
            if signalled {
                assert_eq!(code(done.wait_blocking(1, SOON)), None, "{name}");
            }
            nothing_leaks(&instance);
        }
    }
}

#[test]
fn work_that_signals_nobody_retires_when_it_has_completed() {
    let (instance, device) = open();
    let queue = device.queue(0).expect("a queue");
    let buffers: Vec<_> = (0..1000).map(|_| device.allocate_device(64).expect("memory")).collect();
    for buffer in buffers {
        fill(&queue, &[], &[], &buffer);
    }
    let left = device.statistics().device_bytes_used / 64;
    assert!(left <= 128, "{left} of 1000 buffers, although submitting retires");
    device.poll();
    assert_eq!(device.statistics().device_bytes_used, 0);
    assert!(
        instance.count("hipEventRecord") <= 1000 / 32,
        "an event for each would cost as much as a signal"
    );
}

#[test]
fn memory_of_work_that_signals_nobody_serves_the_next_buffer() {
    let (_instance, device) = open();
    let queue = device.queue(0).expect("a queue");
    let large = device.limits().total_memory / 4;
    for _ in 0..20 {
        let buffer = device.allocate_device(large).expect("a quarter of the memory, of which none is in use");
        fill(&queue, &[], &[], &buffer.subspan(0, 256).expect("a subspan"));
    }
}

#[test]
fn a_module_is_unloaded_after_its_work_and_not_before() {
    let (instance, device) = open_manual();
    let queue = device.queue(0).expect("a queue");
    let (commands, table) = common::record(&device, 1, false);
    let done = Semaphore::new(0);
    queue.execute(&[], &[done.at(1)], &commands, table).expect("submits");
    drop(commands);
    device.poll();
    assert_eq!((instance.count("hipModuleUnload"), instance.live().modules), (0, 1));
    instance.complete();
    assert_eq!(code(done.wait_blocking(1, SOON)), None);
    eventually("the module goes", || instance.live().modules == 0);
    let here = thread::current().id();
    let unloading = instance.calls_by_thread().into_iter().filter(|by| by.count("hipModuleUnload") > 0);
    assert!(unloading.into_iter().all(|by| by.thread != Some(here)), "unloading synchronises: not here");
}

#[test]
fn a_mapping_keeps_its_memory_when_the_device_is_gone() {
    let (instance, device) = open_manual();
    let buffer = device.allocate(&BufferParams::host(), 64).expect("memory");
    let mapping = buffer.map().expect("host memory maps");
    mapping.write(0, &[5; 64]).expect("in bounds");
    drop((buffer, device));
    assert_eq!(mapping.to_vec(), [5; 64]);
    assert_eq!(instance.count("hipHostFree"), 0);
    drop(mapping);
    nothing_leaks(&instance);
}

/// One operation in flight, one that waits for the host, and one behind that.
struct Scene {
    instance: Arc<Instance>,
    issued: Semaphore,
    host: Semaphore,
    pending: Semaphore,
    behind: Semaphore,
}

impl Scene {
    fn set(queue: &Queue, instance: &Arc<Instance>) -> Self {
        let scene = Self {
            instance: instance.clone(),
            issued: Semaphore::new(0),
            host: Semaphore::new(0),
            pending: Semaphore::new(0),
            behind: Semaphore::new(0),
        };
        let memory = || queue.device().allocate_device(64).expect("memory");
        fill(queue, &[], &[scene.issued.at(1)], &memory());
        fill(queue, &[scene.host.at(1)], &[scene.pending.at(1)], &memory());
        let never = |_: &mut windlass_hal::HostCallContext| panic!("a cancelled call ran");
        queue
            .host_call(&[scene.pending.at(1)], &[scene.behind.at(1)], HostCallFlags::NONE, never)
            .expect("submits");
        scene
    }

    /// After the device was closed, operations that were not issued have failed, and issued ones continue.
    fn check_closed(&self) {
        assert_eq!(code(self.pending.wait_blocking(1, SOON)), Some(Code::Cancelled));
        assert_eq!(code(self.behind.wait_blocking(1, SOON)), Some(Code::Cancelled));
        assert_eq!(self.issued.query().expect("issued work does not fail"), 0);
        let fills = self.instance.count("hipMemsetD8Async");
        self.host.signal(1).expect("a signal");
        assert_eq!(self.instance.count("hipMemsetD8Async"), fills, "cancelled work was issued");
        assert_eq!(self.host.waiter_count(), 0);
        self.instance.complete();
        assert_eq!(code(self.issued.wait_blocking(1, SOON)), None);
    }
}

#[test]
fn closing_cancels_what_was_not_issued_and_lets_the_rest_finish() {
    let (instance, device) = open_manual();
    let queue = device.queue(0).expect("a queue");
    let scene = Scene::set(&queue, &instance);
    device.close();
    let untouched = Semaphore::new(0);
    let refused = queue.barrier(&[], &[untouched.at(1)]).expect_err("the device is closed");
    assert_eq!(refused.code(), Code::Cancelled);
    assert_eq!(untouched.query().expect("a refused operation leaves its signals alone"), 0);
    scene.check_closed();
    device.close();
    drop((queue, device));
    nothing_leaks(&instance);
}

#[test]
fn dropping_the_last_handle_closes_and_dropping_another_does_not() {
    let (instance, device) = open_manual();
    let queue = device.queue(0).expect("a queue");
    let scene = Scene::set(&queue, &instance);
    drop(device);
    assert_eq!(scene.pending.query().expect("a queue keeps its device open"), 0);
    let other = queue.clone();
    drop(queue);
    assert_eq!(scene.pending.query().expect("so does another handle of it"), 0);
    drop(other);
    scene.check_closed();
    nothing_leaks(&instance);
}

#[test]
fn what_a_pending_operation_holds_is_let_go_when_it_is_cancelled() {
    let (instance, device) = open_manual();
    let queue = device.queue(0).expect("a queue");
    let host = Semaphore::new(0);
    let held = Arc::new(());
    let watched = Arc::downgrade(&held);
    let call = move |_: &mut windlass_hal::HostCallContext| {
        drop(held);
        Ok(())
    };
    queue.host_call(&[host.at(1)], &[], HostCallFlags::NONE, call).expect("submits");
    fill(&queue, &[host.at(1)], &[], &device.allocate_device(64).expect("memory"));
    drop((queue, device));
    assert!(watched.upgrade().is_none(), "the closure of a cancelled call is dropped");
    assert_eq!(host.waiter_count(), 0);
    nothing_leaks(&instance);
}

#[test]
fn draining_waits_for_issued_work_until_its_deadline() {
    let (instance, device) = open_manual();
    assert_eq!(code(device.drain(Deadline::now())), None, "nothing is in flight");
    let queues = [0, 1].map(|index| device.queue(index).expect("a queue"));
    let (done, host, pending) = (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
    let buffer = device.allocate_device(64).expect("memory");
    fill(&queues[0], &[], &[done.at(1)], &buffer);
    fill(&queues[0], &[done.at(1)], &[done.at(2)], &buffer);
    fill(&queues[1], &[done.at(2)], &[], &buffer);
    fill(&queues[1], &[host.at(1)], &[pending.at(1)], &buffer);
    for deadline in [Deadline::now(), Duration::from_millis(1).into()] {
        let error = device.drain(deadline).expect_err("work is in flight");
        assert_eq!(error.code(), Code::DeadlineExceeded);
    }
    instance.complete();
    eventually("the reaper has an event for the work without signals", || {
        instance.count("hipEventRecord") == 3
    });
    instance.complete();
    device.drain(SOON).expect("drains");
    assert_eq!((done.query().expect("reached"), pending.query().expect("not failed")), (2, 0));
    host.signal(1).expect("a signal");
    assert_eq!(device.drain(Deadline::now()).expect_err("issued now").code(), Code::DeadlineExceeded);
    drop((queues, device, buffer));
    instance.complete();
    nothing_leaks(&instance);
}

/// Waits, and reports the end of the wait.
fn asleep(semaphore: &Semaphore, policy: WaitPolicy) -> thread::JoinHandle<Option<Code>> {
    let sleeping = semaphore.clone();
    let thread = thread::spawn(move || code(sleeping.wait_blocking_with(1, SOON, policy)));
    eventually("the thread sleeps", || semaphore.waiter_count() > 0);
    thread
}

#[test]
fn a_sleeping_thread_is_woken_though_nobody_polls() {
    for policy in [WaitPolicy::Block, WaitPolicy::SpinThenBlock] {
        // Asleep before the work is submitted, and after.
        for early in [true, false] {
            let (instance, device) = open_manual();
            let queue = device.queue(2).expect("a queue");
            let done = Semaphore::new(0);
            let buffer = device.allocate_device(64).expect("memory");
            let sleeper = early.then(|| asleep(&done, policy));
            fill(&queue, &[], &[done.at(1)], &buffer);
            let sleeper = sleeper.unwrap_or_else(|| asleep(&done, policy));
            instance.complete();
            assert_eq!(sleeper.join().expect("no panic"), None);
        }
    }
}

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn a_future_is_woken_though_nobody_polls() {
    for early in [true, false] {
        let (instance, device) = open_manual();
        let queue = device.queue(1).expect("a queue");
        let done = Semaphore::new(0);
        let buffer = device.allocate_device(64).expect("memory");
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(wakes.clone());
        let mut context = Context::from_waker(&waker);
        let mut wait = Box::pin(done.wait(1));
        let mut poll = || wait.as_mut().poll(&mut context);
        if early {
            assert!(poll().is_pending());
        }
        fill(&queue, &[], &[done.at(1)], &buffer);
        assert!(poll().is_pending());
        instance.complete();
        eventually("the waker is called", || wakes.0.load(SeqCst) == 1);
        assert!(matches!(poll(), Poll::Ready(Ok(()))));
        assert_eq!(done.waiter_count(), 0);
    }
}

#[test]
fn a_host_call_behind_device_work_runs_though_nobody_polls() {
    let (instance, device) = open_manual();
    let queue = device.queue(0).expect("a queue");
    let done = Semaphore::new(0);
    let buffer = device.allocate_device(64).expect("memory");
    fill(&queue, &[], &[done.at(1)], &buffer);
    let (sender, receiver) = std::sync::mpsc::channel();
    let waited_for = done.clone();
    let call = move |_: &mut windlass_hal::HostCallContext| {
        sender.send(waited_for.query()).expect("the test listens");
        Ok(())
    };
    queue.host_call(&[done.at(1)], &[done.at(2)], HostCallFlags::NONE, call).expect("submits");
    instance.complete();
    let seen = receiver.recv_timeout(SOON).expect("the call runs").expect("no failure");
    assert_eq!(seen, 1, "the call ran before the work that it waits for");
    assert_eq!(code(done.wait_blocking(2, SOON)), None);
}

#[test]
fn work_of_another_device_is_issued_though_nobody_polls() {
    let (first, producer) = open_manual();
    let (second, consumer) = common::open();
    let (produced, consumed) = (Semaphore::new(0), Semaphore::new(0));
    let source = producer.allocate_device(64).expect("memory");
    let target = consumer.allocate_device(64).expect("memory");
    fill(&consumer.queue(0).expect("a queue"), &[produced.at(1)], &[consumed.at(1)], &target);
    fill(&producer.queue(0).expect("a queue"), &[], &[produced.at(1)], &source);
    assert_eq!(second.count("hipMemsetD8Async"), 0, "an edge of another device is none of this one's");
    first.complete();
    eventually("the consumer's work is issued", || second.count("hipMemsetD8Async") == 1);
    assert_eq!(code(consumed.wait_blocking(1, SOON)), None);
}

#[test]
fn a_wait_before_its_signal_holds_across_queues() {
    let (instance, device) = open_manual();
    let [first, second] = [0, 1].map(|index| device.queue(index).expect("a queue"));
    let buffer = device.allocate_device(64).expect("memory");
    let (early, late) = (Semaphore::new(0), Semaphore::new(0));
    fill(&second, &[early.at(1)], &[late.at(1)], &buffer);
    assert_eq!(instance.count("hipMemsetD8Async"), 0, "enqueued before what it waits for");
    fill(&first, &[], &[early.at(1)], &buffer);
    assert_eq!(
        instance.count("hipMemsetD8Async"),
        2,
        "the wait is an edge now: nothing goes through the host"
    );
    assert_eq!(instance.count("hipStreamWaitEvent"), 1);
    assert_eq!((early.query().expect("no failure"), late.query().expect("no failure")), (0, 0));
    instance.complete();
    assert_eq!(code(late.wait_blocking(1, SOON)), None);
    assert_eq!(early.query().expect("reached before what waited for it"), 1);
}

#[test]
fn an_edge_costs_one_device_wait_for_each_other_queue_and_none_within_one() {
    let (instance, device) = open_manual();
    let queues = [0, 1, 2].map(|index| device.queue(index).expect("a queue"));
    let buffer = device.allocate_device(64).expect("memory");
    let timeline = Semaphore::new(0);
    let waits = |queue: usize, waits: &[Point], value: u64| {
        instance.reset_counts();
        fill(&queues[queue], waits, &[timeline.at(value)], &buffer);
        instance.count("hipStreamWaitEvent")
    };
    assert_eq!(waits(0, &[], 1), 0);
    assert_eq!(waits(0, &[timeline.at(1)], 2), 0, "the same queue is in order by itself");
    assert_eq!(waits(1, &[timeline.at(2)], 3), 1, "another queue");
    assert_eq!(
        waits(1, &[timeline.at(1), timeline.at(2), timeline.at(3)], 4),
        1,
        "the last of another queue"
    );
    assert_eq!(waits(2, &[timeline.at(2), timeline.at(4)], 5), 2, "two other queues");
    instance.complete();
    assert_eq!(code(timeline.wait_blocking(5, SOON)), None);
    assert_eq!(waits(0, &[timeline.at(5)], 6), 0, "a reached value needs no wait");
}

#[test]
fn an_operation_that_waits_for_the_host_holds_no_stream_and_blocks_nobody() {
    let (instance, device) = open_manual();
    let queue = device.queue(0).expect("a queue");
    let buffer = device.allocate_device(64).expect("memory");
    let (host, waiting, free) = (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
    instance.reset_counts();
    let (commands, table) = common::record(&device, 5, false);
    instance.reset_counts();
    queue.execute(&[host.at(1)], &[waiting.at(1)], &commands, table).expect("submits");
    assert_eq!(instance.calls(), [], "HIP was called for work that cannot start");
    fill(&queue, &[], &[free.at(1)], &buffer);
    instance.complete();
    assert_eq!(code(free.wait_blocking(1, SOON)), None);
    assert_eq!(instance.count("hipModuleLaunchKernel"), 0);
    let signaller = thread::spawn({
        let host = host.clone();
        move || {
            host.signal(1).expect("a signal");
            thread::current().id()
        }
    });
    let signaller = signaller.join().expect("no panic");
    let launching = instance.calls_by_thread().into_iter().find(|by| by.count("hipModuleLaunchKernel") > 0);
    assert_eq!(launching.expect("issued by the signal").thread, Some(signaller));
    instance.complete();
    assert_eq!(code(waiting.wait_blocking(1, SOON)), None);
}
