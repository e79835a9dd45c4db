// SPDX-License-Identifier: MIT OR Apache-2.0
//! Faulting kernels on the simulated GPU: one clear message for the affected work, and a device that continues.

use std::time::{Duration, Instant};

use windlass::{Argument, Buffer, Code, Device, DispatchConfig, Error, Function, Queue, Semaphore};

const VECTOR_ADD: &[u8] = include_bytes!("../../cts/kernels/bundles/vector_add.ccob");
const VECTOR_ADD_GFX942: &[u8] = include_bytes!("../../cts/kernels/bundles/vector_add.gfx942.co");
const FAULTS: &[u8] = include_bytes!("../../cts/kernels/bundles/faults.ccob");
const VIOLATIONS: &[u8] = include_bytes!("../../cts/kernels/bundles/violations.ccob");
const COUNT: u64 = 1000;
/// Longer than any step takes, so a timeout is a failure.
const SOON: Duration = Duration::from_secs(60);

fn open(uri: &str) -> Device {
    windlass::open(uri).expect("the simulated GPU opens")
}

fn function(device: &Device, code: &[u8], name: &str) -> Function {
    // SAFETY: the simulated GPU checks every access.
    let executable = unsafe { device.load_executable(code) }.expect("the bundle loads");
    executable.function(name).expect("the kernel of the bundle")
}

fn queue(device: &Device, index: u32) -> Queue {
    device.queue(index).expect("a queue")
}

fn failure(semaphore: &Semaphore) -> Error {
    semaphore.wait_blocking(1, SOON).expect_err("it depends on a kernel that went wrong")
}

fn names(error: &Error, parts: &[&str]) {
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in: {text}");
    }
}

/// `vector_add` with its buffers.
struct Add {
    function: Function,
    a: Buffer,
    b: Buffer,
}

impl Add {
    fn new(device: &Device) -> Self {
        let [a, b] = [(); 2].map(|()| device.allocate_device(4 * COUNT).expect("4000 bytes"));
        let filled = Semaphore::new(0);
        queue(device, 0).fill(&[], &[filled.at(1)], &a, 1.5_f32).expect("a fill");
        queue(device, 0).fill(&[filled.at(1)], &[filled.at(2)], &b, 2.0_f32).expect("a fill");
        filled.wait_blocking(2, SOON).expect("the inputs");
        Self { function: function(device, VECTOR_ADD, "vector_add"), a, b }
    }

    fn submit(&self, queue: &Queue, start: &Semaphore, done: &Semaphore, sum: &Buffer) {
        let grid = DispatchConfig::new([4, 1, 1]).workgroup_size([256, 1, 1]);
        let arguments = [self.a.arg(), self.b.arg(), sum.arg(), (COUNT as i32).into()];
        queue
            .dispatch(&[start.at(1)], &[done.at(1)], &self.function, grid, &arguments)
            .expect("a dispatch is accepted");
    }
}

/// One round: a launch with a buffer that is too small, its dependants, and unrelated work.
fn round(device: &Device, add: &Add) {
    let [q0, q1] = [0, 1].map(|index| queue(device, index));
    let small = device.allocate_device(4 * COUNT - 4).expect("3996 bytes");
    let sum = device.allocate_device(4 * COUNT).expect("4000 bytes");
    let other = device.allocate_device(64).expect("64 bytes");
    let [start, bad, behind, beside, late, good, filled] = [(); 7].map(|()| Semaphore::new(0));
    add.submit(&q0, &start, &bad, &small);
    add.submit(&q0, &bad, &behind, &sum);
    add.submit(&q1, &bad, &beside, &sum);
    add.submit(&q0, &start, &good, &sum);
    q1.fill(&[start.at(1)], &[filled.at(1)], &other, 7_u8).expect("a fill");
    start.signal(1).expect("a signal");

    let error = failure(&bad);
    assert_eq!(error.code(), Code::Aborted, "{error}");
    // Work-item 999 is lane 39 of wave 3 of workgroup 3.
    names(
        &error,
        &[
            "vector_add",
            "global_store_dword",
            "write of 4 bytes at 0x",
            "directly past the end of the 3996-byte allocation",
            "workgroup (3, 0, 0), wave 3, lane 39",
        ],
    );
    add.submit(&q1, &bad, &late, &sum);
    for dependant in [&behind, &beside, &late] {
        assert_eq!(failure(dependant).to_string(), error.to_string());
    }
    good.wait_blocking(1, SOON).expect("work that depends on nothing bad");
    filled.wait_blocking(1, SOON).expect("work that depends on nothing bad");
    device.drain(SOON).expect("the device is not lost");

    let bytes = q0.download(&[], &other).expect("a download").wait(SOON).expect("the bytes");
    assert_eq!(bytes, [7; 64]);
    let again = Semaphore::new(0);
    add.submit(&q1, &start, &again, &sum);
    let bytes = q0.download(&[again.at(1)], &sum).expect("a download").wait(SOON).expect("the sum");
    assert_eq!(bytes, 3.5_f32.to_le_bytes().repeat(COUNT as usize));
}

