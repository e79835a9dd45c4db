// SPDX-License-Identifier: MIT OR Apache-2.0
//! What HSA's clients can get wrong has a status, and no more.

mod common;

use std::ffi::c_void;
use std::os::fd::AsRawFd as _;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

use common::*;
use hsa_runtime64 as hsa;
use windlass_simulator::hsa::Status;
use windlass_simulator::hsa::abi::*;

fn start() {
    machine("gfx942?memory=256M");
}

fn error(noted: &Noted) -> Status {
    noted.wait()
}

fn bogus<T: From<u64>>() -> Vec<T> {
    [0_u64, 1, 64, 4096, 0x5749_4e44_4147_00ff, u64::MAX, 1 << 47].into_iter().map(T::from).collect()
}

#[test]
fn handles_that_are_none_are_refused() {
    start();
    let mut word = [0_u64; 64];
    let value: *mut c_void = word.as_mut_ptr().cast();
    for handle in bogus::<u64>() {
        // SAFETY: handles may be anything; pointers are to locals.
        unsafe {
            assert_eq!(hsa::hsa_agent_get_info(Agent { handle }, 0, value), Status::INVALID_AGENT);
            assert_eq!(hsa::hsa_isa_get_info_alt(Isa { handle }, 0, value), Status::INVALID_ISA);
            assert_eq!(
                hsa::hsa_amd_memory_pool_get_info(MemoryPool { handle }, 0, value),
                Status::INVALID_MEMORY_POOL
            );
            assert_eq!(hsa::hsa_region_get_info(Region { handle }, 0, value), Status::INVALID_REGION);
            assert_eq!(
                hsa::hsa_executable_get_info(Executable { handle }, 2, value),
                Status::INVALID_EXECUTABLE
            );
            assert_eq!(
                hsa::hsa_code_object_reader_destroy(CodeObjectReader { handle }),
                Status::INVALID_CODE_OBJECT_READER
            );
            assert_eq!(
                hsa::hsa_executable_symbol_get_info(ExecutableSymbol { handle }, 0, value),
                Status::INVALID_EXECUTABLE_SYMBOL
            );
            let destroyed = hsa::hsa_signal_destroy(Signal { handle });
            assert_eq!(
                destroyed,
                if handle == 0 { Status::INVALID_ARGUMENT } else { Status::INVALID_SIGNAL }
            );
            let queue = handle as *mut HsaQueue;
            let expected = if handle == 0 { Status::INVALID_ARGUMENT } else { Status::INVALID_QUEUE };
            assert_eq!(hsa::hsa_queue_destroy(queue), expected);
            // Functions without a status do nothing.
            hsa::hsa_signal_store_screlease(Signal { handle }, 1);
            assert_eq!(hsa::hsa_signal_load_relaxed(Signal { handle }), 0);
            assert_eq!(hsa::hsa_queue_load_read_index_relaxed(queue), 0);
        }
    }
}

#[test]
fn signals_are_gone_once() {
    start();
    let gone = signal(1);
    // SAFETY: a handle, live and then stale.
    unsafe {
        ok(hsa::hsa_signal_destroy(gone));
        assert_eq!(hsa::hsa_signal_destroy(gone), Status::INVALID_SIGNAL);
        let mut pointer = null_mut();
        assert_eq!(hsa::hsa_amd_signal_value_pointer(gone, &mut pointer), Status::INVALID_SIGNAL);
        assert_eq!(hsa::hsa_signal_wait_scacquire(gone, 2, 1, WAIT_FOR_EVER, 0), 0, "nobody waits for it");
        let doorbell = (*Queue::new(gpu(0), 64).0).doorbell_signal;
        assert_eq!(hsa::hsa_signal_destroy(doorbell), Status::INVALID_SIGNAL);
    }
}

