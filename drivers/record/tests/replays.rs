// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recordings over `null://`, and their replays.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use windlass_cts::program::{Bench, Program};
use windlass_hal::{
    Buffer, BufferParams, BufferRef, Code, Deadline, Device, DeviceInfo, File, HostCallFlags, Operation,
    OperationRef, Point, QueueAffinity, Registry, Result, Semaphore, Uri, driver,
};
use windlass_record::{Difference, Order, Player, Recording, ReplayOptions, Replayed};

const LIMIT: Duration = Duration::from_secs(60);

fn registry() -> Registry {
    let mut registry = Registry::new();
    windlass_null::register(&mut registry);
    registry.register(Arc::new(windlass_cts::shuffle::Driver::new(registry.clone())));
    registry.register(Arc::new(windlass_record::Driver::new(registry.clone(), "these tests")));
    registry
}

struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn device(&self, name: &str, over: &str) -> Device {
        registry().open(&format!("record://?file={}&over={over}", self.file(name).display())).unwrap()
    }
}

fn replay_with(file: &Path, device: &Device, options: ReplayOptions) -> Result<Replayed> {
    let recording = Recording::open(file).unwrap();
    // SAFETY: the recordings of these tests have no code.
    let mut player = unsafe { Player::new(&recording, device) };
    player.run(&options.limit(LIMIT))
}

fn replay(file: &Path, uri: &str) -> Replayed {
    replay_with(file, &registry().open(uri).unwrap(), ReplayOptions::new()).unwrap()
}

fn wait(point: Point) {
    point.semaphore.wait_blocking(point.value, Deadline::after(LIMIT)).unwrap();
}

fn host(device: &Device, size: u64) -> Buffer {
    device.allocate(&BufferParams::host(), size).unwrap()
}

/// A program with every way for bytes to go in and out: a mapping, an update, a file, an import, a host call.
fn program(device: &Device) -> Vec<u8> {
    let queue = device.queue(0).unwrap();
    let done = Semaphore::new(0);
    let (mapped, data) = (host(device, 64), device.allocate_device(256).unwrap());
    // Submitted before the host has written, and released by the host.
    queue.copy(&[done.at(1)], &[done.at(2)], &mapped, &data.subspan(0, 64).unwrap()).unwrap();
    mapped.map().unwrap().write(3, b"written by the host").unwrap();
    done.signal(1).unwrap();
    queue.update(&[done.at(2)], &[done.at(3)], &[9; 64], &data.subspan(64, 64).unwrap()).unwrap();
    let mut input = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut input, &(0..=255).collect::<Vec<u8>>()).unwrap();
    let file = File::from(input.try_clone().unwrap());
    queue.read(&[done.at(3)], &[done.at(4)], &file, 100, &data.subspan(128, 64).unwrap()).unwrap();
    let lent = device.import_host(&BufferParams::host(), vec![5; 64]).unwrap();
    queue.copy(&[done.at(4)], &[done.at(5)], &lent, &data.subspan(192, 64).unwrap()).unwrap();
    let later = mapped.map().unwrap();
    let call = move |_: &mut _| later.write(0, b"again");
    queue.host_call(&[done.at(5)], &[done.at(6)], HostCallFlags::NONE, call).unwrap();
    let mut recorder = device.record_with_slots(1).unwrap();
    recorder.copy(mapped.subspan(0, 5).unwrap(), BufferRef::slot(0, 10, 5)).unwrap();
    recorder.barrier();
    recorder.fill(BufferRef::slot(0, 12, 2), 0xee_u8).unwrap();
    let list = recorder.finish().unwrap();
    queue.execute(&[done.at(6)], &[done.at(7)], &list, [data.subspan(64, 64).unwrap()]).unwrap();
    queue.write(&[done.at(7)], &[done.at(8)], &data, &file, 1000).unwrap();
    let bytes = queue.download(&[done.at(8)], &data).unwrap().wait(Deadline::after(LIMIT)).unwrap();
    wait(done.at(8));
    bytes
}

