// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory in the order of queues: the time of its reuse, the next user, the cost, and the statistics.

use std::thread;

use windlass_hal::{Buffer, BufferParams, BufferUsage, Code, Device, Point, Queue, Semaphore};
use windlass_hip_sys::{
    bindings::hipError_t,
    null::{Instance, Options},
};

use crate::common::{SOON, code, eventually, nothing_leaks, open, open_failing, open_manual, open_with};

const SIZE: u64 = 4096;

fn queues(device: &Device) -> [Queue; 2] {
    [0, 1].map(|index| device.queue(index).expect("a queue"))
}

fn alloca(queue: &Queue, waits: &[Point], signals: &[Point]) -> Buffer {
    queue.alloca(waits, signals, &BufferParams::device(), SIZE).expect("memory")
}

fn fill(queue: &Queue, waits: &[Point], signals: &[Point], target: &Buffer) {
    queue.fill(waits, signals, target, 7_u8).expect("a fill is accepted");
}

/// Uses a buffer on `queue` and frees its memory behind that. Returns a point for both.
fn used_and_given_back(queue: &Queue) -> (u64, Point) {
    let timeline = Semaphore::new(0);
    let buffer = alloca(queue, &[], &[timeline.at(1)]);
    fill(queue, &[timeline.at(1)], &[timeline.at(2)], &buffer);
    queue.dealloca(&[timeline.at(2)], &[timeline.at(3)], &buffer).expect("submits");
    (buffer.device_address(), timeline.at(3))
}

#[test]
fn an_alloca_gives_its_address_at_once() {
    let (instance, device) = open_manual();
    let [q0, q1] = queues(&device);
    let host = Semaphore::new(0);
    let timeline = Semaphore::new(0);
    let buffer = alloca(&q0, &[host.at(1)], &[timeline.at(1)]);
    assert_ne!(buffer.device_address(), 0);
    let mut recorder = device.record().expect("a recorder");
    recorder.fill(&buffer, 1_u8).expect("records before the memory is there");
    let commands = recorder.finish().expect("finishes");
    q1.execute(&[timeline.at(1)], &[timeline.at(2)], &commands, []).expect("submits");
    assert_eq!(instance.count("hipMemsetD8Async"), 0);
    host.signal(1).expect("a signal");
    assert_eq!(instance.count("hipMemsetD8Async"), 1);
    instance.complete();
    assert_eq!(code(timeline.wait_blocking(2, SOON)), None);
}

#[test]
fn memory_is_used_again_behind_its_last_use_without_the_host() {
    for (other_queue, waits) in [(false, 0), (true, 1)] {
        for ordered in [true, false] {
            let (instance, device) = open_manual();
            let [q0, q1] = queues(&device);
            let (address, given_back) = used_and_given_back(&q0);
            instance.reset_counts();
            let again = Semaphore::new(0);
            let queue = if other_queue { &q1 } else { &q0 };
            let before = [given_back.clone()];
            let buffer = alloca(queue, if ordered { &before } else { &[] }, &[again.at(1)]);
            fill(queue, &[again.at(1)], &[again.at(2)], &buffer);
            assert_eq!(buffer.device_address(), address, "new memory for what lies ready");
            assert_eq!(instance.count("hipMalloc"), 0);
            assert_eq!(instance.count("hipStreamWaitEvent"), waits, "{other_queue} {ordered}");
            assert_eq!(instance.count("hipEventSynchronize"), 0);
            assert_eq!(given_back.semaphore.query().expect("no failure"), 1, "its use is still in flight");
            instance.complete();
            assert_eq!(code(again.wait_blocking(2, SOON)), None);
            assert_eq!(given_back.semaphore.query().expect("retired before"), 3);
        }
    }
}

#[test]
fn a_queue_prefers_the_memory_that_it_used_last_itself() {
    let (instance, device) = open_manual();
    let [q0, q1] = queues(&device);
    let (own, _) = used_and_given_back(&q0);
    // The other queue's block is newer, and on top.
    let timeline = Semaphore::new(0);
    let other = device.allocate_device(SIZE).expect("memory");
    fill(&q1, &[], &[timeline.at(1)], &other);
    q1.dealloca(&[timeline.at(1)], &[], &other).expect("submits");
    instance.reset_counts();
    assert_eq!(alloca(&q0, &[], &[]).device_address(), own);
    assert_eq!(alloca(&q1, &[], &[]).device_address(), other.device_address());
    assert_eq!(instance.count("hipStreamWaitEvent"), 0);
}

