// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory: its owner, its accessors, and its addresses for kernels.

mod common;

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

use common::*;
use hsa_runtime64 as hsa;
use windlass_simulator::hsa::Status;
use windlass_simulator::hsa::abi::*;

fn start() {
    machine("gfx942?devices=2&memory=256M");
}

/// Runs `set_flag(flag, 7)` on a GPU. Returns the error that its queue reports, or success.
fn set_flag(gpu: Agent, flag: u64) -> Status {
    unsafe extern "C" fn note(status: Status, _: *mut HsaQueue, seen: *mut c_void) {
        // SAFETY: the counter that is passed below, which outlives the queue.
        unsafe { &*seen.cast::<AtomicU32>() }.store(status.0, Ordering::Release);
    }
    let seen: &'static AtomicU32 = Box::leak(Box::default());
    let mut queue = null_mut();
    let data = (&raw const *seen).cast_mut().cast();
    // SAFETY: the pointer is a local, and the note stays.
    ok(unsafe { hsa::hsa_queue_create(gpu, 64, 0, Some(note), data, 0, 0, &mut queue) });
    let queue = Queue(queue);
    let code = Code::load(gpu, SPIN);
    let explicit = packed(&[&flag.to_le_bytes(), &7_u32.to_le_bytes()]);
    let done = signal(1);
    queue.dispatch(Dispatch {
        kernel: code.kernel("set_flag"),
        workgroup: 1,
        grid: 1,
        arguments: arguments(&explicit, 1, 1),
        header: FENCES,
        completion: done,
    });
    while load(done) != 0 && seen.load(Ordering::Acquire) == 0 {
        std::thread::yield_now();
    }
    Status(seen.load(Ordering::Acquire))
}

fn first_word(memory: *const u8) -> u32 {
    words(&download(memory, 4))[0]
}

#[test]
fn memory_of_another_gpu_needs_access() {
    start();
    let (own, other) = (gpu(0), gpu(1));
    let memory = device_memory(own, 4096);
    assert_eq!(set_flag(own, memory as u64), Status::SUCCESS);
    assert_eq!(set_flag(other, memory as u64), Status::MEMORY_FAULT, "access was not granted");
    // SAFETY: a list of one agent, and a live allocation.
    ok(unsafe { hsa::hsa_amd_agents_allow_access(1, &other, null(), memory.cast()) });
    upload(memory, &[0; 4]);
    assert_eq!(set_flag(other, memory as u64), Status::SUCCESS);
    assert_eq!(first_word(memory), 7);
    // Each call names all agents that have access.
    // SAFETY: as above.
    ok(unsafe { hsa::hsa_amd_agents_allow_access(1, &own, null(), memory.cast()) });
    assert_eq!(set_flag(other, memory as u64), Status::MEMORY_FAULT, "access was taken away");
    let host = agents()[0];
    // SAFETY: as above.
    let refused = unsafe { hsa::hsa_amd_agents_allow_access(1, &host, null(), memory.cast()) };
    assert_eq!(refused, Status::INVALID_ARGUMENT, "there is no large BAR");
}

