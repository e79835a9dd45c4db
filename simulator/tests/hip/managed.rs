// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hints for managed memory, which HIP tells to those who ask.

use std::ffi::c_void;
use std::ptr::null_mut;

use crate::common::Machine;
use windlass_hip_sys::bindings::*;

type Ask = hipMemRangeAttribute;
type Advice = hipMemoryAdvise;

const HOST: hipMemLocation = hipMemLocation { type_: hipMemLocationType::hipMemLocationTypeHost, id: 0 };

fn device(id: i32) -> hipMemLocation {
    hipMemLocation { type_: hipMemLocationType::hipMemLocationTypeDevice, id }
}

/// An attribute of a range of managed memory, of `N` numbers.
fn told<const N: usize>(machine: &Machine, wanted: Ask, memory: *mut c_void, size: usize) -> [i32; N] {
    let mut numbers = [77; N];
    let data = numbers.as_mut_ptr().cast();
    ok!(machine, hipMemRangeGetAttribute(data, size_of_val(&numbers), wanted, memory, size));
    numbers
}

#[test]
fn a_range_has_the_advice_that_all_of_its_pages_have() {
    let machine = Machine::new("gfx942?devices=2");
    let (mut memory, size) = (null_mut(), 3 * 4096);
    ok!(machine, hipMallocManaged(&mut memory, size, 1));
    let page = |index: usize| memory.wrapping_byte_add(index * 4096);
    let read_mostly = |start, size| told::<1>(&machine, Ask::hipMemRangeAttributeReadMostly, start, size);
    assert_eq!(read_mostly(memory, size), [0]);
    ok!(machine, hipMemAdvise(page(1), 1, Advice::hipMemAdviseSetReadMostly, 99));
    assert_eq!([read_mostly(page(1), 4096), read_mostly(memory, size)], [[1], [0]]);
    assert_eq!(read_mostly(page(1), 8192), [0], "the page behind it is another");
    ok!(machine, hipMemAdvise_v2(memory, size, Advice::hipMemAdviseSetReadMostly, device(99)));
    assert_eq!(read_mostly(memory, size), [1]);
    ok!(machine, hipMemAdvise(memory, size, Advice::hipMemAdviseUnsetReadMostly, 0));
    assert_eq!(read_mostly(memory, size), [0]);

    let preferred =
        |start, size| told::<1>(&machine, Ask::hipMemRangeAttributePreferredLocation, start, size);
    assert_eq!(preferred(memory, size), [-2]);
    ok!(machine, hipMemAdvise(memory, size, Advice::hipMemAdviseSetPreferredLocation, 1));
    ok!(machine, hipMemAdvise_v2(page(2), 4096, Advice::hipMemAdviseSetPreferredLocation, HOST));
    assert_eq!(
        [preferred(memory, 8192), preferred(page(2), 4096), preferred(memory, size)],
        [[1], [-1], [-2]]
    );
    ok!(machine, hipMemAdvise(memory, size, Advice::hipMemAdviseUnsetPreferredLocation, 1));
    assert_eq!(preferred(memory, 8192), [-2]);

    let accessed = |size| told::<4>(&machine, Ask::hipMemRangeAttributeAccessedBy, memory, size);
    for place in [1, -1, 0] {
        ok!(machine, hipMemAdvise(memory, size, Advice::hipMemAdviseSetAccessedBy, place));
    }
    assert_eq!(accessed(size), [0, 1, -1, -2]);
    ok!(machine, hipMemAdvise_v2(memory, 1, Advice::hipMemAdviseUnsetAccessedBy, device(1)));
    assert_eq!(accessed(size), [0, -1, -2, -2]);

    let fetched = |size| told::<1>(&machine, Ask::hipMemRangeAttributeLastPrefetchLocation, memory, size);
    ok!(machine, hipMemPrefetchAsync(memory, size, 1, null_mut()));
    assert_eq!(fetched(size), [1]);
    ok!(machine, hipMemPrefetchAsync_v2(memory, 1, HOST, 0, null_mut()));
    assert_eq!([fetched(4096), fetched(size)], [[-1], [-2]]);

    let coherent = || told::<1>(&machine, Ask::hipMemRangeAttributeCoherencyMode, memory, size);
    assert_eq!(coherent(), [0]);
    ok!(machine, hipMemAdvise(memory, size, Advice::hipMemAdviseSetCoarseGrain, 0));
    assert_eq!(coherent(), [1]);
    // New memory has no advice of the old.
    ok!(machine, hipFree(memory));
    ok!(machine, hipMallocManaged(&mut memory, size, 1));
    assert_eq!(told::<1>(&machine, Ask::hipMemRangeAttributeCoherencyMode, memory, size), [0]);
}

