// SPDX-License-Identifier: MIT OR Apache-2.0
//! Virtual memory: reserved addresses, mappings, the access of each device, and the faults of kernels there.
use std::ffi::c_void;
use std::path::Path;
use std::ptr::null_mut;

use crate::common::{Block, Machine};
use windlass_hip_sys::bindings::*;

const READ: hipMemAccessFlags = hipMemAccessFlags::hipMemAccessFlagsProtRead;
const READ_WRITE: hipMemAccessFlags = hipMemAccessFlags::hipMemAccessFlagsProtReadWrite;

/// A machine, and the pages that HIP recommends.
struct Scene {
    machine: Machine,
    page: usize,
}

fn location(device: i32) -> hipMemLocation {
    hipMemLocation { type_: hipMemLocationType::hipMemLocationTypeDevice, id: device }
}

fn properties(device: i32) -> hipMemAllocationProp {
    let type_ = hipMemAllocationType::hipMemAllocationTypePinned;
    hipMemAllocationProp { type_, location: location(device), ..Default::default() }
}

impl Scene {
    fn new(options: &str) -> Self {
        let machine = Machine::new(options);
        let mut page = 0;
        let recommended = hipMemAllocationGranularity_flags::hipMemAllocationGranularityRecommended;
        ok!(machine, hipMemGetAllocationGranularity(&mut page, &properties(0), recommended));
        Self { machine, page }
    }

    fn reserve(&self, pages: usize) -> *mut c_void {
        let mut pointer = null_mut();
        ok!(self.machine, hipMemAddressReserve(&mut pointer, pages * self.page, 0, null_mut(), 0));
        pointer
    }

    fn create(&self, device: i32, pages: usize) -> hipMemGenericAllocationHandle_t {
        let mut handle = null_mut();
        ok!(self.machine, hipMemCreate(&mut handle, pages * self.page, &properties(device), 0));
        handle
    }

    fn map(&self, base: *mut c_void, page: usize, pages: usize, handle: hipMemGenericAllocationHandle_t) {
        ok!(self.machine, hipMemMap(self.at(base, page), pages * self.page, 0, handle, 0));
    }

    fn open(&self, base: *mut c_void, pages: usize, device: i32, flags: hipMemAccessFlags) {
        let access = hipMemAccessDesc { location: location(device), flags };
        ok!(self.machine, hipMemSetAccess(base, pages * self.page, &access, 1));
    }

    fn at(&self, base: *mut c_void, page: usize) -> *mut c_void {
        base.wrapping_byte_add(page * self.page)
    }

    fn vector_add(&self) -> hipFunction_t {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cts/kernels/bundles/vector_add.ccob");
        let module = self.machine.load(&std::fs::read(path).unwrap());
        self.machine.function(module, c"vector_add")
    }

    /// Adds `count` pairs of numbers with `vector_add` on the current device, and returns the status of waiting for it.
    fn add(&self, a: *mut c_void, b: *mut c_void, sum: *mut c_void, count: u32) -> hipError_t {
        let function = self.vector_add();
        let arguments = Block::default().pointer(a).pointer(b).pointer(sum).u32(count).done();
        let launched = self.machine.launch(function, count.div_ceil(256), 256, null_mut(), &arguments);
        assert_eq!(launched, hipError_t::hipSuccess);
        hip!(self.machine, hipStreamSynchronize(null_mut()))
    }
}

#[test]
fn memory_grows_in_place_and_transfers_cross_from_one_mapping_to_the_next() {
    let scene = Scene::new("");
    let (machine, page) = (&scene.machine, scene.page);
    let base = scene.reserve(4);
    let first = scene.create(0, 1);
    scene.map(base, 0, 1, first);
    scene.open(base, 1, 0, READ_WRITE);
    ok!(machine, hipMemsetD8(base, 1, page));

    let second = scene.create(0, 2);
    scene.map(base, 1, 2, second);
    scene.open(scene.at(base, 1), 2, 0, READ_WRITE);
    // The handles are given up, and the mappings keep the memory.
    ok!(machine, hipMemRelease(first));
    ok!(machine, hipMemRelease(second));

    let edge = base.wrapping_byte_add(page - 6);
    ok!(machine, hipMemsetD16(edge, 0x0302, 6));
    assert_eq!(
        machine.download::<u8>(edge.wrapping_byte_sub(2), 16),
        [1, 1, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 0, 0]
    );
    let values: Vec<u32> = (0..1000).collect();
    let middle = base.wrapping_byte_add(page - 2000);
    ok!(machine, hipMemcpyHtoD(middle, values.as_ptr().cast(), 4000));
    let copy = machine.malloc(4000);
    ok!(machine, hipMemcpyDtoD(copy, middle, 4000));
    assert_eq!(machine.download::<u32>(copy, 1000), values);
    // A copy within the range, over the edge, whose sides overlap.
    ok!(machine, hipMemcpyDtoD(middle.wrapping_byte_add(64), middle, 4000));
    assert_eq!(machine.download::<u32>(middle.wrapping_byte_add(64), 1000), values);
}

