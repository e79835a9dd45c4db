// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory and events of other processes. A test starts itself again as the other process, with a simulator of its own there.

use std::ffi::c_void;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::ptr::null_mut;

use crate::common::{Block, Machine};
use windlass_hip_sys::bindings::*;
use windlass_simulated_gpu::memory::sharing::Ticket;

mod descriptors;
use descriptors::{DESCRIPTOR, shareable_pool};

/// The variable that makes a test the other process. Its value is what the first process has for it.
const OTHER: &str = "WINDLASS_TEST_IPC";
/// `hipIpcMemLazyEnablePeerAccess`.
const LAZY: u32 = 1;
/// `hipEventDisableTiming | hipEventInterprocess`.
const SHARED: u32 = 6;

/// The other process of a test.
struct Other {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Other {
    fn start(test: &str, message: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &format!("ipc::{test}"), "--nocapture"])
            .env(OTHER, message)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, to, from }
    }

    fn say(&mut self, words: &str) {
        writeln!(self.to, "{words}").unwrap();
    }

    /// The next words of the other process.
    fn hear(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).unwrap() > 0, "the other process has ended");
            if let Some((_, words)) = line.trim_end().split_once("other: ") {
                return words.to_owned();
            }
        }
    }

    /// Waits until the other process has ended well.
    fn end(mut self) {
        drop(self.to);
        let mut rest = String::new();
        while self.from.read_line(&mut rest).unwrap() > 0 {}
        assert!(self.child.wait().unwrap().success(), "{rest}");
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// In the other process: what the first one has for it.
fn message() -> Option<String> {
    std::env::var(OTHER).ok()
}

/// In the other process: tells the first one.
#[allow(clippy::print_stdout, reason = "it is the way to the first process")]
fn say(words: &str) {
    println!("other: {words}");
}

/// In the other process: the next words of the first one; none once it has no more.
fn hear() -> String {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

fn hex(bytes: &[i8; 64]) -> String {
    bytes.iter().map(|byte| format!("{:02x}", *byte as u8)).collect()
}

fn unhex(text: &str) -> [i8; 64] {
    std::array::from_fn(|index| u8::from_str_radix(&text[2 * index..2 * index + 2], 16).unwrap() as i8)
}

fn handle(machine: &Machine, memory: *mut c_void) -> hipIpcMemHandle_t {
    let mut handle = hipIpcMemHandle_t::default();
    ok!(machine, hipIpcGetMemHandle(&mut handle, memory));
    handle
}

fn open(machine: &Machine, handle: hipIpcMemHandle_t) -> (hipError_t, *mut c_void) {
    let mut memory = null_mut();
    (hip!(machine, hipIpcOpenMemHandle(&mut memory, handle, LAZY)), memory)
}

/// The handle of the first process, opened.
fn opened(machine: &Machine, text: &str) -> *mut c_void {
    let (status, memory) = open(machine, hipIpcMemHandle_t { reserved: unhex(text) });
    assert_eq!(status, hipError_t::hipSuccess, "{:?}", machine.simulator.last_fault());
    memory
}

/// Doubles floats on a GPU.
fn double(machine: &Machine, memory: *mut c_void, count: u32) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cts/kernels/bundles/vector_add.ccob");
    let module = machine.load(&std::fs::read(path).unwrap());
    let function = machine.function(module, c"vector_add");
    let arguments = Block::default().pointer(memory).pointer(memory).pointer(memory).u32(count).done();
    assert_eq!(machine.launch(function, 1, 64, null_mut(), &arguments), hipError_t::hipSuccess);
    ok!(machine, hipDeviceSynchronize());
}

#[test]
fn processes_use_the_same_memory() {
    if let Some(message) = message() {
        let machine = Machine::new("gfx942");
        let memory = opened(&machine, &message);
        assert_eq!(machine.download::<f32>(memory, 60), [3.0; 60]);
        double(&machine, memory, 60);
        // A kernel that leaves it faults, as with other memory.
        fails!(hipErrorInvalidValue, machine, hipMemset(memory, 0, 241));
        assert_eq!(opened(&machine, &message), memory, "it is open");
        ok!(machine, hipIpcCloseMemHandle(memory));
        fails!(hipErrorInvalidValue, machine, hipFree(memory));
        say("doubled");
        hear();
        // The memory is freed over there, and stays here until it is closed.
        assert_eq!(machine.download::<f32>(memory, 60), [7.0; 60]);
        ok!(machine, hipIpcCloseMemHandle(memory));
        fails!(hipErrorInvalidValue, machine, hipIpcCloseMemHandle(memory));
        fails!(hipErrorInvalidValue, machine, hipMemset(memory, 0, 4));
        let again = open(&machine, hipIpcMemHandle_t { reserved: unhex(&message) }).0;
        assert_eq!(again, hipError_t::hipErrorInvalidDevicePointer, "it is freed");
        return;
    }
    let machine = Machine::new("gfx942");
    let memory = machine.upload(&[3_f32; 64]);
    // The handle stands for the sixteenth byte.
    let handle = handle(&machine, memory.wrapping_byte_add(16));
    let mut other = Other::start("processes_use_the_same_memory", &hex(&handle.reserved));
    assert_eq!(other.hear(), "doubled");
    let values = machine.download::<f32>(memory, 64);
    assert_eq!(values, [[3.0; 4].as_slice(), &[6.0; 60]].concat());
    ok!(machine, hipMemcpyHtoD(memory, [7_f32; 64].as_ptr().cast(), 256));
    ok!(machine, hipFree(memory));
    // New memory of this process is not the other's.
    for _ in 0..8 {
        machine.upload(&[9_f32; 64]);
    }
    other.say("freed");
    other.end();
}

#[test]
fn memory_outlives_the_process_that_had_it_first() {
    if message().is_some() {
        let machine = Machine::new("gfx942");
        let memory = machine.upload(&vec![5_u8; 3 << 20]);
        say(&hex(&handle(&machine, memory).reserved));
        hear();
        unreachable!("it is killed before");
    }
    for options in ["gfx942", "gfx942?seed=3"] {
        let machine = Machine::new(options);
        let mut other = Other::start("memory_outlives_the_process_that_had_it_first", "");
        let text = other.hear();
        let memory = opened(&machine, &text);
        other.kill();
        assert_eq!(machine.download::<u8>(memory, 3 << 20), vec![5; 3 << 20]);
        ok!(machine, hipMemset(memory, 6, 3 << 20));
        assert_eq!(machine.download::<u8>(memory, 3 << 20), vec![6; 3 << 20]);
        let again = hipIpcMemHandle_t { reserved: unhex(&text) };
        assert_eq!(open(&machine, again), (hipError_t::hipSuccess, memory), "it is open already");
        ok!(machine, hipIpcCloseMemHandle(memory));
        ok!(machine, hipIpcCloseMemHandle(memory));
        assert_eq!(open(&machine, again).0, hipError_t::hipErrorInvalidDevicePointer);
    }
}

#[test]
fn wrong_handles_of_memory_are_refused() {
    let machine = Machine::new("gfx942");
    let memory = machine.malloc(64);
    let right = handle(&machine, memory);
    assert_eq!(open(&machine, right).0, hipError_t::hipErrorInvalidContext, "of this process");
    assert_eq!(open(&machine, hipIpcMemHandle_t::default()).0, hipError_t::hipErrorInvalidValue);
    let mut opened = null_mut();
    fails!(hipErrorInvalidValue, machine, hipIpcOpenMemHandle(&mut opened, right, 0));
    fails!(hipErrorInvalidValue, machine, hipIpcOpenMemHandle(null_mut(), right, LAZY));
    let mut made = hipIpcMemHandle_t::default();
    let mut pinned = null_mut();
    ok!(machine, hipHostMalloc(&mut pinned, 64, 0));
    let mut managed = null_mut();
    ok!(machine, hipMallocManaged(&mut managed, 64, 1));
    for pointer in [null_mut(), pinned, managed, (&raw mut made).cast()] {
        fails!(hipErrorInvalidValue, machine, hipIpcGetMemHandle(&mut made, pointer));
    }
    fails!(hipErrorInvalidValue, machine, hipIpcGetMemHandle(null_mut(), memory));
    fails!(hipErrorInvalidValue, machine, hipIpcCloseMemHandle(memory));
    fails!(hipErrorInvalidValue, machine, hipIpcCloseMemHandle(null_mut()));
    // The same bytes, before and after other processes may have them.
    assert_eq!(handle(&machine, memory).reserved, right.reserved);
    ok!(machine, hipFree(memory));
    fails!(hipErrorInvalidValue, machine, hipIpcGetMemHandle(&mut made, memory));
}

#[test]
fn handles_of_memory_that_no_process_shares_open_nothing() {
    let machine = Machine::new("gfx942");
    let right = handle(&machine, machine.malloc(64));
    // Of a process that there is not, and of one that has no such file.
    for process in [0x7fff_ffff, 1] {
        let mut ticket = Ticket::from_bytes(&right.reserved.map(|byte| byte as u8)).unwrap();
        ticket.process = process;
        let other = hipIpcMemHandle_t { reserved: ticket.to_bytes().map(|byte| byte as i8) };
        assert_eq!(open(&machine, other).0, hipError_t::hipErrorInvalidDevicePointer);
    }
    for byte in [0, 8, 16, 24, 32, 40] {
        let mut damaged = right;
        damaged.reserved[byte] ^= 1;
        assert_eq!(open(&machine, damaged).0, hipError_t::hipErrorInvalidValue, "byte {byte}");
    }
}

#[test]
fn memory_is_shared_while_streams_use_it() {
    let machine = Machine::new("gfx942");
    let (memory, stream) = (machine.upload(&[1_u8; 4096]), machine.stream());
    for round in 0..50 {
        ok!(machine, hipMemsetAsync(memory, round, 4096, stream));
    }
    handle(&machine, memory);
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(machine.download::<u8>(memory, 4096), [49; 4096]);
    ok!(machine, hipMemsetAsync(memory, 7, 4096, stream));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(machine.download::<u8>(memory, 4096), [7; 4096]);
}

fn shared_event(machine: &Machine) -> (hipEvent_t, String) {
    let (mut event, mut handle) = (null_mut(), hipIpcEventHandle_t::default());
    ok!(machine, hipEventCreateWithFlags(&mut event, SHARED));
    ok!(machine, hipIpcGetEventHandle(&mut handle, event));
    (event, hex(&handle.reserved))
}

fn opened_event(machine: &Machine, text: &str) -> hipEvent_t {
    let mut event = null_mut();
    ok!(machine, hipIpcOpenEventHandle(&mut event, hipIpcEventHandle_t { reserved: unhex(text) }));
    event
}

#[test]
fn streams_of_processes_wait_for_each_other() {
    if let Some(message) = message() {
        let machine = Machine::new("gfx942");
        let (event, stream) = (opened_event(&machine, &message), machine.stream());
        ok!(machine, hipEventQuery(event));
        say("open");
        hear();
        fails!(hipErrorNotReady, machine, hipEventQuery(event));
        let memory = machine.upload(&[0_u8; 4]);
        ok!(machine, hipStreamWaitEvent(stream, event, 0));
        ok!(machine, hipMemsetAsync(memory, 3, 4, stream));
        fails!(hipErrorNotReady, machine, hipStreamQuery(stream));
        assert_eq!(machine.download::<u8>(memory, 4), [0; 4]);
        say("waits");
        ok!(machine, hipEventSynchronize(event));
        ok!(machine, hipStreamSynchronize(stream));
        assert_eq!(machine.download::<u8>(memory, 4), [3; 4]);
        // The other way.
        let gate = machine.gate(stream);
        ok!(machine, hipEventRecord(event, stream));
        say("recorded");
        hear();
        drop(gate);
        ok!(machine, hipEventSynchronize(event));
        hear();
        ok!(machine, hipEventDestroy(event));
        return;
    }
    for options in ["gfx942", "gfx942?seed=4"] {
        let machine = Machine::new(options);
        let ((event, text), stream) = (shared_event(&machine), machine.stream());
        let mut other = Other::start("streams_of_processes_wait_for_each_other", &text);
        assert_eq!(other.hear(), "open");
        // Work that waits for a word of memory holds the stream, under a seed too.
        let mut word = null_mut();
        ok!(machine, hipExtMallocWithFlags(&mut word, 8, hipMallocSignalMemory));
        ok!(machine, hipMemset(word, 0, 8));
        ok!(machine, hipDeviceSynchronize());
        ok!(machine, hipStreamWaitValue64(stream, word, 1, 0, u64::MAX));
        ok!(machine, hipEventRecord(event, stream));
        fails!(hipErrorNotReady, machine, hipEventQuery(event));
        other.say("recorded");
        assert_eq!(other.hear(), "waits");
        ok!(machine, hipStreamWriteValue64(machine.stream(), word, 1, 0));
        ok!(machine, hipEventSynchronize(event));
        assert_eq!(other.hear(), "recorded");
        fails!(hipErrorNotReady, machine, hipEventQuery(event));
        ok!(machine, hipStreamWaitEvent(stream, event, 0));
        other.say("go on");
        ok!(machine, hipStreamSynchronize(stream));
        ok!(machine, hipEventQuery(event));
        other.say("done");
        other.end();
        ok!(machine, hipEventDestroy(event));
    }
}

#[test]
fn graphs_record_and_wait_for_events_of_other_processes() {
    let record = |machine: &Machine, event: hipEvent_t| {
        let (mut graph, mut node, mut exec) = (null_mut(), null_mut(), null_mut());
        ok!(machine, hipGraphCreate(&mut graph, 0));
        ok!(machine, hipGraphAddEventRecordNode(&mut node, graph, std::ptr::null(), 0, event));
        ok!(machine, hipGraphInstantiate(&mut exec, graph, null_mut(), null_mut(), 0));
        exec
    };
    if let Some(message) = message() {
        let machine = Machine::new("gfx942");
        let (event, stream) = (opened_event(&machine, &message), machine.stream());
        let gate = machine.gate(stream);
        ok!(machine, hipGraphLaunch(record(&machine, event), stream));
        fails!(hipErrorNotReady, machine, hipEventQuery(event));
        say("recorded");
        hear();
        drop(gate);
        ok!(machine, hipEventSynchronize(event));
        return;
    }
    let machine = Machine::new("gfx942");
    let ((event, text), stream) = (shared_event(&machine), machine.stream());
    let mut other = Other::start("graphs_record_and_wait_for_events_of_other_processes", &text);
    assert_eq!(other.hear(), "recorded");
    let (mut graph, mut node, mut exec) = (null_mut(), null_mut(), null_mut());
    ok!(machine, hipGraphCreate(&mut graph, 0));
    ok!(machine, hipGraphAddEventWaitNode(&mut node, graph, std::ptr::null(), 0, event));
    ok!(machine, hipGraphInstantiate(&mut exec, graph, null_mut(), null_mut(), 0));
    ok!(machine, hipGraphLaunch(exec, stream));
    fails!(hipErrorNotReady, machine, hipStreamQuery(stream));
    other.say("go on");
    ok!(machine, hipStreamSynchronize(stream));
    other.end();
}

/// A device that has failed skips its work, and others wait for none of it.
#[test]
fn a_failed_device_holds_no_other_process() {
    if let Some(message) = message() {
        let machine = Machine::new("gfx942?faults=sticky");
        let (event, stream) = (opened_event(&machine, &message), machine.stream());
        let function = machine.function(
            machine.load(include_bytes!("../../../../cts/kernels/bundles/faults.ccob")),
            c"write_at",
        );
        let stray = Block::default().pointer(null_mut()).bytes(&64_i64.to_le_bytes()).u32(7).done();
        assert_eq!(machine.launch(function, 1, 1, stream, &stray), hipError_t::hipSuccess);
        let _ = hip!(machine, hipEventRecord(event, stream));
        fails!(hipErrorIllegalAddress, machine, hipDeviceSynchronize());
        say("failed");
        hear();
        return;
    }
    let machine = Machine::new("gfx942");
    let (event, text) = shared_event(&machine);
    let mut other = Other::start("a_failed_device_holds_no_other_process", &text);
    assert_eq!(other.hear(), "failed");
    ok!(machine, hipEventSynchronize(event));
    other.end();
}

#[test]
fn nobody_waits_for_a_recording_of_a_process_that_has_ended() {
    if let Some(message) = message() {
        let machine = Machine::new("gfx942");
        let (event, stream) = (opened_event(&machine, &message), machine.stream());
        let _gate = machine.gate(stream);
        ok!(machine, hipEventRecord(event, stream));
        say("recorded");
        hear();
        unreachable!("it is killed before");
    }
    let machine = Machine::new("gfx942");
    let ((event, text), stream) = (shared_event(&machine), machine.stream());
    let mut other = Other::start("nobody_waits_for_a_recording_of_a_process_that_has_ended", &text);
    assert_eq!(other.hear(), "recorded");
    ok!(machine, hipStreamWaitEvent(stream, event, 0));
    fails!(hipErrorNotReady, machine, hipStreamQuery(stream));
    other.kill();
    ok!(machine, hipStreamSynchronize(stream));
    ok!(machine, hipEventSynchronize(event));
    ok!(machine, hipEventQuery(event));
}

#[test]
fn wrong_handles_of_events_are_refused() {
    let machine = Machine::new("gfx942");
    let (event, text) = shared_event(&machine);
    let own = hipIpcEventHandle_t { reserved: unhex(&text) };
    let (mut opened, mut made) = (null_mut(), hipIpcEventHandle_t::default());
    fails!(hipErrorInvalidContext, machine, hipIpcOpenEventHandle(&mut opened, own));
    fails!(hipErrorInvalidValue, machine, hipIpcOpenEventHandle(&mut opened, made));
    fails!(hipErrorInvalidValue, machine, hipIpcOpenEventHandle(null_mut(), own));
    let plain = machine.event();
    fails!(hipErrorInvalidConfiguration, machine, hipIpcGetEventHandle(&mut made, plain));
    fails!(hipErrorInvalidValue, machine, hipIpcGetEventHandle(&mut made, null_mut()));
    fails!(hipErrorInvalidValue, machine, hipIpcGetEventHandle(null_mut(), event));
}

#[test]
fn a_destroyed_event_has_no_handle() {
    let machine = Machine::new("gfx942");
    let (event, _) = shared_event(&machine);
    ok!(machine, hipEventDestroy(event));
    let mut made = hipIpcEventHandle_t::default();
    fails!(hipErrorInvalidHandle, machine, hipIpcGetEventHandle(&mut made, event));
}

/// The shared files that this process has open, and the mappings of such files.
fn shared_files() -> (usize, usize) {
    let links = std::fs::read_dir("/proc/self/fd").unwrap();
    let links = links.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok());
    // The files of virtual memory and of poison have other names.
    let is_shared = |text: &str| {
        ["event", "memory", "pool"].iter().any(|content| text.contains(&format!("memfd:windlass-{content}-")))
    };
    let files = links.filter(|link| is_shared(&link.to_string_lossy())).count();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    (files, maps.lines().filter(|line| is_shared(line)).count())
}

