// SPDX-License-Identifier: MIT OR Apache-2.0
//! Channels over the simulated RCCL, where calls of HIP or of RCCL fail, or RCCL is an older one.

mod front;
mod profiles;

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, Ordering::SeqCst},
    },
    time::Duration,
};

use front::Front;
use windlass_hal::{
    Buffer, BufferParams, BufferRef, Channel, ChannelParams, Code, Collective, Device, ElementType, Point,
    Queue, QueueAffinity, Reduction, Registry, Result, Semaphore,
};
use windlass_hip_sys::{
    bindings::hipError_t,
    interposer::Interposer,
    rccl::{Functions, ncclResult_t},
};
use windlass_simulator::Simulator;

use crate::common::{SOON, eventually};

const U8: ElementType = ElementType::Uint8;

/// A device of all GPUs of a simulated machine, and the calls of HIP that its driver makes.
struct World {
    interposer: Arc<Interposer>,
    device: Device,
    /// The communicators that were joined and not given up.
    lives: Arc<AtomicI64>,
}

impl World {
    fn new(options: &str) -> Self {
        Self::with(options, |_| None, |_| {})
    }

    /// `rule` hears each call of RCCL, and may make it fail. `change` removes functions of RCCL.
    fn with(
        options: &str,
        rule: impl Fn(&'static str) -> Option<ncclResult_t> + Send + Sync + 'static,
        change: impl FnOnce(&mut Functions),
    ) -> Self {
        let simulator = Simulator::new(options.parse().expect("options")).expect("a machine");
        let api = simulator.api();
        let (rccl, lives) = Front::rccl(api.rccl().expect("it has one").clone(), Box::new(rule), change);
        let interposer = Interposer::new(api);
        let api = interposer.api().with_rccl(rccl);
        let mut registry = Registry::new();
        registry.register(windlass_hip::Driver::new("test", windlass_hip::table(api)));
        let device = registry.open("test://all").expect("the simulated HIP opens");
        Self { interposer, device, lives }
    }

    fn affinity(&self, rank: u32) -> QueueAffinity {
        self.device.limits().physical_affinity(rank).expect("a GPU for each rank")
    }

    fn queue(&self, rank: u32) -> Queue {
        self.device.queue_of(self.affinity(rank)).expect("queues")
    }

    fn channels(&self, count: u32) -> Result<Vec<Channel>> {
        self.channels_with(count, SOON)
    }

    /// Ranks that wait so long for each other.
    fn channels_with(&self, count: u32, timeout: Duration) -> Result<Vec<Channel>> {
        let id = self.device.channel_id()?;
        (0..count)
            .map(|rank| {
                let params = ChannelParams::new(id, rank, count).with_affinity(self.affinity(rank));
                // SAFETY: the ranks of a test submit groups that fit.
                unsafe { self.device.create_channel(&params.with_timeout(timeout)) }
            })
            .collect()
    }

    /// Memory near a rank, of which each byte has this value.
    fn bytes(&self, rank: u32, length: u64, value: u8) -> Buffer {
        let params = BufferParams::device().with_queue_affinity(self.affinity(rank));
        let buffer = self.device.allocate(&params, length).expect("memory");
        let done = Semaphore::new(0);
        self.queue(rank).fill(&[], &[done.at(1)], &buffer, value).expect("submits");
        done.wait_blocking(1, SOON).expect("completes");
        buffer
    }

    /// Memory near the first rank, without contents.
    fn bytes_of_nobody(&self) -> Buffer {
        let params = BufferParams::device().with_queue_affinity(self.affinity(0));
        self.device.allocate(&params, 64).expect("memory")
    }

    fn download(&self, rank: u32, buffer: &Buffer) -> Vec<u8> {
        pollster::block_on(self.queue(rank).download(&[], buffer).expect("submits")).expect("completes")
    }

    fn used(&self) -> u64 {
        self.device.statistics().device_bytes_used
    }
}

fn sum(data: &Buffer) -> [Collective; 1] {
    [Collective::all_reduce(Reduction::Sum, U8, data, data)]
}

/// Submits a group that sums in place, by a queue or in a command buffer.
fn submit_sum(world: &World, is_recorded: bool, rank: u32, channel: &Channel, data: &Buffer, end: &Point) {
    let (queue, ends) = (world.queue(rank), std::slice::from_ref(end));
    if !is_recorded {
        return queue.collective(&[], ends, channel, &sum(data)).expect("submits");
    }
    let mut recorder = world.device.record().expect("recorder");
    let data = BufferRef::from(data);
    let sum = Collective::all_reduce(Reduction::Sum, U8, &data, &data);
    recorder.collective(channel, &[sum]).expect("records");
    queue.execute(&[], ends, &recorder.finish().expect("finishes"), Vec::new()).expect("submits");
}

#[test]
fn a_group_that_its_queue_does_not_wait_for_fails_its_signals_behind_its_end() {
    for (is_recorded, name) in [(false, "queue_collective"), (true, "queue_execute")] {
        let world = World::new("gfx942?devices=2&memory=64M");
        let channels = world.channels(2).expect("simulated RCCL");
        let [first, second] = [world.bytes(0, 4096, 1), world.bytes(1, 4096, 2)];
        let (failed, done) = (Semaphore::new(0), Semaphore::new(0));
        let before = world.interposer.count("hipEventRecord");
        world.interposer.fail("hipStreamWaitEvent", 1, hipError_t::hipErrorInvalidValue);
        submit_sum(&world, is_recorded, 0, &channels[0], &first, &failed.at(1));
        // The start and the end of the group, and the end of its piece.
        eventually("it is in its stream", || world.interposer.count("hipEventRecord") >= before + 3);
        world.device.poll();
        assert_eq!(failed.query().expect("RCCL still uses the memory"), 0, "{name}");
        let used = world.used();
        drop(first);
        assert_eq!(world.used(), used, "{name}: the memory was given up, and RCCL may write it");
        submit_sum(&world, false, 1, &channels[1], &second, &done.at(1));
        done.wait_blocking(1, SOON).expect("the other rank knows nothing of it");
        let error = failed.wait_blocking(1, SOON).expect_err("its queue cannot wait for it").to_string();
        assert!(error.contains("hipStreamWaitEvent") && error.contains(name), "{error}");
        assert_eq!(world.download(1, &second), [3; 4096]);
        eventually("the memory is given up at last", || world.used() + 4096 <= used);
    }
}

#[test]
fn recorded_groups_that_cannot_start_fail_the_submission_and_what_follows_them_does_not_run() {
    let rule = |call: &'static str| (call == "ncclAllReduce").then_some(ncclResult_t::ncclInternalError);
    let world = World::with("gfx942?memory=64M", rule, |_| {});
    let channel = &world.channels(1).expect("simulated RCCL")[0];
    let (data, after) = (world.bytes(0, 64, 1), world.bytes(0, 64, 5));
    let mut recorder = world.device.record().expect("recorder");
    let range = BufferRef::from(&data);
    let sum = Collective::all_reduce(Reduction::Sum, U8, &range, &range);
    recorder.collective(channel, &[sum]).expect("records");
    recorder.barrier();
    recorder.fill(&after, 9_u8).expect("records");
    let (commands, done) = (recorder.finish().expect("finishes"), Semaphore::new(0));
    world.queue(0).execute(&[], &[done.at(1)], &commands, Vec::new()).expect("submits");
    let error = done.wait_blocking(1, SOON).expect_err("it cannot start").to_string();
    assert!(error.contains("ncclAllReduce") && error.contains("queue_execute"), "{error}");
    assert_eq!(world.download(0, &after), [5; 64]);
}

/// HIP 5 never ends some short fills: `Quirks::fills_run_away`.
#[test]
fn zeros_of_a_few_bytes_are_no_fill_where_hip_gets_that_wrong() {
    for (hip, fills) in [("5.2", 0), ("7.1", 1)] {
        let world = World::new(&format!("gfx942?memory=64M&hip={hip}"));
        let channel = &world.channels(1).expect("simulated RCCL")[0];
        let (source, target) = (world.bytes(0, 16, 7), world.bytes(0, 16, 9));
        let done = Semaphore::new(0);
        let before = world.interposer.count("hipMemsetD8Async");
        let part = |buffer: &Buffer| buffer.subspan(1, 2).expect("it is within");
        let zeros = [Collective::send_recv(None, None, U8, &part(&source), &part(&target))];
        world.queue(0).collective(&[], &[done.at(1)], channel, &zeros).expect("submits");
        done.wait_blocking(1, SOON).expect("completes");
        assert_eq!(world.interposer.count("hipMemsetD8Async") - before, fills, "HIP {hip}");
        let mut recorder = world.device.record().expect("recorder");
        let recorded =
            |buffer: &Buffer, offset| BufferRef::from(buffer.subspan(offset, 2).expect("it is within"));
        let zeros = Collective::send_recv(None, None, U8, &recorded(&source, 1), &recorded(&target, 5));
        recorder.collective(channel, &[zeros]).expect("records");
        let (commands, queue) = (recorder.finish().expect("finishes"), world.queue(0));
        queue.execute(&[done.at(1)], &[done.at(2)], &commands, Vec::new()).expect("submits");
        done.wait_blocking(2, SOON).expect("completes");
        assert_eq!(world.interposer.count("hipMemsetD8Async") - before, 2 * fills, "HIP {hip}");
        let bytes = world.download(0, &target);
        let zeroed = [9, 0, 0, 9, 9, 0, 0, 9];
        assert_eq!((&bytes[..8], &bytes[8..]), (&zeroed[..], &[9; 8][..]), "HIP {hip}");
    }
}

/// A part of the group may be launched until the abort, which waits for RCCL's threads.
#[test]
fn a_group_that_cannot_start_is_aborted_before_its_end_is_recorded() {
    let log: Arc<Mutex<Vec<&str>>> = Arc::default();
    let note = |log: &Mutex<Vec<&'static str>>, what| {
        log.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    };
    let of_rccl = log.clone();
    let rule = move |call: &'static str| {
        if call == "ncclCommAbort" {
            note(&of_rccl, call);
        }
        (call == "ncclAllReduce").then_some(ncclResult_t::ncclInternalError)
    };
    let world = World::with("gfx942?memory=64M", rule, |_| {});
    let channel = &world.channels(1).expect("simulated RCCL")[0];
    let data = world.bytes(0, 64, 1);
    let of_hip = log.clone();
    world.interposer.on_call(move |call| {
        if call.name == "hipEventRecord" {
            note(&of_hip, call.name);
        }
        None
    });
    let done = Semaphore::new(0);
    world.queue(0).collective(&[], &[done.at(1)], channel, &sum(&data)).expect("submits");
    let error = done.wait_blocking(1, SOON).expect_err("it cannot start").to_string();
    assert!(error.contains("ncclAllReduce") && error.contains("all_reduce"), "{error}");
    let log = log.lock().unwrap_or_else(PoisonError::into_inner);
    // The start, the abort, the end; then the queue's own.
    assert_eq!(log[..3], ["hipEventRecord", "ncclCommAbort", "hipEventRecord"]);
}

