// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs under a seed: an error of a program is found within a few seeds, a correct program gives the same
//! result under all of them, and a run can be repeated.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::CStr;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use crate::common::{Block, Machine, signal};
use windlass_hip_sys::bindings::*;

const RACES: &[u8] = include_bytes!("../schedules/races.gfx942.co");
const ORDER: &[u8] = include_bytes!("../../../cts/kernels/bundles/order.gfx942.co");

/// Seeds within which each planted error must be found.
const FEW: u64 = 32;
/// Seeds under which a correct program must give the same result.
const MANY: u64 = 64;

fn seeded(seed: u64) -> Machine {
    Machine::new(&format!("?seed={seed}"))
}

/// The first seed from 1 on under which the program gives a wrong result.
#[track_caller]
fn first_wrong<T: PartialEq>(right: &T, program: impl Fn(&Machine) -> T) -> u64 {
    let wrong = (1..=FEW).find(|seed| program(&seeded(*seed)) != *right);
    wrong.unwrap_or_else(|| panic!("not found within {FEW} seeds"))
}

/// Checks that the program gives the same result under all seeds.
#[track_caller]
fn always<T: PartialEq + std::fmt::Debug>(right: &T, program: impl Fn(&Machine) -> T) {
    for seed in 1..=MANY {
        assert_eq!(program(&seeded(seed)), *right, "seed {seed}");
    }
}

fn launch(
    machine: &Machine,
    function: hipFunction_t,
    grid: u32,
    block: u32,
    stream: hipStream_t,
    args: Block,
) {
    assert_eq!(machine.launch(function, grid, block, stream, &args.done()), hipError_t::hipSuccess);
}

/// Two streams multiply and add to the same words. The second waits for the first only if an event orders
/// them.
fn two_streams(machine: &Machine, edge: bool) -> Vec<u32> {
    let module = machine.load(ORDER);
    let function = machine.function(module, c"multiply_add");
    let words = machine.upload(&[1_u32; 128]);
    let (first, second, event) = (machine.stream(), machine.stream(), machine.event());
    let args = |factor| Block::default().pointer(words).u32(128).u32(factor).u32(1);
    launch(machine, function, 2, 64, first, args(3));
    if edge {
        ok!(machine, hipEventRecord(event, first));
        ok!(machine, hipStreamWaitEvent(second, event, 0));
    }
    launch(machine, function, 2, 64, second, args(5));
    ok!(machine, hipDeviceSynchronize());
    machine.download(words, 128)
}

#[test]
fn a_missing_event_is_found() {
    first_wrong(&vec![21; 128], |machine| two_streams(machine, false));
    always(&vec![21; 128], |machine| two_streams(machine, true));
}

/// Copies to pinned memory and reads it there, after a synchronisation if there is one.
fn read_back(machine: &Machine, synchronize: bool) -> Vec<u32> {
    let words = machine.upload(&[7_u32; 64]);
    let mut host = null_mut();
    ok!(machine, hipHostMalloc(&mut host, 256, 0));
    // SAFETY: the allocation has 256 bytes, which no work writes yet.
    unsafe { host.write_bytes(0, 256) };
    let stream = machine.stream();
    ok!(machine, hipMemcpyAsync(host, words, 256, hipMemcpyKind::hipMemcpyDeviceToHost, stream));
    if synchronize {
        ok!(machine, hipStreamSynchronize(stream));
    }
    // SAFETY: as above; under a seed work writes only inside calls, so the host has no data race here.
    let read = unsafe { std::slice::from_raw_parts(host.cast::<u32>(), 64) }.to_vec();
    ok!(machine, hipStreamSynchronize(stream));
    read
}

#[test]
fn a_missing_synchronisation_is_found() {
    first_wrong(&vec![7; 64], |machine| read_back(machine, false));
    always(&vec![7; 64], |machine| read_back(machine, true));
}

/// Runs a kernel that takes over words, or that counts its waves.
fn run_race(machine: &Machine, name: &CStr, grid: u32, block: u32, input: bool) -> Vec<u32> {
    let function = machine.function(machine.load(RACES), name);
    let values: Vec<u32> = (100..228).collect();
    let (words, out) = (machine.upload(&values), machine.upload(&[0_u32; 128]));
    let args =
        if input { Block::default().pointer(words).pointer(out) } else { Block::default().pointer(out) };
    launch(machine, function, grid, block, null_mut(), args);
    machine.download(out, 128)
}

