// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory and signals that are shared by handles: within this process, and not with another.

mod common;

use std::ffi::c_void;
use std::process::Command;
use std::ptr::{null, null_mut};

use common::*;
use hsa_runtime64 as hsa;
use windlass_simulator::hsa::Status;
use windlass_simulator::hsa::abi::*;

/// The variable that has this program make handles and print them.
const MAKER: &str = "WINDLASS_TEST_MAKER";

fn start() {
    machine("gfx942?devices=2&memory=256M");
}

fn share(memory: *mut u8, size: usize) -> IpcHandle {
    let mut handle = IpcHandle::default();
    // SAFETY: what was allocated, and a local.
    ok(unsafe { hsa::hsa_amd_ipc_memory_create(memory.cast(), size, &mut handle) });
    handle
}

fn attach(handle: &IpcHandle, size: usize, agents: &[Agent]) -> (Status, *mut u8) {
    let mut mapped: *mut c_void = null_mut();
    // SAFETY: a list of as many agents as is said, and locals.
    let status = unsafe {
        hsa::hsa_amd_ipc_memory_attach(handle, size, agents.len() as u32, agents.as_ptr(), &mut mapped)
    };
    (status, mapped.cast())
}

fn detach(mapped: *mut u8) -> Status {
    // SAFETY: anything may be asked to be detached.
    unsafe { hsa::hsa_amd_ipc_memory_detach(mapped.cast()) }
}

/// Runs `set_flag(flag, 7)` on a GPU; the error that its queue tells of, if any.
fn set_flag(gpu: Agent, flag: *mut u8) -> Option<Status> {
    let noted = Noted::new();
    let mut queue = null_mut();
    // SAFETY: the pointer is a local, and the note stays.
    ok(unsafe { hsa::hsa_queue_create(gpu, 64, 0, Some(Noted::note), noted.data(), 0, 0, &mut queue) });
    let (queue, code, completion) = (Queue(queue), Code::load(gpu, SPIN), signal(1));
    let explicit = packed(&[&(flag as u64).to_le_bytes(), &7_u32.to_le_bytes()]);
    let (kernel, arguments) = (code.kernel("set_flag"), arguments(&explicit, 1, 1));
    queue.dispatch(Dispatch { kernel, workgroup: 1, grid: 1, arguments, header: FENCES, completion });
    while load(completion) != 0 && noted.status().is_none() {
        std::thread::yield_now();
    }
    noted.status()
}

#[test]
fn shared_memory_is_the_same_at_another_address() {
    start();
    let memory = device_memory(gpu(0), 5000);
    upload(memory, &[1; 5000]);
    let handle = share(memory, 5000);
    let (status, mapped) = attach(&handle, 5000, &[gpu(1)]);
    ok(status);
    assert_ne!(mapped, memory);
    assert_eq!(download(mapped, 5000), [1; 5000]);
    assert_eq!(set_flag(gpu(1), mapped), None);
    assert_eq!(words(&download(memory, 4)), [7]);
    assert_eq!(set_flag(gpu(0), mapped), Some(Status::MEMORY_FAULT), "it was attached for the other GPU");
    // It outlives the allocation, which is gone for its own address.
    // SAFETY: what was allocated.
    unsafe {
        ok(hsa::hsa_amd_memory_pool_free(memory.cast()));
        assert_eq!(hsa::hsa_amd_memory_pool_free(memory.cast()), Status::INVALID_ALLOCATION);
    }
    assert_eq!(set_flag(gpu(0), memory), Some(Status::MEMORY_FAULT));
    assert_eq!(words(&download(mapped, 4)), [7]);
    ok(detach(mapped));
    assert_eq!(detach(mapped), Status::INVALID_ARGUMENT);
    assert_eq!(attach(&handle, 5000, &[]).0, Status::INVALID_ARGUMENT, "the memory is gone");
}

#[test]
fn what_is_shared_is_given_back_with_the_last_of_it() {
    start();
    // Twice as much as there is would not fit.
    for _ in 0..4 {
        let memory = device_memory(gpu(1), 200 << 20);
        let (status, mapped) = attach(&share(memory, 200 << 20), 200 << 20, &[]);
        ok(status);
        let mut more = null_mut();
        // SAFETY: what was allocated, and a local.
        unsafe {
            ok(hsa::hsa_amd_memory_pool_free(memory.cast()));
            let too_much = hsa::hsa_amd_memory_pool_allocate(pools(gpu(1))[0], 200 << 20, 0, &mut more);
            assert_eq!(too_much, Status::OUT_OF_RESOURCES, "it was given back while it is attached");
        }
        ok(detach(mapped));
    }
}

