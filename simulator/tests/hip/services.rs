// SPDX-License-Identifier: MIT OR Apache-2.0
//! Services of the runtime for running kernels: printing, failing assertions, memory, clocks, barriers of whole grids.

use std::ffi::CStr;
use std::process::{Command, Output};
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{Block, Machine};
use windlass_hip_sys::bindings::*;

const SERVICES: &[u8] = include_bytes!("../services/services.gfx942.co");
/// The same for an older part.
const OLDER: &[u8] = include_bytes!("../services/services.gfx906.co");
const FOURTH: &[u8] = include_bytes!("../services/print4.gfx942.co");
const SIXTH: &[u8] = include_bytes!("../services/print6.gfx942.co");

/// Set in the process of a test whose output another process reads.
const CHILD: &str = "WINDLASS_TEST_SERVICES_CHILD";

/// Runs `body` in a process of its own, and returns what that wrote.
fn output_of(test: &str, body: impl FnOnce()) -> Output {
    if std::env::var_os(CHILD).is_some() {
        body();
        // Before the test harness writes anything else.
        std::process::exit(0);
    }
    let mut child = Command::new(std::env::current_exe().unwrap());
    let test = format!("services::{test}");
    child.args(["--exact", &test, "--nocapture", "--test-threads=1"]).env(CHILD, "1");
    let output = child.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    output
}

/// The lines that kernels printed, without those of the test harness.
fn lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let own = |line: &&str| line.contains("block") || line.contains("file.hip");
    text.lines().filter(own).map(|line| line.rsplit("... ").next().unwrap_or(line).to_owned()).collect()
}

/// The line that a lane of the kernel `print` prints.
fn line(block: u32, lane: u32) -> String {
    let parity = if lane % 2 == 1 { "odd" } else { "even" };
    let half = f64::from(lane) / 2.0;
    format!("block {block} lane {lane}: {parity} {half:.2}, a format of more than fifty-six bytes")
}

/// Runs the kernel `print` of an image, and checks what `printf` returns.
fn print(machine: &Machine, image: &[u8], groups: u32, lanes: u32) {
    let module = machine.load(image);
    let out = machine.upload(&vec![0_u32; (groups * lanes) as usize]);
    let arguments = Block::default().pointer(out).u32(lanes).done();
    let function = machine.function(module, c"print");
    assert_eq!(machine.launch(function, groups, 64, null_mut(), &arguments), hipError_t::hipSuccess);
    ok!(machine, hipDeviceSynchronize());
    for (index, printed) in (0_u32..).zip(machine.download::<u32>(out, (groups * lanes) as usize)) {
        assert_eq!(printed as usize, line(index / lanes, index % lanes).len() + 1);
    }
}

#[test]
fn kernels_print_in_order_in_every_version_of_code_objects() {
    let run = || {
        let machine = Machine::new("gfx942?threads=1");
        for image in [FOURTH, SERVICES, SIXTH] {
            print(&machine, image, 3, 5);
        }
    };
    let output = output_of("kernels_print_in_order_in_every_version_of_code_objects", run);
    let mut expected = Vec::new();
    for _ in 0..3 {
        expected.extend((0..3).flat_map(|block| (0..5).map(move |lane| line(block, lane))));
    }
    assert_eq!(lines(&output.stdout), expected);
}