#[test]
fn a_missing_barrier_is_found() {
    let right: Vec<u32> = (100..164).chain(100..164).collect();
    first_wrong(&right, |machine| run_race(machine, c"hand_over_without_barrier", 1, 128, true));
    always(&right, |machine| run_race(machine, c"hand_over", 1, 128, true));
}

#[test]
fn an_update_in_two_instructions_is_found() {
    let mut right = vec![4; 4];
    right.resize(128, 0);
    first_wrong(&right, |machine| run_race(machine, c"count_in_two_steps", 4, 256, false));
    always(&right, |machine| run_race(machine, c"count", 4, 256, false));
}

#[test]
fn a_result_that_depends_on_the_order_of_workgroups_is_found() {
    let right: Vec<u32> = (0..128).map(|i| if i <= 16 { i } else { 0 }).collect();
    first_wrong(&right, |machine| run_race(machine, c"extend", 16, 64, false));
}

/// Copies from pinned memory, and overwrites that memory at once or after the copy.
fn reuse_source(machine: &Machine, wait: bool) -> Vec<u32> {
    let words = machine.malloc(256);
    let mut host = null_mut();
    ok!(machine, hipHostMalloc(&mut host, 256, 0));
    let stream = machine.stream();
    // SAFETY: the allocation has 256 bytes; under a seed work runs only inside calls.
    unsafe { host.write_bytes(1, 256) };
    ok!(machine, hipMemcpyAsync(words, host, 256, hipMemcpyKind::hipMemcpyHostToDevice, stream));
    if wait {
        ok!(machine, hipStreamSynchronize(stream));
    }
    // SAFETY: as above.
    unsafe { host.write_bytes(2, 256) };
    ok!(machine, hipStreamSynchronize(stream));
    machine.download(words, 64)
}

#[test]
fn a_source_that_is_reused_too_early_is_found() {
    first_wrong(&vec![0x0101_0101; 64], |machine| reuse_source(machine, false));
    always(&vec![0x0101_0101; 64], |machine| reuse_source(machine, true));
}

#[test]
fn others_see_half_of_a_copy() {
    let program = |machine: &Machine| {
        let (ones, twos, target) =
            (machine.upload(&[1_u8; 64]), machine.upload(&[2_u8; 64]), machine.malloc(64));
        for source in [ones, twos] {
            ok!(machine, hipMemcpyDtoDAsync(target, source, 64, machine.stream()));
        }
        ok!(machine, hipDeviceSynchronize());
        machine.download::<u8>(target, 64)
    };
    let seen: BTreeSet<_> = (1..=8 * MANY).map(|seed| program(&seeded(seed))).collect();
    let whole = seen.iter().filter(|bytes| bytes.iter().all(|byte| *byte == bytes[0])).count();
    assert!(whole == 2 && seen.len() > whole, "{seen:?}");
    // All rows are copied, each of them whole.
    always(&[1, 0, 2, 0, 3, 0].map(|byte: u8| [byte; 64]).concat(), |machine| {
        let rows = machine.upload(&[1_u8, 2, 3].map(|byte| [byte; 64]).concat());
        let target = machine.upload(&[0_u8; 384]);
        let kind = hipMemcpyKind::hipMemcpyDeviceToDevice;
        ok!(machine, hipMemcpy2DAsync(target, 128, rows, 64, 64, 3, kind, null_mut()));
        machine.download::<u8>(target, 384)
    });
    // If source and target overlap, the copy is one step.
    always(&(0..56).collect::<Vec<u8>>(), |machine| {
        let bytes = machine.upload(&(0..64).collect::<Vec<u8>>());
        ok!(machine, hipMemcpyDtoDAsync(bytes.wrapping_byte_add(8), bytes, 56, null_mut()));
        machine.download::<u8>(bytes, 64)[8..].to_vec()
    });
}

#[test]
fn work_may_run_at_once_and_may_wait_for_its_waiter() {
    let query = |seed: u64| {
        let machine = seeded(seed);
        let words = machine.malloc(256);
        let stream = machine.stream();
        ok!(machine, hipMemsetAsync(words, 1, 256, stream));
        for _ in 0..20 {
            ok!(machine, hipGetDevice(&mut 0));
        }
        let status = hip!(machine, hipStreamQuery(stream));
        ok!(machine, hipStreamSynchronize(stream));
        status
    };
    let seen: BTreeSet<u32> = (1..=FEW).map(|seed| query(seed).0).collect();
    let both = [hipError_t::hipSuccess, hipError_t::hipErrorNotReady].map(|status| status.0);
    assert_eq!(seen, BTreeSet::from(both));
}