#[test]
fn files_of_shared_objects_are_closed_with_them() {
    if message().is_none() {
        // Alone in a process, as other tests open files.
        Other::start("files_of_shared_objects_are_closed_with_them", "alone").end();
        return;
    }
    // The descriptors test leaves one descriptor for its own child open, and this child may inherit it.
    let (inherited, _) = shared_files();
    let own_files = || {
        let (files, maps) = shared_files();
        (files - inherited, maps)
    };
    let machine = Machine::new("gfx942");
    let (event, _) = shared_event(&machine);
    assert_eq!(own_files(), (1, 1));
    ok!(machine, hipEventDestroy(event));
    assert_eq!(own_files(), (0, 0));
    let _ = shared_event(&machine);
    let memory = [64, 3 << 20].map(|size| machine.malloc(size));
    for memory in memory {
        handle(&machine, memory);
    }
    assert_eq!(own_files(), (3, 3));
    ok!(machine, hipFree(memory[0]));
    assert_eq!(own_files(), (2, 2));
    let pool = shareable_pool(&machine, DESCRIPTOR);
    let mut of_pool = null_mut();
    ok!(machine, hipMallocFromPoolAsync(&mut of_pool, 64, pool, null_mut()));
    handle(&machine, of_pool);
    assert_eq!(own_files(), (4, 3));
    ok!(machine, hipFreeAsync(of_pool, null_mut()));
    ok!(machine, hipDeviceSynchronize());
    ok!(machine, hipMemPoolDestroy(pool));
    assert_eq!(own_files(), (2, 2));
    ok!(machine, hipDeviceReset());
    assert_eq!(own_files(), (0, 0));
}