#[test]
fn memory_is_never_used_again_while_its_last_use_is_in_flight_or_pending() {
    let (instance, device) = open_manual();
    let [q0, _] = queues(&device);
    let host = Semaphore::new(0);
    let timeline = Semaphore::new(0);
    let pending = alloca(&q0, &[], &[]);
    q0.dealloca(&[host.at(1)], &[], &pending).expect("submits");
    let dropped = device.allocate_device(SIZE).expect("memory");
    let dropped_address = dropped.device_address();
    fill(&q0, &[], &[timeline.at(1)], &dropped);
    drop(dropped);
    let (given_back, point) = used_and_given_back(&q0);
    let at_once = [(); 2].map(|()| device.allocate_device(SIZE).expect("memory"));
    let queued = alloca(&q0, &[point], &[timeline.at(2)]);
    assert_eq!(queued.device_address(), given_back);
    let taken = [pending.device_address(), dropped_address, given_back];
    for buffer in &at_once {
        assert!(!taken.contains(&buffer.device_address()), "usable at once, and in use");
    }
    host.signal(1).expect("a signal");
    instance.complete();
    assert_eq!(code(timeline.wait_blocking(2, SOON)), None);
    drop((queued, pending, at_once));
    let mut now: Vec<_> = (0..6).map(|_| device.allocate_device(SIZE).expect("memory")).collect();
    now.sort_by_key(Buffer::device_address);
    now.dedup_by_key(|buffer| buffer.device_address());
    assert_eq!(now.len(), 6, "each block once");
    for address in taken {
        assert!(now.iter().any(|buffer| buffer.device_address() == address), "{address:#x} lies idle");
    }
}

#[test]
fn memory_comes_back_once_however_often_it_is_given() {
    let (_instance, device) = open();
    let [q0, q1] = queues(&device);
    let buffer = alloca(&q0, &[], &[]);
    let clone = buffer.clone();
    let gate = Semaphore::new(0);
    q0.dealloca(&[gate.at(1)], &[], &buffer).expect("submits");
    q1.dealloca(&[gate.at(1)], &[], &clone).expect("a second time is a mistake without consequences");
    gate.signal(1).expect("opens");
    let error = q1.dealloca(&[], &[], &clone).expect_err("the memory is released");
    assert_eq!(error.code(), Code::FailedPrecondition);
    drop((buffer, clone));
    let [a, b] = [(); 2].map(|()| alloca(&q0, &[], &[]));
    assert_ne!(a.device_address(), b.device_address());
    assert_eq!(device.statistics().allocations, 2);
}

#[test]
fn memory_given_back_without_a_signal_is_found_by_polling() {
    let (instance, device) = open_manual();
    let [q0, _] = queues(&device);
    let timeline = Semaphore::new(0);
    let buffer = device.allocate_device(SIZE).expect("memory");
    fill(&q0, &[], &[timeline.at(1)], &buffer);
    q0.dealloca(&[timeline.at(1)], &[], &buffer).expect("submits");
    instance.complete();
    device.poll();
    assert_eq!(device.allocate_device(SIZE).expect("memory").device_address(), buffer.device_address());
}

#[test]
fn a_dealloca_needs_the_whole_buffer_of_its_own_device() {
    let (_instance, device) = open();
    let (_other, foreign) = open();
    let [q0, _] = queues(&device);
    let buffer = device.allocate_device(SIZE).expect("memory");
    let part = buffer.subspan(0, SIZE - 1).expect("in bounds");
    assert_eq!(q0.dealloca(&[], &[], &part).expect_err("a part").code(), Code::InvalidArgument);
    let theirs = foreign.allocate_device(SIZE).expect("memory");
    assert_eq!(q0.dealloca(&[], &[], &theirs).expect_err("foreign").code(), Code::InvalidArgument);
    assert_eq!(device.statistics().allocations, 1);
}