#[test]
fn whoever_polls_comes_to_an_end() {
    always(&true, |machine| {
        let words = machine.upload(&[1_u32; 128]);
        let (stream, event) = (machine.stream(), machine.event());
        let function = machine.function(machine.load(ORDER), c"multiply_add");
        launch(machine, function, 2, 64, stream, Block::default().pointer(words).u32(128).u32(3).u32(1));
        ok!(machine, hipEventRecord(event, stream));
        while hip!(machine, hipEventQuery(event)) == hipError_t::hipErrorNotReady {}
        hip!(machine, hipStreamQuery(stream)) == hipError_t::hipSuccess
    });
}

#[test]
fn kernels_that_wait_for_each_other_come_to_an_end() {
    for seed in 1..=12 {
        let machine = &seeded(seed);
        let module = machine.load(RACES);
        let word = machine.upload(&[0_u32]);
        let (first, second) = (machine.stream(), machine.stream());
        let args = || Block::default().pointer(word).u32(1);
        launch(machine, machine.function(module, c"wait_for"), 3, 64, first, args());
        launch(machine, machine.function(module, c"tell"), 1, 1, second, args());
        ok!(machine, hipStreamSynchronize(first));
        assert_eq!(machine.download::<u32>(word, 1), [1]);
    }
}

#[test]
fn who_waits_outside_hip_is_not_left_alone() {
    for seed in 1..=8 {
        let machine = seeded(seed);
        let stream = machine.stream();
        let words = machine.malloc(256);
        ok!(machine, hipMemsetAsync(words, 1, 256, stream));
        let (send, receive) = signal();
        machine.call_on(stream, move || send.send(()).unwrap());
        receive.recv().unwrap();
        ok!(machine, hipStreamSynchronize(stream));
    }
}

/// A program with all kinds of work, on one thread.
fn all_kinds(machine: &Machine) -> Vec<u32> {
    let module = machine.load(ORDER);
    let (function, append) = (machine.function(module, c"multiply_add"), machine.function(module, c"append"));
    let (words, log) = (machine.upload(&[1_u32; 512]), machine.upload(&[0_u32; 9]));
    let streams = [machine.stream(), machine.stream(), machine.stream()];
    let event = machine.event();
    for (turn, stream) in streams.into_iter().cycle().take(6).enumerate() {
        launch(machine, append, 1, 1, stream, Block::default().pointer(log).u32(8).u32(turn as u32));
        let part = words.wrapping_byte_add(turn % 3 * 512);
        launch(machine, function, 2, 64, stream, Block::default().pointer(part).u32(128).u32(3).u32(1));
        ok!(machine, hipEventRecord(event, stream));
        ok!(machine, hipStreamWaitEvent(streams[turn % 2], event, 0));
        machine.call_on(stream, || {});
    }
    ok!(machine, hipDeviceSynchronize());
    machine.download(log, 9)
}

#[test]
fn a_seed_is_a_schedule_and_seeds_differ() {
    let runs: Vec<_> = (1..=FEW)
        .map(|seed| {
            let machine = seeded(seed);
            let log = all_kinds(&machine);
            let report = machine.simulator.schedule().unwrap();
            assert_eq!((report.seed, &report.divergence), (seed, &None));
            assert!(report.freedom > 8.0 && report.choices > 8, "{report:?}");
            (report.hash, log)
        })
        .collect();
    for (seed, run) in (1..=FEW).zip(&runs).take(8) {
        let machine = seeded(seed);
        let log = all_kinds(&machine);
        assert_eq!(machine.simulator.schedule().unwrap().hash, run.0, "seed {seed}");
        assert_eq!(log, run.1, "seed {seed}");
    }
    let hashes: BTreeSet<_> = runs.iter().map(|run| run.0).collect();
    let logs: BTreeSet<_> = runs.iter().map(|run| &run.1).collect();
    assert!(hashes.len() as u64 > FEW / 2, "{} schedules of {FEW} seeds", hashes.len());
    assert!(logs.len() > 4, "{} orders of dispatches", logs.len());
    let before = windlass_simulator::schedules();
    drop(seeded(1));
    let machine = seeded(1);
    ok!(machine, hipDeviceSynchronize());
    drop(machine);
    let after = windlass_simulator::schedules();
    assert!(after.runs > before.runs && after.distinct >= before.distinct.max(1), "{before} {after}");
}

