// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kernels in shared objects: dispatched, linked, unloaded, and refused with the reason.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]

mod common;

use windlass_codeobject::{BundleWriter, Compression, WriteOptions};
use windlass_hal::{
    Argument, Buffer, Code, Device, DispatchConfig, Error, Executable, ParameterKind, QueueAffinity, Result,
    Semaphore, SymbolKind,
};

use common::{LONG, device, single};

macro_rules! object {
    ($machine:literal, $name:literal) => {
        include_bytes!(concat!("native/", $name, ".", $machine, ".so"))
    };
}

/// The objects of native/ for one machine.
struct Objects {
    kernels: &'static [u8],
    user: &'static [u8],
    provider: &'static [u8],
    cycle: &'static [u8],
}

macro_rules! objects {
    ($machine:literal) => {
        Objects {
            kernels: object!($machine, "kernels"),
            user: object!($machine, "user"),
            provider: object!($machine, "provider"),
            cycle: object!($machine, "cycle"),
        }
    };
}

const X86_64: Objects = objects!("x86_64");
const AARCH64: Objects = objects!("aarch64");
const OURS: Objects = if cfg!(target_arch = "x86_64") { X86_64 } else { AARCH64 };
const OTHERS: Objects = if cfg!(target_arch = "x86_64") { AARCH64 } else { X86_64 };
const OUR_ID: &str = if cfg!(target_arch = "x86_64") {
    "host-x86_64-unknown-linux-gnu-"
} else {
    "host-aarch64-unknown-linux-gnu-"
};
const OTHER_ID: &str = if cfg!(target_arch = "x86_64") {
    "host-aarch64-unknown-linux-gnu-"
} else {
    "host-x86_64-unknown-linux-gnu-"
};

/// A stand-in for GPU code.
const GPU: (&str, &[u8]) = ("hipv4-amdgcn-amd-amdhsa--gfx942", b"\x7fELF, and not read");

fn load(device: &Device, code: &[u8]) -> Result<Executable> {
    // SAFETY: the kernels of native/ stay within the buffers that these tests give them.
    unsafe { device.load_executable(code) }
}

fn link(device: &Device, parts: &[&[u8]]) -> Result<Executable> {
    // SAFETY: as above.
    unsafe { device.load_linked(parts) }
}

/// A device and the kernels of native/kernels.c.
fn kernels() -> (Device, Executable) {
    let device = device();
    let executable = load(&device, OURS.kernels).unwrap();
    (device, executable)
}

/// Dispatches a kernel and waits for it.
fn run(
    (device, executable): (&Device, &Executable),
    name: &str,
    config: DispatchConfig,
    arguments: &[Argument<'_>],
) -> Result<()> {
    let (done, function) = (Semaphore::new(0), executable.function(name)?);
    device.queue(0)?.dispatch(&[], &[done.at(1)], &function, config, arguments)?;
    done.wait_blocking(1, LONG)
}

fn words(device: &Device, buffer: &Buffer) -> Vec<u32> {
    let bytes = device.queue(0).unwrap().download(&[], buffer).unwrap().wait(LONG).unwrap();
    bytes.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap())).collect()
}

/// A buffer of `words` zero words.
fn zeros(device: &Device, words: u64) -> Buffer {
    let (buffer, done) = (device.allocate_device(4 * words).unwrap(), Semaphore::new(0));
    device.queue(0).unwrap().fill(&[], &[done.at(1)], &buffer, 0_u32).unwrap();
    done.wait_blocking(1, LONG).unwrap();
    buffer
}

/// Runs a kernel on one buffer, and returns the buffer's first word.
fn first_word(loaded: (&Device, &Executable), name: &str) -> u32 {
    let out = zeros(loaded.0, 1);
    run(loaded, name, single(), &[out.arg()]).unwrap();
    words(loaded.0, &out)[0]
}

fn error_of(result: Result<Executable>, code: Code, said: &[&str]) -> Error {
    let error = result.expect_err("bytes that cannot be loaded");
    assert_eq!(error.code(), code, "{error}");
    for said in said {
        assert!(error.to_string().contains(said), "`{said}` is not in: {error}");
    }
    error
}

fn bundle(entries: &[(&str, &[u8])], compression: Compression) -> Vec<u8> {
    let mut options = WriteOptions::default();
    (options.compression, options.host) = (compression, None);
    let mut writer = BundleWriter::new();
    for (id, bytes) in entries {
        writer.add_unchecked(id, bytes).unwrap();
    }
    writer.write(&options).unwrap()
}

