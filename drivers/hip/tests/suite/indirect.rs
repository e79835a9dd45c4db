// SPDX-License-Identifier: MIT OR Apache-2.0
//! Indirect dispatches between their pieces: the order of enqueuing, and the fate of an operation in progress when its
//! device is closed, dropped, drained, lost, or refuses the next piece. The null HIP holds work in flight until the
//! test completes it.

use std::{sync::Arc, thread, time::Duration};

use windlass_hal::{
    Argument, Buffer, BufferParams, BufferRef, BufferUsage, Code, CommandBuffer, Device, Error, Function,
    IndirectDispatchConfig, IndirectParameters, Queue, Semaphore,
};
use windlass_hip_sys::{
    bindings::hipError_t,
    null::{Instance, Options},
};

use crate::common::{self, SOON, code, eventually, nothing_leaks, open, open_failing, open_manual};

const LAUNCH: &str = "hipModuleLaunchKernel";
const COPY: &str = "hipMemcpyAsync";
const RECORD: &str = "hipEventRecord";

/// A device with a kernel, its arguments, and a count of `[3, 1, 1]`.
struct Bench {
    instance: Arc<Instance>,
    device: Device,
    queue: Queue,
    function: Function,
    data: Buffer,
    count: Buffer,
}

impl Bench {
    /// The count in device memory, or in memory that the host sees.
    fn new((instance, device): (Arc<Instance>, Device), host: bool) -> Self {
        let params = if host { BufferParams::host() } else { BufferParams::device() };
        let usage = params.usage | BufferUsage::DISPATCH_INDIRECT_PARAMETERS;
        let count = device.allocate(&params.with_usage(usage), 12).expect("memory");
        let (queue, ready) = (device.queue(0).expect("a queue"), Semaphore::new(0));
        let bytes: Vec<u8> = [3_u32, 1, 1].iter().flat_map(|word| word.to_le_bytes()).collect();
        queue.update(&[], &[ready.at(1)], &bytes, &count).expect("submits");
        instance.complete();
        ready.wait_blocking(1, SOON).expect("the count is there");
        let data = device.allocate_device(4096).expect("memory");
        let function = common::vector_add(&device);
        instance.reset_counts();
        Self { instance, device, queue, function, data, count }
    }

    fn arguments(&self) -> [Argument<'_>; 4] {
        [self.data.arg(), self.data.arg(), self.data.arg(), 0_i32.into()]
    }

    fn config(&self, dynamic: bool) -> IndirectDispatchConfig {
        let range = BufferRef::from(&self.count);
        let parameters = match dynamic {
            true => IndirectParameters::Dynamic(range),
            false => IndirectParameters::Static(range),
        };
        IndirectDispatchConfig::new(parameters).workgroup_size([64, 1, 1])
    }

    /// A direct dispatch, then `n` indirect ones, with a barrier before each or only before the first.
    fn record(&self, n: usize, dynamic: bool, barriers: bool) -> CommandBuffer {
        let mut recorder = self.device.record().expect("a recorder");
        recorder.dispatch(&self.function, common::grid(), &self.arguments()).expect("records");
        for index in 0..n {
            if barriers || index == 0 {
                recorder.barrier();
            }
            let config = self.config(dynamic);
            recorder.dispatch_indirect(&self.function, config, &self.arguments()).expect("records");
        }
        recorder.finish().expect("finishes")
    }

    /// Submits the list without waits.
    fn submit(&self, commands: &CommandBuffer) -> Semaphore {
        let done = Semaphore::new(0);
        self.queue.execute(&[], &[done.at(1)], commands, []).expect("submits");
        done
    }

    /// Completes work in flight, and the pieces after it, until the semaphore is settled.
    fn complete(&self, done: &Semaphore) -> Option<Code> {
        eventually("the semaphore is settled", || {
            self.instance.complete();
            !matches!(done.query(), Ok(0))
        });
        code(done.wait_blocking(1, SOON))
    }
}