#[test]
fn queues_have_sizes() {
    start();
    let mut queue = null_mut();
    let mut create = |agent, size, kind| {
        // SAFETY: the pointer is a local.
        unsafe { hsa::hsa_queue_create(agent, size, kind, None, null_mut(), 0, 0, &mut queue) }
    };
    for size in [0, 3, 1 << 20, u32::MAX] {
        assert_eq!(create(gpu(0), size, 0), Status::INVALID_ARGUMENT, "{size} packets");
    }
    assert_eq!(create(gpu(0), 64, 7), Status::INVALID_ARGUMENT);
    assert_eq!(create(agents()[0], 64, 0), Status::INVALID_QUEUE_CREATION);
    // SAFETY: null is what is wrong.
    let nowhere = unsafe { hsa::hsa_queue_create(gpu(0), 64, 0, None, null_mut(), 0, 0, null_mut()) };
    assert_eq!(nowhere, Status::INVALID_ARGUMENT);
}

#[test]
fn packets_that_are_none_stop_their_queue() {
    start();
    let code = Code::load(gpu(0), SPIN);
    let explicit = [0; 16];
    let good = Dispatch {
        kernel: code.kernel("set_flag"),
        workgroup: 1,
        grid: 1,
        arguments: arguments(&explicit, 1, 1),
        header: 0,
        completion: Signal::default(),
    };
    let segments = |private: u32, group: u32| {
        let mut body = good.body();
        body[20..24].copy_from_slice(&private.to_le_bytes());
        body[24..28].copy_from_slice(&group.to_le_bytes());
        body
    };
    let mut huge = good.body();
    for axis in 0..3 {
        huge[8 + 4 * axis..12 + 4 * axis].copy_from_slice(&u32::MAX.to_le_bytes());
    }
    let cases: [(&str, u16, u16, [u8; 60], Status); 11] = [
        ("too much LDS", 2, 1, segments(0, 65_537), Status::INVALID_ALLOCATION),
        ("too much private memory", 2, 1, segments(u32::MAX, 0), Status::INVALID_ARGUMENT),
        ("more workgroups than there are numbers", 2, 3, huge, Status::INVALID_ARGUMENT),
        ("a reserved type", 9, 1, good.body(), Status::INVALID_PACKET_FORMAT),
        ("an agent dispatch", 4, 1, good.body(), Status::INVALID_PACKET_FORMAT),
        ("a vendor's format", 0, 77, good.body(), Status::INVALID_PACKET_FORMAT),
        ("no dimensions", 2, 0, good.body(), Status::INVALID_PACKET_FORMAT),
        ("an empty workgroup", 2, 1, Dispatch { workgroup: 0, ..good }.body(), Status::INVALID_ARGUMENT),
        ("an empty grid", 2, 1, Dispatch { grid: 0, ..good }.body(), Status::INVALID_ARGUMENT),
        (
            "too large a workgroup",
            2,
            1,
            Dispatch { workgroup: 2048, ..good }.body(),
            Status::INVALID_ARGUMENT,
        ),
        ("a kernel that is none", 2, 1, Dispatch { kernel: 64, ..good }.body(), Status::INVALID_CODE_OBJECT),
    ];
    for (what, header, setup, body, status) in cases {
        let (queue, seen) = watched_queue();
        queue.push(header, setup, body);
        assert_eq!(error(seen), status, "{what}");
        // What comes behind is not processed.
        let later = signal(1);
        queue.barrier(3, 0, &[], later);
        assert_eq!(load(later), 1, "{what}");
    }
    let (queue, seen) = watched_queue();
    queue.barrier(3, 0, &[Signal { handle: 12_345 }], Signal::default());
    assert_eq!(error(seen), Status::INVALID_ARGUMENT, "a signal that is none");
}

#[test]
fn a_doorbell_past_the_write_index_runs_what_was_claimed() {
    start();
    let (queue, seen) = watched_queue();
    let done = signal(1);
    queue.ring(1000);
    queue.barrier(3, 0, &[], done);
    wait(done);
    assert_eq!(seen.status(), None);
}