#[test]
fn a_replay_has_the_bytes_of_the_program() {
    let scratch = Scratch::new();
    let bytes = program(&scratch.device("a", "null://"));
    assert_eq!(&bytes[3..22], b"written by the host");
    assert_eq!(&bytes[74..79], b"ag\xee\xeen");
    for uri in ["null://", "shuffle://?seed=3&over=null://", "shuffle://?seed=4&over=null://"] {
        let replayed = replay(&scratch.file("a"), uri);
        assert_eq!(replayed.differences, [], "{uri}");
        // The download, and the file.
        assert_eq!(replayed.compared, 512, "{uri}");
        let dump = scratch.file("dump");
        let options = ReplayOptions::new().order(Order::Waits).dump(&dump);
        let replayed = replay_with(&scratch.file("a"), &registry().open(uri).unwrap(), options).unwrap();
        assert_eq!(replayed.differences, [], "{uri}");
        let dumped: Vec<_> =
            fs::read_dir(&dump).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect();
        assert!(dumped.contains(&bytes), "{uri}: the device's buffer is among the dumped ones");
    }
}

#[test]
fn a_player_runs_again() {
    let scratch = Scratch::new();
    program(&scratch.device("a", "null://"));
    let (recording, device) =
        (Recording::open(&scratch.file("a")).unwrap(), registry().open("null://").unwrap());
    // SAFETY: the recording has no code.
    let mut player = unsafe { Player::new(&recording, &device) };
    for _ in 0..3 {
        assert_eq!(player.run(&ReplayOptions::new().limit(LIMIT)).unwrap().differing, 0);
        let unchecked = player.run(&ReplayOptions::new().unchecked().limit(LIMIT)).unwrap();
        assert_eq!((unchecked.compared, unchecked.differing), (0, 0));
    }
}

/// A null device whose fills write another pattern.
struct WrongFills(Arc<dyn driver::RawDevice>);

// SAFETY: the fill has the same target.
unsafe impl driver::Wrapper for WrongFills {
    fn inner(&self) -> &dyn driver::RawDevice {
        &*self.0
    }

    unsafe fn submit(
        &self,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        operation: OperationRef<'_>,
    ) -> Result<()> {
        let operation = match operation.into_owned() {
            Operation::Fill { target, pattern } if pattern.value() != 0 => {
                Operation::Fill { target: target.clone(), pattern: 0x55_u8.into() }
            }
            other => other,
        };
        // SAFETY: as the caller vouched.
        operation.lend(|operation| unsafe { self.0.submit(affinity, waits, signals, operation) })
    }
}

#[test]
fn a_device_that_computes_something_else_is_told_with_the_first_byte() {
    let scratch = Scratch::new();
    let device = scratch.device("a", "null://");
    let queue = device.queue(0).unwrap();
    let (buffer, done) = (device.allocate_device(32).unwrap(), Semaphore::new(0));
    queue.update(&[], &[done.at(1)], &[1; 32], &buffer).unwrap();
    queue.fill(&[done.at(1)], &[done.at(2)], &buffer.subspan(7, 3).unwrap(), 0xaa_u8).unwrap();
    queue.download(&[done.at(2)], &buffer).unwrap().wait(Deadline::NEVER).unwrap();
    let wrong = Device::from_driver(Arc::new(WrongFills(registry().open("null://").unwrap().raw())));
    let replayed = replay_with(&scratch.file("a"), &wrong, ReplayOptions::new()).unwrap();
    assert_eq!(replayed.differing, 1);
    let Difference::Bytes { buffer: Some(_), offset: 7, recorded, replayed, .. } = &replayed.differences[0]
    else {
        panic!("{replayed:?}");
    };
    assert_eq!(
        (recorded[..4].to_vec(), replayed[..4].to_vec()),
        (vec![0xaa, 0xaa, 0xaa, 1], vec![0x55, 0x55, 0x55, 1])
    );
}