#[test]
fn a_kernel_computes() {
    let (device, executable) = kernels();
    let (input, output) = (zeros(&device, 100), zeros(&device, 101));
    let (queue, done) = (device.queue(0).unwrap(), Semaphore::new(0));
    queue.fill(&[], &[done.at(1)], &input, 1.5_f32).unwrap();
    done.wait_blocking(1, LONG).unwrap();
    let arguments = [input.arg(), output.arg(), 2.0_f32.into(), 100_u32.into()];
    let grid = DispatchConfig::new([2, 1, 1]).workgroup_size([64, 1, 1]);
    run((&device, &executable), "scale", grid, &arguments).unwrap();
    let mut expected = vec![3.0_f32.to_bits(); 100];
    expected.push(0);
    assert_eq!(words(&device, &output), expected);
}

#[test]
fn every_workgroup_is_told_its_place() {
    let (device, executable) = kernels();
    for (count, size) in
        [([1, 1, 1], [1, 1, 1]), ([5, 1, 1], [64, 1, 1]), ([2, 3, 4], [4, 2, 3]), ([1, 1, 7], [1, 16, 1])]
    {
        let groups: u32 = count.iter().product();
        let out = zeros(&device, 12 * u64::from(groups));
        let grid = DispatchConfig::new(count).workgroup_size(size);
        run((&device, &executable), "places", grid, &[out.arg()]).unwrap();
        let found = words(&device, &out);
        for (index, record) in (0..groups).zip(found.chunks_exact(12)) {
            let id = [index % count[0], index / count[0] % count[1], index / count[0] / count[1]];
            assert_eq!(record[..9], [id, count, size].concat(), "workgroup {index} of {count:?}");
            assert_eq!(record[9..11], [56, 0], "the record's size, and what is reserved");
            assert_eq!(record[11], 0, "arguments begin at a multiple of 16");
        }
    }
}

#[test]
fn structs_arrive_by_value() {
    let (device, executable) = kernels();
    let out = zeros(&device, 2);
    let mut pair = [0; 16];
    pair[0] = (-3_i8) as u8;
    pair[8..].copy_from_slice(&5_000_000_000_i64.to_ne_bytes());
    let arguments = [(-7_i8).into(), Argument::Bytes(&pair), out.arg()];
    run((&device, &executable), "by_value", single(), &arguments).unwrap();
    let found = words(&device, &out);
    let found = i64::from(found[1]) << 32 | i64::from(found[0]);
    assert_eq!(found, -7 - 3 * 5_000_000_000);
}

#[test]
fn local_memory_is_what_was_asked_for() {
    let (device, executable) = kernels();
    for dynamic in [0, 1, 1000] {
        let out = zeros(&device, 6);
        let grid = DispatchConfig::new([2, 1, 1]).workgroup_size([1, 1, 1]).dynamic_local_memory(dynamic);
        run((&device, &executable), "scratch", grid, &[out.arg()]).unwrap();
        let bytes = 100 + dynamic;
        let sum = |id: u32| (0..bytes).map(|i| (id + i) % 256).sum::<u32>();
        assert_eq!(words(&device, &out), [bytes, 0, sum(0), bytes, 0, sum(1)]);
    }
    assert_eq!(first_word((&device, &executable), "without_scratch"), 1);
}

#[test]
fn a_status_fails_the_dispatch() {
    let (device, executable) = kernels();
    let grid = DispatchConfig::new([3, 1, 1]).workgroup_size([1, 1, 1]);
    let fail = |status: i32| run((&device, &executable), "fail", grid, &[status.into(), 1_u32.into()]);
    fail(0).unwrap();
    for status in 1..=16 {
        let error = fail(status).unwrap_err();
        assert_eq!(error.code() as i32, status, "{error}");
        assert!(error.to_string().contains("`fail`, workgroup [1, 0, 0]"), "{error}");
    }
    for status in [17, 100, -1, i32::MIN, i32::MAX] {
        let error = fail(status).unwrap_err();
        assert_eq!(error.code(), Code::Unknown, "{error}");
        assert!(error.to_string().contains(&status.to_string()), "{error}");
    }
}

#[test]
fn kernels_are_reflected() {
    let (_, executable) = kernels();
    let scale = executable.function("scale").unwrap();
    assert_eq!(scale.info().signature(), "scale(in: buffer, out: buffer, factor: 4 bytes, n: 4 bytes)");
    assert_eq!((scale.info().argument_size, scale.info().workgroup_size), (24, None));
    let by_value = executable.function("by_value").unwrap();
    let places = by_value.info().parameters.iter().map(|p| (p.kind, p.offset, p.size));
    let expected =
        [(ParameterKind::Value, 0, 1), (ParameterKind::Value, 8, 16), (ParameterKind::Buffer, 24, 8)];
    assert_eq!(places.collect::<Vec<_>>(), expected);
    assert_eq!(executable.function("scratch").unwrap().info().static_local_memory, 100);
    let fixed = executable.function("fixed").unwrap();
    assert_eq!((fixed.info().workgroup_size, fixed.info().max_workgroup_threads), (Some([4, 2, 1]), 8));
    assert_eq!(executable.function("helper").unwrap_err().code(), Code::NotFound);
}

