// SPDX-License-Identifier: MIT OR Apache-2.0
//! Virtual memory: memory that grows in place. A GPU without it passes each program.

use std::ptr;

use windlass_hip_sys::bindings::*;

use crate::gpu::{Gpu, VECTOR_ADD, address, block};
use crate::hips::{Hip, OK};

/// Reserved addresses with pages of the first device.
struct Pages<'a> {
    hip: &'a Hip,
    base: *mut c_void,
    page: usize,
    count: usize,
    mapped: Vec<(usize, hipMemGenericAllocationHandle_t)>,
}

fn location() -> hipMemLocation {
    hipMemLocation { type_: hipMemLocationType::hipMemLocationTypeDevice, id: 0 }
}

impl<'a> Pages<'a> {
    /// `None` on a GPU, or with a library, that has no virtual memory.
    fn reserve(hip: &'a Hip, count: usize) -> Option<Self> {
        let (mut supported, mut page) = (0, 0);
        let attribute = hipDeviceAttribute_t::hipDeviceAttributeVirtualMemoryManagementSupported;
        let asked = call!(hip.hipDeviceGetAttribute(&mut supported, attribute, 0));
        if asked != OK || supported == 0 || !hip.has(windlass_hip_sys::Feature::VirtualMemory) {
            call!(hip.hipGetLastError());
            return None;
        }
        let recommended = hipMemAllocationGranularity_flags::hipMemAllocationGranularityRecommended;
        ok!(hip.hipMemGetAllocationGranularity(&mut page, &properties(), recommended));
        assert!(page.is_power_of_two() && page >= 4096, "pages of {page} bytes");
        let mut base = ptr::null_mut();
        ok!(hip.hipMemAddressReserve(&mut base, count * page, 0, ptr::null_mut(), 0));
        assert!(!base.is_null() && base.addr() % page.min(4096) == 0, "{base:p}");
        Some(Self { hip, base, page, count, mapped: Vec::new() })
    }

    fn at(&self, index: usize) -> *mut c_void {
        self.base.wrapping_byte_add(index * self.page)
    }

    /// Puts memory behind one page.
    fn map(&mut self, index: usize) {
        let (hip, mut handle) = (self.hip, ptr::null_mut());
        ok!(hip.hipMemCreate(&mut handle, self.page, &properties(), 0));
        ok!(hip.hipMemMap(self.at(index), self.page, 0, handle, 0));
        let flags = hipMemAccessFlags::hipMemAccessFlagsProtReadWrite;
        let access = hipMemAccessDesc { location: location(), flags };
        ok!(hip.hipMemSetAccess(self.at(index), self.page, &access, 1));
        self.mapped.push((index, handle));
    }

    fn unmap(&mut self, index: usize) {
        let hip = self.hip;
        let Some(place) = self.mapped.iter().position(|(mapped, _)| *mapped == index) else { return };
        let (_, handle) = self.mapped.swap_remove(place);
        ok!(hip.hipMemUnmap(self.at(index), self.page));
        ok!(hip.hipMemRelease(handle));
    }

    fn free(mut self) {
        let hip = self.hip;
        while let Some((index, _)) = self.mapped.last().copied() {
            self.unmap(index);
        }
        ok!(hip.hipMemAddressFree(self.base, self.count * self.page));
    }
}

fn properties() -> hipMemAllocationProp {
    let type_ = hipMemAllocationType::hipMemAllocationTypePinned;
    hipMemAllocationProp { type_, location: location(), ..hipMemAllocationProp::default() }
}

pub(crate) fn memory_mapped_behind_other_memory_leaves_it_as_it_is(hip: &Hip) {
    let Some(mut pages) = Pages::reserve(hip, 3) else { return };
    let stream = hip.stream();
    for index in 0..3 {
        pages.map(index);
        ok!(hip.hipMemsetD32Async(pages.at(index), index as i32 + 1, pages.page / 4, stream));
        for before in 0..=index {
            assert_eq!(hip.read_words(stream, pages.at(before), 4), [before as u32 + 1; 4]);
        }
    }
    ok!(hip.hipStreamDestroy(stream));
    pages.free();
}

