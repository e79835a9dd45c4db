// SPDX-License-Identifier: MIT OR Apache-2.0
//! The damage of a faulting kernel: the device, as on hardware, or the work behind it on its stream.

use std::path::Path;
use std::ptr::null_mut;

use crate::common::{Block, Log, Machine};
use windlass_hip_sys::bindings::*;

fn file(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cts/kernels/bundles").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A machine with a kernel that stores 7 at an index of an array of 16 words.
struct Scene {
    machine: Machine,
    write_at: hipFunction_t,
    words: *mut std::ffi::c_void,
}

impl Scene {
    fn new(options: &str) -> Self {
        let machine = Machine::new(options);
        let module = machine.load(&file("faults.ccob"));
        let write_at = machine.function(module, c"write_at");
        let words = machine.upload(&[0_u32; 16]);
        Self { machine, write_at, words }
    }

    fn write(&self, index: i64, stream: hipStream_t) -> hipError_t {
        let arguments = Block::default().pointer(self.words).bytes(&index.to_le_bytes()).u32(7).done();
        self.machine.launch(self.write_at, 1, 1, stream, &arguments)
    }

    fn diagnosis(&self) -> String {
        self.machine.api.diagnose().expect("the latest call has something to say")
    }
}

/// The place of a store to `index`, as the report names it.
fn past(index: u64) -> String {
    match index * 4 - 64 {
        0 => "directly past the end of the 64-byte allocation".to_owned(),
        distance => format!("{distance} bytes past the end of the 64-byte allocation"),
    }
}

#[test]
fn a_sticky_fault_answers_every_call() {
    let scene = Scene::new("?faults=sticky");
    let machine = &scene.machine;
    assert!(!machine.api.contains_faults());
    let (first, second) = (machine.stream(), machine.stream());
    let event = machine.event();
    assert_eq!(scene.write(16, first), hipError_t::hipSuccess);
    fails!(hipErrorIllegalAddress, machine, hipStreamSynchronize(first));
    for _ in 0..2 {
        fails!(hipErrorIllegalAddress, machine, hipStreamSynchronize(second));
        assert!(scene.diagnosis().contains(&past(16)));
        fails!(hipErrorIllegalAddress, machine, hipEventRecord(event, second));
        fails!(hipErrorIllegalAddress, machine, hipDeviceSynchronize());
        assert_eq!(scene.write(0, second), hipError_t::hipErrorIllegalAddress);
    }
    ok!(machine, hipDeviceReset());
    ok!(machine, hipDeviceSynchronize());
    assert_eq!(machine.api.diagnose(), None, "a call that succeeds needs no explanation");
}

#[test]
fn a_contained_fault_is_told_by_the_event_behind_it() {
    let scene = Scene::new("");
    let machine = &scene.machine;
    assert!(machine.api.contains_faults());
    let stream = machine.stream();
    let events: Vec<_> = (0..5).map(|_| machine.event()).collect();
    let gate = machine.gate(stream);
    let log = Log::default();
    for (index, event) in [(0, events[0]), (16, events[1]), (1, events[2]), (18, events[3])] {
        assert_eq!(scene.write(index, stream), hipError_t::hipSuccess);
        ok!(machine, hipEventRecord(event, stream));
    }
    machine.log_on(stream, &log, "behind");
    ok!(machine, hipEventRecord(events[4], stream));
    fails!(hipErrorNotReady, machine, hipEventQuery(events[1]));
    drop(gate);
    ok!(machine, hipEventSynchronize(events[4]));
    assert_eq!(log.words(), ["behind"]);
    for _ in 0..2 {
        ok!(machine, hipEventQuery(events[0]));
        ok!(machine, hipEventQuery(events[2]));
        // Each event reports its own fault, however often it is queried.
        for (event, index) in [(events[3], 18), (events[1], 16)] {
            fails!(hipErrorIllegalAddress, machine, hipEventSynchronize(event));
            assert!(scene.diagnosis().contains(&past(index)), "{}", scene.diagnosis());
            fails!(hipErrorIllegalAddress, machine, hipEventQuery(event));
            let report = scene.diagnosis();
            assert!(report.contains("write_at") && report.contains("lane 0"), "{report}");
            assert!(report.contains(&past(index)), "{report}");
        }
    }
    // Recorded again, it is an event of other work.
    ok!(machine, hipEventRecord(events[1], stream));
    ok!(machine, hipEventSynchronize(events[1]));
    assert_eq!(machine.download::<u32>(scene.words, 3), [7, 7, 0]);
}

#[test]
fn synchronisation_tells_a_contained_fault_once() {
    let scene = Scene::new("");
    let machine = &scene.machine;
    let (bad, good) = (machine.stream(), machine.stream());
    let event = machine.event();
    for round in 0..3 {
        assert_eq!(scene.write(16 + round, bad), hipError_t::hipSuccess);
        assert_eq!(scene.write(round, good), hipError_t::hipSuccess);
        ok!(machine, hipStreamSynchronize(good));
        fails!(hipErrorIllegalAddress, machine, hipStreamSynchronize(bad));
        assert!(scene.diagnosis().contains(&past(16 + round as u64)), "{}", scene.diagnosis());
        for stream in [bad, good] {
            ok!(machine, hipStreamSynchronize(stream));
            ok!(machine, hipStreamQuery(stream));
        }
        ok!(machine, hipDeviceSynchronize());
        // It is recorded after the reports.
        ok!(machine, hipEventRecord(event, bad));
        ok!(machine, hipEventSynchronize(event));
        let mut memory = null_mut();
        ok!(machine, hipMalloc(&mut memory, 64));
        ok!(machine, hipFree(memory));
    }
    assert_eq!(machine.download::<u32>(scene.words, 4), [7, 7, 7, 0]);
}

#[test]
fn the_device_tells_what_no_stream_told() {
    let scene = Scene::new("");
    let machine = &scene.machine;
    let streams = [null_mut(), machine.stream(), machine.stream()];
    for (index, stream) in (16..).zip(streams) {
        assert_eq!(scene.write(index, stream), hipError_t::hipSuccess);
    }
    fails!(hipErrorIllegalAddress, machine, hipStreamSynchronize(streams[1]));
    // Two are left, and one call reports both.
    fails!(hipErrorIllegalAddress, machine, hipDeviceSynchronize());
    assert!(!scene.diagnosis().contains(&past(17)), "{}", scene.diagnosis());
    ok!(machine, hipDeviceSynchronize());
    for stream in streams {
        ok!(machine, hipStreamSynchronize(stream));
    }
    // A later copy does not report the null stream's fault.
    assert_eq!(machine.download::<u32>(scene.words, 1), [0]);
}

#[test]
fn what_an_event_told_is_not_told_again() {
    let scene = Scene::new("");
    let machine = &scene.machine;
    let (stream, event) = (machine.stream(), machine.event());
    assert_eq!(scene.write(16, stream), hipError_t::hipSuccess);
    ok!(machine, hipEventRecord(event, stream));
    for _ in 0..2 {
        fails!(hipErrorIllegalAddress, machine, hipEventSynchronize(event));
        ok!(machine, hipStreamSynchronize(stream));
        ok!(machine, hipDeviceSynchronize());
    }
    // An event that was recorded before any report still reports its work, whatever call reports first.
    assert_eq!(scene.write(17, stream), hipError_t::hipSuccess);
    ok!(machine, hipEventRecord(event, stream));
    fails!(hipErrorIllegalAddress, machine, hipDeviceSynchronize());
    fails!(hipErrorIllegalAddress, machine, hipEventSynchronize(event));
    ok!(machine, hipEventRecord(event, stream));
    ok!(machine, hipEventSynchronize(event));
}

#[test]
fn memory_of_another_device_needs_peer_access() {
    for options in ["gfx942?devices=2", "gfx942?devices=2&seed=3"] {
        let scene = Scene::new(options);
        let machine = &scene.machine;
        let own = scene.words;
        ok!(machine, hipSetDevice(1));
        let far = machine.upload(&[0_u32; 16]);
        let module = machine.load(&file("faults.ccob"));
        let far_scene = |words| (machine.function(module, c"write_at"), words);
        let write = |(write_at, words), index: i64| {
            let arguments = Block::default().pointer(words).bytes(&index.to_le_bytes()).u32(7).done();
            assert_eq!(machine.launch(write_at, 1, 1, null_mut(), &arguments), hipError_t::hipSuccess);
            hip!(machine, hipDeviceSynchronize())
        };
        ok!(machine, hipSetDevice(0));
        assert_eq!(write((scene.write_at, far), 1), hipError_t::hipErrorIllegalAddress);
        let report = scene.diagnosis();
        for part in [
            "memory of device 1",
            "hipDeviceEnablePeerAccess(1, 0)",
            "hsa_amd_agents_allow_access",
            "4 bytes into the 64-byte",
        ] {
            assert!(report.contains(part), "{part}: {report}");
        }
        ok!(machine, hipDeviceEnablePeerAccess(1, 0));
        assert_eq!(write((scene.write_at, far), 2), hipError_t::hipSuccess);
        // Access is open in one direction.
        ok!(machine, hipSetDevice(1));
        assert_eq!(write(far_scene(own), 3), hipError_t::hipErrorIllegalAddress);
        assert_eq!(write(far_scene(far), 4), hipError_t::hipSuccess);
        ok!(machine, hipSetDevice(0));
        ok!(machine, hipDeviceDisablePeerAccess(1));
        assert_eq!(write((scene.write_at, far), 5), hipError_t::hipErrorIllegalAddress);
        // Copies need no access, and memory that is the host's too is open to all.
        let (mut pinned, mut managed) = (null_mut(), null_mut());
        ok!(machine, hipHostMalloc(&mut pinned, 64, 0));
        ok!(machine, hipMallocManaged(&mut managed, 64, 1));
        ok!(machine, hipMemcpyPeer(own, 0, far, 1, 64));
        ok!(machine, hipSetDevice(1));
        for memory in [pinned, managed] {
            assert_eq!(write(far_scene(memory), 6), hipError_t::hipSuccess);
        }
        assert_eq!(machine.download::<u32>(own, 8), [0, 0, 7, 0, 7, 0, 0, 0]);
    }
}

#[test]
fn copies_and_fills_fail_alone_too() {
    let scene = Scene::new("");
    let machine = &scene.machine;
    let stream = machine.stream();
    let mut memory = null_mut();
    ok!(machine, hipMallocAsync(&mut memory, 64, stream));
    // The stream is held, because a call refuses a fill of memory that is freed already.
    let gate = machine.gate(stream);
    ok!(machine, hipFreeAsync(memory, stream));
    ok!(machine, hipMemsetAsync(memory, 1, 64, stream));
    drop(gate);
    let event = machine.event();
    ok!(machine, hipEventRecord(event, stream));
    fails!(hipErrorIllegalAddress, machine, hipEventSynchronize(event));
    assert!(scene.diagnosis().contains("use after free"), "{}", scene.diagnosis());
    ok!(machine, hipMemsetAsync(scene.words, 1, 64, stream));
    ok!(machine, hipEventRecord(event, stream));
    ok!(machine, hipEventSynchronize(event));
    assert_eq!(machine.download::<u32>(scene.words, 1), [0x0101_0101]);
}

/// `vector_add` with its first instruction replaced by one that no gfx942 has.
fn patched() -> Vec<u8> {
    let mut object = file("vector_add.gfx942.co");
    let parsed = windlass_codeobject::CodeObject::parse(&object).expect("a code object");
    let kernel = parsed.kernels().iter().find(|kernel| kernel.name == "vector_add").expect("the kernel");
    let entry = kernel.entry_address;
    let holds = |address: u64, size: u64| (address..address + size).contains(&entry);
    let text = parsed.segments().iter().find(|segment| holds(segment.address, segment.file_size));
    let text = text.expect("the segment with the code");
    let at = usize::try_from(text.offset + (entry - text.address)).expect("a file that is in memory");
    object[at..at + 4].fill(0xff);
    object
}

#[test]
fn an_unknown_instruction_is_refused_by_the_launch() {
    for options in ["", "?faults=sticky"] {
        let scene = Scene::new(options);
        let machine = &scene.machine;
        let module = machine.load(&patched());
        let function = machine.function(module, c"vector_add");
        let stream = machine.stream();
        let arguments =
            Block::default().pointer(scene.words).pointer(scene.words).pointer(scene.words).u32(16).done();
        for _ in 0..3 {
            let status = machine.launch(function, 1, 64, stream, &arguments);
            assert_eq!(status, hipError_t::hipErrorNotSupported);
            let reason = scene.diagnosis();
            for part in ["vector_add", "ff ff ff ff", "offset 0x"] {
                assert!(reason.contains(part), "{part}: {reason}");
            }
            ok!(machine, hipStreamSynchronize(stream));
            fails!(hipErrorNotSupported, machine, hipGetLastError());
            ok!(machine, hipGetLastError());
        }
        assert_eq!(machine.simulator.last_fault(), None, "nothing ran");
        assert_eq!(scene.write(2, stream), hipError_t::hipSuccess);
        ok!(machine, hipStreamSynchronize(stream));
        assert_eq!(machine.download::<u32>(scene.words, 3), [0, 0, 7]);
    }
}