#[test]
fn symbols_have_addresses() {
    let (_, executable) = kernels();
    let symbols = executable.symbols_on(QueueAffinity::queue(0)).unwrap();
    let kind = |name| {
        let symbol = symbols.iter().find(|symbol| symbol.name == name).unwrap();
        assert!(symbol.address.is_some_and(|address| address != 0) && symbol.size > 0, "{symbol:?}");
        symbol.kind
    };
    assert_eq!(kind("scale"), SymbolKind::Kernel);
    assert_eq!(kind("helper"), SymbolKind::Function);
    assert_eq!(kind("counter"), SymbolKind::Variable);
    assert_eq!(kind("primes"), SymbolKind::Variable);
    assert!(!symbols.iter().any(|symbol| symbol.name.starts_with("windlass_kernel_")));
}

#[test]
fn globals_are_buffers() {
    let (device, executable) = kernels();
    let names: Vec<_> =
        executable.globals().iter().map(|global| (global.name.as_str(), global.size)).collect();
    assert_eq!(names, [("counter", 4)], "what can only be read is none");
    let counter = executable.global("counter").unwrap();
    assert_eq!(words(&device, &counter), [7]);
    let (queue, done) = (device.queue(0).unwrap(), Semaphore::new(0));
    queue.fill(&[], &[done.at(1)], &counter, 40_u32).unwrap();
    done.wait_blocking(1, LONG).unwrap();
    assert_eq!(first_word((&device, &executable), "count"), 40);
    drop(executable);
    assert_eq!(words(&device, &counter), [45], "the variable keeps its executable");
}

#[test]
fn each_loading_has_its_own_globals() {
    let (first_device, first) = kernels();
    let (second_device, second) = kernels();
    assert_eq!(first_word((&first_device, &first), "count"), 7);
    assert_eq!(first_word((&first_device, &first), "count"), 12);
    assert_eq!(first_word((&second_device, &second), "count"), 7);
    drop(first);
    let again = load(&first_device, OURS.kernels).unwrap();
    assert_eq!(first_word((&first_device, &again), "count"), 7);
    assert_eq!(first_word((&second_device, &second), "count"), 12);
}

#[test]
fn it_is_unloaded_when_nothing_uses_it() {
    let (device, executable) = kernels();
    let out = zeros(&device, 1);
    run((&device, &executable), "watch", single(), &[out.arg()]).unwrap();
    let (start, done) = (Semaphore::new(0), Semaphore::new(0));
    let (function, queue) = (executable.function("without_scratch").unwrap(), device.queue(0).unwrap());
    let other = zeros(&device, 1);
    queue.dispatch(&[start.at(1)], &[done.at(1)], &function, single(), &[other.arg()]).unwrap();
    drop((function, executable));
    assert_eq!(words(&device, &out), [0], "a submission keeps it loaded");
    start.signal(1).unwrap();
    done.wait_blocking(1, LONG).unwrap();
    let deadline = std::time::Instant::now() + LONG;
    while words(&device, &out) == [0] {
        assert!(std::time::Instant::now() < deadline, "it was never unloaded");
        std::thread::yield_now();
    }
    assert_eq!(words(&device, &out), [0xdead]);
    assert_eq!(words(&device, &other), [1]);
}

#[test]
fn objects_are_found_in_bundles() {
    let device = device();
    for compression in [Compression::None, Compression::ZLIB] {
        for entries in [
            vec![(OUR_ID, OURS.kernels), GPU],
            vec![GPU, (OTHER_ID, OTHERS.kernels), (OUR_ID, OURS.kernels)],
            vec![(OTHER_ID, b""), GPU, (OUR_ID, OURS.kernels)],
        ] {
            let executable = load(&device, &bundle(&entries, compression)).unwrap();
            assert_eq!(first_word((&device, &executable), "count"), 7);
        }
    }
}

