// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests of the address space.

use super::*;

fn memory() -> Arc<Memory> {
    Memory::new(MemoryOptions { capacity: 256 << 20, ..MemoryOptions::default() }).unwrap()
}

#[test]
fn fresh_device_memory_is_poisoned_small_and_large() {
    let memory = memory();
    for size in [1u64, 4096, (1 << 20) + 7, 9 << 20] {
        let address = memory.allocate(size, 256, AllocationKind::Device, "test").unwrap();
        for at in [0, size / 2, size - 1] {
            let mut byte = [0];
            memory.read(address + at, &mut byte).unwrap();
            assert_eq!(byte, [0xCB], "byte {at} of {size}");
        }
        memory.free(address).unwrap();
    }
}

#[test]
fn what_is_written_is_read() {
    let memory = memory();
    let address = memory.allocate(5 << 20, 256, AllocationKind::Device, "test").unwrap();
    let data: Vec<u8> = (0..1000u32).flat_map(|value| value.to_le_bytes()).collect();
    memory.write(address + 3, &data).unwrap();
    memory.copy(address + 5000, address + 3, 4000).unwrap();
    let mut back = vec![0; 4000];
    memory.read(address + 5000, &mut back).unwrap();
    assert_eq!(back, data);
}

#[test]
fn overlapping_copies_move() {
    let memory = memory();
    let address = memory.allocate(4096, 256, AllocationKind::Device, "test").unwrap();
    let data: Vec<u8> = (0..200).collect();
    for (from, to) in [(0u64, 9u64), (9, 0), (0, 16), (16, 0), (3, 3)] {
        memory.write(address + from, &data).unwrap();
        memory.copy(address + to, address + from, 200).unwrap();
        let mut back = vec![0; 200];
        memory.read(address + to, &mut back).unwrap();
        assert_eq!(back, data, "{from} to {to}");
    }
}

#[test]
fn fills_repeat_their_pattern() {
    let memory = memory();
    let address = memory.allocate(10000, 256, AllocationKind::Device, "test").unwrap();
    for pattern in [&[1u8][..], &[1, 2], &[1, 2, 3], &[1, 2, 3, 4]] {
        memory.fill(address + 1, pattern, 9997).unwrap();
        let mut back = vec![0; 9997];
        memory.read(address + 1, &mut back).unwrap();
        assert!(back.iter().zip(pattern.iter().cycle()).all(|(a, b)| a == b), "{pattern:?}");
    }
    assert!(memory.fill(address, &[], 4).is_err());
}

#[test]
fn out_of_bounds_names_the_allocation() {
    let memory = memory();
    let address = memory.allocate(4096, 256, AllocationKind::Device, "buffer 7").unwrap();
    let error = memory.read(address + 4100, &mut [0; 4]).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("4 bytes past the end of the 4096-byte allocation"), "{text}");
    assert!(text.contains("buffer 7"), "{text}");
    let text = memory.write(address + 4094, &[0; 4]).unwrap_err().to_string();
    assert!(text.contains("4094 bytes into the 4096-byte allocation"), "{text}");
    assert!(memory.read(u64::MAX - 2, &mut [0; 8]).is_err());
    assert!(memory.read(address, &mut []).is_ok());
    memory.free(address).unwrap();
    let text = memory.read(address + 8, &mut [0; 4]).unwrap_err().to_string();
    assert!(text.contains("use after free"), "{text}");
    assert!(matches!(memory.free(address), Err(MemoryError::NotAnAllocation { .. })));
}

#[test]
fn the_clients_allocation_is_named_rather_than_code_that_is_nearer() {
    let memory = memory();
    let address = memory.allocate(4000, 256, AllocationKind::Device, "buffer").unwrap();
    let code = memory.allocate(4096, 256, AllocationKind::Code, "code object").unwrap();
    let text = memory.read(code - 8, &mut [0; 4]).unwrap_err().to_string();
    let distance = code - 8 - address - 4000;
    assert!(text.contains(&format!("{distance} bytes past the end of the 4000-byte allocation")), "{text}");
    memory.free(address).unwrap();
    let text = memory.read(code - 8, &mut [0; 4]).unwrap_err().to_string();
    assert!(text.contains("8 bytes before the 4096-byte segment of a code object"), "{text}");
}

#[test]
fn what_lives_keeps_its_bytes_when_the_addresses_are_used_up() {
    let memory = memory();
    let mut live: std::collections::VecDeque<(u64, u8)> = std::collections::VecDeque::new();
    // The reservation is 65 GiB.
    for round in 0..1000_u32 {
        let large = memory.allocate(200 << 20, 4096, AllocationKind::Device, "large").unwrap();
        let small = memory.allocate(300 << 10, 4096, AllocationKind::Device, "small").unwrap();
        memory.fill(small, &[round as u8], 300 << 10).unwrap();
        live.push_back((small, round as u8));
        memory.free(large).unwrap();
        if live.len() > 5 {
            let (address, value) = live.pop_front().unwrap();
            let mut bytes = vec![0; 300 << 10];
            memory.read(address, &mut bytes).unwrap();
            assert!(bytes.iter().all(|byte| *byte == value), "round {round}");
            memory.free(address).unwrap();
        }
    }
}