#[test]
fn failures_are_replayed_as_failures() {
    let scratch = Scratch::new();
    let device = scratch.device("a", "null://");
    let queue = device.queue(0).unwrap();
    let (buffer, host, done) = (device.allocate_device(32).unwrap(), Semaphore::new(0), Semaphore::new(0));
    queue.fill(&[host.at(1)], &[done.at(1)], &buffer, 1_u8).unwrap();
    host.fail(windlass_hal::Error::aborted("by the host"));
    done.wait_blocking(1, Deadline::NEVER).unwrap_err();
    let call = |_: &mut _| Err(windlass_hal::Error::data_loss("by the call"));
    let called = Semaphore::new(0);
    queue.host_call(&[], &[called.at(1)], HostCallFlags::NONE, call).unwrap();
    called.wait_blocking(1, Deadline::NEVER).unwrap_err();
    // Work that never starts is cancelled by the close, and no replay waits for it.
    queue.fill(&[Semaphore::new(0).at(1)], &[], &buffer, 2_u8).unwrap();
    drop((queue, device));
    let replayed = replay(&scratch.file("a"), "null://");
    assert_eq!((replayed.differing, replayed.operations), (0, 2));
}

/// The end of an operation does not reach a semaphore that the program failed before.
#[test]
fn a_failure_before_the_end_of_an_operation_stays_before_it() {
    let scratch = Scratch::new();
    let device = scratch.device("a", "null://");
    let queue = device.queue(0).unwrap();
    let (buffer, host, done) = (device.allocate_device(32).unwrap(), Semaphore::new(0), Semaphore::new(0));
    queue.fill(&[host.at(1)], &[done.at(2)], &buffer, 1_u8).unwrap();
    done.fail(windlass_hal::Error::aborted("by the host"));
    host.signal(1).unwrap();
    let failed = Semaphore::new(0);
    queue.fill(&[done.at(2)], &[failed.at(1)], &buffer, 2_u8).unwrap();
    failed.wait_blocking(1, Deadline::NEVER).unwrap_err();
    drop((queue, device));
    let replayed = replay(&scratch.file("a"), "null://");
    assert_eq!((replayed.differing, replayed.operations), (0, 2), "{:?}", replayed.differences);
}

/// The events of the recorded order, as its lines.
fn lines(file: &Path) -> Vec<String> {
    Recording::open(file).unwrap().lines().collect()
}

#[test]
fn the_listing_names_each_operation_with_its_points() {
    let scratch = Scratch::new();
    program(&scratch.device("a", "null://"));
    let lines = lines(&scratch.file("a"));
    for wanted in [
        "recorded by these tests over null://",
        "#0 copy b0[0+64] to b1[0+64], queues 0x1, waits for s0=1, signals s0=2",
        "the host writes 19 bytes of b0",
        "the host signals s0=1",
        "copy b0[0+5] to slot 0[10+5]",
        "#5 execute c0 with 0: b1[64+64]",
        "the host sees 256 bytes of b3, 211 changed",
        "the device is closed",
    ] {
        assert!(lines.iter().any(|line| line.contains(wanted)), "{wanted} is not in {lines:#?}");
    }
    let place = |wanted: &str| lines.iter().position(|line| line.contains(wanted)).unwrap();
    assert!(place("the host writes 19 bytes") < place("the host signals s0=1"));
    assert!(place("the host signals s0=1") < place("#0 ends"));
}