#[test]
fn files_without_code_for_this_machine_say_what_they_hold() {
    let device = device();
    let of = |id, bytes| load(&device, &bundle(&[(id, bytes), GPU], Compression::None));
    let ours = std::env::consts::ARCH;
    let other = if ours == "x86_64" { "aarch64" } else { "x86_64" };
    error_of(
        of(OUR_ID, b""),
        Code::NotFound,
        &[OUR_ID, "(empty)", "gfx942", "windlass_kernel.h", "hip-sim://"],
    );
    error_of(of(OTHER_ID, OTHERS.kernels), Code::NotFound, &[&format!("for {other}"), ours]);
    error_of(of(OUR_ID, OTHERS.kernels), Code::NotFound, &[&format!("a shared object for {other}")]);
    error_of(of(OUR_ID, OURS.provider), Code::NotFound, &["describes no kernels"]);
    error_of(of(OUR_ID, b"text"), Code::NotFound, &["does not begin as one"]);
    error_of(load(&device, OTHERS.kernels), Code::NotFound, &[&format!("a shared object for {other}")]);
    error_of(load(&device, OURS.provider), Code::NotFound, &["windlass_kernel_NAME"]);
    error_of(load(&device, b"no code at all"), Code::InvalidArgument, &["no code at all"]);
    let gpu = include_bytes!("../../../cts/kernels/bundles/vector_add.gfx942.co");
    error_of(load(&device, gpu), Code::NotFound, &["gfx942", "hip-sim://gfx942"]);
}

#[test]
fn truncated_objects_are_refused_or_whole() {
    let device = device();
    let mut whole = 0;
    for size in 0..OURS.kernels.len() {
        match load(&device, &OURS.kernels[..size]) {
            // Loaders do not read section headers, so a file without them loads.
            Ok(executable) => {
                whole += 1;
                assert_eq!(first_word((&device, &executable), "count"), 7);
            }
            Err(error) => assert_eq!(error.code(), Code::InvalidArgument, "{size} bytes: {error}"),
        }
    }
    assert!(whole < OURS.kernels.len() / 2, "{whole} of {}", OURS.kernels.len());
}

#[test]
fn objects_are_linked() {
    let device = device();
    let apply = |executable: &Executable| {
        let out = zeros(&device, 1);
        run((&device, executable), "apply", single(), &[out.arg(), 10_u32.into()]).unwrap();
        words(&device, &out)[0]
    };
    for parts in [[OURS.user, OURS.provider], [OURS.provider, OURS.user]] {
        let executable = link(&device, &parts).unwrap();
        assert_eq!(apply(&executable), 35);
        let (bias, done) = (executable.global("bias").unwrap(), Semaphore::new(0));
        device.queue(0).unwrap().fill(&[], &[done.at(1)], &bias, 1000_u32).unwrap();
        done.wait_blocking(1, LONG).unwrap();
        assert_eq!(apply(&executable), 1030, "the variable is one");
    }
    let circle = link(&device, &[OURS.user, OURS.cycle]).unwrap();
    assert_eq!(apply(&circle), 131);
    // If several pieces define a name, the first piece's definition counts.
    let circle = link(&device, &[OURS.cycle, OURS.user]).unwrap();
    assert_eq!(first_word((&device, &circle), "apply"), 1);
    let three = link(&device, &[OURS.kernels, OURS.user, OURS.provider]).unwrap();
    assert_eq!(apply(&three), 35);
    assert_eq!(first_word((&device, &three), "count"), 7);
    let bundles = [(OUR_ID, OURS.user), (OUR_ID, OURS.provider)];
    let bundles = bundles.map(|entry| bundle(&[entry, GPU], Compression::ZLIB));
    assert_eq!(
        apply(&load(&device, &bundles.concat()).unwrap()),
        35,
        "the bundles of one file are pieces too"
    );
}

#[test]
fn undefined_symbols_are_named() {
    let device = device();
    error_of(load(&device, OURS.user), Code::NotFound, &["needs `threefold`", "needs `bias`", "load_linked"]);
    let error = link(&device, &[OURS.kernels, OURS.user]);
    error_of(error, Code::NotFound, &["piece 1 needs `threefold`", "piece 1 needs `bias`"]);
    // Each linking loads its pieces anew. A piece loaded earlier does not serve a later linking.
    let whole = link(&device, &[OURS.user, OURS.provider]).unwrap();
    error_of(load(&device, OURS.user), Code::NotFound, &["threefold"]);
    drop(whole);
    error_of(link(&device, &[OURS.user, b"text"]), Code::InvalidArgument, &["piece 1"]);
    error_of(
        link(&device, &[OURS.user, OTHERS.provider]),
        Code::NotFound,
        &["piece 1", "a shared object for"],
    );
    let image = windlass_local::image("rust");
    error_of(link(&device, &[OURS.kernels, &image]), Code::InvalidArgument, &["piece 1", "load_executable"]);
}
