// SPDX-License-Identifier: MIT OR Apache-2.0
//! A HIP program and a program of the HAL over one simulated GPU, each ordered behind the other without the host.

use std::{
    slice::from_ref,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
};

use windlass_hal::{Code, ExportFlags, ExternalEvent, ExternalStream, Point, Result, Semaphore};
use windlass_hip_sys::bindings::*;

use crate::foreign::{Program, SOON, World, eventually, seeds};

const NONE: ExportFlags = ExportFlags::NONE;
const UNSUBMITTED: ExportFlags = ExportFlags::ALLOW_UNSUBMITTED;

#[track_caller]
fn refused(result: Result<()>, code: Code, words: &str) {
    let error = result.expect_err("a mistake");
    assert_eq!(error.code(), code, "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

#[track_caller]
fn reached(point: &Point) {
    point.semaphore.wait_blocking(point.value, SOON).expect("reached");
}

/// Each round is a kernel of the HIP program and then one of the HAL's. Any two in the wrong order change every number.
#[test]
fn two_programs_take_turns_on_one_buffer() {
    for options in seeds(40) {
        let world = World::new(&options);
        let Program { stream, .. } = world.program;
        let (values, done) = (world.values(), Semaphore::new(0));
        let mut expected = values.start();
        for round in 0..3_u32 {
            let (begin, end) = (done.at(2 * u64::from(round) + 1), done.at(2 * u64::from(round) + 2));
            world.launch(&values, stream, 3, round);
            world.import(&[], from_ref(&begin), ExternalStream::from_raw(stream as u64)).expect("imported");
            world.dispatch(&values, &[begin], from_ref(&end), 5, 7 + round);
            world.export(&[end], stream, NONE).expect("exported");
            expected.iter_mut().for_each(|value| {
                *value = value.wrapping_mul(3).wrapping_add(round).wrapping_mul(5).wrapping_add(7 + round);
            });
        }
        world.program.synchronize(stream);
        assert_eq!(world.read(&values), expected, "{options}");
    }
}

/// The waits of the import are reached long after the call.
#[test]
fn a_timepoint_is_the_one_of_the_moment_of_the_call() {
    for seed in 0..10 {
        // The HIP program's stream waits for the host, and must not hold a hardware queue of others.
        let options = format!("?seed={seed}&hardware_queues=0");
        let world = World::new(&options);
        let Program { stream, .. } = world.program;
        let event = world.program.event();
        for by_event in [false, true] {
            let (values, go, done) = (world.values(), Semaphore::new(0), Semaphore::new(0));
            let (begin, word) = (world.program.word(), world.program.word());
            hip!(world, hipStreamWaitValue64(stream, begin.0, 1, hipStreamWaitValueGte, u64::MAX));
            world.launch(&values, stream, 3, 1);
            if by_event {
                hip!(world, hipEventRecord(event, stream));
                let event = ExternalEvent::from_raw(event as u64);
                world.import(&[go.at(1)], &[done.at(1)], event).expect("imported");
            } else {
                let stream = ExternalStream::from_raw(stream as u64);
                world.import(&[go.at(1)], &[done.at(1)], stream).expect("imported");
            }
            world.dispatch(&values, &[done.at(1)], &[done.at(2)], 5, 7);
            // Later work, and a later record, which end only after the operation has.
            hip!(world, hipStreamWaitValue64(stream, word.0, 1, hipStreamWaitValueGte, u64::MAX));
            hip!(world, hipEventRecord(event, stream));
            go.signal(1).expect("the payload grows");
            assert!(!world.program.is_idle(stream), "the stream waits");
            assert_eq!(done.query().expect("no failure"), 0, "{options}, by event: {by_event}");
            begin.set(1);
            reached(&done.at(2));
            let expected: Vec<u32> = values.start().iter().map(|value| (value * 3 + 1) * 5 + 7).collect();
            assert_eq!(world.read_beside(&values), expected, "{options}, by event: {by_event}");
            word.set(1);
            world.program.synchronize(stream);
        }
    }
}

#[test]
fn an_event_may_be_destroyed_after_the_call() {
    for seed in 0..10 {
        let world = World::new(&format!("?seed={seed}&hardware_queues=0"));
        let Program { stream, .. } = world.program;
        let (values, done, begin) = (world.values(), Semaphore::new(0), world.program.word());
        let event = world.program.event();
        hip!(world, hipStreamWaitValue64(stream, begin.0, 1, hipStreamWaitValueGte, u64::MAX));
        world.launch(&values, stream, 3, 1);
        hip!(world, hipEventRecord(event, stream));
        world.import(&[], &[done.at(1)], ExternalEvent::from_raw(event as u64)).expect("imported");
        hip!(world, hipEventDestroy(event));
        world.dispatch(&values, &[done.at(1)], &[done.at(2)], 5, 7);
        assert!(!world.program.is_idle(stream), "the stream waits");
        begin.set(1);
        reached(&done.at(2));
        let expected: Vec<u32> = values.start().iter().map(|value| (value * 3 + 1) * 5 + 7).collect();
        assert_eq!(world.read_beside(&values), expected, "seed {seed}");
    }
}

#[test]
fn an_event_that_was_never_recorded_is_reached() {
    let world = World::new("");
    let (event, done) = (world.program.event(), Semaphore::new(0));
    world.import(&[], &[done.at(1)], ExternalEvent::from_raw(event as u64)).expect("imported");
    reached(&done.at(1));
}

/// More events than the driver has streams to relay them: they end in another order than they were imported in.
#[test]
fn many_events_are_awaited_at_a_time() {
    let world = World::new("?hardware_queues=0");
    let words: Vec<_> = (0..8).map(|_| world.program.word()).collect();
    let done: Vec<_> = words.iter().map(|_| Semaphore::new(0)).collect();
    for (word, done) in words.iter().zip(&done) {
        let (stream, event) = (world.program.stream(), world.program.event());
        hip!(world, hipStreamWaitValue64(stream, word.0, 1, hipStreamWaitValueGte, u64::MAX));
        hip!(world, hipEventRecord(event, stream));
        // Behind a wait that is never reached, no stream of a queue is held by it.
        world.import(&[], &[done.at(1)], ExternalEvent::from_raw(event as u64)).expect("imported");
    }
    // A queue is a stream: of the imports of one queue, none passes another.
    words.iter().for_each(|word| word.set(1));
    done.iter().for_each(|done| reached(&done.at(1)));
}

#[test]
fn the_null_stream_is_that_of_the_queues_gpu() {
    for seed in 0..20 {
        let world = World::on(&format!("?devices=2&seed={seed}&hardware_queues=0"), "test://1");
        // The thread's current device is the other one.
        let (values, done) = (world.values(), Semaphore::new(0));
        hip!(world, hipSetDevice(0));
        for (handle, factor) in [(0_u64, 3), (2, 11)] {
            let stream = handle as hipStream_t;
            hip!(world, hipSetDevice(1));
            world.launch(&values, stream, factor, 1);
            hip!(world, hipSetDevice(0));
            let (begin, end) = (done.at(handle * 2 + 1), done.at(handle * 2 + 2));
            world.import(&[], from_ref(&begin), ExternalStream::from_raw(handle)).expect("imported");
            world.dispatch(&values, &[begin], from_ref(&end), 5, 7);
            world.export(&[end], stream, NONE).expect("exported");
            let mut current = -1;
            hip!(world, hipGetDevice(&mut current));
            assert_eq!(current, 0, "the thread's device stays current");
        }
        hip!(world, hipSetDevice(1));
        world.program.synchronize(2 as hipStream_t);
        let turn = |value: u32, factor: u32| (value * factor + 1) * 5 + 7;
        let expected: Vec<u32> = values.start().iter().map(|value| turn(turn(*value, 3), 11)).collect();
        assert_eq!(world.read(&values), expected, "seed {seed}");
    }
}

#[test]
fn a_stream_may_be_one_of_another_gpu() {
    for seed in 0..20 {
        let world = World::on(&format!("?devices=2&seed={seed}&hardware_queues=0"), "test://1");
        let (values, done) = (world.values(), Semaphore::new(0));
        hip!(world, hipSetDevice(0));
        let (stream, event) = (world.program.stream(), world.program.event());
        // The stream of GPU 0 fills memory of GPU 1.
        hip!(world, hipDeviceEnablePeerAccess(1, 0));
        hip!(world, hipMemsetD32Async(values.pointer(), 9, values.count(), stream));
        world.import(&[], &[done.at(1)], ExternalStream::from_raw(stream as u64)).expect("imported");
        world.dispatch(&values, &[done.at(1)], &[done.at(2)], 5, 7);
        world.export(&[done.at(2)], stream, NONE).expect("exported");
        hip!(world, hipMemsetD32Async(values.pointer(), 4, 1, stream));
        hip!(world, hipEventRecord(event, stream));
        world.import(&[], &[done.at(3)], ExternalEvent::from_raw(event as u64)).expect("imported");
        world.dispatch(&values, &[done.at(3)], &[done.at(4)], 2, 1);
        reached(&done.at(4));
        let mut expected = vec![(9 * 5 + 7) * 2 + 1; values.count()];
        expected[0] = 4 * 2 + 1;
        assert_eq!(world.read(&values), expected, "seed {seed}");
    }
}

#[test]
fn a_point_without_work_in_a_stream_is_refused_and_the_stream_goes_on() {
    let world = World::new("");
    let Program { stream, .. } = world.program;
    let (values, done) = (world.values(), Semaphore::new(0));
    refused(world.export(&[done.at(3)], stream, NONE), Code::FailedPrecondition, "ALLOW_UNSUBMITTED");
    refused(world.export(&[done.at(3)], stream, NONE), Code::FailedPrecondition, "will reach 3 of");
    // Submitted, and pending: in no stream yet.
    world.dispatch(&values, &[done.at(1)], &[done.at(2)], 1, 1);
    refused(
        world.export(&[done.at(2)], stream, NONE),
        Code::FailedPrecondition,
        "the work that it waits for",
    );
    world.program.synchronize(stream);
    done.signal(1).expect("the payload grows");
    reached(&done.at(2));
    world.export(&[done.at(1), done.at(2)], stream, NONE).expect("reached points");
    world.program.synchronize(stream);
}

#[test]
fn without_waits_for_memory_the_remedy_is_another() {
    let world = World::new("?without=hipStreamWaitValue64");
    let result = world.export(&[Semaphore::new(0).at(1)], world.program.stream, UNSUBMITTED);
    refused(result, Code::FailedPrecondition, "cannot wait for memory");
}

/// The HAL's work is submitted in the opposite order.
#[test]
fn a_stream_may_wait_for_work_that_is_submitted_later() {
    for seed in 0..40 {
        let world = World::new(&format!("?seed={seed}&hardware_queues=0"));
        let Program { stream, .. } = world.program;
        let (values, done) = ([(); 3].map(|()| world.values()), Semaphore::new(0));
        for (values, turn) in values.iter().zip(1..) {
            world.export(&[done.at(turn.into())], stream, UNSUBMITTED).expect("exported");
            world.launch(values, stream, 3, turn);
        }
        for (values, turn) in values.iter().zip(1..).collect::<Vec<_>>().into_iter().rev() {
            let turn: u32 = turn;
            world.dispatch(values, &[done.at(u64::from(turn) - 1)], &[done.at(turn.into())], 5, turn);
        }
        world.program.synchronize(stream);
        for (values, turn) in values.iter().zip(1..) {
            let expected: Vec<u32> =
                values.start().iter().map(|value| (value * 5 + turn) * 3 + turn).collect();
            assert_eq!(world.read(values), expected, "seed {seed}");
        }
    }
}

/// Each export comes before the work that it is for. That work is on a timeline of its own, and in another queue than
/// the work that waits for the stream.
#[test]
fn two_programs_take_turns_although_the_work_is_submitted_last() {
    for seed in 0..20 {
        let world = World::new(&format!("?seed={seed}&hardware_queues=0"));
        let Program { stream, .. } = world.program;
        let (values, ours, theirs) = (world.values(), Semaphore::new(0), Semaphore::new(0));
        let mut expected = values.start();
        for turn in 1..=3_u32 {
            let now = u64::from(turn);
            world.export(&[ours.at(now)], stream, UNSUBMITTED).expect("exported");
            world.launch(&values, stream, 3, turn);
            let name = ExternalStream::from_raw(stream as u64);
            // SAFETY: a live stream.
            let imported = unsafe { world.queue(0).import_timepoint(&[], &[theirs.at(now)], name) };
            imported.expect("imported");
            world.dispatch_on(&world.queue(1), &values, &[theirs.at(now - 1)], &[ours.at(now)], 5, turn);
            expected.iter_mut().for_each(|value| *value = (*value * 5 + turn) * 3 + turn);
        }
        world.program.synchronize(stream);
        assert_eq!(world.read(&values), expected, "seed {seed}");
    }
}

#[test]
fn a_stream_may_wait_for_the_host() {
    for options in ["?hardware_queues=0", "?seed=4&hardware_queues=0"] {
        let world = World::new(options);
        let Program { stream, .. } = world.program;
        let (values, done) = (world.values(), Semaphore::new(0));
        world.export(&[done.at(1), done.at(2)], stream, UNSUBMITTED).expect("exported");
        world.launch(&values, stream, 3, 1);
        done.signal(1).expect("the payload grows");
        assert!(!world.program.is_idle(stream), "one of two points is reached");
        done.signal(2).expect("the payload grows");
        world.program.synchronize(stream);
        assert_eq!(world.read(&values), values.start().iter().map(|value| value * 3 + 1).collect::<Vec<_>>());
    }
}

#[test]
fn a_failed_point_does_not_hold_the_stream() {
    for options in ["?hardware_queues=0", "?seed=2&hardware_queues=0"] {
        let world = World::new(options);
        let Program { stream, .. } = world.program;
        let (values, done) = (world.values(), Semaphore::new(0));
        world.export(&[done.at(1)], stream, UNSUBMITTED).expect("exported");
        world.launch(&values, stream, 3, 1);
        assert!(!world.program.is_idle(stream), "nothing signals");
        done.fail(windlass_hal::Error::aborted("on purpose"));
        world.program.synchronize(stream);
        refused(world.export(&[done.at(2)], stream, UNSUBMITTED), Code::Aborted, "on purpose");
        assert!(world.program.is_idle(stream));
    }
}

#[test]
fn a_fault_before_the_point_does_not_hold_the_stream() {
    for options in seeds(10) {
        let world = World::new(&options);
        let Program { stream, .. } = world.program;
        let (values, done) = (world.values(), Semaphore::new(0));
        world.fault(&[], &[done.at(1)]);
        // The fault may have come first.
        if let Err(error) = world.export(&[done.at(1)], stream, NONE) {
            assert_eq!(error.code(), Code::Aborted, "{error}");
        }
        world.launch(&values, stream, 3, 1);
        world.program.synchronize(stream);
        let error = done.wait_blocking(1, SOON).expect_err("a fault");
        assert!(error.to_string().contains("write_at"), "{error}");
    }
}

#[test]
fn a_fault_of_the_other_program_fails_the_signals() {
    for options in seeds(10) {
        let world = World::new(&options);
        let Program { stream, .. } = world.program;
        let done = Semaphore::new(0);
        world.fault_in(stream);
        world.import(&[], &[done.at(1)], ExternalStream::from_raw(stream as u64)).expect("imported");
        let error = done.wait_blocking(1, SOON).expect_err("a fault of the other program");
        assert!(error.to_string().contains("write_at"), "{options}: {error}");
        // The device goes on.
        let (values, done) = (world.values(), Semaphore::new(0));
        world.dispatch(&values, &[], &[done.at(1)], 1, 1);
        reached(&done.at(1));
    }
}

#[test]
fn a_closed_device_does_not_hold_the_stream() {
    let mut world = World::new("?hardware_queues=0");
    let Program { stream, .. } = world.program;
    let done = Semaphore::new(0);
    world.export(&[done.at(1)], stream, UNSUBMITTED).expect("exported");
    assert!(!world.program.is_idle(stream), "nothing signals");
    world.close();
    world.program.synchronize(stream);
}

#[test]
fn a_stream_that_is_captured_is_refused_and_its_capture_goes_on() {
    for options in ["", "?hip=5.2"] {
        let world = World::new(options);
        let stream = world.program.stream();
        let (values, done) = (world.values(), Semaphore::new(0));
        world.dispatch(&values, &[], &[done.at(1)], 1, 1);
        let mode = hipStreamCaptureMode::hipStreamCaptureModeThreadLocal;
        hip!(world, hipStreamBeginCapture(stream, mode));
        let name = ExternalStream::from_raw(stream as u64);
        refused(world.import(&[], &[done.at(2)], name), Code::FailedPrecondition, "end the capture first");
        refused(world.export(&[done.at(1)], stream, NONE), Code::FailedPrecondition, "end the capture first");
        let mut graph = std::ptr::null_mut();
        hip!(world, hipStreamEndCapture(stream, &mut graph));
        let mut nodes = 1;
        hip!(world, hipGraphGetNodes(graph, std::ptr::null_mut(), &mut nodes));
        assert_eq!(nodes, 0, "nothing was added");
        reached(&done.at(1));
    }
}

#[test]
fn a_wrong_handle_is_an_error_of_the_call_alone() {
    for options in ["", "?hip=5.2", "?hip=7.1"] {
        let world = World::new(options);
        let (values, done) = (world.values(), Semaphore::new(0));
        let (stream, event) = (world.program.stream(), world.program.event());
        hip!(world, hipStreamDestroy(stream));
        hip!(world, hipEventDestroy(event));
        for handle in [stream as u64, 0x1234_5678] {
            let name = ExternalStream::from_raw(handle);
            refused(world.import(&[], &[done.at(1)], name), Code::InvalidArgument, "is not live");
            refused(world.export(&[], handle as hipStream_t, NONE), Code::InvalidArgument, "is not live");
        }
        let event = ExternalEvent::from_raw(event as u64);
        refused(world.import(&[], &[done.at(1)], event), Code::InvalidArgument, "is not live");
        let null = ExternalEvent::from_raw(0);
        refused(world.import(&[], &[done.at(1)], null), Code::InvalidArgument, "no event");
        let flags = ExportFlags(2);
        refused(world.export(&[], world.program.stream, flags), Code::InvalidArgument, "unknown bits");
        assert_eq!(hip_status!(world, hipGetLastError()), hipError_t::hipSuccess, "{options}");
        world.dispatch(&values, &[], &[done.at(1)], 1, 1);
        reached(&done.at(1));
    }
}

/// As a tensor of another library does: its memory goes with its last owner.
struct Tensor {
    world: Arc<World>,
    pointer: usize,
    frees: Arc<AtomicU32>,
}

impl Drop for Tensor {
    fn drop(&mut self) {
        self.frees.fetch_add(1, SeqCst);
        let world = &self.world;
        hip!(world, hipFree(self.pointer as *mut std::ffi::c_void));
    }
}

#[test]
fn imported_memory_lives_until_the_last_work_although_its_owner_lets_go_first() {
    for options in seeds(10) {
        let world = Arc::new(World::new(&options));
        let Program { stream, .. } = world.program;
        let (frees, done) = (Arc::new(AtomicU32::new(0)), Semaphore::new(0));
        let pointer = world.program.malloc(256);
        let tensor =
            Arc::new(Tensor { world: world.clone(), pointer: pointer as usize, frees: frees.clone() });
        hip!(world, hipMemsetD32Async(pointer, 3, 64, stream));
        let values = world.lend(pointer, 64, tensor.clone());
        world.import(&[], &[done.at(1)], ExternalStream::from_raw(stream as u64)).expect("imported");
        world.dispatch(&values, &[done.at(1)], &[done.at(2)], 5, 7);
        let result = world.download(&[done.at(2)], &values);
        drop((tensor, values));
        assert_eq!(frees.load(SeqCst), 0, "{options}: work in flight uses the memory");
        assert_eq!(pollster::block_on(result).expect("downloaded"), [22, 0, 0, 0].repeat(64), "{options}");
        eventually("the tensor is freed", || {
            world.device().poll();
            frees.load(SeqCst) == 1
        });
    }
}

/// Each call that the driver makes on this thread fails in turn, but for questions about events: a device that cannot be
/// asked is lost.
#[test]
fn a_call_of_hip_that_fails_is_an_error_of_the_call_and_holds_nobody() {
    let mut failures = 0;
    for place in 0..100_u32 {
        let world = World::new("?hardware_queues=0");
        let Program { stream, .. } = world.program;
        let (values, done, later) = (world.values(), Semaphore::new(0), Semaphore::new(0));
        let (event, begin) = (world.program.event(), world.program.word());
        hip!(world, hipStreamWaitValue64(stream, begin.0, 1, hipStreamWaitValueGte, u64::MAX));
        hip!(world, hipEventRecord(event, stream));
        world.dispatch(&values, &[], &[done.at(1)], 1, 1);
        let (calls, own, failed) =
            (AtomicU32::new(0), std::thread::current().id(), Arc::new(AtomicU32::new(0)));
        let fails = failed.clone();
        world.interposer.on_call(move |call| {
            let here = std::thread::current().id() == own && call.name != "hipEventQuery";
            let here = here && calls.fetch_add(1, SeqCst) == place;
            here.then(|| {
                fails.store(1, SeqCst);
                hipError_t::hipErrorOutOfMemory
            })
        });
        let results = [
            world.import(&[], &[Semaphore::new(0).at(1)], ExternalStream::from_raw(stream as u64)),
            world.import(&[], &[Semaphore::new(0).at(1)], ExternalEvent::from_raw(event as u64)),
            world.export(&[done.at(1)], stream, NONE),
            world.export(&[later.at(1)], stream, UNSUBMITTED),
        ];
        world.interposer.pass();
        for error in results.into_iter().filter_map(Result::err) {
            let code = error.code();
            // Where a question about memory fails, the device is taken not to wait for memory.
            assert!(
                matches!(code, Code::ResourceExhausted | Code::FailedPrecondition),
                "call {place}: {error}"
            );
        }
        begin.set(1);
        later.signal(1).expect("the payload grows");
        world.program.synchronize(stream);
        world.dispatch(&values, &[], &[later.at(2)], 1, 1);
        reached(&later.at(2));
        if failed.load(SeqCst) == 0 {
            break;
        }
        failures += 1;
    }
    assert!((10..100).contains(&failures), "{failures} calls");
}

#[test]
fn a_device_that_ends_gives_everything_back() {
    let world = World::new("?hardware_queues=0");
    let Program { stream, .. } = world.program;
    let (event, begin, done) = (world.program.event(), world.program.word(), Semaphore::new(0));
    hip!(world, hipStreamWaitValue64(stream, begin.0, 1, hipStreamWaitValueGte, u64::MAX));
    hip!(world, hipEventRecord(event, stream));
    world.import(&[], &[done.at(1)], ExternalStream::from_raw(stream as u64)).expect("imported");
    world.import(&[], &[done.at(1)], ExternalEvent::from_raw(event as u64)).expect("imported");
    world.import(&[done.at(9)], &[done.at(2)], ExternalEvent::from_raw(event as u64)).expect("imported");
    world.export(&[done.at(9)], stream, UNSUBMITTED).expect("exported");
    world.export(&[done.at(1)], stream, NONE).expect("exported");
    let interposer = world.interposer.clone();
    let program = world.end();
    begin.set(1);
    program.synchronize(stream);
    eventually("everything is given back", || interposer.live().is_empty());
}

#[test]
fn words_and_events_serve_again() {
    let world = World::new("?hardware_queues=0");
    let Program { stream, .. } = world.program;
    let done = Semaphore::new(0);
    let mut free = (0, 0);
    for turn in 1..=200 {
        world.export(&[done.at(turn)], stream, UNSUBMITTED).expect("exported");
        done.signal(turn).expect("the payload grows");
        world.program.synchronize(stream);
        let now = world.program.free_memory();
        match turn {
            1 => free.0 = now,
            _ => free.1 = now,
        }
    }
    assert_eq!(free.0, free.1, "free bytes after the first export and after the last");
}
