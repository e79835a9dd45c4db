// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory without addresses, and pools, which processes pass as file descriptors.

use std::ffi::c_void;
use std::ptr::null_mut;

use rustix::fd::{AsFd as _, FromRawFd as _, OwnedFd};
use rustix::io::FdFlags;

use super::{Other, hear, hex, message, say, unhex};
use crate::common::Machine;
use windlass_hip_sys::bindings::*;

pub(super) const DESCRIPTOR: hipMemAllocationHandleType =
    hipMemAllocationHandleType::hipMemHandleTypePosixFileDescriptor;
const NONE: hipMemAllocationHandleType = hipMemAllocationHandleType::hipMemHandleTypeNone;
const PAGE: usize = 2 << 20;

fn location() -> hipMemLocation {
    hipMemLocation { type_: hipMemLocationType::hipMemLocationTypeDevice, id: 0 }
}

fn create(machine: &Machine, kind: hipMemAllocationHandleType) -> hipMemGenericAllocationHandle_t {
    let mut properties = hipMemAllocationProp {
        type_: hipMemAllocationType::hipMemAllocationTypePinned,
        location: location(),
        ..Default::default()
    };
    properties.__bindgen_anon_1.requestedHandleType = kind;
    let mut handle = null_mut();
    ok!(machine, hipMemCreate(&mut handle, PAGE, &properties, 0));
    handle
}

/// Memory without addresses, mapped.
fn mapped(machine: &Machine, handle: hipMemGenericAllocationHandle_t) -> *mut c_void {
    let mut base = null_mut();
    ok!(machine, hipMemAddressReserve(&mut base, PAGE, 0, null_mut(), 0));
    ok!(machine, hipMemMap(base, PAGE, 0, handle, 0));
    let flags = hipMemAccessFlags::hipMemAccessFlagsProtReadWrite;
    ok!(machine, hipMemSetAccess(base, PAGE, &hipMemAccessDesc { location: location(), flags }, 1));
    base
}

/// A descriptor that the next process inherits under the same number.
fn inherited(descriptor: i32) -> OwnedFd {
    // SAFETY: HIP gave the descriptor to this test, which closes it.
    let own = unsafe { OwnedFd::from_raw_fd(descriptor) };
    rustix::io::fcntl_setfd(own.as_fd(), FdFlags::empty()).unwrap();
    own
}

#[test]
fn memory_without_addresses_is_passed_as_a_descriptor() {
    if let Some(message) = message() {
        let machine = Machine::new("gfx942?memory=16M");
        let mut descriptor: i32 = message.parse().unwrap();
        let free = || {
            let (mut free, mut total) = (0, 0);
            ok!(machine, hipMemGetInfo(&mut free, &mut total));
            free
        };
        let before = free();
        let (mut first, mut second) = (null_mut(), null_mut());
        // The descriptor itself, and a pointer to it.
        let itself = std::ptr::without_provenance_mut(descriptor as usize);
        ok!(machine, hipMemImportFromShareableHandle(&mut first, itself, DESCRIPTOR));
        ok!(machine, hipMemImportFromShareableHandle(&mut second, (&raw mut descriptor).cast(), DESCRIPTOR));
        assert_eq!(free(), before, "it counts where it was made");
        let (base, other) = (mapped(&machine, first), mapped(&machine, second));
        assert_eq!(machine.download::<u8>(base, 8), [4; 8]);
        ok!(machine, hipMemset(other, 5, PAGE));
        assert_eq!(machine.download::<u8>(base, PAGE), vec![5; PAGE]);
        ok!(machine, hipMemUnmap(base, PAGE));
        ok!(machine, hipMemRelease(first));
        say("filled");
        hear();
        assert_eq!(machine.download::<u8>(other, 4), [6; 4]);
        return;
    }
    let machine = Machine::new("gfx942");
    let handle = create(&machine, DESCRIPTOR);
    let base = mapped(&machine, handle);
    ok!(machine, hipMemset(base, 4, PAGE));
    ok!(machine, hipDeviceSynchronize());
    let mut descriptor = -1_i32;
    let place = (&raw mut descriptor).cast();
    ok!(machine, hipMemExportToShareableHandle(place, handle, DESCRIPTOR, 0));
    let own = inherited(descriptor);
    let mut other = Other::start(
        "descriptors::memory_without_addresses_is_passed_as_a_descriptor",
        &descriptor.to_string(),
    );
    drop(own);
    assert_eq!(other.hear(), "filled");
    assert_eq!(machine.download::<u8>(base, 8), [5; 8]);
    ok!(machine, hipMemset(base, 6, PAGE));
    ok!(machine, hipDeviceSynchronize());
    ok!(machine, hipMemUnmap(base, PAGE));
    ok!(machine, hipMemRelease(handle));
    other.say("freed");
    other.end();
}