#[test]
fn a_stray_access_is_told_to_the_queue_and_others_go_on() {
    start();
    let code = Code::load(gpu(0), SPIN);
    let (queue, seen) = watched_queue();
    let healthy = Queue::new(gpu(0), 64);
    let dispatch = |flag: u64, completion| Dispatch {
        kernel: code.kernel("set_flag"),
        workgroup: 1,
        grid: 1,
        arguments: arguments(&packed(&[&flag.to_le_bytes(), &1_u32.to_le_bytes()]), 1, 1),
        header: 0,
        completion,
    };
    let (lost, done) = (signal(1), signal(1));
    queue.dispatch(dispatch(0x10_0000, lost));
    assert_eq!(error(seen), Status::MEMORY_FAULT);
    assert_eq!(load(lost), 1, "what went wrong has not completed");
    healthy.dispatch(dispatch(host_memory(64) as u64, done));
    wait(done);
}

/// As on hardware, which gives what the packet says and knows nothing of the kernel's need.
#[test]
fn a_packet_without_the_lds_of_its_kernel_is_a_fault() {
    const HISTOGRAM: &[u8] = include_bytes!("../../../cts/kernels/bundles/histogram.gfx942.co");
    start();
    let code = Code::load(gpu(0), HISTOGRAM);
    let (queue, seen) = watched_queue();
    let memory = device_memory(gpu(0), 4096) as u64;
    let explicit = packed(&[&memory.to_le_bytes(), &memory.to_le_bytes(), &256_u32.to_le_bytes()]);
    queue.dispatch(Dispatch {
        kernel: code.kernel("histogram"),
        workgroup: 256,
        grid: 256,
        arguments: arguments(&explicit, 256, 256),
        header: 0,
        completion: signal(1),
    });
    assert_eq!(error(seen), Status::MEMORY_FAULT);
}

#[test]
fn damaged_code_and_code_of_another_gpu_are_refused() {
    start();
    const OF_GFX90A: &[u8] = include_bytes!("../../../cts/kernels/bundles/vector_add.hipfb");
    let load = |bytes: &[u8]| {
        let (mut reader, mut executable) = (CodeObjectReader::default(), Executable::default());
        // SAFETY: the bytes are what the size says; all else are locals and live handles.
        unsafe {
            ok(hsa::hsa_code_object_reader_create_from_memory(
                bytes.as_ptr().cast(),
                bytes.len(),
                &mut reader,
            ));
            ok(hsa::hsa_executable_create_alt(1, 0, null(), &mut executable));
            let loaded =
                hsa::hsa_executable_load_agent_code_object(executable, gpu(0), reader, null(), null_mut());
            ok(hsa::hsa_executable_destroy(executable));
            ok(hsa::hsa_code_object_reader_destroy(reader));
            loaded
        }
    };
    assert_eq!(load(b"junk"), Status::INVALID_CODE_OBJECT);
    assert_eq!(load(OF_GFX90A), Status::INVALID_CODE_OBJECT, "a bundle is no code object");
    assert_eq!(load(&VECTOR_ADD[..1000]), Status::INVALID_CODE_OBJECT);
    // The processor in the flags of the header: 0x3f is gfx90a.
    let mut other = VECTOR_ADD.to_vec();
    other[48] = 0x3f;
    assert!(matches!(load(&other), Status::INCOMPATIBLE_ARGUMENTS | Status::INVALID_CODE_OBJECT));
    // The features behind it, two bits each: off is 2, on is 3; xnack, then sramecc. The agent is sramecc+ and xnack-.
    for (features, loaded) in [
        (0x2 | 0xc, Status::SUCCESS),
        (0x3 | 0xc, Status::INCOMPATIBLE_ARGUMENTS),
        (0x2 | 0x8, Status::INCOMPATIBLE_ARGUMENTS),
    ] {
        let mut stated = VECTOR_ADD.to_vec();
        stated[49] = features;
        assert_eq!(load(&stated), loaded, "{features:#x}");
    }
    ok(load(VECTOR_ADD));
}