/// A handle may outlive its dealloca by mistake. HIP still has the memory for its accesses.
#[test]
fn memory_with_a_handle_left_is_not_freed() {
    let (instance, device) = open();
    let [q0, _] = queues(&device);
    let buffer = device.allocate(&BufferParams::host(), SIZE).expect("memory");
    let mapping = buffer.map().expect("host memory maps");
    let mut recorder = device.record().expect("a recorder");
    let recorded = device.allocate_device(SIZE).expect("memory");
    recorder.fill(&recorded, 1_u8).expect("records");
    let commands = recorder.finish().expect("finishes");
    for given in [&buffer, &recorded] {
        q0.dealloca(&[], &[], given).expect("submits");
    }
    let marker = device.allocate_device(2 * SIZE).expect("memory");
    drop((buffer, recorded, marker));
    device.trim();
    eventually("what nobody names is freed", || instance.count("hipFree") == 1);
    mapping.write(0, &[1; SIZE as usize]).expect("in bounds");
    let done = Semaphore::new(0);
    q0.execute(&[], &[done.at(1)], &commands, []).expect("submits");
    assert_eq!(code(done.wait_blocking(1, SOON)), None);
    assert_eq!(instance.live().allocations, 2);
    drop((mapping, commands));
    device.trim();
    eventually("then the rest is", || instance.live().allocations == 0);
    drop((q0, device));
    nothing_leaks(&instance);
}

#[test]
fn statistics_are_exact_for_every_size() {
    let (instance, device) = open_with(Options { memory_bytes: 1 << 40, ..Options::default() }, "test://");
    let [q0, _] = queues(&device);
    let sizes = [0, 1, 2, 255, 256, 257, 4095, 4096, 65537, 1 << 20];
    let mut buffers = Vec::new();
    let mut used = 0;
    for size in sizes {
        let buffer = match size % 2 {
            0 => device.allocate_device(size).expect("memory"),
            _ => q0.alloca(&[], &[], &BufferParams::device(), size).expect("memory"),
        };
        assert_eq!(buffer.len(), size);
        assert_eq!(buffer.device_address() % 256, 0);
        used += size;
        buffers.push(buffer);
        let statistics = device.statistics();
        assert_eq!(statistics.device_bytes_used, used);
        // Even an empty allocation has an address of its own.
        assert_eq!(statistics.device_bytes_reserved, used + 1);
        assert_eq!(statistics.device_bytes_peak, used);
        assert_eq!(statistics.allocations, buffers.len() as u64);
    }
    let host = device.allocate(&BufferParams::host(), 1000).expect("memory");
    assert_eq!(device.statistics().host_bytes_used, 1000);
    let all = device.statistics();
    let (first, second) = (buffers.pop().expect("some"), buffers.pop().expect("some"));
    drop(first.clone());
    assert_eq!(device.statistics(), all, "a handle of several");
    q0.dealloca(&[], &[], &first).expect("submits");
    assert_eq!(device.statistics().device_bytes_used, used - first.len());
    drop((first, second, host));
    let statistics = device.statistics();
    assert_eq!(statistics.device_bytes_used, used - (1 << 20) - 65537);
    assert_eq!(statistics.host_bytes_used, 0);
    assert_eq!(statistics.device_bytes_peak, used);
    assert_eq!(statistics.device_bytes_reserved, used + 1, "kept for reuse");
    assert_eq!(instance.count("hipFree"), 0);
    drop(buffers);
    assert_eq!(device.statistics().allocations, 0);
    assert_eq!(device.statistics().device_bytes_used, 0);
}

