// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recordings of simulated GPUs and of the CPU, and their replays on other devices.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use windlass::{
    Argument, BufferParams, Code, Deadline, Device, DeviceInfo, DispatchConfig, OperationRef, Point,
    QueueAffinity, Result, Semaphore, Uri, driver,
    record::{self, Difference, Order, Player, Recording, ReplayOptions, Replayed},
};
use windlass_cts::{
    Case, Kernels, Options, bundle,
    program::{Bench, Program},
    run_cases,
};

const LIMIT: Duration = Duration::from_secs(60);

/// The code of the suite's kernels in these recordings is for all of these GPUs, and for the host.
const OTHERS: [&str; 5] = [
    "hip-sim://gfx942",
    "hip-sim://gfx90a",
    "local://?threads=2",
    "shuffle://?seed=2&over=hip-sim://gfx942",
    "shuffle://?seed=3&over=local://?threads=0",
];

/// A folder for recordings, which stays if the test fails: `windlass replay` shows and repeats them.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Folder {
    #[expect(clippy::print_stderr, reason = "a failure says where its recordings are")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.disable_cleanup(true);
            eprintln!("the recordings are kept in {}", self.path().display());
        }
    }
}

fn kernels() -> Vec<Kernels> {
    vec![Kernels::new(windlass_local::FORMAT, windlass_local::conformance::find)]
}

fn replay_with(file: &Path, uri: &str, options: &ReplayOptions) -> windlass::Result<Replayed> {
    let recording = Recording::open(file)?;
    let device = windlass::open(uri)?;
    // SAFETY: the recordings of these tests hold the suite's kernels, which stay within their buffers.
    let mut player = unsafe { Player::new(&recording, &device) };
    player.run(&options.clone().limit(LIMIT))
}

fn replay(file: &Path, uri: &str) -> Replayed {
    replay_with(file, uri, &ReplayOptions::new())
        .unwrap_or_else(|error| panic!("{}, {uri}: {error}", file.display()))
}

fn open(file: &Path, over: &str) -> Device {
    windlass::open(&format!("record://?file={}&over={over}", file.display())).unwrap()
}

/// Runs one case over a recorded device. Returns the recordings of its devices.
fn record(case: Case, over: &str, folder: &Path) -> Vec<PathBuf> {
    let file = folder.join(case.name);
    let mut options = Options::new(format!("record://?file={}&over={over}", file.display()));
    options.kernels = kernels();
    let mut report = Vec::new();
    let summary = run_cases(windlass::registry(), &[case], &options, &mut report).unwrap();
    assert_eq!(summary.failed() + summary.errors(), 0, "{}", String::from_utf8_lossy(&report));
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_file()).collect()
}