#[test]
fn an_rccl_without_splits_says_so_at_once_and_its_channels_go_on() {
    let world = World::with("gfx942?memory=64M", |_| None, |functions| functions.ncclCommSplit = None);
    let channel = &world.channels(1).expect("simulated RCCL")[0];
    for refused in [channel.split(0, 0, 1).map(drop), channel.sit_out()] {
        let error = refused.expect_err("it has no splits");
        assert_eq!(error.code(), Code::Unavailable, "{error}");
        let told = ["lacks ncclCommSplit", "RCCL 2.18", "an id of its own"];
        assert!(told.iter().all(|words| error.to_string().contains(words)), "{error}");
    }
    let (data, done) = (world.bytes(0, 64, 1), Semaphore::new(0));
    world.queue(0).collective(&[], &[done.at(1)], channel, &sum(&data)).expect("submits");
    done.wait_blocking(1, SOON).expect("the channel goes on");
}

#[test]
fn an_rccl_without_configurations_says_so_at_once() {
    let without = |functions: &mut Functions| functions.ncclCommInitRankConfig = None;
    let world = World::with("gfx942?memory=64M", |_| None, without);
    let error = world.channels(1).expect_err("it would block");
    assert_eq!(error.code(), Code::Unavailable, "{error}");
    let told = ["lacks ncclCommInitRankConfig", "install RCCL 2.14"];
    assert!(told.iter().all(|words| error.to_string().contains(words)), "{error}");
}

