// SPDX-License-Identifier: MIT OR Apache-2.0
//! What HSA's clients can get wrong has a status, and no more.

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

use common::*;
use hsa_runtime64 as hsa;
use windlass_simulator::hsa::Status;
use windlass_simulator::hsa::abi::*;

fn start() {
    machine("gfx942?memory=256M");
}

/// A queue whose callback notes the status of its error, and that note.
fn watched_queue() -> (Queue, &'static AtomicU32) {
    unsafe extern "C" fn note(status: Status, source: *mut HsaQueue, seen: *mut c_void) {
        assert!(!source.is_null());
        // SAFETY: the counter of below, which stays.
        unsafe { &*seen.cast::<AtomicU32>() }.store(status.0, Ordering::Release);
    }
    let seen: &'static AtomicU32 = Box::leak(Box::default());
    let mut queue = null_mut();
    let data = (&raw const *seen).cast_mut().cast();
    // SAFETY: the pointer is a local, and the note stays.
    ok(unsafe { hsa::hsa_queue_create(gpu(0), 64, 1, Some(note), data, 0, 0, &mut queue) });
    (Queue(queue), seen)
}

fn error(seen: &AtomicU32) -> Status {
    loop {
        match seen.load(Ordering::Acquire) {
            0 => std::thread::yield_now(),
            status => return Status(status),
        }
    }
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
    let cases: [(&str, u16, u16, [u8; 60], Status); 8] = [
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
    assert_eq!(seen.load(Ordering::Acquire), 0);
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

#[test]
fn code_that_is_none_or_anothers_is_refused() {
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
    ok(load(VECTOR_ADD));
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

#[test]
fn what_the_simulator_lacks_is_refused() {
    start();
    // SAFETY: nothing is asked of the caller.
    unsafe {
        assert_eq!(hsa::hsa_ext_image_create(), Status::ERROR);
        assert_eq!(hsa::hsa_amd_svm_attributes_set(), Status::ERROR);
    }
}