#[test]
fn a_file_that_is_cut_anywhere_replays_up_to_the_cut() {
    let scratch = Scratch::new();
    program(&scratch.device("a", "null://"));
    let whole = fs::read(scratch.file("a")).unwrap();
    let cut = scratch.file("cut");
    let mut most = 0;
    for length in (0..whole.len()).step_by(7) {
        fs::write(&cut, &whole[..length]).unwrap();
        match Recording::open(&cut) {
            Ok(recording) => {
                // A cut between two chunks looks like an end.
                assert!(recording.cut().is_none_or(|at| at as usize <= length));
                most = most.max(recording.operations());
                if length % 3 == 0 {
                    assert_eq!(replay(&cut, "null://").differing, 0, "{length} bytes");
                }
            }
            Err(error) => {
                assert_eq!(error.code(), Code::DataLoss);
                assert!(length < 200, "{length}: {error}");
            }
        }
    }
    assert!(most > 5);
}

#[test]
fn damaged_files_are_errors() {
    let scratch = Scratch::new();
    program(&scratch.device("a", "null://"));
    let whole = fs::read(scratch.file("a")).unwrap();
    let damaged = scratch.file("damaged");
    for at in (0..whole.len()).step_by(5) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&damaged, &bytes).unwrap();
        match Recording::open(&damaged) {
            // A length that leads behind the end of the file looks like a cut.
            Ok(recording) => assert!(recording.cut().is_some(), "byte {at} may be anything"),
            Err(error) => assert_eq!(error.code(), Code::DataLoss, "{error}"),
        }
    }
    let mut newer = whole.clone();
    newer[16] = 2;
    fs::write(&damaged, &newer).unwrap();
    let error = Recording::open(&damaged).unwrap_err();
    assert!(error.message().contains("version 2"), "{error}");
    assert_eq!(Recording::open(&scratch.file("none")).unwrap_err().code(), Code::NotFound);
}

/// The chunks of a recording: where each begins, and the length of its payload.
fn chunks(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut chunks = Vec::new();
    let mut at = 20;
    while at < bytes.len() {
        let length = u32::from_le_bytes(bytes[at + 1..at + 5].try_into().unwrap()) as usize;
        chunks.push((at, length));
        at += 9 + length;
    }
    chunks
}

/// Whatever a file says, with checksums that fit, reading and replaying it ends, with an error or with a result.
#[test]
fn hostile_events_are_errors() {
    let scratch = Scratch::new();
    program(&scratch.device("a", "null://"));
    let whole = fs::read(scratch.file("a")).unwrap();
    let (chunks, hostile) = (chunks(&whole), scratch.file("hostile"));
    let mut random = windlass_cts::Random::new(5);
    let (mut refused, mut stopped, mut ran) = (0, 0, 0);
    let registry = registry();
    for _ in 0..600 {
        let mut bytes = whole.clone();
        for _ in 0..1 + random.below(2) {
            let (at, length) = chunks[random.below(chunks.len())];
            let place = at + 5 + random.below(length.max(1));
            bytes[place] = match random.below(4) {
                0 => 0xff,
                1 => bytes[place].wrapping_add(1),
                2 => bytes[place] ^ 1 << random.below(8),
                _ => random.below(256) as u8,
            };
            let end = at + 5 + length;
            let sum = crc32fast::hash(&bytes[at..end]).to_le_bytes();
            bytes[end..end + 4].copy_from_slice(&sum);
        }
        fs::write(&hostile, &bytes).unwrap();
        let Ok(recording) = Recording::open(&hostile) else {
            refused += 1;
            continue;
        };
        assert!(recording.lines().count() > 1);
        let device = registry.open("null://?memory=1000000").unwrap();
        // SAFETY: the recording has no code.
        let mut player = unsafe { Player::new(&recording, &device) };
        match player.run(&ReplayOptions::new().limit(LIMIT)) {
            Ok(_) => ran += 1,
            Err(error) => {
                assert_ne!(error.code(), Code::DeadlineExceeded, "{error}");
                assert_ne!(error.code(), Code::Internal, "{error}");
                stopped += 1;
            }
        }
    }
    assert!(refused > 50 && stopped > 20 && ran > 20, "{refused} {stopped} {ran}");
}