#[test]
fn a_count_that_the_host_sees_is_read_at_once_where_nothing_is_waited_for() {
    let bench = Bench::new(open_manual(), true);
    let done = bench.submit(&bench.record(3, false, true));
    assert_eq!(bench.instance.count(LAUNCH), 4, "everything is enqueued by the submission");
    assert_eq!((bench.instance.count(COPY), bench.instance.count(RECORD)), (0, 1));
    bench
        .queue
        .dispatch_indirect(&[], &[done.at(2)], &bench.function, bench.config(true), &bench.arguments())
        .expect("submits");
    assert_eq!((bench.instance.count(LAUNCH), bench.instance.count(COPY)), (5, 0));
    assert_eq!(bench.complete(&done), None);
}

#[test]
fn the_rest_is_enqueued_once_the_count_is_known_and_not_before() {
    for host in [false, true] {
        let bench = Bench::new(open_manual(), host);
        let done = bench.submit(&bench.record(1, true, true));
        // The direct dispatch, and the copy of the count behind it.
        let counts = || [LAUNCH, COPY, RECORD].map(|name| bench.instance.count(name));
        assert_eq!(counts(), [1, 1, 1]);
        for _ in 0..10 {
            bench.device.poll();
        }
        assert_eq!(counts(), [1, 1, 1], "a count was read that is not there yet");
        assert_eq!(done.query().expect("no failure"), 0);
        bench.instance.complete();
        eventually("the rest is enqueued by itself", || counts() == [2, 1, 2]);
        assert_eq!(done.query().expect("no failure"), 0, "the last dispatch is still in flight");
        assert_eq!(bench.complete(&done), None);
        assert_eq!(counts(), [2, 1, 2]);
    }
}

#[test]
fn a_count_that_work_in_flight_may_still_write_is_not_read_at_once() {
    for dynamic in [false, true] {
        let bench = Bench::new(open_manual(), true);
        let commands = bench.record(1, dynamic, true);
        let other = bench.device.queue(1).expect("a queue");
        let [written, executed, dispatched] = [(); 3].map(|()| Semaphore::new(0));
        other.fill(&[], &[written.at(1)], &bench.count, 1_u32).expect("submits");
        bench.queue.execute(&[written.at(1)], &[executed.at(1)], &commands, []).expect("submits");
        assert_eq!((bench.instance.count(LAUNCH), bench.instance.count(COPY)), (1, 1), "dynamic {dynamic}");
        let waits = [written.at(1), executed.at(0)];
        let (config, signals) = (bench.config(dynamic), [dispatched.at(1)]);
        bench
            .queue
            .dispatch_indirect(&waits, &signals, &bench.function, config, &bench.arguments())
            .expect("submits");
        assert_eq!((bench.instance.count(LAUNCH), bench.instance.count(COPY)), (1, 2), "dynamic {dynamic}");
        assert_eq!((bench.complete(&executed), bench.complete(&dispatched)), (None, None));
        assert_eq!(bench.instance.count(LAUNCH), 3);
    }
}

#[test]
fn a_wait_that_fails_while_the_first_piece_is_in_flight_ends_the_operation() {
    let bench = Bench::new(open_manual(), false);
    let commands = bench.record(3, true, true);
    let (before, done) = (Semaphore::new(0), Semaphore::new(0));
    let other = bench.device.queue(1).expect("a queue");
    other.fill(&[], &[before.at(1)], &bench.data, 1_u8).expect("submits");
    bench.queue.execute(&[before.at(1)], &[done.at(1)], &commands, []).expect("submits");
    assert_eq!(bench.instance.count(LAUNCH), 1, "behind the edge of the fill");
    before.fail(Error::data_loss("on purpose"));
    assert_eq!(bench.complete(&done), Some(Code::DataLoss));
    bench.instance.complete();
    bench.device.drain(SOON).expect("nothing is left");
    assert_eq!(bench.instance.count(LAUNCH), 1, "went on after its signals had failed");
}