#[test]
fn trimming_gives_back_on_another_thread_what_nobody_uses() {
    let (instance, device) = open_manual();
    let [q0, _] = queues(&device);
    let kept = device.allocate_device(SIZE).expect("memory");
    let done = Semaphore::new(0);
    let in_flight = device.allocate_device(SIZE).expect("memory");
    fill(&q0, &[], &[done.at(1)], &in_flight);
    drop(in_flight);
    drop(device.allocate(&BufferParams::host(), SIZE).expect("memory"));
    drop(device.allocate_device(10 * SIZE).expect("memory"));
    // Freeing on this thread would wait for the work in flight, which waits for this test.
    let trimming = thread::spawn({
        let device = device.clone();
        move || {
            device.trim();
            thread::current().id()
        }
    });
    eventually("trimming does not wait for the device", || trimming.is_finished());
    let here = trimming.join().expect("no panic");
    assert_eq!(device.statistics().device_bytes_reserved, 2 * SIZE);
    // HIP frees when the device is idle, so a thread that may wait calls it.
    instance.complete();
    eventually("the free memory goes", || instance.live().allocations == 2);
    for name in ["hipFree", "hipHostFree"] {
        let freeing: Vec<_> =
            instance.calls_by_thread().into_iter().filter(|by| by.count(name) > 0).collect();
        assert_eq!(freeing.len(), 1, "{name}");
        assert_ne!(freeing[0].thread, Some(here), "{name} synchronises: not here");
    }
    assert_eq!(code(done.wait_blocking(1, SOON)), None);
    device.trim();
    eventually("what has completed goes too", || instance.live().allocations == 1);
    assert_eq!(device.statistics().device_bytes_reserved, SIZE);
    drop(kept);
}

fn small(manual: bool) -> (std::sync::Arc<Instance>, Device) {
    open_with(Options { memory_bytes: 1 << 20, manual, ..Options::default() }, "test://")
}

#[test]
fn kept_memory_is_given_back_before_an_allocation_fails() {
    let (instance, device) = small(false);
    let [q0, _] = queues(&device);
    drop(device.allocate_device(600 << 10).expect("memory"));
    let large = device.allocate_device(700 << 10).expect("there is memory for it");
    assert_eq!(instance.live().bytes, 700 << 10);
    assert_eq!(device.statistics().device_bytes_reserved, 700 << 10);
    for error in [
        device.allocate_device(600 << 10).expect_err("too much"),
        q0.alloca(&[], &[], &BufferParams::device(), 600 << 10).expect_err("too much"),
    ] {
        assert_eq!(error.code(), Code::ResourceExhausted);
        assert!(error.to_string().contains("bytes are free"), "{error}");
    }
    for size in [u64::MAX, u64::MAX - 7, 1 << 63] {
        let error = device.allocate_device(size).expect_err("too much");
        assert_eq!(error.code(), Code::ResourceExhausted);
        assert!(error.message().contains(&format!("{size} bytes aligned to 256")), "{error}");
    }
    assert!(device.allocate_device(600 << 10).expect_err("too much").message().contains("614400 bytes"));
    assert_eq!(device.statistics().allocations, 1, "what failed is not counted");
    q0.dealloca(&[], &[], &large).expect("submits");
    drop(large);
    device.allocate_device(600 << 10).expect("there is memory again");
}

#[test]
fn memory_in_flight_is_not_waited_for_by_an_allocation_that_fails() {
    let (instance, device) = small(true);
    let [q0, _] = queues(&device);
    let done = Semaphore::new(0);
    let buffer = device.allocate_device(600 << 10).expect("memory");
    fill(&q0, &[], &[done.at(1)], &buffer);
    drop(buffer);
    let error = device.allocate_device(700 << 10).expect_err("all of it is in flight");
    assert_eq!(error.code(), Code::ResourceExhausted);
    assert_eq!(instance.count("hipFree"), 0);
    instance.complete();
    // No thread has polled: the allocation itself finds the completed work.
    device.allocate_device(700 << 10).expect("there is memory for it");
    assert_eq!(code(done.wait_blocking(1, SOON)), None);
}

#[test]
fn what_cannot_be_allocated_is_refused() {
    let (instance, device) = open();
    instance.reset_counts();
    let refused = |params: BufferParams| {
        device.allocate(&params, SIZE).map_or_else(|error| error.code(), |_| panic!("allocated"))
    };
    assert_eq!(refused(BufferParams::device().with_min_alignment(3)), Code::InvalidArgument);
    assert_eq!(instance.calls(), []);
    for alignment in [256, 4096, 1 << 20] {
        for params in [BufferParams::device(), BufferParams::host()] {
            let params = params.with_min_alignment(alignment);
            let buffer = device.allocate(&params, SIZE).expect("memory");
            assert_eq!(buffer.device_address() % alignment, 0);
            assert_eq!(buffer.len(), SIZE);
        }
    }
    let buffer = device.allocate(&BufferParams::device(), SIZE).expect("memory");
    assert_eq!(buffer.map().expect_err("not for mapping").code(), Code::FailedPrecondition);
    let mapped = BufferUsage::DEFAULT | BufferUsage::MAPPING;
    let buffer = device.allocate(&BufferParams::device().with_usage(mapped), SIZE).expect("memory");
    assert_eq!(buffer.map().expect_err("device memory").code(), Code::Unavailable);
}