/// The options of the tests that AMD's HIP does not survive: it trusts handles, and follows addresses that it does not know.
const SIMULATED_ALONE: &str = "gfx942?faults=submission";

#[test]
fn a_copy_beyond_the_last_mapping_is_refused() {
    let scene = Scene::new(SIMULATED_ALONE);
    let (machine, page) = (&scene.machine, scene.page);
    let base = scene.reserve(3);
    for index in 0..2 {
        scene.map(base, index, 1, scene.create(0, 1));
    }
    scene.open(base, 2, 0, READ_WRITE);
    let copy = machine.malloc(64);
    ok!(machine, hipMemcpyDtoD(scene.at(base, 1).wrapping_byte_sub(8), copy, 16));
    let behind = scene.at(base, 2).wrapping_byte_sub(8);
    fails!(hipErrorInvalidValue, machine, hipMemcpyDtoD(behind, copy, 16));
    let (mut start, mut size) = (null_mut(), 0);
    ok!(machine, hipMemGetAddressRange(&mut start, &mut size, behind));
    assert_eq!((start, size), (scene.at(base, 1), page));
}

#[test]
fn kernels_reach_old_and_new_pages_and_cross_their_edge() {
    let scene = Scene::new("");
    let (machine, page) = (&scene.machine, scene.page);
    let base = scene.reserve(2);
    for index in 0..2 {
        scene.map(base, index, 1, scene.create(0, 1));
    }
    scene.open(base, 2, 0, READ_WRITE);
    let ones = machine.upload(&[1.0_f32; 1024]);
    let across = base.wrapping_byte_add(page - 2048);
    assert_eq!(scene.add(ones, ones, across, 1024), hipError_t::hipSuccess);
    assert_eq!(machine.download::<f32>(across, 1024), [2.0; 1024]);
    // An element that lies on both sides of the edge.
    let astride = base.wrapping_byte_add(page - 2);
    assert_eq!(scene.add(ones, ones, astride, 1), hipError_t::hipSuccess);
    assert_eq!(machine.download::<f32>(astride, 1), [2.0]);
}

#[test]
fn an_access_to_reserved_addresses_without_memory_names_the_kernel_and_the_lane() {
    let scene = Scene::new("gfx942?faults=submission");
    let (machine, page) = (&scene.machine, scene.page);
    let base = scene.reserve(2);
    scene.map(base, 0, 1, scene.create(0, 1));
    scene.open(base, 1, 0, READ_WRITE);
    let ones = machine.upload(&[1.0_f32; 256]);
    // The last 16 elements lie behind the mapping.
    let across = base.wrapping_byte_add(page - 240 * 4);
    assert_ne!(scene.add(ones, ones, across, 256), hipError_t::hipSuccess);
    let report = machine.api.diagnose().expect("a report");
    for part in ["vector_add", "lane 48", "where no memory is mapped", "hipMemAddressReserve"] {
        assert!(report.contains(part), "no `{part}` in {report}");
    }
    ok!(machine, hipMemUnmap(base, page));
    assert_ne!(scene.add(ones, ones, base, 1), hipError_t::hipSuccess);
    let report = machine.api.diagnose().expect("a report");
    for part in ["vector_add", "lane 0", "use after free", "hipMemUnmap"] {
        assert!(report.contains(part), "no `{part}` in {report}");
    }
}

/// The seeds begin the kernel sooner or later.
#[test]
fn the_end_of_a_mapping_waits_for_the_work_of_blocking_streams() {
    for seed in 0..32 {
        let scene = Scene::new(&format!("?seed={seed}"));
        let (machine, page) = (&scene.machine, scene.page);
        let base = scene.reserve(1);
        scene.map(base, 0, 1, scene.create(0, 1));
        scene.open(base, 1, 0, READ_WRITE);
        let ones = machine.upload(&[1.0_f32; 256]);
        let (stream, sum) = (machine.stream_with(0), machine.malloc(1024));
        ok!(machine, hipMemcpyDtoD(base, ones, 1024));
        let function = scene.vector_add();
        let arguments = Block::default().pointer(base).pointer(ones).pointer(sum).u32(256).done();
        assert_eq!(machine.launch(function, 1, 256, stream, &arguments), hipError_t::hipSuccess);
        ok!(machine, hipMemUnmap(base, page));
        ok!(machine, hipStreamSynchronize(stream));
        assert_eq!(machine.download::<f32>(sum, 256), [2.0; 256]);
    }
}