#[test]
fn wrong_uris_say_what_is_missing() {
    let scratch = Scratch::new();
    let file = scratch.file("a").display().to_string();
    let no_folder = scratch.file("none/a").display().to_string();
    for (uri, words) in [
        ("record://".to_owned(), "file=PATH"),
        (format!("record://?file={file}"), "over=URI"),
        (format!("record://?file={file}&speed=1&over=null://"), "knows file, over"),
        (format!("record://?file={no_folder}&over=null://"), "cannot record to"),
        (format!("record://?file={file}&over=none://"), "no driver"),
    ] {
        let error = registry().open(&uri).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn two_devices_do_not_share_a_file() {
    let scratch = Scratch::new();
    let (first, second) = (scratch.device("a", "null://"), scratch.device("a", "null://"));
    program(&first);
    fn described(info: &DeviceInfo) -> Uri {
        info.uri.parse().unwrap()
    }
    assert_eq!(described(second.info()).scheme(), "record");
    drop((first, second));
    assert_eq!(replay(&scratch.file("a"), "null://").compared, 512);
    assert_eq!(replay(&scratch.file("a.2"), "null://").operations, 0);
    assert!(!scratch.file("a.3").exists());
}

fn record_programs(scratch: &Scratch, over: &str, transients: bool, seed: u64) {
    let bench = Bench::new(scratch.device("a", over), &[], LIMIT).unwrap();
    let mut mix = bench.mix();
    mix.transients = transients;
    for program in Program::random(seed, mix).take(25) {
        bench.run(&program).unwrap_or_else(|difference| panic!("{over}: {difference}\n{program}"));
    }
}

/// The model of the suite compares the recorded run, and the replay compares itself with the recorded run. A program may
/// copy bytes of an alloca that nobody wrote, which have no value; `shuffle://` gives them one, so that they are equal.
#[test]
fn random_programs_replay_with_the_bytes_of_the_oracle() {
    let shuffled = ["shuffle://?seed=1&over=null://", "shuffle://?seed=2&over=null://"];
    let plain = ["null://", shuffled[0], shuffled[1]];
    for (over, uris, transients) in [("null://", &plain[..], false), (shuffled[1], &shuffled[..], true)] {
        for seed in 1..=4 {
            let scratch = Scratch::new();
            record_programs(&scratch, over, transients, seed);
            for uri in uris {
                let replayed = replay(&scratch.file("a"), uri);
                assert!(replayed.compared > 0);
                assert_eq!(replayed.differences, [], "seed {seed}, recorded over {over}, on {uri}");
            }
        }
    }
}

/// A program that lacks an edge gives the right bytes on a device that keeps the order of submission. Its recording gives
/// wrong ones on a device that does not.
#[test]
fn a_replay_on_a_shuffled_device_finds_a_missing_edge() {
    let scratch = Scratch::new();
    for lacks in [false, true] {
        let name = format!("lacks-{lacks}");
        let device = scratch.device(&name, "null://");
        let queue = device.queue(0).unwrap();
        let (buffer, done) = (device.allocate_device(32).unwrap(), Semaphore::new(0));
        queue.fill(&[], &[done.at(1)], &buffer, 1_u8).unwrap();
        let waits = if lacks { vec![] } else { vec![done.at(1)] };
        let second = Semaphore::new(0);
        queue.fill(&waits, &[second.at(1)], &buffer, 2_u8).unwrap();
        let waits = if lacks { vec![done.at(1), second.at(1)] } else { vec![second.at(1)] };
        let bytes = queue.download(&waits, &buffer).unwrap().wait(Deadline::NEVER).unwrap();
        assert_eq!(bytes, [2; 32]);
        drop((queue, device));
        let finds = |seed: u64| {
            let device = registry().open(&format!("shuffle://?seed={seed}&over=null://")).unwrap();
            let options = ReplayOptions::new().order(Order::Waits);
            replay_with(&scratch.file(&name), &device, options).unwrap().differing > 0
        };
        assert_eq!((1..=40).any(finds), lacks);
    }
}