#[test]
fn a_buffer_too_small_fails_its_launch_and_nothing_else() {
    let device = open("hip-sim://gfx942");
    let add = Add::new(&device);
    let before = device.statistics();
    for _ in 0..20 {
        round(&device, &add);
    }
    // The thread that saw the last work complete releases its objects shortly after it wakes waiters.
    let give_up = Instant::now() + SOON;
    while device.statistics().device_bytes_used != before.device_bytes_used {
        assert!(Instant::now() < give_up, "memory of failed work is kept: {:?}", device.statistics());
        std::thread::yield_now();
    }
}

#[test]
fn turns_drawn_from_a_seed_change_nothing() {
    let device = open("hip-sim://gfx942?seed=11");
    let add = Add::new(&device);
    for _ in 0..5 {
        round(&device, &add);
    }
}

#[test]
fn each_fault_has_its_own_message() {
    let device = open("hip-sim://gfx942");
    let [write_at, read_at, trap_if, write_lds_at] =
        ["write_at", "read_at", "trap_if", "write_lds_at"].map(|name| function(&device, FAULTS, name));
    let words = device.allocate_device(64).expect("64 bytes");
    let once = || DispatchConfig::new([1; 3]).workgroup_size([1; 3]);
    let run = |function: &Function, config: DispatchConfig, arguments: &[Argument<'_>], done: &Semaphore| {
        queue(&device, 0).dispatch(&[], &[done.at(1)], function, config, arguments).expect("a dispatch");
    };
    for _ in 0..3 {
        // All in flight together, some without a waiter.
        let [stored, loaded, trapped, fine, ran] = [(); 5].map(|()| Semaphore::new(0));
        let unheard = [words.arg(), 99_i64.into(), 7_u32.into()];
        queue(&device, 0).dispatch(&[], &[], &write_at, once(), &unheard).expect("a dispatch");
        run(&write_at, once(), &[words.arg(), 1_i64.into(), 7_u32.into()], &fine);
        run(&write_at, once(), &[words.arg(), 17_i64.into(), 7_u32.into()], &stored);
        run(&read_at, once(), &[words.arg(), (-1_i64).into(), words.arg()], &loaded);
        run(&trap_if, once(), &[words.arg(), 1_u32.into()], &trapped);
        run(&trap_if, once(), &[words.arg(), 0_u32.into()], &ran);
        let stored = failure(&stored);
        assert_eq!(stored.code(), Code::Aborted, "{stored}");
        names(&stored, &["write_at", "write of 4 bytes", "4 bytes past the end of the 64-byte allocation"]);
        let loaded = failure(&loaded);
        assert_eq!(loaded.code(), Code::Aborted, "{loaded}");
        names(&loaded, &["read_at", "read of 4 bytes", "4 bytes before the 64-byte allocation"]);
        let trapped = failure(&trapped);
        assert_eq!(trapped.code(), Code::Aborted, "{trapped}");
        names(&trapped, &["trap_if", "s_trap"]);
        for semaphore in [&fine, &ran] {
            semaphore.wait_blocking(1, SOON).expect("a kernel that does nothing wrong");
        }
    }
    let config = DispatchConfig::new([1; 3]).workgroup_size([1; 3]).dynamic_local_memory(16);
    let done = Semaphore::new(0);
    run(&write_lds_at, config, &[words.arg(), 5_u32.into(), 7_u32.into()], &done);
    let overrun = failure(&done);
    assert_eq!(overrun.code(), Code::Aborted, "{overrun}");
    names(&overrun, &["write_lds_at", "write of 4 bytes", "4 bytes past the end of the 16 bytes of LDS"]);
    let bytes = queue(&device, 0).download(&[], &words).expect("a download").wait(SOON).expect("the words");
    assert_eq!(bytes[..8], [1, 0, 0, 0, 7, 0, 0, 0]);
}