#[test]
fn several_attributes_are_told_at_once() {
    let machine = Machine::new("");
    let mut memory = null_mut();
    ok!(machine, hipMallocManaged(&mut memory, 64, 1));
    ok!(machine, hipMemAdvise(memory, 64, Advice::hipMemAdviseSetAccessedBy, 0));
    let (mut mostly, mut by) = ([77], [77; 2]);
    let mut data: [*mut c_void; 2] = [mostly.as_mut_ptr().cast::<c_void>(), by.as_mut_ptr().cast()];
    let mut sizes = [4, 8];
    let mut wanted = [Ask::hipMemRangeAttributeReadMostly, Ask::hipMemRangeAttributeAccessedBy];
    let mut all = |data: &mut [*mut c_void; 2], sizes: &mut [usize; 2], memory: *mut c_void, count| {
        let (data, sizes) = (data.as_mut_ptr(), sizes.as_mut_ptr());
        hip!(machine, hipMemRangeGetAttributes(data, sizes, wanted.as_mut_ptr(), count, memory, 64))
    };
    assert_eq!(all(&mut data, &mut sizes, memory, 2), hipError_t::hipSuccess);
    assert_eq!((mostly, by), ([0], [0, -2]));
    let wrong = hipError_t::hipErrorInvalidValue;
    assert_eq!(all(&mut data, &mut [8, 8], memory, 2), wrong, "the size of a number");
    assert_eq!(all(&mut data, &mut [4, 6], memory, 2), wrong, "no multiple of a number");
    assert_eq!(all(&mut [data[0], null_mut()], &mut sizes, memory, 2), wrong);
    assert_eq!(all(&mut data, &mut sizes, memory, 0), wrong);
    assert_eq!(all(&mut data, &mut sizes, machine.malloc(64), 2), wrong, "memory that does not migrate");
}

#[test]
fn wrong_hints_are_refused() {
    let machine = Machine::new("");
    let mut memory = null_mut();
    ok!(machine, hipMallocManaged(&mut memory, 4096, 1));
    let set = Advice::hipMemAdviseSetAccessedBy;
    fails!(hipErrorInvalidDevice, machine, hipMemAdvise(memory, 4096, set, 1));
    fails!(hipErrorInvalidDevice, machine, hipMemAdvise_v2(memory, 4096, set, device(1)));
    fails!(hipErrorInvalidValue, machine, hipMemAdvise_v2(memory, 4096, set, hipMemLocation::default()));
    fails!(hipErrorInvalidValue, machine, hipMemAdvise_v2(memory, 4097, set, device(0)));
    fails!(hipErrorInvalidValue, machine, hipMemAdvise_v2(memory, 4096, hipMemoryAdvise(7), device(0)));
    fails!(hipErrorInvalidValue, machine, hipMemPrefetchAsync_v2(memory, 4096, HOST, 1, null_mut()));
    fails!(hipErrorInvalidDevice, machine, hipMemPrefetchAsync_v2(memory, 4096, device(1), 0, null_mut()));
    let mut number = 0_i32;
    let data = (&raw mut number).cast();
    let ask = |wanted, size, memory, count| {
        hip!(machine, hipMemRangeGetAttribute(data, size, wanted, memory, count))
    };
    let wrong = hipError_t::hipErrorInvalidValue;
    assert_eq!(ask(Ask::hipMemRangeAttributeReadMostly, 8, memory, 4096), wrong);
    assert_eq!(ask(Ask::hipMemRangeAttributeReadMostly, 4, memory, 4097), wrong);
    assert_eq!(ask(Ask::hipMemRangeAttributeReadMostly, 4, memory, 0), wrong);
    assert_eq!(ask(hipMemRangeAttribute(5), 4, memory, 4096), wrong);
    // Other memory has its coherency alone.
    let plain = machine.malloc(64);
    assert_eq!(ask(Ask::hipMemRangeAttributeReadMostly, 4, plain, 64), wrong);
    assert_eq!(told::<1>(&machine, Ask::hipMemRangeAttributeCoherencyMode, plain, 64), [1]);
    let mut pinned = null_mut();
    ok!(machine, hipHostMalloc(&mut pinned, 64, 0));
    assert_eq!(told::<1>(&machine, Ask::hipMemRangeAttributeCoherencyMode, pinned, 64), [0]);
}

#[test]
fn memory_keeps_the_wish_that_operations_on_it_wait() {
    let machine = Machine::new("");
    let memory = machine.malloc(64);
    let wanted = hipPointer_attribute::HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS;
    let waits = || {
        let mut waits = false;
        ok!(machine, hipPointerGetAttribute((&raw mut waits).cast(), wanted, memory));
        waits
    };
    assert!(!waits());
    for wish in [1_u32, 0, 1] {
        ok!(machine, hipPointerSetAttribute((&raw const wish).cast(), wanted, memory.wrapping_byte_add(8)));
        assert_eq!(waits(), wish == 1);
    }
    let (two, one) = (2_u32, 1_u32);
    let [two, one] = [&two, &one].map(|value| std::ptr::from_ref(value).cast());
    fails!(hipErrorInvalidValue, machine, hipPointerSetAttribute(two, wanted, memory));
    fails!(hipErrorInvalidValue, machine, hipPointerSetAttribute(std::ptr::null(), wanted, memory));
    fails!(hipErrorInvalidValue, machine, hipPointerSetAttribute(one, wanted, null_mut()));
    fails!(hipErrorInvalidDevicePointer, machine, hipPointerSetAttribute(one, wanted, 8 as hipDeviceptr_t));
    let other = hipPointer_attribute::HIP_POINTER_ATTRIBUTE_CONTEXT;
    fails!(hipErrorInvalidValue, machine, hipPointerSetAttribute(one, other, memory));
}

#[test]
fn no_dma_buf_is_made_of_simulated_memory() {
    let machine = Machine::new("");
    let (memory, mut handle) = (machine.malloc(4096), 0_i32);
    let kind = hipMemRangeHandleType::hipMemRangeHandleTypeDmaBufFd;
    let handle = (&raw mut handle).cast();
    fails!(hipErrorInvalidValue, machine, hipMemGetHandleForAddressRange(handle, memory, 4096, kind, 0));
}