/// Times between events on two busy streams.
fn times(machine: &Machine) -> Vec<f32> {
    let module = machine.load(ORDER);
    let function = machine.function(module, c"multiply_add");
    let words = machine.upload(&[1_u32; 512]);
    let streams = [machine.stream(), machine.stream()];
    let events: Vec<_> = (0..6).map(|_| machine.event()).collect();
    for (turn, event) in events.iter().enumerate() {
        let stream = streams[turn % 2];
        launch(machine, function, 4, 64, stream, Block::default().pointer(words).u32(256).u32(3).u32(1));
        ok!(machine, hipEventRecord(*event, stream));
    }
    ok!(machine, hipDeviceSynchronize());
    let between = |pair: &[hipEvent_t]| {
        let mut time = 0.0;
        ok!(machine, hipEventElapsedTime(&mut time, pair[0], pair[1]));
        time
    };
    events.windows(2).chain(events.windows(3).map(|three| &three[1..])).map(between).collect()
}

#[test]
fn events_tell_the_same_times_under_the_same_seed() {
    let mut differ = BTreeSet::new();
    for seed in 1..=8 {
        let told = times(&seeded(seed));
        assert_eq!(times(&seeded(seed)), told, "seed {seed}");
        // A kernel of several waves lies between.
        assert!(told.iter().all(|time| time.abs() >= 0.001), "{told:?}");
        differ.insert(format!("{told:?}"));
    }
    assert!(differ.len() > 2, "{differ:?}");
}

#[test]
fn logs_of_one_name_do_not_overwrite_each_other() {
    let path = scratch("one-name");
    let numbered = |number: u32| std::path::PathBuf::from(format!("{}.{number}", path.display()));
    std::fs::write(&path, "of an earlier run").unwrap();
    let open = |seed| Machine::new(&format!("?seed={seed}&record={}", path.display()));
    let (first, second) = (open(1), open(2));
    all_kinds(&second);
    all_kinds(&first);
    let hashes = [&first, &second].map(|machine| machine.simulator.schedule().unwrap().hash);
    drop((first, second));
    let third = open(3);
    drop(third);
    // In the order in which they began; the last one has the plain name.
    for (log, hash) in [numbered(1), numbered(2)].iter().zip(hashes) {
        let replayed = Machine::new(&format!("?replay={}", log.display()));
        all_kinds(&replayed);
        let report = replayed.simulator.schedule().unwrap();
        assert_eq!((report.hash, report.divergence), (hash, None));
    }
    assert!(std::fs::read_to_string(&path).unwrap().ends_with("seed 3\n"));
    assert!(!numbered(3).exists());
    for path in [path.clone(), numbered(1), numbered(2)] {
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn without_a_seed_there_is_no_schedule() {
    let machine = Machine::new("");
    ok!(machine, hipDeviceSynchronize());
    assert!(machine.simulator.schedule().is_none());
}

fn scratch(name: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("windlass-{}-{name}", std::process::id()))
}

#[test]
fn a_log_is_replayed() {
    for seed in 1..=4 {
        let path = scratch(&format!("one-thread-{seed}"));
        let recorded = Machine::new(&format!("?seed={seed}&record={}", path.display()));
        let log = all_kinds(&recorded);
        let hash = recorded.simulator.schedule().unwrap().hash;
        drop(recorded);
        let replayed = Machine::new(&format!("?replay={}", path.display()));
        assert_eq!(all_kinds(&replayed), log);
        let report = replayed.simulator.schedule().unwrap();
        assert_eq!((report.seed, report.hash, report.divergence), (seed, hash, None));
        std::fs::remove_file(path).unwrap();
    }
}

/// Four threads that append to one log, each on a stream of its own.
fn four_threads(machine: &Machine) -> Vec<u32> {
    let append = machine.function(machine.load(ORDER), c"append");
    let log = machine.upload(&[0_u32; 17]);
    let (log_address, append_address) = (log as usize, append as usize);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                let (log, append) = (log_address as *mut _, append_address as *mut _);
                let stream = machine.stream();
                for turn in 0..4 {
                    let args = Block::default().pointer(log).u32(16).u32(10 * thread + turn);
                    launch(machine, append, 1, 1, stream, args);
                }
                ok!(machine, hipStreamSynchronize(stream));
            });
        }
    });
    machine.download(log, 17)
}