#[test]
fn a_window_does_not_outlive_its_allocation() {
    let memory = memory();
    let address = memory.allocate(4096, 256, AllocationKind::Device, "test").unwrap();
    let mut windows = Windows::default();
    assert!(memory.span_through(&mut windows, address, 4096, MemoryUse::Read).is_some());
    assert!(memory.span_through(&mut windows, address + 1, 4096, MemoryUse::Read).is_none());
    memory.free(address).unwrap();
    assert!(memory.span_through(&mut windows, address, 4, MemoryUse::Read).is_none());
}

#[test]
fn a_window_that_is_found_later_does_not_revive_the_others() {
    let memory = memory();
    let [freed, live] = [1, 2].map(|_| memory.allocate(4096, 256, AllocationKind::Device, "test").unwrap());
    let mut windows = Windows::default();
    assert!(memory.span_through(&mut windows, freed, 4, MemoryUse::Read).is_some());
    assert!(memory.span_through(&mut windows, freed, 4, MemoryUse::Write).is_some());
    memory.free(freed).unwrap();
    assert!(memory.span_through(&mut windows, live, 4, MemoryUse::Read).is_some());
    assert!(memory.span_through(&mut windows, freed, 4, MemoryUse::Read).is_none());
    assert!(memory.span_through(&mut windows, freed, 4, MemoryUse::Write).is_none());
    assert!(memory.span_through(&mut windows, live, 0, MemoryUse::Read).is_some(), "no bytes");
}

#[test]
fn capacity_is_kept() {
    let memory = memory();
    let address = memory.allocate(200 << 20, 256, AllocationKind::Device, "test").unwrap();
    assert!(matches!(
        memory.allocate(100 << 20, 256, AllocationKind::Device, "test"),
        Err(MemoryError::OutOfMemory { .. })
    ));
    assert!(memory.allocate(u64::MAX, 256, AllocationKind::Device, "test").is_err());
    assert_eq!(memory.usage().used, 200 << 20);
    memory.free(address).unwrap();
    assert_eq!(memory.usage().used, 0);
    assert!(memory.allocate(100 << 20, 3, AllocationKind::Device, "test").is_err());
}

#[test]
fn host_memory_is_shared_at_its_address() {
    let memory = memory();
    let mut host = vec![7u8; 64];
    let pointer = host.as_mut_ptr();
    // SAFETY: `host` outlives the registration and is not touched by anyone else.
    let address = unsafe { memory.register_host(pointer, 64, "host") }.unwrap();
    assert_eq!(address, pointer as u64);
    // SAFETY: as above; this one must fail.
    assert!(unsafe { memory.register_host(pointer.wrapping_add(10), 4, "host") }.is_err());
    memory.write(address + 1, &[9]).unwrap();
    assert!(memory.free(address).is_err());
    memory.unregister_host(address).unwrap();
    assert!(memory.write(address + 1, &[9]).is_err());
    assert_eq!(host[..3], [7, 9, 7]);

    let pinned = memory.allocate(4096, 256, AllocationKind::HostPinned, "pinned").unwrap();
    memory.write(pinned, &[1, 2, 3]).unwrap();
    // SAFETY: pinned memory is host memory at the same address.
    assert_eq!(unsafe { std::ptr::read_volatile(pinned as *const [u8; 4]) }, [1, 2, 3, 0]);
}

#[cfg(target_os = "linux")]
#[test]
fn the_host_cannot_reach_device_memory() {
    let memory = memory();
    let address = memory.allocate(4096, 256, AllocationKind::Device, "test").unwrap();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps.lines().find(|line| {
        let (start, rest) = line.split_once('-').unwrap();
        let end = rest.split(' ').next().unwrap();
        let range = u64::from_str_radix(start, 16).unwrap()..u64::from_str_radix(end, 16).unwrap();
        range.contains(&address)
    });
    assert!(line.unwrap().contains("---p"), "{line:?}");
}

#[test]
fn an_allocation_that_may_come_back_takes_its_bytes() {
    let memory = memory();
    let address = memory.allocate(8192, 256, AllocationKind::Device, "test").unwrap();
    memory.retire(address, "free".into());
    assert_eq!(memory.usage().used, 8192);
    memory.revive(address, "again".into());
    assert_eq!(memory.usage().used, 8192);
    memory.retire(address, "free".into());
    memory.discard(address);
    assert_eq!(memory.usage().used, 0);
}