#[test]
fn wrong_descriptors_and_memory_that_is_not_for_others_are_refused() {
    let machine = Machine::new("gfx942");
    let (plain, handle) = (create(&machine, NONE), create(&machine, DESCRIPTOR));
    let mut descriptor = -1_i32;
    let place: *mut c_void = (&raw mut descriptor).cast();
    fails!(hipErrorInvalidValue, machine, hipMemExportToShareableHandle(place, plain, DESCRIPTOR, 0));
    fails!(hipErrorInvalidValue, machine, hipMemExportToShareableHandle(place, plain, NONE, 0));
    fails!(hipErrorInvalidValue, machine, hipMemExportToShareableHandle(place, handle, NONE, 0));
    fails!(hipErrorInvalidValue, machine, hipMemExportToShareableHandle(place, handle, DESCRIPTOR, 1));
    fails!(hipErrorInvalidValue, machine, hipMemExportToShareableHandle(place, null_mut(), DESCRIPTOR, 0));
    fails!(hipErrorInvalidValue, machine, hipMemExportToShareableHandle(null_mut(), handle, DESCRIPTOR, 0));
    assert_eq!(descriptor, -1);
    let (mut made, none) = (null_mut(), null_mut());
    fails!(hipErrorInvalidValue, machine, hipMemImportFromShareableHandle(&mut made, none, DESCRIPTOR));
    fails!(hipErrorInvalidValue, machine, hipMemImportFromShareableHandle(null_mut(), place, DESCRIPTOR));
}

#[test]
fn another_file_than_one_of_memory_is_no_memory() {
    let machine = Machine::new("gfx942");
    let file = std::fs::File::open("/proc/self/stat").unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&file) as usize;
    let mut made = null_mut();
    for wrong in [number, 60_000] {
        let wrong = std::ptr::without_provenance_mut(wrong);
        fails!(hipErrorInvalidValue, machine, hipMemImportFromShareableHandle(&mut made, wrong, DESCRIPTOR));
    }
}

pub(super) fn shareable_pool(machine: &Machine, kind: hipMemAllocationHandleType) -> hipMemPool_t {
    let properties = hipMemPoolProps {
        allocType: hipMemAllocationType::hipMemAllocationTypePinned,
        handleTypes: kind,
        location: location(),
        ..Default::default()
    };
    let mut pool = null_mut();
    ok!(machine, hipMemPoolCreate(&mut pool, &properties));
    pool
}