#[test]
fn nobody_may_be_ordered_behind_the_first_piece() {
    let bench = Bench::new(open_manual(), false);
    let done = bench.submit(&bench.record(1, true, true));
    let after = bench.device.queue(1).expect("a queue");
    after.fill(&[done.at(1)], &[done.at(2)], &bench.data, 1_u8).expect("submits");
    assert_eq!(bench.instance.count("hipMemsetD8Async"), 0, "the dependant is in a stream already");
    bench.instance.complete();
    eventually("the rest and then its dependant are enqueued", || {
        bench.instance.count("hipMemsetD8Async") == 1
    });
    assert_eq!(bench.instance.count(LAUNCH), 2);
    // The thread that enqueues the dependant may not have recorded its event yet.
    eventually("the dependant is done", || {
        bench.instance.complete();
        done.query().expect("no failure") == 2
    });
}

#[test]
fn one_trip_serves_all_counts_that_are_known_together() {
    // Pieces: static counts are read in the first; dynamic ones behind one barrier are read together, behind a barrier
    // each separately.
    for (dynamic, barriers, pieces) in [(false, true, 2), (true, false, 2), (true, true, 11)] {
        let bench = Bench::new(open(), false);
        let done = bench.submit(&bench.record(10, dynamic, barriers));
        assert_eq!(bench.complete(&done), None);
        assert_eq!(bench.instance.count(LAUNCH), 11);
        assert_eq!(bench.instance.count(COPY), 10, "one copy for each count");
        assert_eq!(bench.instance.count(RECORD), pieces, "dynamic {dynamic}, barriers {barriers}");
    }
}

#[test]
fn closing_lets_what_has_begun_go_on() {
    let bench = Bench::new(open_manual(), false);
    let commands = bench.record(3, true, true);
    let (gate, held) = (Semaphore::new(0), Semaphore::new(0));
    bench.queue.execute(&[gate.at(1)], &[held.at(1)], &commands, []).expect("submits");
    let done = bench.submit(&commands);
    bench.device.close();
    assert_eq!(code(held.wait_blocking(1, SOON)), Some(Code::Cancelled), "it had not begun");
    assert_eq!(done.query().expect("its first piece still writes memory"), 0);
    assert_eq!(bench.complete(&done), None);
    assert_eq!(bench.instance.count(LAUNCH), 4);
}

#[test]
fn what_has_begun_outlives_every_handle() {
    for manual in [true, false] {
        let bench = Bench::new(if manual { open_manual() } else { open() }, false);
        let done = bench.submit(&bench.record(3, true, true));
        let Bench { instance, device, queue, function, data, count } = bench;
        drop((device, queue, function, data, count));
        eventually("it is done", || {
            instance.complete();
            done.query().expect("no failure") == 1
        });
        assert_eq!(instance.count(LAUNCH), 4);
        nothing_leaks(&instance);
    }
}

#[test]
fn a_drain_waits_for_every_piece() {
    let bench = Bench::new(open_manual(), false);
    let done = bench.submit(&bench.record(3, true, true));
    let early = bench.device.drain(Duration::ZERO);
    assert_eq!(early.expect_err("in flight").code(), Code::DeadlineExceeded);
    thread::scope(|scope| {
        let drain = scope.spawn(|| bench.device.drain(SOON));
        assert_eq!(bench.complete(&done), None);
        drain.join().expect("no panic").expect("drains");
    });
    assert_eq!(bench.instance.count(LAUNCH), 4);
    bench.device.drain(SOON).expect("nothing is left");
}