/// Two ranks join, sum and leave. Returns the outcomes of the groups.
fn join_and_sum(world: &World, data: &[Buffer; 2], timeout: Duration) -> [Result<()>; 2] {
    let done = [Semaphore::new(0), Semaphore::new(0)];
    match world.channels_with(2, timeout) {
        Ok(channels) => {
            for (rank, channel) in channels.iter().enumerate() {
                let sum = sum(&data[rank]);
                let queue = world.queue(rank as u32);
                if let Err(error) = queue.collective(&[], &[done[rank].at(1)], channel, &sum) {
                    done[rank].fail(error);
                }
            }
        }
        Err(error) => done.iter().for_each(|done| done.fail(error.clone())),
    }
    done.map(|done| done.wait_blocking(1, SOON))
}

#[test]
fn a_group_whose_end_is_not_recorded_leaves_no_work_behind() {
    const LENGTH: u64 = 64 << 20;
    let world = World::new("gfx942?memory=512M");
    let channels = world.channels(1).expect("simulated RCCL");
    let [source, target] = [world.bytes(0, LENGTH, 1), world.bytes(0, LENGTH, 2)];
    let filled = Semaphore::new(0);
    // The first record is that of the start. A target that receives from nobody is filled with zeros before the second.
    world.interposer.fail("hipEventRecord", 2, hipError_t::hipErrorInvalidValue);
    let operation = Collective::send_recv(None, None, U8, &source, &target);
    world.queue(0).collective(&[], &[filled.at(1)], &channels[0], &[operation]).expect("submits");
    filled.wait_blocking(1, SOON).expect_err("its end is not recorded");
    world.interposer.pass();
    assert!(world.download(0, &target).iter().all(|byte| *byte == 0), "the fill ran on behind the failure");
}