/// A file whose end nobody knows is not waited for.
#[test]
fn code_is_read_from_regular_files() {
    start();
    let read = |file: &std::fs::File| {
        let mut reader = CodeObjectReader::default();
        // SAFETY: an open file and a local.
        unsafe { hsa::hsa_code_object_reader_create_from_file(file.as_raw_fd(), &mut reader) }
    };
    let path = std::env::temp_dir().join(format!("windlass-code-{}", std::process::id()));
    std::fs::write(&path, VECTOR_ADD).unwrap();
    let file = std::fs::File::open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    ok(read(&file));
    assert_eq!(read(&std::fs::File::open("/dev/zero").unwrap()), Status::INVALID_FILE);
    let (pipe, _writer) = std::io::pipe().unwrap();
    assert_eq!(read(&std::fs::File::from(std::os::fd::OwnedFd::from(pipe))), Status::INVALID_FILE);
    let mut reader = CodeObjectReader::default();
    // SAFETY: a local.
    let none = unsafe { hsa::hsa_code_object_reader_create_from_file(-1, &mut reader) };
    assert_eq!(none, Status::INVALID_FILE);
}

#[test]
fn executables_freeze_once_and_symbols_have_names() {
    start();
    let code = Code::load(gpu(0), VECTOR_ADD);
    let mut symbol = ExecutableSymbol::default();
    // SAFETY: locals, live handles, and strings that end.
    unsafe {
        assert_eq!(hsa::hsa_executable_freeze(code.executable(), null()), Status::FROZEN_EXECUTABLE);
        let found = hsa::hsa_executable_get_symbol_by_name(
            code.executable(),
            c"nothing.kd".as_ptr(),
            null(),
            &mut symbol,
        );
        assert_eq!(found, Status::INVALID_SYMBOL_NAME);
        assert_eq!(
            hsa::hsa_executable_get_symbol_by_name(code.executable(), null(), null(), &mut symbol),
            Status::INVALID_ARGUMENT
        );
        ok(hsa::hsa_executable_destroy(code.executable()));
        assert_eq!(hsa::hsa_executable_destroy(code.executable()), Status::INVALID_EXECUTABLE);
    }
}

/// Runs `spin_until_host` on a flag that nobody sets.
fn spin(queue: &Queue, code: &Code, completion: Signal) -> *mut u8 {
    let (flag, out) = (host_memory(64), host_memory(64));
    let explicit = packed(&[&(flag as u64).to_le_bytes(), &1_u64.to_le_bytes(), &(out as u64).to_le_bytes()]);
    let arguments = arguments(&explicit, 1, 1);
    let kernel = code.kernel("spin_until_host");
    queue.dispatch(Dispatch { kernel, workgroup: 1, grid: 1, arguments, header: FENCES, completion });
    flag
}

#[test]
fn a_queue_goes_with_its_kernels_in_flight() {
    start();
    let code = Code::load(gpu(0), SPIN);
    let (queue, noted) = watched_queue();
    let never = signal(1);
    // The kernel adds one, which makes it zero, and waits until it is one.
    let (arrivals, out) = (host_memory(64), host_memory(64));
    // SAFETY: live memory that kernels change by atomics.
    let count = unsafe { AtomicU32::from_ptr(arrivals.cast()) };
    count.store(u32::MAX, Ordering::Release);
    let explicit = packed(&[&(arrivals as u64).to_le_bytes(), &(out as u64).to_le_bytes()]);
    let (kernel, arguments) = (code.kernel("meet"), arguments(&explicit, 1, 1));
    queue.dispatch(Dispatch { kernel, workgroup: 1, grid: 1, arguments, header: FENCES, completion: never });
    while count.load(Ordering::Acquire) != 0 {
        std::thread::yield_now();
    }
    queue.barrier(3, BARRIER, &[never], Signal::default());
    let stale = queue.0;
    drop(queue);
    // SAFETY: a handle that is stale.
    assert_eq!(unsafe { hsa::hsa_queue_destroy(stale) }, Status::INVALID_QUEUE);
    assert_eq!((load(never), noted.status()), (1, None), "nobody was told that it was done, or wrong");
    // The threads that it had are free: as many again as there can be run to their end.
    for _ in 0..40 {
        let queue = Queue::new(gpu(0), 64);
        spin(&queue, &code, Signal::default());
    }
}