#[test]
fn each_device_has_the_access_that_it_was_given_and_no_other() {
    let scene = Scene::new("gfx942?devices=2&faults=submission");
    let machine = &scene.machine;
    let base = scene.reserve(1);
    scene.map(base, 0, 1, scene.create(0, 1));
    let ones = machine.upload(&[1.0_f32; 64]);
    let report = || machine.api.diagnose().expect("a report");

    assert_ne!(scene.add(ones, ones, base, 1), hipError_t::hipSuccess);
    assert!(report().contains("hipMemSetAccess"), "{}", report());
    scene.open(base, 1, 0, READ_WRITE);
    assert_eq!(scene.add(ones, ones, base, 64), hipError_t::hipSuccess);

    // Peer access opens allocations, and no mappings.
    ok!(machine, hipSetDevice(1));
    ok!(machine, hipDeviceEnablePeerAccess(0, 0));
    let sum = machine.malloc(256);
    assert_eq!(scene.add(ones, ones, sum, 64), hipError_t::hipSuccess);
    assert_ne!(scene.add(base, base, sum, 64), hipError_t::hipSuccess);
    assert!(report().contains("hipMemSetAccess"), "{}", report());
    scene.open(base, 1, 1, READ);
    assert_eq!(scene.add(base, base, sum, 64), hipError_t::hipSuccess);
    assert_eq!(machine.download::<f32>(sum, 64), [4.0; 64]);
    assert_ne!(scene.add(sum, sum, base, 64), hipError_t::hipSuccess);
    assert!(report().contains("may only read"), "{}", report());
    ok!(machine, hipSetDevice(0));
    assert_eq!(scene.add(ones, ones, base, 64), hipError_t::hipSuccess);

    let mut flags = 9;
    for (device, expected) in [(0, READ_WRITE), (1, READ)] {
        ok!(machine, hipMemGetAccess(&mut flags, &location(device), base));
        assert_eq!(flags, expected.0.into(), "device {device}");
    }
}

#[test]
fn one_memory_can_be_at_two_addresses() {
    let scene = Scene::new("");
    let (machine, page) = (&scene.machine, scene.page);
    let (base, handle) = (scene.reserve(3), scene.create(0, 1));
    for index in [0, 2] {
        scene.map(base, index, 1, handle);
        scene.open(scene.at(base, index), 1, 0, READ_WRITE);
    }
    ok!(machine, hipMemsetD8(base, 7, page));
    assert_eq!(machine.download::<u8>(scene.at(base, 2), 64), [7; 64]);
    ok!(machine, hipMemUnmap(base, page));
    let mut again = null_mut();
    ok!(machine, hipMemRetainAllocationHandle(&mut again, scene.at(base, 2)));
    scene.map(base, 1, 1, again);
    scene.open(scene.at(base, 1), 1, 0, READ_WRITE);
    assert_eq!(machine.download::<u8>(scene.at(base, 1), 64), [7; 64]);
    let mut told = properties(0);
    ok!(machine, hipMemGetAllocationPropertiesFromHandle(&mut told, again));
    assert_eq!((told.type_, told.location.id), (properties(0).type_, 0));
}

#[test]
fn a_retained_handle_is_the_same_and_is_released_as_often() {
    let scene = Scene::new("");
    let machine = &scene.machine;
    let (base, handle) = (scene.reserve(1), scene.create(0, 1));
    scene.map(base, 0, 1, handle);
    let (mut again, mut told) = (null_mut(), properties(0));
    ok!(machine, hipMemRetainAllocationHandle(&mut again, base));
    assert_eq!(again, handle);
    ok!(machine, hipMemRelease(again));
    ok!(machine, hipMemGetAllocationPropertiesFromHandle(&mut told, handle));
    ok!(machine, hipMemRelease(handle));
    // The mapping keeps the memory, which gets a handle again.
    ok!(machine, hipMemRetainAllocationHandle(&mut again, base));
    ok!(machine, hipMemGetAllocationPropertiesFromHandle(&mut told, again));
    ok!(machine, hipMemRelease(again));
}

/// AMD's handles are pointers, which it follows as long as the memory is mapped.
#[test]
fn a_handle_ends_with_its_last_release() {
    let scene = Scene::new(SIMULATED_ALONE);
    let machine = &scene.machine;
    let (base, handle) = (scene.reserve(1), scene.create(0, 1));
    scene.map(base, 0, 1, handle);
    let (mut again, mut told) = (null_mut(), properties(0));
    ok!(machine, hipMemRetainAllocationHandle(&mut again, base));
    ok!(machine, hipMemRelease(handle));
    ok!(machine, hipMemRelease(handle));
    fails!(hipErrorInvalidValue, machine, hipMemGetAllocationPropertiesFromHandle(&mut told, handle));
    fails!(hipErrorInvalidValue, machine, hipMemRelease(handle));
}