#[test]
fn whichever_call_of_hip_fails_both_ranks_end_and_nothing_leaks() {
    let world = World::new("gfx942?devices=2&memory=64M");
    let data = [world.bytes(0, 64, 1), world.bytes(1, 64, 2)];
    let before = world.interposer.calls();
    for outcome in join_and_sum(&world, &data, SOON) {
        outcome.expect("no call fails");
    }
    let earlier = |name| before.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| *count);
    let calls = world.interposer.calls().into_iter().map(|(name, count)| (name, count - earlier(name)));
    let may_fail =
        |(name, count): &(&str, u64)| *count > 0 && !name.contains("Destroy") && !name.contains("LastError");
    let calls: Vec<_> = calls.filter(may_fail).collect();
    assert!(calls.iter().any(|(name, _)| *name == "hipEventRecord"), "{calls:?}");
    for (name, count) in calls {
        for nth in 1..=count.min(8) {
            let world = World::new("gfx942?devices=2&memory=64M");
            let data = [world.bytes(0, 64, 1), world.bytes(1, 64, 2)];
            world.interposer.fail(name, nth, hipError_t::hipErrorInvalidValue);
            // A rank that cannot join is waited for.
            for outcome in join_and_sum(&world, &data, Duration::from_millis(300)) {
                let code = outcome.err().map(|error| error.code());
                assert_ne!(code, Some(Code::DeadlineExceeded), "hangs after call {nth} of {name}");
            }
            // A device that cannot ask an event is lost, and gives nothing back.
            let is_lost = ["hipEventQuery", "hipEventSynchronize"].contains(&name);
            let interposer = world.interposer.clone();
            drop((data, world));
            let is_empty = || is_lost || interposer.live().is_empty();
            eventually(&format!("all is given back after call {nth} of {name}"), is_empty);
        }
    }
}

#[test]
fn whichever_call_of_rccl_fails_both_ranks_end_and_leave() {
    type Seen = Mutex<BTreeMap<&'static str, u64>>;
    let world = |seen: &Arc<Seen>, fails: Option<(&'static str, u64)>| {
        let seen = seen.clone();
        let rule = move |call: &'static str| {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            let nth = seen.entry(call).or_default();
            *nth += 1;
            (fails == Some((call, *nth))).then_some(ncclResult_t::ncclInternalError)
        };
        World::with("gfx942?devices=2&memory=64M", rule, |_| {})
    };
    let seen: Arc<Seen> = Arc::default();
    let good = world(&seen, None);
    let data = [good.bytes(0, 64, 1), good.bytes(1, 64, 2)];
    for outcome in join_and_sum(&good, &data, SOON) {
        outcome.expect("no call fails");
    }
    eventually("both leave", || good.lives.load(SeqCst) == 0);
    let calls = seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
    // The group of a thread stays open if its end is not called at all.
    let left_out = ["ncclCommAbort", "ncclCommDestroy", "ncclGroupEnd"];
    for (name, count) in calls.into_iter().filter(|(name, _)| !left_out.contains(name)) {
        for nth in 1..=count.min(6) {
            let world = world(&Arc::default(), Some((name, nth)));
            let data = [world.bytes(0, 64, 1), world.bytes(1, 64, 2)];
            for outcome in join_and_sum(&world, &data, Duration::from_millis(300)) {
                let code = outcome.err().map(|error| error.code());
                assert_ne!(code, Some(Code::DeadlineExceeded), "hangs after call {nth} of {name}");
            }
            eventually(&format!("both leave after call {nth} of {name}"), || world.lives.load(SeqCst) == 0);
        }
    }
}