#[test]
fn a_queue_takes_its_doorbell_along() {
    start();
    let queue = Queue::new(gpu(0), 64);
    // SAFETY: a live queue.
    let doorbell = unsafe { (*queue.0).doorbell_signal };
    drop(queue);
    let mut pointer = null_mut();
    // SAFETY: a stale handle, and a local.
    unsafe {
        assert_eq!(hsa::hsa_amd_signal_value_pointer(doorbell, &mut pointer), Status::INVALID_SIGNAL);
        hsa::hsa_signal_store_screlease(doorbell, 0);
    }
}

#[test]
fn a_completion_signal_that_is_gone_is_nobody_elses() {
    start();
    let code = Code::load(gpu(0), SPIN);
    let queue = Queue::new(gpu(0), 64);
    let gone = signal(1);
    let flag = spin(&queue, &code, gone);
    // SAFETY: a live handle.
    ok(unsafe { hsa::hsa_signal_destroy(gone) });
    // Its place is used again before long.
    let all: Vec<Signal> = (0..5000).map(|_| signal(7)).collect();
    assert!(all.contains(&gone));
    // SAFETY: live memory that kernels change by atomics.
    unsafe { AtomicU32::from_ptr(flag.cast()) }.store(1, Ordering::Release);
    while queue.read_index() != 1 {
        std::thread::yield_now();
    }
    assert!(all.iter().all(|signal| load(*signal) == 7));
    for signal in all {
        // SAFETY: live handles.
        ok(unsafe { hsa::hsa_signal_destroy(signal) });
    }
}

#[test]
fn nothing_to_wait_for_is_not_waited_for() {
    start();
    // SAFETY: no signals.
    let any = unsafe {
        hsa::hsa_amd_signal_wait_any(0, null_mut(), null_mut(), null_mut(), WAIT_FOR_EVER, 0, null_mut())
    };
    assert_eq!(any, u32::MAX);
}

#[test]
fn memory_freed_under_a_kernel_is_a_fault_of_the_kernel() {
    start();
    let code = Code::load(gpu(0), SPIN);
    let (queue, noted) = watched_queue();
    let flag = spin(&queue, &code, Signal::default());
    // SAFETY: memory of a pool, which the kernel polls.
    ok(unsafe { hsa::hsa_amd_memory_pool_free(flag.cast()) });
    assert_eq!(noted.wait(), Status::MEMORY_FAULT);
}

#[test]
fn an_executable_has_each_name_once() {
    start();
    let (mut reader, mut executable) = (CodeObjectReader::default(), Executable::default());
    // SAFETY: the bytes are what the size says; all else are locals and live handles.
    unsafe {
        ok(hsa::hsa_code_object_reader_create_from_memory(
            VECTOR_ADD.as_ptr().cast(),
            VECTOR_ADD.len(),
            &mut reader,
        ));
        ok(hsa::hsa_executable_create_alt(1, 0, null(), &mut executable));
        let load =
            || hsa::hsa_executable_load_agent_code_object(executable, gpu(0), reader, null(), null_mut());
        assert_eq!([load(), load()], [Status::SUCCESS, Status::VARIABLE_ALREADY_DEFINED]);
        ok(hsa::hsa_executable_destroy(executable));
        ok(hsa::hsa_code_object_reader_destroy(reader));
    }
}

