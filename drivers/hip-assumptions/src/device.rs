// SPDX-License-Identifier: MIT OR Apache-2.0
//! Devices, and the state of a thread.

use windlass_hip_sys::bindings::*;

use crate::gpu::{Gpu, architecture};
use crate::hips::{Hip, OK};

pub(crate) fn the_current_device_belongs_to_the_thread(hip: &Hip) {
    hip.select(hip.devices - 1);
    assert_eq!(hip.current(), hip.devices - 1);
    let elsewhere = std::thread::scope(|scope| scope.spawn(|| hip.current()).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    assert_eq!(elsewhere, 0, "a new thread begins with the first device");
    hip.select(0);
}

pub(crate) fn a_device_beyond_the_last_is_refused(hip: &Hip) {
    let mut value = 0;
    let attribute = hipDeviceAttribute_t::hipDeviceAttributeWarpSize;
    for device in [-1, hip.devices] {
        assert_eq!(call!(hip.hipSetDevice(device)), hipError_t::hipErrorInvalidDevice);
        assert_ne!(call!(hip.hipDeviceGetAttribute(&mut value, attribute, device)), OK);
    }
    assert_eq!(hip.current(), 0);
    call!(hip.hipGetLastError());
}

pub(crate) fn initialising_again_changes_nothing(hip: &Hip) {
    let mut devices = 0;
    for _ in 0..2 {
        ok!(hip.hipInit(0));
        ok!(hip.hipGetDeviceCount(&mut devices));
        assert_eq!(devices, hip.devices);
    }
}

pub(crate) fn names_end_within_their_room(hip: &Hip) {
    let mut name = [c_char::MAX; 256];
    ok!(hip.hipDeviceGetName(name.as_mut_ptr(), 256, 0));
    assert!(name.contains(&0));
}

/// Both layouts of the properties name the target, each through its own symbol.
pub(crate) fn properties_name_the_target_in_the_layout_of_their_symbol(hip: &Hip) {
    for device in 0..hip.devices {
        let modern = architecture(hip, device);
        assert!(modern.starts_with("gfx"), "{modern}");
        let mut old = Box::<hipDeviceProp_tR0000>::new_uninit();
        ok!(hip.hipGetDeviceProperties(old.as_mut_ptr(), device));
        // SAFETY: HIP filled it; every bit pattern is valid for its fields.
        let old = unsafe { old.assume_init() };
        let text: String = old
            .gcnArchName
            .iter()
            .take_while(|byte| **byte != 0)
            .map(|byte| char::from(byte.to_ne_bytes()[0]))
            .collect();
        assert_eq!(text, modern);
        assert!(old.totalGlobalMem > 0);
    }
}

pub(crate) fn attributes_are_numbers_of_every_version(hip: &Hip) {
    use hipDeviceAttribute_t as Attribute;
    let read = |attribute| {
        let mut value = 0;
        ok!(hip.hipDeviceGetAttribute(&mut value, attribute, 0));
        value
    };
    assert!([32, 64].contains(&read(Attribute::hipDeviceAttributeWarpSize)));
    assert!(read(Attribute::hipDeviceAttributeMaxThreadsPerBlock) >= 256);
    assert!(read(Attribute::hipDeviceAttributeMaxBlockDimX) >= 256);
    assert!(read(Attribute::hipDeviceAttributeMaxGridDimX) >= 65535);
    assert!(read(Attribute::hipDeviceAttributeMaxSharedMemoryPerBlock) >= 32 << 10);
}

pub(crate) fn each_device_has_an_identity_of_its_own(hip: &Hip) {
    let uuid = |device| {
        let mut uuid = hipUUID { bytes: [0; 16] };
        (call!(hip.hipDeviceGetUuid(&mut uuid, device)) == OK).then_some(uuid.bytes)
    };
    // The driver does not need these if a device lacks them.
    let known: Vec<_> = (0..hip.devices).filter_map(uuid).filter(|bytes| *bytes != [0; 16]).collect();
    for (index, bytes) in known.iter().enumerate() {
        assert!(!known[..index].contains(bytes), "{known:?}");
    }
    assert_eq!(uuid(0), uuid(0));
    call!(hip.hipGetLastError());
}

pub(crate) fn free_memory_is_a_part_of_all(hip: &Hip) {
    let (mut free, mut total) = (0, 0);
    ok!(hip.hipMemGetInfo(&mut free, &mut total));
    assert!(free <= total && total > 0, "{free} of {total}");
}

pub(crate) fn changing_the_device_waits_for_nothing(gpu: &Gpu<'_>) {
    let stream = gpu.stream();
    let gate = gpu.hold(stream);
    gpu.while_closed(&gate, || {
        gpu.select(gpu.devices - 1);
        gpu.select(0);
    });
    drop(gate);
    ok!(gpu.hipStreamSynchronize(stream));
    ok!(gpu.hipStreamDestroy(stream));
}