#[test]
fn a_fault_that_nobody_is_told_of_is_not_blamed_on_others() {
    let device = open("hip-sim://gfx942");
    let write_at = function(&device, FAULTS, "write_at");
    let words = device.allocate_device(64).expect("64 bytes");
    let q0 = queue(&device, 0);
    for _ in 0..10 {
        let done = Semaphore::new(0);
        let config = DispatchConfig::new([1; 3]).workgroup_size([1; 3]);
        let arguments = [words.arg(), 16_i64.into(), 7_u32.into()];
        q0.dispatch(&[], &[], &write_at, config, &arguments).expect("a dispatch");
        q0.fill(&[], &[done.at(1)], &words, 3_u8).expect("a fill");
        done.wait_blocking(1, SOON).expect("a fill that nobody disturbs");
    }
    device.drain(SOON).expect("the device is not lost");
}

#[test]
fn the_first_fault_of_a_command_buffer_fails_its_execution() {
    let device = open("hip-sim://gfx942");
    let write_at = function(&device, FAULTS, "write_at");
    let words = device.allocate_device(64).expect("64 bytes");
    let q0 = queue(&device, 0);
    let commands = |indices: [i64; 3]| {
        let mut recording = device.record().expect("a recording");
        for index in indices {
            let config = DispatchConfig::new([1; 3]).workgroup_size([1; 3]);
            let arguments = [words.arg(), index.into(), 7_u32.into()];
            recording.dispatch(&write_at, config, &arguments).expect("a command");
            recording.barrier();
        }
        recording.finish().expect("a command buffer")
    };
    let (bad, good) = (commands([0, 17, 18]), commands([0, 1, 2]));
    for _ in 0..5 {
        let [failed, done] = [(); 2].map(|()| Semaphore::new(0));
        q0.execute(&[], &[failed.at(1)], &bad, []).expect("an execution");
        q0.execute(&[], &[done.at(1)], &good, []).expect("an execution");
        names(&failure(&failed), &["write_at", "4 bytes past the end of the 64-byte allocation"]);
        done.wait_blocking(1, SOON).expect("the other one");
    }
    let bytes = q0.download(&[], &words).expect("a download").wait(SOON).expect("the words");
    assert_eq!(bytes[..12], [7, 0, 0, 0, 7, 0, 0, 0, 7, 0, 0, 0]);
}

/// `vector_add` with its first instruction replaced by one that gfx942 lacks.
fn patched() -> Vec<u8> {
    let parsed = windlass_codeobject::CodeObject::parse(VECTOR_ADD_GFX942).expect("a code object");
    let kernel = parsed.kernels().iter().find(|kernel| kernel.name == "vector_add").expect("the kernel");
    let entry = kernel.entry_address;
    let holds = |address: u64, size: u64| (address..address + size).contains(&entry);
    let text = parsed.segments().iter().find(|segment| holds(segment.address, segment.file_size));
    let text = text.expect("the segment with the code");
    let at = usize::try_from(text.offset + (entry - text.address)).expect("a file that is in memory");
    let mut object = VECTOR_ADD_GFX942.to_vec();
    object[at..at + 4].fill(0xff);
    object
}

#[test]
fn an_unknown_instruction_is_refused_and_named() {
    for uri in ["hip-sim://gfx942", "hip-sim://gfx942?faults=sticky"] {
        let device = open(uri);
        let mut add = Add::new(&device);
        let good = std::mem::replace(&mut add.function, function(&device, &patched(), "vector_add"));
        let sum = device.allocate_device(4 * COUNT).expect("4000 bytes");
        let [start, bad, behind, done] = [(); 4].map(|()| Semaphore::new(0));
        start.signal(1).expect("a signal");
        add.submit(&queue(&device, 0), &start, &bad, &sum);
        let error = failure(&bad);
        assert_eq!(error.code(), Code::Unimplemented, "{error}");
        names(&error, &["vector_add", "ff ff ff ff", "offset 0x", "hipModuleLaunchKernel"]);
        add.function = good;
        add.submit(&queue(&device, 1), &bad, &behind, &sum);
        assert_eq!(failure(&behind).to_string(), error.to_string());
        add.submit(&queue(&device, 0), &start, &done, &sum);
        let bytes = queue(&device, 0).download(&[done.at(1)], &sum).expect("a download").wait(SOON);
        assert_eq!(bytes.expect("the sum"), 3.5_f32.to_le_bytes().repeat(COUNT as usize));
    }
}