pub(crate) fn fills_and_copies_cross_from_one_mapping_to_the_next(hip: &Hip) {
    let Some(mut pages) = Pages::reserve(hip, 2) else { return };
    pages.map(0);
    pages.map(1);
    let stream = hip.stream();
    let middle = pages.at(1).wrapping_byte_sub(256);
    ok!(hip.hipMemsetD32Async(middle, 7, 128, stream));
    assert_eq!(hip.read_words(stream, middle, 128), [7; 128]);
    let apart = hip.device_memory(512);
    let default = hipMemcpyKind::hipMemcpyDefault;
    ok!(hip.hipMemcpyAsync(apart, middle, 512, default, stream));
    assert_eq!(hip.read_words(stream, apart, 128), [7; 128]);
    ok!(hip.hipMemsetD32Async(apart, 9, 128, stream));
    ok!(hip.hipMemcpyAsync(middle, apart, 512, default, stream));
    assert_eq!(hip.read_words(stream, middle, 128), [9; 128]);
    ok!(hip.hipStreamSynchronize(stream));
    ok!(hip.hipFree(apart));
    ok!(hip.hipStreamDestroy(stream));
    pages.free();
}

pub(crate) fn addresses_can_be_mapped_again_after_they_were_unmapped(hip: &Hip) {
    let Some(mut pages) = Pages::reserve(hip, 2) else { return };
    let stream = hip.stream();
    pages.map(0);
    ok!(hip.hipMemsetD32Async(pages.at(0), 3, 4, stream));
    for value in 1..=3 {
        pages.map(1);
        ok!(hip.hipMemsetD32Async(pages.at(1), value, 4, stream));
        assert_eq!(hip.read_words(stream, pages.at(1), 4), [value.cast_unsigned(); 4]);
        pages.unmap(1);
    }
    assert_eq!(hip.read_words(stream, pages.at(0), 4), [3; 4]);
    ok!(hip.hipStreamDestroy(stream));
    pages.free();
}

pub(crate) fn memory_can_be_mapped_while_work_is_in_flight(gpu: &Gpu<'_>) {
    let Some(mut pages) = Pages::reserve(gpu, 2) else { return };
    pages.map(0);
    let (held, other) = (gpu.stream(), gpu.stream());
    let gate = gpu.hold(held);
    gpu.while_closed(&gate, || pages.map(1));
    ok!(gpu.hipMemsetD32Async(pages.at(1).wrapping_byte_sub(64), 5, 32, other));
    assert_eq!(gpu.read_words(other, pages.at(1).wrapping_byte_sub(64), 32), [5; 32]);
    gate.open();
    ok!(gpu.hipStreamSynchronize(held));
    for stream in [held, other] {
        ok!(gpu.hipStreamDestroy(stream));
    }
    pages.free();
}

pub(crate) fn a_kernel_uses_two_mappings_as_one_range(gpu: &Gpu<'_>) {
    let Some(mut pages) = Pages::reserve(gpu, 2) else { return };
    pages.map(0);
    pages.map(1);
    let stream = gpu.stream();
    let ones = gpu.device_memory(1024);
    ok!(gpu.hipMemsetD32Async(ones, 1_f32.to_bits().cast_signed(), 256, stream));
    let sum = pages.at(1).wrapping_byte_sub(512);
    let arguments = block(&[&address(ones), &address(ones), &address(sum), &256_i32.to_le_bytes()]);
    let function = gpu.find(VECTOR_ADD, c"vector_add");
    assert_eq!(gpu.launch(function, [4, 1, 1], [64, 1, 1], 0, stream, &arguments), OK);
    assert_eq!(gpu.read_words(stream, sum, 256), [2_f32.to_bits(); 256]);
    ok!(gpu.hipFree(ones));
    ok!(gpu.hipStreamDestroy(stream));
    pages.free();
}