#[test]
fn the_order_of_threads_is_replayed() {
    for seed in 1..=6 {
        let path = scratch(&format!("threads-{seed}"));
        let recorded = Machine::new(&format!("?seed={seed}&record={}", path.display()));
        let log = four_threads(&recorded);
        let hash = recorded.simulator.schedule().unwrap().hash;
        drop(recorded);
        let replayed = Machine::new(&format!("?replay={}", path.display()));
        let again = four_threads(&replayed);
        let report = replayed.simulator.schedule().unwrap();
        assert_eq!(report.divergence, None);
        // The numbers of the threads are unknown, so the values may be permuted by thread; their order is the
        // same.
        let shape = |log: &[u32]| log.iter().skip(1).map(|value| value % 10).collect::<Vec<_>>();
        assert_eq!((shape(&again), report.hash), (shape(&log), hash), "seed {seed}");
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_replay_of_another_program_says_where_it_differs() {
    let path = scratch("another");
    let recorded = Machine::new(&format!("?seed=3&record={}", path.display()));
    all_kinds(&recorded);
    drop(recorded);
    let replayed = Machine::new(&format!("?replay={}", path.display()));
    // The beginning is the same.
    machine_prefix(&replayed);
    ok!(replayed, hipDeviceSynchronize());
    let divergence = replayed.simulator.schedule().unwrap().divergence.unwrap();
    assert!(divergence.contains("line") && divergence.contains("hipDeviceSynchronize"), "{divergence}");
    assert_eq!(all_kinds(&replayed)[0], 6, "it goes on by its seed");
    std::fs::remove_file(path).unwrap();
}

fn machine_prefix(machine: &Machine) {
    let module = machine.load(ORDER);
    machine.function(module, c"multiply_add");
}

#[test]
fn logs_that_cannot_be_used_are_refused() {
    let path = scratch("refused");
    let open =
        |text: String| windlass_simulator::Simulator::new(text.parse().unwrap()).unwrap_err().to_string();
    let missing = open(format!("?replay={}", path.display()));
    assert!(missing.contains("replay="), "{missing}");
    std::fs::write(&path, "windlass schedule 1 seed 3\ncall 0 hipInit\nnonsense\n").unwrap();
    let nonsense = open(format!("?replay={}", path.display()));
    assert!(nonsense.contains("line 3"), "{nonsense}");
    std::fs::write(&path, "else\n").unwrap();
    let other = open(format!("?replay={}", path.display()));
    assert!(other.contains("first line"), "{other}");
    let nowhere = open("?seed=1&record=/no/such/folder/log".to_owned());
    assert!(nowhere.contains("record="), "{nowhere}");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn an_injected_delay_lets_everything_else_run_first() {
    for seed in 1..=FEW {
        let machine = Machine::new(&format!("?seed={seed}&delay=hipStreamGetFlags:600s"));
        let stream = machine.stream();
        let words = machine.malloc(256);
        ok!(machine, hipMemsetAsync(words, 1, 256, stream));
        ok!(machine, hipStreamGetFlags(stream, &mut 0));
        ok!(machine, hipStreamQuery(stream));
    }
}

/// Under a seed the client's thread runs the kernels, also while it ends, when the simulator's thread-local
/// data is gone.
#[test]
fn kernels_run_while_a_thread_ends() {
    type Task = (Arc<Machine>, Sender<Vec<u32>>);

    struct AtThreadEnd(RefCell<Option<Task>>);

    impl Drop for AtThreadEnd {
        fn drop(&mut self) {
            let (machine, result) = self.0.take().expect("set by the thread");
            result.send(multiplied(&machine)).expect("the test waits");
        }
    }

    thread_local! {
        static LAST: AtThreadEnd = const { AtThreadEnd(RefCell::new(None)) };
    }

    fn multiplied(machine: &Machine) -> Vec<u32> {
        let stream = machine.stream();
        let words = machine.upload(&[1_u32; 128]);
        let function = machine.function(machine.load(ORDER), c"multiply_add");
        let args = Block::default().pointer(words).u32(128).u32(3).u32(4);
        launch(machine, function, 2, 64, stream, args);
        ok!(machine, hipStreamSynchronize(stream));
        machine.download(words, 128)
    }

    let machine = Arc::new(Machine::new("?seed=1"));
    let (sender, receiver) = channel();
    // Not joined: the thread may wait for the turn of the joining thread.
    std::thread::spawn(move || {
        // Created before the simulator's thread-local data, and so destroyed after it.
        LAST.with(|last| last.0.replace(Some((machine.clone(), sender))));
        multiplied(&machine);
    });
    assert_eq!(receiver.recv().expect("no panic"), [7; 128]);
}