#[test]
fn locked_memory_has_an_address_of_its_own() {
    start();
    let mut words = vec![0_u32; 2048].into_boxed_slice();
    let host: *mut c_void = words.as_mut_ptr().cast();
    let lock = |offset: usize, size: usize| {
        let mut device = null_mut();
        // SAFETY: within the words above, which stay until they are unlocked.
        unsafe {
            ok(hsa::hsa_amd_memory_lock(host.byte_add(offset), size, null_mut(), 0, &mut device));
        }
        device as u64
    };
    // The same memory, twice, and a part of it.
    let (whole, again, part) = (lock(0, 8192), lock(0, 8192), lock(4096, 4096));
    assert!(![host as u64, 0].contains(&whole) && whole != again && part != again);
    for (device, place) in [(whole, 0), (again + 4, 1), (part + 8, 1026)] {
        assert_eq!(set_flag(gpu(0), device), Status::SUCCESS);
        // SAFETY: a word of the memory above, which kernels change by atomics.
        let word = unsafe { AtomicU32::from_ptr(host.cast::<u32>().add(place)) };
        assert_eq!(word.swap(0, Ordering::AcqRel), 7, "word {place}");
    }
    assert_eq!(
        set_flag(gpu(0), host as u64),
        Status::MEMORY_FAULT,
        "the host's address is none of the GPU's"
    );
    // SAFETY: the locked memory.
    unsafe {
        ok(hsa::hsa_amd_memory_unlock(host));
        assert_eq!(set_flag(gpu(0), again), Status::MEMORY_FAULT, "the latest lock goes first");
        assert_eq!(set_flag(gpu(0), whole), Status::SUCCESS);
        ok(hsa::hsa_amd_memory_unlock(host));
        ok(hsa::hsa_amd_memory_unlock(host.byte_add(4096)));
        assert_eq!(hsa::hsa_amd_memory_unlock(host), Status::INVALID_ARGUMENT);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_that_the_host_does_not_have_is_not_locked() {
    start();
    let lock = |host: u64, size: usize| {
        let mut device = null_mut();
        // SAFETY: the pointer is a local. Memory that the host lacks is refused; the rest is a static.
        unsafe { hsa::hsa_amd_memory_lock(host as *mut c_void, size, null_mut(), 0, &mut device) }
    };
    static BYTES: [AtomicU32; 1024] = [const { AtomicU32::new(0) }; 1024];
    let bytes = BYTES.as_ptr() as u64;
    assert_eq!(lock(0x10000, 4096), Status::OUT_OF_RESOURCES);
    assert_eq!(lock(0xffff_8000_0000_0000, 4096), Status::OUT_OF_RESOURCES);
    assert_eq!(lock(bytes, 1 << 46), Status::OUT_OF_RESOURCES, "more than there is from there on");
    assert_eq!(lock(u64::MAX - 10, 10), Status::OUT_OF_RESOURCES);
    let device = device_memory(gpu(0), 4096);
    assert_eq!(lock(device as u64, 4096), Status::OUT_OF_RESOURCES);
    // SAFETY: live memory, and then the static.
    unsafe {
        ok(hsa::hsa_amd_memory_pool_free(device.cast()));
        assert_eq!(lock(device as u64, 4096), Status::OUT_OF_RESOURCES, "it was freed");
        ok(lock(bytes + 1, 4094));
        ok(hsa::hsa_amd_memory_unlock((bytes + 1) as *mut c_void));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn freed_memory_goes_back_to_the_system() {
    start();
    let resident = || {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
    };
    let before = resident();
    for _ in 0..8000 {
        let memory = device_memory(gpu(0), 64 << 10);
        // SAFETY: live memory.
        ok(unsafe { hsa::hsa_amd_memory_pool_free(memory.cast()) });
    }
    let more = resident().saturating_sub(before);
    assert!(more < 128 << 20, "{more} bytes stay of 500 MiB");
}

fn info(pointer: *const u8) -> PointerInfo {
    let mut info = MaybeUninit::<PointerInfo>::zeroed();
    // SAFETY: the structure has the stated size.
    unsafe {
        info.as_mut_ptr().cast::<u32>().write(size_of::<PointerInfo>() as u32);
        ok(hsa::hsa_amd_pointer_info(pointer.cast(), info.as_mut_ptr(), None, null_mut(), null_mut()));
        info.assume_init()
    }
}

#[test]
fn addresses_are_told_apart() {
    start();
    let (device, host) = (device_memory(gpu(1), 5000), host_memory(5000));
    let of_device = info(device.wrapping_add(4999));
    assert_eq!((of_device.kind, of_device.agent_owner, of_device.size_in_bytes), (1, gpu(1), 5000));
    assert_eq!((of_device.agent_base_address, of_device.host_base_address), (device as u64, 0));
    let of_host = info(host);
    assert_eq!((of_host.kind, of_host.agent_owner, of_host.host_base_address), (1, agents()[0], host as u64));
    let local = 5_u32;
    assert_eq!(info((&raw const local).cast()).kind, 0);
    assert_eq!(info(device.wrapping_add(5000)).kind, 0, "behind the end");
}

#[test]
fn pools_give_what_they_have() {
    start();
    let pool = pools(gpu(0))[0];
    let mut pointer = null_mut();
    let mut take = |size| {
        // SAFETY: the pointer is a local.
        (unsafe { hsa::hsa_amd_memory_pool_allocate(pool, size, 0, &mut pointer) }, pointer)
    };
    assert_eq!(take(0).0, Status::INVALID_ARGUMENT);
    assert_eq!(take(usize::MAX).0, Status::INVALID_ALLOCATION);
    assert_eq!(take(257 << 20).0, Status::INVALID_ALLOCATION);
    let (status, large) = take(160 << 20);
    ok(status);
    assert!((large as usize).is_multiple_of(2 << 20), "large memory is aligned to 2 MiB");
    assert_eq!(take(160 << 20).0, Status::OUT_OF_RESOURCES);
    // SAFETY: an allocation, and then an address that is none.
    unsafe {
        assert_eq!(hsa::hsa_amd_memory_pool_free(large.byte_add(4096)), Status::INVALID_ALLOCATION);
        ok(hsa::hsa_amd_memory_pool_free(large));
        assert_eq!(hsa::hsa_amd_memory_pool_free(large), Status::INVALID_ALLOCATION);
    }
    let (status, again) = take(160 << 20);
    ok(status);
    // SAFETY: as above.
    ok(unsafe { hsa::hsa_amd_memory_pool_free(again) });
}

#[test]
fn copies_wait_for_signals_and_move_rows() {
    start();
    let gpu = gpu(0);
    let host = agents()[0];
    let (device, bytes) = (device_memory(gpu, 4096), (0..=255).collect::<Vec<u8>>());
    let source = host_memory(256);
    upload(source, &bytes);
    upload(device, &[0; 4096]);
    let (gate, copied) = (signal(1), signal(1));
    // SAFETY: live memory of these sizes, live signals.
    unsafe {
        ok(hsa::hsa_amd_memory_async_copy(device.cast(), gpu, source.cast(), host, 256, 1, &gate, copied));
        assert_eq!(load(copied), 1);
        assert_eq!(download(device, 4), [0; 4]);
        hsa::hsa_signal_store_screlease(gate, 0);
    }
    wait(copied);
    assert_eq!(download(device, 256), bytes);

    // Two rows of three bytes each in two slices, from rows of 8 to rows of 16.
    let moved = signal(1);
    let to = PitchedPointer { base: device.wrapping_add(1024).cast(), pitch: 16, slice: 64 };
    let from = PitchedPointer { base: source.cast(), pitch: 8, slice: 32 };
    let (at, of) = (Dim3 { x: 2, y: 1, z: 0 }, Dim3 { x: 1, y: 1, z: 1 });
    let range = Dim3 { x: 3, y: 2, z: 2 };
    // SAFETY: the rows lie within the memory above.
    ok(unsafe {
        hsa::hsa_amd_memory_async_copy_rect(&to, &at, &from, &of, &range, gpu, 1, 0, null(), moved)
    });
    wait(moved);
    let mut expected = vec![0; 256];
    for (slice, row) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let target = slice * 64 + (row + 1) * 16 + 2;
        let start = (slice + 1) * 32 + (row + 1) * 8 + 1;
        expected[target..target + 3].copy_from_slice(&bytes[start..start + 3]);
    }
    assert_eq!(download(device.wrapping_add(1024), 256), expected);

    // A number of rows that overflows, with no bytes.
    let none = signal(1);
    let (to, from) =
        (PitchedPointer { pitch: 0, slice: 0, ..to }, PitchedPointer { pitch: 0, slice: 0, ..from });
    let (start, range) = (Dim3 { x: 0, y: 0, z: 0 }, Dim3 { x: 0, y: u32::MAX, z: u32::MAX });
    // SAFETY: nothing is read or written.
    unsafe {
        ok(hsa::hsa_amd_memory_async_copy_rect(&to, &start, &from, &start, &range, gpu, 1, 0, null(), none));
        let left = hsa::hsa_signal_wait_scacquire(none, 2, 1, 20_000_000_000, 0);
        assert_eq!(left, 0, "the copy does not end");
    }
    // SAFETY: live memory.
    ok(unsafe { hsa::hsa_amd_memory_fill(device.cast(), 0x0102_0304, 1024) });
    assert_eq!(words(&download(device, 4096)), [0x0102_0304; 1024]);
}

#[test]
fn mapped_memory_is_seen_where_it_is_mapped_by_those_who_may() {
    start();
    let (first, second) = (gpu(0), gpu(1));
    const SIZE: usize = 2 << 20;
    let (mut address, mut handle) = (null_mut(), VmemHandle::default());
    // SAFETY: locals, live handles, and addresses that were reserved.
    unsafe {
        ok(hsa::hsa_amd_vmem_address_reserve(&mut address, 2 * SIZE, 0, 0));
        ok(hsa::hsa_amd_vmem_handle_create(pools(first)[0], SIZE, 0, 0, &mut handle));
        ok(hsa::hsa_amd_vmem_map(address, SIZE, 0, handle, 0));
        assert_eq!(hsa::hsa_amd_vmem_map(address, SIZE, 0, handle, 0), Status::INVALID_ARGUMENT, "twice");
        let far = address.byte_add(2 * SIZE);
        assert_eq!(hsa::hsa_amd_vmem_map(far, SIZE, 0, handle, 0), Status::INVALID_ARGUMENT, "not reserved");
        assert_eq!(set_flag(first, address as u64), Status::MEMORY_FAULT, "nobody has access");
        let grant = |agent, permissions| {
            let access = AccessDescriptor { permissions, agent };
            hsa::hsa_amd_vmem_set_access(address, SIZE, &access, 1)
        };
        ok(grant(second, 3));
        assert_eq!(set_flag(second, address as u64), Status::SUCCESS);
        assert_eq!(set_flag(first, address as u64), Status::MEMORY_FAULT);
        ok(grant(first, 3));
        assert_eq!(set_flag(first, address as u64), Status::SUCCESS);
        let mut permissions = 9;
        ok(hsa::hsa_amd_vmem_get_access(address, &mut permissions, second));
        assert_eq!(permissions, 3);
        // The same bytes at other addresses.
        let twin = address.byte_add(SIZE);
        ok(hsa::hsa_amd_vmem_map(twin, SIZE, 0, handle, 0));
        let access = AccessDescriptor { permissions: 1, agent: first };
        ok(hsa::hsa_amd_vmem_set_access(twin, SIZE, &access, 1));
        assert_eq!(set_flag(first, twin as u64), Status::MEMORY_FAULT, "it is read-only there");
        // Mappings keep the memory.
        ok(hsa::hsa_amd_vmem_handle_release(handle));
        assert_eq!(hsa::hsa_amd_vmem_handle_release(handle), Status::INVALID_ALLOCATION);
        assert_eq!(hsa::hsa_amd_vmem_address_free(address, 2 * SIZE), Status::RESOURCE_FREE);
        ok(hsa::hsa_amd_vmem_unmap(address, SIZE));
        assert_eq!(set_flag(first, address as u64), Status::MEMORY_FAULT, "it is mapped no more");
        ok(hsa::hsa_amd_vmem_unmap(twin, SIZE));
        ok(hsa::hsa_amd_vmem_address_free(address, 2 * SIZE));
    }
}

#[test]
fn access_to_mappings_is_granted_whole_and_to_gpus() {
    start();
    let (own, host) = (gpu(0), agents()[0]);
    let (mut address, mut one, mut two) = (null_mut(), VmemHandle::default(), VmemHandle::default());
    // SAFETY: locals, live handles, and addresses that were reserved.
    unsafe {
        for (alignment, status) in [
            (3, Status::INVALID_ARGUMENT),
            (2048, Status::INVALID_ARGUMENT),
            (12288, Status::INVALID_ARGUMENT),
            (0, Status::SUCCESS),
            (1 << 21, Status::SUCCESS),
        ] {
            let reserved = hsa::hsa_amd_vmem_address_reserve_align(&mut address, 4096, 0, alignment, 0);
            assert_eq!(reserved, status, "{alignment}");
            if status == Status::SUCCESS {
                assert!((address as u64).is_multiple_of(alignment.max(4096)));
                ok(hsa::hsa_amd_vmem_address_free(address, 4096));
            }
        }
        ok(hsa::hsa_amd_vmem_address_reserve(&mut address, 4 * 4096, 0, 0));
        ok(hsa::hsa_amd_vmem_handle_create(pools(own)[0], 4096, 0, 0, &mut one));
        ok(hsa::hsa_amd_vmem_handle_create(pools(host)[0], 8192, 0, 0, &mut two));
        ok(hsa::hsa_amd_vmem_map(address, 4096, 0, one, 0));
        let behind = address.byte_add(8192);
        ok(hsa::hsa_amd_vmem_map(behind, 8192, 0, two, 0));
        let grant = |at: *mut c_void, size, agent| {
            let access = AccessDescriptor { permissions: 3, agent };
            hsa::hsa_amd_vmem_set_access(at, size, &access, 1)
        };
        // The mappings are as large as the range, but do not fill it.
        assert_eq!(grant(address, 3 * 4096, own), Status::INVALID_ALLOCATION);
        assert_eq!(grant(address, 4 * 4096, own), Status::INVALID_ALLOCATION);
        ok(hsa::hsa_amd_vmem_map(address.byte_add(4096), 4096, 0, one, 0));
        ok(grant(address, 4 * 4096, own));
        assert_eq!(set_flag(own, behind as u64), Status::SUCCESS);
        // Nothing is mapped for the host, so it must not get access.
        assert_eq!(grant(address, 4096, host), Status::INVALID_ARGUMENT, "a GPU's memory");
        assert_eq!(grant(behind, 8192, host), Status::INVALID_ARGUMENT, "the host's memory");
        let mut permissions = 9;
        ok(hsa::hsa_amd_vmem_get_access(behind, &mut permissions, host));
        assert_eq!(permissions, 0);
        for (at, size) in [(0, 4096), (4096, 4096), (8192, 8192)] {
            ok(hsa::hsa_amd_vmem_unmap(address.byte_add(at), size));
        }
        ok(hsa::hsa_amd_vmem_handle_release(one));
        ok(hsa::hsa_amd_vmem_handle_release(two));
        ok(hsa::hsa_amd_vmem_address_free(address, 4 * 4096));
    }
}

#[test]
fn every_attribute_of_an_agent_and_a_pool_has_its_size() {
    start();
    // Larger than any attribute; bytes behind the attribute must stay as they are.
    let mut room = [0xee_u8; 512];
    let standard = (0..=24).map(|attribute| (attribute, None));
    let sizes = [
        (0_u32, 64),
        (1, 64),
        (6, 4),
        (7, 6),
        (9, 12),
        (18, 16),
        (20, 128),
        (21, 2),
        (0xa00e, 16),
        (0xa011, 21),
    ];
    for agent in agents() {
        for (attribute, _) in
            standard.clone().chain((0xa000..=0xa016).map(|attribute| (attribute, None::<u32>)))
        {
            room.fill(0xee);
            // SAFETY: the buffer is large enough.
            let status = unsafe { hsa::hsa_agent_get_info(agent, attribute, room.as_mut_ptr().cast()) };
            ok(status);
            if let Some((_, size)) = sizes.iter().find(|(of, _)| *of == attribute) {
                assert!(
                    room[*size..].iter().all(|byte| *byte == 0xee),
                    "attribute {attribute:#x} is too long"
                );
            }
        }
        // SAFETY: the buffer is large enough.
        let unknown = unsafe { hsa::hsa_agent_get_info(agent, 0xffff, room.as_mut_ptr().cast()) };
        assert_eq!(unknown, Status::INVALID_ARGUMENT);
        for pool in pools(agent) {
            for attribute in [0, 1, 2, 5, 6, 7, 15, 16, 17, 18] {
                // SAFETY: the buffer is large enough.
                ok(unsafe { hsa::hsa_amd_memory_pool_get_info(pool, attribute, room.as_mut_ptr().cast()) });
            }
        }
    }
}