#[test]
fn many_waves_print_whole_lines_on_threads_and_under_a_seed() {
    let run = || {
        for options in ["gfx942?threads=4", "gfx942?seed=7"] {
            print(&Machine::new(options), SERVICES, 200, 2);
        }
    };
    let output = output_of("many_waves_print_whole_lines_on_threads_and_under_a_seed", run);
    let mut found = lines(&output.stdout);
    let mut expected: Vec<String> =
        (0..2).flat_map(|_| (0..200).flat_map(|block| (0..2).map(move |lane| line(block, lane)))).collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn a_failing_assertion_says_so_and_fails_the_kernel() {
    let run = || {
        let machine = Machine::new("");
        let module = machine.load(SERVICES);
        let function = machine.function(module, c"fails_if");
        let out = machine.upload(&[0_u32]);
        let launch = |which| {
            let arguments = Block::default().pointer(out).u32(which).done();
            assert_eq!(machine.launch(function, 1, 64, null_mut(), &arguments), hipError_t::hipSuccess);
        };
        launch(64);
        ok!(machine, hipDeviceSynchronize());
        for _ in 0..2 {
            launch(3);
            fails!(hipErrorLaunchFailure, machine, hipDeviceSynchronize());
            assert!(machine.api.diagnose().unwrap().contains("s_trap 2"));
        }
        // The wave that failed left its packet; the next kernel still prints.
        print(&machine, SERVICES, 1, 1);
    };
    let output = output_of("a_failing_assertion_says_so_and_fails_the_kernel", run);
    let failed = "file.hip:7: assertion `which' failed";
    assert_eq!(lines(&output.stderr), [failed; 2]);
    assert_eq!(lines(&output.stdout), [line(0, 0)]);
}

/// Launches a kernel of one workgroup and waits for it.
fn run(machine: &Machine, name: &CStr, block: u32, arguments: &[u8]) {
    let function = machine.function(machine.load(SERVICES), name);
    assert_eq!(machine.launch(function, 1, block, null_mut(), arguments), hipError_t::hipSuccess);
    ok!(machine, hipDeviceSynchronize());
}

fn free_memory(machine: &Machine) -> usize {
    let (mut free, mut total) = (0, 0);
    ok!(machine, hipMemGetInfo(&mut free, &mut total));
    free
}

#[test]
fn kernels_allocate_and_free_memory_of_their_device() {
    const SIZE: usize = 8192;
    let machine = Machine::new("gfx942?memory=67108864");
    let out = machine.upload(&[0_u64; 128]);
    // Modules take memory too.
    let function = machine.function(machine.load(SERVICES), c"allocate");
    let before = free_memory(&machine);
    let allocate = |size: usize, gives_back| {
        let size = (size as u64).to_le_bytes();
        let arguments = Block::default().pointer(out).bytes(&size).u32(gives_back).done();
        assert_eq!(machine.launch(function, 1, 64, null_mut(), &arguments), hipError_t::hipSuccess);
        ok!(machine, hipDeviceSynchronize());
        machine.download::<u64>(out, 128)
    };
    let found = allocate(SIZE, 1);
    for (lane, address) in found[..64].iter().enumerate() {
        assert!(*address != 0 && address % 4096 == 0, "{address:#x}");
        assert_eq!(found[64 + lane], lane as u64);
    }
    assert_eq!(free_memory(&machine), before, "what was freed counts no more");
    allocate(SIZE, 0);
    assert_eq!(free_memory(&machine), before - SIZE * 64 * 65 / 2);
    // Where there is no memory left, malloc answers null.
    let found = allocate(1 << 20, 1);
    assert!(found[..64].contains(&0) && found[..64].iter().any(|address| *address != 0));
    // A slab lies at a multiple of its size.
    let found = allocate(2 << 20, 1);
    assert!(found[0] != 0 && found[0] % (2 << 20) == 0);
    ok!(machine, hipDeviceReset());
    assert!(free_memory(&machine) >= before, "a reset frees what kernels left");
}

#[test]
fn the_heap_of_a_device_starts_as_zeros_and_stays() {
    let machine = Machine::new("gfx942?devices=2");
    let count = |device, expected: u64| {
        ok!(machine, hipSetDevice(device));
        let out = machine.upload(&[u64::MAX; 2]);
        run(&machine, c"heap", 1, &Block::default().pointer(out).done());
        assert_eq!(machine.download::<u64>(out, 2), [expected; 2]);
    };
    count(0, 0);
    count(0, 1);
    count(1, 0);
    count(0, 2);
    ok!(machine, hipDeviceReset());
    count(0, 0);
    let mut limit = 0;
    ok!(machine, hipDeviceGetLimit(&mut limit, hipLimit_t::hipLimitMallocHeapSize));
    assert_eq!(limit, 8 << 20);
    ok!(machine, hipDeviceSetLimit(hipLimit_t::hipLimitMallocHeapSize, 100 << 20));
    ok!(machine, hipDeviceGetLimit(&mut limit, hipLimit_t::hipLimitMallocHeapSize));
    assert_eq!(limit, 100 << 20);
    let (mut free, mut total) = (0, 0);
    ok!(machine, hipMemGetInfo(&mut free, &mut total));
    for too_much in [total, usize::MAX] {
        fails!(
            hipErrorInvalidValue,
            machine,
            hipDeviceSetLimit(hipLimit_t::hipLimitMallocHeapSize, too_much)
        );
    }
    ok!(machine, hipDeviceGetLimit(&mut limit, hipLimit_t::hipLimitMallocHeapSize));
    assert_eq!(limit, 100 << 20);
}

#[test]
fn clocks_of_kernels_agree_with_events() {
    for options in ["gfx942", "gfx942?seed=3"] {
        let machine = Machine::new(options);
        let attribute = |attribute| {
            let mut value = 0;
            ok!(machine, hipDeviceGetAttribute(&mut value, attribute, 0));
            f64::from(value)
        };
        let wall = attribute(hipDeviceAttribute_t::hipDeviceAttributeWallClockRate);
        let core = attribute(hipDeviceAttribute_t::hipDeviceAttributeClockRate);
        let function = machine.function(machine.load(SERVICES), c"clocks");
        let out = machine.upload(&[0_u64; 2]);
        let stream = machine.stream();
        let (start, stop) = (machine.event(), machine.event());
        let ticks: u64 = 2_000_000;
        let arguments = Block::default().pointer(out).bytes(&ticks.to_le_bytes()).done();
        ok!(machine, hipEventRecord(start, stream));
        assert_eq!(machine.launch(function, 1, 1, stream, &arguments), hipError_t::hipSuccess);
        ok!(machine, hipEventRecord(stop, stream));
        ok!(machine, hipEventSynchronize(stop));
        let mut elapsed = 0.0;
        ok!(machine, hipEventElapsedTime(&mut elapsed, start, stop));
        let found = machine.download::<u64>(out, 2);
        // Rates are in kHz, so quotients are milliseconds. The kernel waits for 20 of them.
        let (by_wall, by_core) = (found[0] as f64 / wall, found[1] as f64 / core);
        assert!((by_wall - by_core).abs() < 0.05 * by_wall, "{options}: {by_wall} and {by_core} ms");
        let elapsed = f64::from(elapsed);
        assert!(by_wall >= 20.0 && by_wall <= elapsed, "{options}: {by_wall} of {elapsed} ms");
        if options.contains("seed") {
            assert!(elapsed < 25.0, "{elapsed} ms of a clock that counts turns");
        }
    }
}

/// Launches a kernel cooperatively.
fn cooperate(
    machine: &Machine,
    code: &[u8],
    name: &CStr,
    groups: u32,
    arguments: &mut [*mut std::ffi::c_void],
) -> hipError_t {
    let function = machine.function(machine.load(code), name);
    hip!(
        machine,
        hipModuleLaunchCooperativeKernel(
            function,
            groups,
            1,
            1,
            1,
            1,
            1,
            0,
            null_mut(),
            arguments.as_mut_ptr()
        )
    )
}

#[test]
fn all_workgroups_of_a_cooperative_launch_wait_for_each_other() {
    // More workgroups than one thread otherwise keeps in flight.
    let cases = [
        ("gfx942?threads=1", SERVICES, 1500_u32, 2_u32),
        ("gfx942?threads=3", SERVICES, 300, 4),
        ("gfx942?seed=5", SERVICES, 60, 2),
        ("gfx906?threads=1", OLDER, 300, 2),
    ];
    for (options, code, mut groups, mut rounds) in cases {
        let machine = Machine::new(options);
        for mut instruction in [0_u32, 1] {
            let mut numbers = machine.upload(&vec![0_u32; groups as usize]);
            let mut out = machine.upload(&vec![0_u32; groups as usize]);
            let mut arguments: [*mut std::ffi::c_void; 5] = [
                (&raw mut numbers).cast(),
                (&raw mut out).cast(),
                (&raw mut groups).cast(),
                (&raw mut rounds).cast(),
                (&raw mut instruction).cast(),
            ];
            assert_eq!(cooperate(&machine, code, c"sums", groups, &mut arguments), hipError_t::hipSuccess);
            ok!(machine, hipDeviceSynchronize());
            let sum = (0..groups).map(|group| group + rounds).sum::<u32>();
            assert_eq!(
                machine.download::<u32>(out, groups as usize),
                vec![sum; groups as usize],
                "{options}"
            );
        }
    }
}

#[test]
fn a_barrier_of_a_grid_in_an_ordinary_launch_is_told_of() {
    for options in ["gfx942", "gfx942?seed=5"] {
        let machine = Machine::new(options);
        let words = machine.upload(&[0_u32; 2]);
        let arguments = Block::default().pointer(words).pointer(words).u32(1).u32(1).u32(0).done();
        let function = machine.function(machine.load(SERVICES), c"sums");
        assert_eq!(machine.launch(function, 1, 1, null_mut(), &arguments), hipError_t::hipSuccess);
        fails!(hipErrorIllegalAddress, machine, hipDeviceSynchronize());
        let report = machine.api.diagnose().unwrap();
        assert!(report.contains("hint: if the kernel synchronises its grid"), "{report}");
    }
}

#[test]
fn a_grid_is_cooperative_where_its_launch_is() {
    let machine = Machine::new("gfx942?units=2");
    let mut out = machine.upload(&[9_u64; 2]);
    let mut arguments: [*mut std::ffi::c_void; 1] = [(&raw mut out).cast()];
    assert_eq!(cooperate(&machine, SERVICES, c"is_cooperative", 3, &mut arguments), hipError_t::hipSuccess);
    ok!(machine, hipDeviceSynchronize());
    assert_eq!(machine.download::<u64>(out, 2), [1, 3]);
    run(&machine, c"is_cooperative", 1, &Block::default().pointer(out).done());
    assert_eq!(machine.download::<u64>(out, 2), [0, 0]);
    // Two compute units hold 64 waves.
    assert_eq!(cooperate(&machine, SERVICES, c"is_cooperative", 64, &mut arguments), hipError_t::hipSuccess);
    let refused = cooperate(&machine, SERVICES, c"is_cooperative", 65, &mut arguments);
    assert_eq!(refused, hipError_t::hipErrorCooperativeLaunchTooLarge);
    ok!(machine, hipDeviceSynchronize());
}

#[test]
fn managed_variables_of_loaded_modules_are_shared_with_the_host() {
    let machine = Machine::new("");
    let module = machine.load(SERVICES);
    let global = |name: &CStr| {
        let (mut address, mut size) = (null_mut(), 0);
        ok!(machine, hipModuleGetGlobal(&mut address, &mut size, module, name.as_ptr()));
        (address, size)
    };
    let (counter, size) = global(c"counter");
    let (table, table_size) = global(c"table");
    assert_eq!((size, table_size), (4, 24));
    // SAFETY: managed memory is the host's too, and no kernel runs.
    let (counter, table) = unsafe { (&mut *counter.cast::<i32>(), &mut *table.cast::<[i64; 3]>()) };
    assert_eq!((*counter, *table), (5, [1, 2, 3]));
    table[2] = 30;
    let out = machine.upload(&[0_u32]);
    let function = machine.function(module, c"count");
    let arguments = Block::default().pointer(out).done();
    assert_eq!(machine.launch(function, 1, 10, null_mut(), &arguments), hipError_t::hipSuccess);
    ok!(machine, hipDeviceSynchronize());
    assert_eq!((*counter, machine.download::<u32>(out, 1)), (15, vec![45]));
    let before = free_memory(&machine);
    ok!(machine, hipModuleUnload(module));
    assert!(free_memory(&machine) > before, "the variables are freed with their module");
}

#[test]
fn fine_grained_memory_of_a_device_is_the_hosts_too() {
    let machine = Machine::new("gfx942?devices=2&memory=67108864");
    let before = free_memory(&machine);
    let mut memory = null_mut();
    // hipDeviceMallocFinegrained
    ok!(machine, hipExtMallocWithFlags(&mut memory, 16, 1));
    assert_eq!(free_memory(&machine), before - 16);
    // SAFETY: the host reaches the memory, and no kernel runs.
    unsafe { memory.cast::<u64>().write(7) };
    assert_eq!(machine.download::<u64>(memory, 1), [7]);
    run(&machine, c"is_cooperative", 1, &Block::default().pointer(memory).done());
    // SAFETY: as above.
    assert_eq!(unsafe { memory.cast::<u64>().read() }, 0);
    // It stays the memory of its device.
    ok!(machine, hipSetDevice(1));
    let function = machine.function(machine.load(SERVICES), c"is_cooperative");
    let arguments = Block::default().pointer(memory).done();
    assert_eq!(machine.launch(function, 1, 1, null_mut(), &arguments), hipError_t::hipSuccess);
    fails!(hipErrorIllegalAddress, machine, hipDeviceSynchronize());
    ok!(machine, hipFree(memory));
}

#[test]
fn a_dispatch_without_a_runtime_names_the_service_that_it_lacks() {
    use windlass_simulator::engine::{Engine, Launch, Module};
    use windlass_simulator::memory::{AllocationKind, Memory, MemoryOptions};
    let memory = Memory::new(MemoryOptions { capacity: 64 << 20, ..MemoryOptions::default() }).unwrap();
    let module = Module::load(<&windlass_simulator::Part>::default(), &memory, SERVICES).unwrap();
    let out = memory.allocate(1024, 8, AllocationKind::Device, "out").unwrap();
    for (kernel, lanes, names) in [("print", 1_u32, "printf"), ("heap", 0, "malloc")] {
        let arguments = Block::default().bytes(&out.to_le_bytes()).u32(lanes).done();
        let launch = Launch::new([1; 3], [64, 1, 1], &arguments);
        let fault = Engine::new(1).dispatch(&memory, &module.kernel(kernel).unwrap(), &launch).unwrap_err();
        let report = fault.to_string();
        assert!(report.contains(names) && report.contains("does not execute"), "{report}");
    }
}

/// Counts the lines of the log of this thread that hold a word.
struct Lines(&'static str, Arc<AtomicUsize>);

impl tracing::Subscriber for Lines {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::ERROR
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut text = String::new();
        event.record(&mut |field: &tracing::field::Field, value: &dyn std::fmt::Debug| {
            text += &format!("{field}={value:?} ");
        });
        if text.contains(self.0) {
            self.1.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[test]
fn wrong_frees_of_a_kernel_are_told_once() {
    // Under a seed this thread runs the kernels.
    let machine = Machine::new("gfx942?seed=1");
    let lines = |run: &dyn Fn()| {
        let count = Arc::new(AtomicUsize::new(0));
        tracing::subscriber::with_default(Lines("no kernel", count.clone()), run);
        count.load(Ordering::Relaxed)
    };
    let frees = |lanes: u32| run(&machine, c"frees", lanes, &0x1234_0000_u64.to_le_bytes());
    assert_eq!(lines(&|| frees(1)), 1);
    assert_eq!(lines(&|| frees(64)), 2, "one line for the first, and one for the number of the others");
}