/// The work of a case on a recorded GPU gives the same bytes on each other device, in turns. Random programs copy bytes that
/// nobody wrote, so the test behind this one records them over a device that gives these a value.
#[test]
fn every_case_of_the_suite_replays() {
    let folder = Folder::new();
    let (mut operations, mut compared, mut wrong) = (0, 0, Vec::new());
    for (index, case) in windlass_cts::cases().into_iter().enumerate() {
        if case.name.starts_with("program.") {
            continue;
        }
        for file in record(case, "hip-sim://gfx942", folder.path()) {
            // Some kernels, such as those that fault, are for GPUs alone.
            let mut uris = OTHERS.iter().cycle().skip(index).take(OTHERS.len());
            let (uri, replayed) = uris
                .find_map(|uri| match replay_with(&file, uri, &ReplayOptions::new()) {
                    Err(error) if error.code() == Code::NotFound && uri.contains("local") => None,
                    result => Some((uri, result)),
                })
                .unwrap();
            let replayed = replayed.unwrap_or_else(|error| panic!("{}, {uri}: {error}", file.display()));
            operations += replayed.operations;
            compared += replayed.compared;
            let differences = replayed.differences.iter();
            wrong.extend(differences.map(|difference| format!("{}, {uri}: {difference}", case.name)));
            match replayed.differences.is_empty() {
                true => fs::remove_file(&file).unwrap(),
                // Out of the folder in which the next case is looked for.
                false => {
                    let kept = folder.path().join("wrong");
                    fs::create_dir_all(&kept).unwrap();
                    fs::rename(&file, kept.join(file.file_name().unwrap())).unwrap();
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(operations > 10_000 && compared > 10_000_000, "{operations} operations, {compared} bytes");
}

#[test]
fn random_programs_with_kernels_replay_with_the_bytes_of_the_oracle() {
    let folder = Folder::new();
    for (number, over) in
        ["hip-sim://gfx942", "hip-sim://gfx90a?devices=2", "local://?threads=2"].iter().enumerate()
    {
        let file = folder.path().join(number.to_string());
        let bench =
            Bench::new(open(&file, &format!("shuffle://?seed=2&over={over}")), &kernels(), LIMIT).unwrap();
        for program in Program::random(number as u64, bench.mix()).take(40) {
            bench.run(&program).unwrap_or_else(|difference| panic!("{over}: {difference}\n{program}"));
        }
        drop(bench);
        // Code of the CPU driver's suite is in the process alone, and not for GPUs.
        let is_local = over.starts_with("local");
        let others = ["hip-sim://gfx942", "hip-sim://gfx90a", "local://?threads=2"];
        for (seed, other) in others.iter().filter(|other| other.starts_with("local") == is_local).enumerate()
        {
            let uri = format!("shuffle://?seed={seed}&over={other}");
            let replayed = replay(&file, &uri);
            assert_eq!(replayed.differences, [], "recorded over {over}, on {uri}");
            assert!(replayed.operations > 100);
        }
    }
}

fn vector_add(device: &Device) -> windlass::Function {
    let code = bundle("vector_add").unwrap();
    // SAFETY: the suite's kernel stays within its buffers.
    unsafe { device.load_executable(code) }.unwrap().function("vector_add").unwrap()
}

/// A simulated GPU whose command buffers run when a gate opens, although their waits are reached.
struct Gated(Arc<dyn driver::RawDevice>, Point);

// SAFETY: an operation has one more wait.
unsafe impl driver::Wrapper for Gated {
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
        let mut waits = waits.to_vec();
        waits.extend(matches!(operation, OperationRef::Execute { .. }).then(|| self.1.clone()));
        // SAFETY: the caller vouches for the operation.
        unsafe { self.0.submit(affinity, &waits, signals, operation) }
    }
}

/// The driver of `gated://`.
struct Gate(Point);

impl driver::Driver for Gate {
    fn scheme(&self) -> &str {
        "gated"
    }

    fn description(&self) -> String {
        "a simulated GPU whose command buffers wait for this test".to_owned()
    }

    fn enumerate(&self) -> Result<Vec<DeviceInfo>> {
        Ok(Vec::new())
    }

    fn open(&self, _: &Uri) -> Result<Arc<dyn driver::RawDevice>> {
        let inner = windlass::registry().driver("hip-sim")?.open(&"hip-sim://gfx942".parse()?)?;
        Ok(Arc::new(Gated(inner, self.0.clone())))
    }
}

/// Records a GPU whose command buffers run when the gate has the value 1.
fn gated(file: &Path, gate: &Semaphore) -> Device {
    let mut registry = windlass::registry().clone();
    registry.register(Arc::new(Gate(gate.at(1))));
    registry.register(Arc::new(record::Driver::new(registry.clone(), "this test")));
    registry.open(&format!("record://?file={}&over=gated://", file.display())).unwrap()
}

/// A kernel of a command buffer owns the bytes that its argument names, and the program may write those behind them while
/// it runs.
#[test]
fn bytes_behind_the_argument_of_a_running_kernel_are_the_programs() {
    for is_slot in [false, true] {
        let (folder, gate) = (Folder::new(), Semaphore::new(0));
        let file = folder.path().join("behind");
        let device = gated(&file, &gate);
        let (function, queue) = (vector_add(&device), device.queue(0).unwrap());
        let [a, b, sum, copy] = [(); 4].map(|()| device.allocate(&BufferParams::host(), 64).unwrap());
        for (buffer, value) in [(&a, 1.0_f32), (&b, 2.0)] {
            buffer.map().unwrap().write(0, &value.to_le_bytes().repeat(4)).unwrap();
        }
        let mut recorder = device.record_with_slots(u32::from(is_slot)).unwrap();
        let named = sum.subspan(0, 16).unwrap();
        let result = match is_slot {
            true => Argument::Slot { slot: 0, offset: 0, length: 16 },
            false => named.arg(),
        };
        let config = DispatchConfig::new([1, 1, 1]).workgroup_size([64, 1, 1]);
        recorder.dispatch(&function, config, &[a.arg(), b.arg(), result, 4_u32.into()]).unwrap();
        let commands = recorder.finish().unwrap();
        let table: Vec<_> = is_slot.then(|| sum.clone()).into_iter().collect();
        let (added, copied) = (Semaphore::new(0), Semaphore::new(0));
        queue.execute(&[], &[added.at(1)], &commands, table).unwrap();

        // The kernel counts as running.
        sum.map().unwrap().write(32, &[7; 16]).unwrap();
        let behind = sum.subspan(32, 16).unwrap();
        queue.copy(&[], &[copied.at(1)], &behind, &copy.subspan(0, 16).unwrap()).unwrap();
        copied.wait_blocking(1, Deadline::after(LIMIT)).unwrap();
        assert_eq!(added.query().unwrap(), 0);
        gate.signal(1).unwrap();
        added.wait_blocking(1, Deadline::after(LIMIT)).unwrap();
        assert_eq!(sum.map().unwrap().to_vec()[..16], 3.0_f32.to_le_bytes().repeat(4));
        drop((queue, device));
        for uri in OTHERS {
            let replayed = replay(&file, uri);
            assert_eq!(replayed.differences, [], "{uri}, a slot: {is_slot}");
            // The sum, and the bytes behind it in the copy.
            assert!(replayed.compared >= 32, "{replayed:?}");
        }
    }
}

/// Two operations without an edge may name the same bytes, if one does not write them or both add to them. The bytes of the
/// first are compared before the second runs, as in the recording, also where a replay could run the second earlier.
#[test]
fn work_that_began_later_does_not_change_the_bytes_that_are_compared() {
    let (folder, gate) = (Folder::new(), Semaphore::new(0));
    let file = folder.path().join("later");
    let device = gated(&file, &gate);
    let (function, queue) = (vector_add(&device), device.queue(0).unwrap());
    let [a, b, sum] = [(); 3].map(|()| device.allocate(&BufferParams::host(), 64).unwrap());
    let other = device.allocate_device(64).unwrap();
    let [added, opened, filled] = [(); 3].map(|()| Semaphore::new(0));
    let mut recorder = device.record().unwrap();
    recorder.fill(&other, 1_u8).unwrap();
    let commands = recorder.finish().unwrap();
    // The kernel names all of the sum, and writes its first four words.
    let config = DispatchConfig::new([1, 1, 1]).workgroup_size([64, 1, 1]);
    let arguments = [a.arg(), b.arg(), sum.arg(), 4_u32.into()];
    queue.dispatch(&[], &[added.at(1)], &function, config, &arguments).unwrap();
    queue.execute(&[], &[opened.at(1)], &commands, []).unwrap();
    let behind = sum.subspan(32, 16).unwrap();
    queue.fill(&[opened.at(1)], &[filled.at(1)], &behind, 7_u8).unwrap();
    added.wait_blocking(1, Deadline::after(LIMIT)).unwrap();
    gate.signal(1).unwrap();
    filled.wait_blocking(1, Deadline::after(LIMIT)).unwrap();
    drop((queue, device));
    // The last one runs each operation as soon as its waits are reached.
    for uri in OTHERS.into_iter().chain(["local://?threads=0"]) {
        let replayed = replay(&file, uri);
        assert_eq!(replayed.differences, [], "{uri}");
        assert!(replayed.compared >= 3 * 64, "{replayed:?}");
    }
}

/// A field of a struct that the program packed holds an address. The kernel writes it to memory, so the replay shows it.
#[test]
fn an_address_in_a_struct_is_that_of_the_replay() {
    let folder = Folder::new();
    let file = folder.path().join("struct");
    let device = open(&file, "hip-sim://gfx942");
    let code = fs::read("cts/kernels/bundles/arguments.ccob").unwrap();
    // SAFETY: the suite's kernel stays within its buffers.
    let executable = unsafe { device.load_executable(&code) }.unwrap();
    let (function, queue) = (executable.function("apply_scale").unwrap(), device.queue(0).unwrap());
    let pointed = device.allocate_device(64).unwrap();
    let [input, out] = [(); 2].map(|()| device.allocate(&BufferParams::host(), 8).unwrap());
    // in, n, a struct of a factor and an offset, out
    let address = pointed.device_address() + 16;
    let mut block = input.device_address().to_le_bytes().to_vec();
    block.extend(1_u64.to_le_bytes());
    block.extend(0_u64.to_le_bytes());
    block.extend(address.to_le_bytes());
    block.extend(out.device_address().to_le_bytes());
    block.resize(function.info().argument_size as usize, 0);
    let done = Semaphore::new(0);
    let config = DispatchConfig::new([1, 1, 1]).workgroup_size([64, 1, 1]).raw_arguments();
    let arguments = [Argument::Bytes(&block), input.arg(), out.arg(), pointed.arg()];
    queue.dispatch(&[], &[done.at(1)], &function, config, &arguments).unwrap();
    done.wait_blocking(1, Deadline::after(LIMIT)).unwrap();
    assert_eq!(out.map().unwrap().to_vec(), address.to_le_bytes());
    drop((queue, device));
    let lines: Vec<_> = Recording::open(&file).unwrap().lines().collect();
    assert!(lines.iter().any(|line| line.contains(", b0+16 at 24")), "{lines:#?}");

    // Other memory is in the place of the recorded one.
    let (recording, device) = (Recording::open(&file).unwrap(), windlass::open("hip-sim://gfx942").unwrap());
    let taken: Vec<_> = (0..8).map(|_| device.allocate_device(64).unwrap()).collect();
    // SAFETY: as above.
    let replayed = unsafe { Player::new(&recording, &device) }.run(&ReplayOptions::new()).unwrap();
    let [Difference::Bytes { offset, recorded, replayed, .. }] = &replayed.differences[..] else {
        panic!("the address of the replay is another one: {replayed:?}");
    };
    let word = |bytes: &[u8]| {
        let mut word = address.to_le_bytes();
        word[*offset as usize..*offset as usize + bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    };
    assert_eq!(word(recorded), address);
    let inside = |buffer: &windlass::Buffer| word(replayed).wrapping_sub(buffer.device_address()) < 64;
    assert!(!taken.iter().any(inside) && word(replayed) % 64 == 16, "{:#x}", word(replayed));
}

/// A block that the program packed holds the addresses of the recorded run.
#[test]
fn addresses_in_raw_arguments_are_those_of_the_replay() {
    let folder = Folder::new();
    let file = folder.path().join("raw");
    let device = open(&file, "hip-sim://gfx942");
    let function = vector_add(&device);
    let queue = device.queue(0).unwrap();
    let [a, b, sum] = [(); 3].map(|()| device.allocate(&BufferParams::host(), 1024).unwrap());
    let numbers: Vec<u8> = (0..256).flat_map(|number| (number as f32).to_le_bytes()).collect();
    a.map().unwrap().write(0, &numbers).unwrap();
    b.map().unwrap().write(0, &numbers).unwrap();
    let mut block: Vec<u8> =
        [&a, &b, &sum].iter().flat_map(|buffer| buffer.device_address().to_le_bytes()).collect();
    block.extend(256_u32.to_le_bytes());
    block.resize(function.info().argument_size as usize, 0);
    let done = Semaphore::new(0);
    let config = DispatchConfig::new([4, 1, 1]).workgroup_size([64, 1, 1]).raw_arguments();
    let arguments = [Argument::Bytes(&block), a.arg(), b.arg(), sum.arg()];
    queue.dispatch(&[], &[done.at(1)], &function, config, &arguments).unwrap();
    done.wait_blocking(1, Deadline::after(LIMIT)).unwrap();
    let doubled: Vec<u8> = (0..256).flat_map(|number| (2.0 * number as f32).to_le_bytes()).collect();
    assert_eq!(sum.map().unwrap().to_vec(), doubled);
    drop((queue, device));
    for uri in OTHERS {
        let replayed = replay(&file, uri);
        assert_eq!(
            (replayed.differing, replayed.compared),
            (0, 3 * 1024),
            "{uri}: {:?}",
            replayed.differences
        );
    }
}

/// On each device the program gives the right sum. A replay without the missing edge does not, on some schedule.
#[test]
fn a_replay_finds_the_edge_that_a_kernel_lacks() {
    let folder = Folder::new();
    for lacks in [false, true] {
        let file = folder.path().join(format!("lacks-{lacks}"));
        let device = open(&file, "hip-sim://gfx942");
        let (function, queue, done) = (vector_add(&device), device.queue(0).unwrap(), Semaphore::new(0));
        let buffers = [(); 3].map(|()| device.allocate_device(1024).unwrap());
        let [a, b, sum] = &buffers;
        let zeroed = Semaphore::new(0);
        for (index, buffer) in (0..).zip(&buffers) {
            queue.fill(&[zeroed.at(index)], &[zeroed.at(index + 1)], buffer, 1.0_f32).unwrap();
        }
        let config = DispatchConfig::new([4, 1, 1]).workgroup_size([64, 1, 1]);
        let after = [zeroed.at(3)];
        let arguments = [a.arg(), b.arg(), sum.arg(), 256_u32.into()];
        queue.fill(&after, &[done.at(1)], a, 2.0_f32).unwrap();
        let waits = if lacks { vec![zeroed.at(3)] } else { vec![done.at(1)] };
        // The recording device runs one after the other.
        done.wait_blocking(1, Deadline::after(LIMIT)).unwrap();
        let added = Semaphore::new(0);
        queue.dispatch(&waits, &[added.at(1)], &function, config, &arguments).unwrap();
        for buffer in &buffers {
            queue.download(&[done.at(1), added.at(1)], buffer).unwrap().wait(Deadline::after(LIMIT)).unwrap();
        }
        drop((queue, device));
        let finds = |seed: u64| {
            let options = ReplayOptions::new().order(Order::Waits);
            let uri = format!("shuffle://?seed={seed}&over=hip-sim://gfx942");
            replay_with(&file, &uri, &options).unwrap().differing > 0
        };
        assert_eq!((1..=40).any(finds), lacks);
        assert_eq!(replay(&file, "shuffle://?seed=2&over=hip-sim://gfx942").differing, 0);
    }
}