#[test]
fn a_sticky_fault_loses_the_device_as_on_hardware() {
    let device = open("hip-sim://gfx942?faults=sticky");
    let add = Add::new(&device);
    let small = device.allocate_device(4 * COUNT - 4).expect("3996 bytes");
    let [start, bad] = [(); 2].map(|()| Semaphore::new(0));
    add.submit(&queue(&device, 0), &start, &bad, &small);
    start.signal(1).expect("a signal");
    let bad = failure(&bad);
    assert_eq!(bad.code(), Code::DataLoss, "{bad}");
    names(&bad, &["vector_add", "lane 39", "lost"]);
    assert_eq!(device.allocate_device(64).expect_err("the device is lost").code(), Code::DataLoss);
    open("hip-sim://gfx942?faults=sticky").allocate_device(64).expect("another machine");
}

/// A kernel of `violations.hip`, its last argument if it has one, and the report's text besides the place.
type Violation = (&'static str, Option<Argument<'static>>, &'static [&'static str]);

fn violations() -> [Violation; 14] {
    let long = |value: i64| Some(value.into());
    let word = |value: u32| Some(value.into());
    [
        ("stray_store", long(16), &["directly past the end of the 64-byte allocation", "global_store_dword"]),
        ("stray_load", long(-2), &["read of 4 bytes", "8 bytes before the 64-byte allocation"]),
        ("stray_atomic", long(68), &["atomic of 4 bytes", "4 bytes past the end of the 64-byte allocation"]),
        ("stray_atomic", long(5), &["misaligned", "5 bytes into the 64-byte allocation"]),
        ("write_code", None, &["may only read", "code object at 0x"]),
        ("write_constant", None, &["may only read", "code object at 0x"]),
        ("stray_lds_store", word(64), &["write of 4 bytes", "directly past the end of the 256 bytes of LDS"]),
        ("stray_lds_load", word(65), &["read of 4 bytes", "4 bytes past the end of the 256 bytes of LDS"]),
        ("stray_lds_atomic", word(256), &["atomic of 4 bytes", "past the end of the 256 bytes of LDS"]),
        ("stray_lds_atomic", word(2), &["misaligned", "2 bytes into the 256 bytes of LDS"]),
        ("stray_scratch_store", word(9000), &["write of 4 bytes", "bytes of scratch of the lane"]),
        ("stray_scratch_load", word(9000), &["read of 4 bytes", "bytes of scratch of the lane"]),
        ("deep_recursion", word(5000), &["write of 4 bytes", "bytes of scratch of the lane"]),
        ("stray_call", long(0), &["jumped to 0x0", "a null pointer"]),
    ]
}

/// Runs a kernel in which work-item 165 of two workgroups of 96 acts by `argument`, on 64 bytes.
fn violate(device: &Device, kernel: &str, argument: Option<Argument<'static>>) -> (Semaphore, Buffer) {
    let function = function(device, VIOLATIONS, kernel);
    let words = device.allocate_device(64).expect("64 bytes");
    let done = Semaphore::new(0);
    let config = DispatchConfig::new([2, 1, 1]).workgroup_size([96, 1, 1]);
    let arguments: Vec<_> = [words.arg(), 165_u32.into()].into_iter().chain(argument).collect();
    queue(device, 0).dispatch(&[], &[done.at(1)], &function, config, &arguments).expect("a dispatch");
    (done, words)
}

#[test]
fn each_kind_of_memory_error_is_named_and_the_device_works_after_it() {
    for (uri, code) in [
        ("hip-sim://gfx942", Code::Aborted),
        ("hip-sim://gfx942?faults=sticky", Code::DataLoss),
        ("hip-sim://gfx942?seed=4", Code::Aborted),
    ] {
        let mut device = open(uri);
        for (kernel, argument, says) in violations() {
            let error = failure(&violate(&device, kernel, argument).0);
            assert_eq!(error.code(), code, "{error}");
            names(
                &error,
                &[kernel, "src/violations.hip:", "workgroup (1, 0, 0), wave 1", "hipModuleLaunchKernel"],
            );
            names(&error, says);
            if !matches!(kernel, "deep_recursion" | "stray_call") {
                names(&error, &["wave 1, lane 5, work-item (69, 0, 0)"]);
            }
            if code == Code::DataLoss {
                device = open(uri);
            }
            let (done, words) = violate(&device, "stray_store", Some(3_i64.into()));
            done.wait_blocking(1, SOON).expect("a kernel that does nothing wrong");
            let bytes =
                queue(&device, 0).download(&[], &words).expect("a download").wait(SOON).expect("the words");
            assert_eq!(bytes[12..16], [7, 0, 0, 0]);
        }
    }
}