/// A device with work in flight, whose pinned memory is all used or idle, and a buffer larger than any idle block. HIP
/// frees the idle blocks when the work is complete.
fn short_and_busy() -> (std::sync::Arc<Instance>, Device, Buffer) {
    let options = Options { memory_bytes: 1 << 20, manual: true, ..Options::default() };
    let (interposer, instance, device) = open_failing(options, "test://");
    let [q0, _] = queues(&device);
    let target = device.allocate_device(300 << 10).expect("memory");
    fill(&q0, &[], &[Semaphore::new(0).at(1)], &device.allocate_device(SIZE).expect("memory"));
    let idle = [(); 5].map(|()| device.allocate(&BufferParams::host(), 100 << 10).expect("memory"));
    drop(idle);
    interposer.fail_always("hipHostMalloc", hipError_t::hipErrorOutOfMemory);
    (instance, device, target)
}

#[test]
fn a_submission_does_not_wait_for_memory_on_its_way_back() {
    type Submit = fn(&Queue, &Buffer) -> windlass_hal::Result<()>;
    let submit: [(&str, Submit); 5] = [
        ("an update", |queue, target| queue.update(&[], &[], &[1; 300 << 10], target)),
        ("a download", |queue, source| queue.download(&[], source).map(drop)),
        ("an alloca", |queue, _| queue.alloca(&[], &[], &BufferParams::host(), 300 << 10).map(drop)),
        ("a read", |queue, target| queue.read(&[], &[], &zeros(), 0, target)),
        ("a write", |queue, source| queue.write(&[], &[], source, &zeros(), 0)),
    ];
    for (what, submit) in submit {
        let (instance, device, buffer) = short_and_busy();
        let queue = device.queue(1).expect("a queue");
        // A caller that may wait does so, and blocks no other.
        let waiting = thread::spawn({
            let device = device.clone();
            move || drop(device.allocate(&BufferParams::host(), 300 << 10))
        });
        eventually("what lies idle is on its way back", || instance.count("hipHostFree") > 0);
        let submitting = thread::spawn(move || submit(&queue, &buffer).map_err(|error| error.code()));
        eventually(what, || submitting.is_finished());
        match submitting.join().expect("no panic") {
            Ok(()) => {}
            Err(code) => assert_eq!(code, Code::ResourceExhausted, "{what}"),
        }
        eventually("work completes", || {
            instance.complete();
            waiting.is_finished()
        });
    }
}

fn zeros() -> windlass_hal::File {
    struct Zeros;
    impl windlass_hal::file::Storage for Zeros {
        fn read_at(&self, _offset: u64, bytes: &mut [u8]) -> std::io::Result<()> {
            bytes.fill(0);
            Ok(())
        }
        fn write_at(&self, _offset: u64, _bytes: &[u8]) -> std::io::Result<()> {
            Ok(())
        }
    }
    windlass_hal::File::new(Zeros)
}

#[test]
fn an_allocation_waits_for_memory_on_its_way_back_but_not_for_ever() {
    let (instance, device, _target) = short_and_busy();
    let error = device.allocate(&BufferParams::host(), 300 << 10).expect_err("nobody completes the work");
    assert_eq!(error.code(), Code::ResourceExhausted);
    instance.complete();
    // The filled buffer and the target stay idle.
    eventually("what lies idle is freed", || instance.live().allocations == 2);
    let here = Some(thread::current().id());
    for by in instance.calls_by_thread().iter().filter(|by| by.count("hipHostFree") > 0) {
        assert_ne!(by.thread, here, "hipHostFree synchronises: not here");
    }
}