#[test]
fn memory_counts_until_its_handle_and_its_last_mapping_are_gone() {
    let scene = Scene::new("gfx942?memory=64M");
    let (machine, page) = (&scene.machine, scene.page);
    let free = || {
        let (mut free, mut total) = (0, 0);
        ok!(machine, hipMemGetInfo(&mut free, &mut total));
        free / page
    };
    let all = free();
    let (base, handle) = (scene.reserve(1024), scene.create(0, 20));
    assert_eq!(free(), all - 20);
    let mut more = null_mut();
    fails!(hipErrorOutOfMemory, machine, hipMemCreate(&mut more, 20 * page, &properties(0), 0));
    scene.map(base, 0, 20, handle);
    ok!(machine, hipMemRelease(handle));
    assert_eq!(free(), all - 20);
    fails!(hipErrorUnknown, machine, hipMemAddressFree(base, 1024 * page));
    ok!(machine, hipMemUnmap(base, 20 * page));
    assert_eq!(free(), all);
    ok!(machine, hipMemAddressFree(base, 1024 * page));
    fails!(hipErrorInvalidValue, machine, hipMemAddressFree(base, 1024 * page));
    // A device that is reset gives everything back.
    let base = scene.reserve(1);
    scene.map(base, 0, 1, scene.create(0, 1));
    ok!(machine, hipDeviceReset());
    assert_eq!(free(), all);
}

#[test]
fn wrong_calls_are_refused() {
    let scene = Scene::new(SIMULATED_ALONE);
    let (machine, page) = (&scene.machine, scene.page);
    let mut pointer = null_mut();
    fails!(hipErrorInvalidValue, machine, hipMemAddressReserve(null_mut(), page, 0, null_mut(), 0));
    fails!(hipErrorInvalidValue, machine, hipMemAddressReserve(&mut pointer, page, 0, null_mut(), 1));
    for (size, alignment) in [(0, 0), (page + 1, 0), (page, 3)] {
        fails!(
            hipErrorOutOfMemory,
            machine,
            hipMemAddressReserve(&mut pointer, size, alignment, null_mut(), 0)
        );
    }
    let mut handle = null_mut();
    let mut wrong = properties(0);
    wrong.location.id = 9;
    for (size, prop) in [(0, properties(0)), (page + 1, properties(0)), (page, wrong)] {
        fails!(hipErrorInvalidValue, machine, hipMemCreate(&mut handle, size, &prop, 0));
    }
    fails!(hipErrorInvalidValue, machine, hipMemCreate(&mut handle, page, nothing(), 0));
    let (base, handle) = (scene.reserve(2), scene.create(0, 1));
    fails!(hipErrorInvalidValue, machine, hipMemMap(base, page, page, handle, 0));
    fails!(hipErrorInvalidValue, machine, hipMemMap(base, 2 * page, 0, handle, 0));
    fails!(hipErrorInvalidValue, machine, hipMemMap(scene.at(base, 2), page, 0, handle, 0));
    fails!(hipErrorInvalidValue, machine, hipMemMap(base, page, 0, 77 as hipMemGenericAllocationHandle_t, 0));
    scene.map(base, 0, 1, handle);
    fails!(hipErrorInvalidValue, machine, hipMemMap(base, page, 0, handle, 0));
    ok!(machine, hipMemRelease(handle));
    fails!(hipErrorInvalidValue, machine, hipMemRelease(handle));
    let mut access = hipMemAccessDesc { location: location(0), flags: READ_WRITE };
    fails!(hipErrorInvalidValue, machine, hipMemSetAccess(base, 2 * page, &access, 1));
    fails!(hipErrorInvalidValue, machine, hipMemSetAccess(base, page, &access, 0));
    access.flags = hipMemAccessFlags(2);
    fails!(hipErrorInvalidValue, machine, hipMemSetAccess(base, page, &access, 1));
    fails!(hipErrorInvalidValue, machine, hipMemUnmap(scene.at(base, 1), page));
    fails!(hipErrorInvalidValue, machine, hipFree(base));
}

#[test]
fn the_attribute_tells_which_versions_have_virtual_memory() {
    for (options, expected) in [("gfx942?hip=6.2", 1), ("gfx942?hip=7.1", 1)] {
        let machine = Machine::new(options);
        let mut value = 9;
        let attribute = hipDeviceAttribute_t::hipDeviceAttributeVirtualMemoryManagementSupported;
        ok!(machine, hipDeviceGetAttribute(&mut value, attribute, 0));
        assert_eq!(value, expected, "{options}");
    }
    let machine = Machine::new("gfx90a?hip=5.2");
    let mut pointer = null_mut();
    fails!(hipErrorNotSupported, machine, hipMemAddressReserve(&mut pointer, 2 << 20, 0, null_mut(), 0));
}

fn nothing<T>() -> *const T {
    crate::common::nothing()
}