#[test]
fn a_drain_that_began_at_the_first_piece_waits_for_the_last() {
    let bench = Bench::new(open_manual(), false);
    let done = bench.submit(&bench.record(3, true, true));
    let looked = bench.instance.count("hipEventQuery");
    thread::scope(|scope| {
        scope.spawn(|| {
            eventually("the drain looks", || bench.instance.count("hipEventQuery") > looked);
            bench.instance.complete();
        });
        // The second piece stays in flight, because the test does not complete it.
        let early = bench.device.drain(Duration::from_millis(300));
        assert_eq!(early.expect_err("two pieces are left").code(), Code::DeadlineExceeded);
    });
    assert_eq!(bench.complete(&done), None);
}

#[test]
fn a_device_lost_between_two_pieces_fails_the_signals_and_nothing_follows() {
    let (interposer, instance, device) =
        open_failing(Options { manual: true, ..Options::default() }, "test://");
    let bench = Bench::new((instance, device), false);
    let done = bench.submit(&bench.record(3, true, true));
    interposer.on_call(|call| {
        let waits = matches!(call.name, "hipEventQuery" | "hipEventSynchronize");
        waits.then_some(hipError_t::hipErrorIllegalAddress)
    });
    let error = loop {
        bench.instance.complete();
        bench.device.poll();
        match done.query() {
            Ok(0) => thread::yield_now(),
            Ok(value) => panic!("reached {value} on a lost device"),
            Err(error) => break error,
        }
    };
    assert!(error.to_string().contains("hipErrorIllegalAddress"), "{error}");
    assert_eq!(bench.instance.count(LAUNCH), 1, "the rest of a list on a lost device");
}

#[test]
fn a_call_that_fails_in_any_piece_fails_the_signals_and_leaves_nothing() {
    let calls = [LAUNCH, COPY, RECORD, "hipEventCreateWithFlags", "hipHostMalloc"];
    for status in [hipError_t::hipErrorInvalidValue, hipError_t::hipErrorOutOfMemory] {
        for call in calls {
            for kth in 1..=5 {
                let (interposer, instance, device) = open_failing(Options::default(), "test://");
                let bench = Bench::new((instance, device), false);
                let commands = bench.record(3, true, true);
                interposer.fail(call, kth, status);
                let done = Semaphore::new(0);
                let what = format!("{call} number {kth} with {status:?}");
                let submitted = bench.queue.execute(&[], &[done.at(1)], &commands, []);
                // No injected failure is left for a later call of the test.
                let ended = match submitted {
                    Err(error) => Err(error),
                    Ok(()) => done.wait_blocking(1, SOON),
                };
                match &ended {
                    Ok(()) => assert_eq!(bench.instance.count(LAUNCH), 4, "{what}: done without its work"),
                    Err(error) => assert!(error.to_string().contains(call), "{what}: {error}"),
                }
                interposer.pass();
                let failed = ended.is_err();
                if failed {
                    assert_ne!(code(ended), Some(Code::DeadlineExceeded), "{what}");
                }
                let again = bench.submit(&commands);
                assert_eq!(bench.complete(&again), None, "{what}: the device goes on");
                drop(commands);
                let Bench { instance, device, queue, function, data, count } = bench;
                drop((device, queue, function, data, count));
                nothing_leaks(&instance);
            }
        }
    }
}

#[test]
fn many_pieces_use_no_stack_and_many_threads_lose_none() {
    let bench = Bench::new(open(), false);
    let commands = bench.record(500, true, true);
    thread::scope(|scope| {
        for index in 0..4 {
            let (bench, commands) = (&bench, &commands);
            scope.spawn(move || {
                let queue = bench.device.queue(index).expect("a queue");
                let step = Semaphore::new(0);
                for round in 0..4 {
                    let (before, after) = ([step.at(round)], [step.at(round + 1)]);
                    queue.execute(&before, &after, commands, []).expect("submits");
                }
                assert_eq!(code(step.wait_blocking(4, SOON)), None);
            });
        }
    });
    assert_eq!(bench.instance.count(LAUNCH), 16 * 501);
}