#[test]
fn only_whole_memory_of_gpus_is_shared() {
    start();
    let (memory, host) = (device_memory(gpu(0), 8192), host_memory(4096));
    let mut handle = IpcHandle::default();
    let mut create = |pointer: *mut u8, size| {
        // SAFETY: anything may be asked for; the handle is a local.
        unsafe { hsa::hsa_amd_ipc_memory_create(pointer.cast(), size, &mut handle) }
    };
    for (what, pointer, size) in [
        ("nothing", null_mut(), 4096),
        ("a part", memory, 4096),
        ("the middle", memory.wrapping_add(4096), 4096),
        ("the host's", host, 4096),
    ] {
        assert_eq!(create(pointer, size), Status::INVALID_ARGUMENT, "{what}");
    }
    let handle = share(memory, 8192);
    assert_eq!(attach(&handle, 4096, &[]).0, Status::INVALID_ARGUMENT, "another size");
    assert_eq!(attach(&handle, 8192, &[agents()[0]]).0, Status::INVALID_ARGUMENT, "for the host");
    assert_eq!(attach(&IpcHandle::default(), 8192, &[]).0, Status::INVALID_ARGUMENT, "no handle");
    for word in 0..8 {
        let mut other = handle;
        other.handle[word] ^= 1;
        assert_eq!(attach(&other, 8192, &[]).0, Status::INVALID_ARGUMENT, "word {word} changed");
    }
    // SAFETY: nowhere to read from, or to write to, is what is wrong.
    unsafe {
        let mut mapped = null_mut();
        let nothing = hsa::hsa_amd_ipc_memory_attach(null(), 8192, 0, null(), &mut mapped);
        let nowhere = hsa::hsa_amd_ipc_memory_attach(&handle, 8192, 0, null(), null_mut());
        assert_eq!([nothing, nowhere], [Status::INVALID_ARGUMENT; 2]);
    }
}

#[test]
fn shared_signals_end_with_the_last_of_their_owners() {
    start();
    let (mut shared, mut again, mut handle) = (Signal::default(), Signal::default(), IpcHandle::default());
    // SAFETY: locals and live handles.
    unsafe {
        let plain = signal(1);
        assert_eq!(hsa::hsa_amd_ipc_signal_create(plain, &mut handle), Status::INVALID_ARGUMENT);
        ok(hsa::hsa_amd_signal_create(5, 0, null(), 2, &mut shared));
        ok(hsa::hsa_amd_ipc_signal_create(shared, &mut handle));
        ok(hsa::hsa_amd_ipc_signal_attach(&handle, &mut again));
        hsa::hsa_signal_store_screlease(shared, 9);
        assert_eq!(load(again), 9);
        ok(hsa::hsa_signal_destroy(shared));
        assert_eq!(load(again), 9, "it has another owner");
        ok(hsa::hsa_signal_destroy(again));
        assert_eq!(hsa::hsa_signal_destroy(again), Status::INVALID_SIGNAL);
        assert_eq!(hsa::hsa_amd_ipc_signal_attach(&handle, &mut again), Status::INVALID_ARGUMENT);
    }
    // A handle of memory is none of a signal.
    let memory = share(device_memory(gpu(0), 4096), 4096);
    // SAFETY: a local.
    assert_eq!(unsafe { hsa::hsa_amd_ipc_signal_attach(&memory, &mut again) }, Status::INVALID_ARGUMENT);
    // SAFETY: a local.
    let unknown = unsafe { hsa::hsa_amd_signal_create(0, 0, null(), 4, &mut again) };
    assert_eq!(unknown, Status::INVALID_ARGUMENT, "an attribute that there is not");
}

#[test]
fn a_handle_of_another_process_is_refused_and_named() {
    if let Some(path) = std::env::var_os(MAKER) {
        machine(&std::env::var("WINDLASS_SIM").unwrap());
        let text = std::fs::read_to_string(path).unwrap();
        let words: Vec<u32> = text.split(' ').map(|word| word.parse().unwrap()).collect();
        let handle = IpcHandle { handle: words.try_into().unwrap() };
        assert_eq!(attach(&handle, 4096, &[]).0, Status::INVALID_ARGUMENT);
        return;
    }
    start();
    let handle = share(device_memory(gpu(0), 4096), 4096);
    let path = std::env::temp_dir().join(format!("windlass-hsa-ipc-{}", std::process::id()));
    std::fs::write(&path, handle.handle.map(|word| word.to_string()).join(" ")).unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_handle_of_another_process_is_refused_and_named", "--nocapture"])
        .env(MAKER, &path)
        .env("WINDLASS_SIM", "gfx942?memory=256M")
        .output()
        .unwrap();
    std::fs::remove_file(&path).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let expected = format!("hsa_amd_ipc_memory_attach: the handle is of process {}", std::process::id());
    assert!(said.contains(&expected), "{said}");
}