#[test]
fn memory_of_pools_is_shared() {
    if let Some(message) = message() {
        let machine = Machine::new("gfx942");
        let (descriptor, text) = message.split_once(' ').unwrap();
        let mut pool = null_mut();
        let descriptor = std::ptr::without_provenance_mut(descriptor.parse().unwrap());
        ok!(machine, hipMemPoolImportFromShareableHandle(&mut pool, descriptor, DESCRIPTOR, 0));
        let mut data = hipMemPoolPtrExportData { reserved: unhex(text).map(|byte| byte as u8) };
        let import = |data: &mut hipMemPoolPtrExportData| {
            let mut memory = null_mut();
            ok!(machine, hipMemPoolImportPointer(&mut memory, pool, data));
            memory
        };
        let memory = import(&mut data);
        assert_eq!(machine.download::<u8>(memory, 64), [8; 64]);
        ok!(machine, hipMemset(memory, 9, 64));
        ok!(machine, hipDeviceSynchronize());
        fails!(hipErrorInvalidValue, machine, hipIpcCloseMemHandle(memory));
        // It is freed in the order of a stream, or at once; no pool keeps it.
        ok!(machine, hipFreeAsync(memory, null_mut()));
        ok!(machine, hipDeviceSynchronize());
        fails!(hipErrorInvalidValue, machine, hipMemset(memory, 1, 64));
        let memory = import(&mut data);
        ok!(machine, hipFree(memory));
        let mut value = 1_u64;
        let used = hipMemPoolAttr::hipMemPoolAttrUsedMemCurrent;
        ok!(machine, hipMemPoolGetAttribute(pool, used, (&raw mut value).cast()));
        assert_eq!(value, 0);
        ok!(machine, hipMemPoolDestroy(pool));
        say("used");
        return;
    }
    let machine = Machine::new("gfx942");
    let pool = shareable_pool(&machine, DESCRIPTOR);
    let mut memory = null_mut();
    ok!(machine, hipMallocFromPoolAsync(&mut memory, 64, pool, null_mut()));
    ok!(machine, hipMemset(memory, 8, 64));
    let mut descriptor = -1_i32;
    let place: *mut c_void = (&raw mut descriptor).cast();
    ok!(machine, hipMemPoolExportToShareableHandle(place, pool, DESCRIPTOR, 0));
    let mut data = hipMemPoolPtrExportData::default();
    ok!(machine, hipMemPoolExportPointer(&mut data, memory));
    let own = inherited(descriptor);
    let text = format!("{descriptor} {}", hex(&data.reserved.map(|byte| byte as i8)));
    let mut other = Other::start("descriptors::memory_of_pools_is_shared", &text);
    drop(own);
    assert_eq!(other.hear(), "used");
    assert_eq!(machine.download::<u8>(memory, 64), [9; 64]);
    other.end();
    // The pool gives it again after a free, and takes it out of the file at its end.
    ok!(machine, hipFreeAsync(memory, null_mut()));
    let mut again = null_mut();
    ok!(machine, hipMallocFromPoolAsync(&mut again, 64, pool, null_mut()));
    assert_eq!(again, memory);
    ok!(machine, hipFreeAsync(memory, null_mut()));
    ok!(machine, hipDeviceSynchronize());
    ok!(machine, hipMemPoolDestroy(pool));
}

#[test]
fn wrong_pools_are_neither_exported_nor_imported() {
    let machine = Machine::new("gfx942");
    let (plain, pool) = (shareable_pool(&machine, NONE), shareable_pool(&machine, DESCRIPTOR));
    let mut descriptor = -1_i32;
    let place: *mut c_void = (&raw mut descriptor).cast();
    fails!(hipErrorInvalidValue, machine, hipMemPoolExportToShareableHandle(place, plain, DESCRIPTOR, 0));
    fails!(hipErrorInvalidValue, machine, hipMemPoolExportToShareableHandle(place, pool, NONE, 0));
    fails!(hipErrorInvalidValue, machine, hipMemPoolExportToShareableHandle(place, pool, DESCRIPTOR, 1));
    fails!(hipErrorInvalidValue, machine, hipMemPoolExportToShareableHandle(null_mut(), pool, DESCRIPTOR, 0));
    fails!(
        hipErrorInvalidValue,
        machine,
        hipMemPoolExportToShareableHandle(place, null_mut(), DESCRIPTOR, 0)
    );
    let mut made = null_mut();
    let wrong = std::ptr::without_provenance_mut(60_000);
    fails!(
        hipErrorInvalidValue,
        machine,
        hipMemPoolImportFromShareableHandle(&mut made, null_mut(), DESCRIPTOR, 0)
    );
    fails!(hipErrorInvalidValue, machine, hipMemPoolImportFromShareableHandle(&mut made, wrong, NONE, 0));
    let (mut data, mut memory) = (hipMemPoolPtrExportData::default(), null_mut());
    fails!(hipErrorOutOfMemory, machine, hipMemPoolExportPointer(&mut data, place));
    fails!(hipErrorInvalidValue, machine, hipMemPoolExportPointer(&mut data, null_mut()));
    fails!(hipErrorOutOfMemory, machine, hipMemPoolImportPointer(&mut memory, pool, &mut data));
    fails!(hipErrorInvalidValue, machine, hipMemPoolImportPointer(&mut memory, null_mut(), &mut data));
    let mut supported = 0;
    let attribute = hipDeviceAttribute_t::hipDeviceAttributeMemoryPoolSupportedHandleTypes;
    ok!(machine, hipDeviceGetAttribute(&mut supported, attribute, 0));
    assert_eq!(supported, 1);
}

#[test]
fn a_number_that_is_no_descriptor_is_no_pool() {
    let machine = Machine::new("gfx942");
    let (mut made, wrong) = (null_mut(), std::ptr::without_provenance_mut(60_000));
    fails!(
        hipErrorOutOfMemory,
        machine,
        hipMemPoolImportFromShareableHandle(&mut made, wrong, DESCRIPTOR, 0)
    );
}