#[test]
fn a_handler_may_destroy_its_signal_and_end_a_reference() {
    start();
    struct Told {
        signal: Signal,
        calls: AtomicU32,
    }
    unsafe extern "C" fn handler(_: i64, told: *mut c_void) -> bool {
        // SAFETY: what is below, which stays; a live signal, and a reference that the test took.
        unsafe {
            let told = &*told.cast::<Told>();
            ok(hsa::hsa_signal_destroy(told.signal));
            ok(hsa::hsa_shut_down());
            told.calls.fetch_add(1, Ordering::AcqRel);
        }
        true
    }
    let told: &'static Told = Box::leak(Box::new(Told { signal: signal(1), calls: AtomicU32::new(0) }));
    // SAFETY: a live signal, and a datum that stays.
    unsafe {
        ok(hsa::hsa_init());
        let data = (&raw const *told).cast_mut().cast();
        ok(hsa::hsa_amd_signal_async_handler(told.signal, 2, 1, Some(handler), data));
        hsa::hsa_signal_store_screlease(told.signal, 0);
    }
    while told.calls.load(Ordering::Acquire) == 0 {
        std::thread::yield_now();
    }
    // Another handler, which comes behind whatever the first left.
    unsafe extern "C" fn count(calls: *mut c_void) {
        // SAFETY: the counter of above.
        unsafe { &*calls.cast::<AtomicU32>() }.fetch_add(100, Ordering::AcqRel);
    }
    let data = (&raw const told.calls).cast_mut().cast();
    // SAFETY: a datum that stays.
    ok(unsafe { hsa::hsa_amd_async_function(Some(count), data) });
    while told.calls.load(Ordering::Acquire) < 100 {
        std::thread::yield_now();
    }
    assert_eq!(
        told.calls.load(Ordering::Acquire),
        101,
        "a handler of a signal that is gone was called again"
    );
}

#[test]
fn those_who_watch_memory_are_told_that_it_is_gone() {
    start();
    unsafe extern "C" fn told(pointer: *mut c_void, seen: *mut c_void) {
        // SAFETY: the vector of below.
        unsafe { &mut *seen.cast::<Vec<usize>>() }.push(pointer as usize);
    }
    let mut seen: Vec<usize> = Vec::new();
    let data: *mut c_void = (&raw mut seen).cast();
    let memory: *mut c_void = device_memory(gpu(0), 4096).cast();
    let inside = memory.wrapping_byte_add(64);
    // SAFETY: live memory, and a vector that outlives the calls.
    unsafe {
        let watch = |pointer| hsa::hsa_amd_register_deallocation_callback(pointer, Some(told), data);
        assert_eq!(watch(null_mut()), Status::INVALID_ARGUMENT);
        assert_eq!(watch(data), Status::INVALID_ALLOCATION, "the host's own memory");
        let nobody = hsa::hsa_amd_register_deallocation_callback(memory, None, data);
        assert_eq!(nobody, Status::INVALID_ARGUMENT);
        ok(watch(memory));
        ok(watch(inside));
        ok(watch(memory));
        ok(hsa::hsa_amd_deregister_deallocation_callback(memory, Some(told)));
        ok(hsa::hsa_amd_memory_pool_free(memory));
        assert_eq!(
            hsa::hsa_amd_deregister_deallocation_callback(memory, Some(told)),
            Status::INVALID_ARGUMENT
        );
    }
    assert_eq!(seen, [memory as usize, inside as usize]);
}

#[test]
fn threads_that_make_and_end_the_same_things_get_a_status_each() {
    start();
    let code = Code::load(gpu(0), SPIN);
    let (shared, kernel) = (signal(1), code.kernel("set_flag"));
    let explicit = packed(&[&(host_memory(64) as u64).to_le_bytes(), &1_u32.to_le_bytes()]);
    let arguments = arguments(&explicit, 1, 1) as usize;
    let ended: u32 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(move || {
                    for _ in 0..50 {
                        let queue = Queue::new(gpu(0), 64);
                        let (own, arguments) = (signal(1), arguments as *const u8);
                        let (workgroup, grid, header) = (1, 1, FENCES);
                        queue.dispatch(Dispatch {
                            kernel,
                            workgroup,
                            grid,
                            arguments,
                            header,
                            completion: own,
                        });
                        // Some end before their packet has.
                        // SAFETY: a live signal.
                        ok(unsafe { hsa::hsa_signal_destroy(own) });
                    }
                    // SAFETY: a handle that another thread may have ended.
                    u32::from(unsafe { hsa::hsa_signal_destroy(shared) } == Status::SUCCESS)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(ended, 1, "one signal ended more than once, or never");
}
