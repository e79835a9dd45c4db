// SPDX-License-Identifier: MIT OR Apache-2.0
//! Facts about devices: addresses, memory, links to others, and wishes that AMD's hardware does not know.

use std::ffi::{CStr, c_char};
use std::ptr::{null, null_mut};

use crate::common::Machine;
use windlass_hip_sys::bindings::*;

#[test]
fn a_device_is_found_by_its_address_on_the_bus() {
    let machine = Machine::new("gfx942?devices=2");
    let address = |device| {
        let mut text = [1; 13];
        ok!(machine, hipDeviceGetPCIBusId(text.as_mut_ptr(), 13, device));
        // SAFETY: the call closed the text with a zero.
        unsafe { CStr::from_ptr(text.as_ptr()) }.to_str().unwrap().to_owned()
    };
    let addresses = [0, 1].map(address);
    assert_eq!(addresses[0].len(), 12);
    assert_ne!(addresses[0], addresses[1]);
    let find = |text: &str| {
        let text = std::ffi::CString::new(text).unwrap();
        let mut device = 9;
        (hip!(machine, hipDeviceGetByPCIBusId(&mut device, text.as_ptr())), device)
    };
    for (device, address) in (0..).zip(&addresses) {
        let found = (hipError_t::hipSuccess, device);
        assert_eq!(find(address), found);
        assert_eq!(find(&address.to_uppercase()), found);
        // Without leading zeros, and with something behind.
        let short = format!("0:{}", &address[5..]);
        assert_eq!(find(&short), found, "{short}");
        assert_eq!(find(&format!("{address} and more")), found);
    }
    let wrong = (hipError_t::hipErrorInvalidValue, 9);
    for text in ["", "gpu", "0000:", "0000:00:00", "ffff:ff:1f.7", "00000:00:00.0", "é000:00:00.0"] {
        assert_eq!(find(text), wrong, "{text}");
    }
    let some = c"0000:00:00.0".as_ptr();
    fails!(hipErrorInvalidValue, machine, hipDeviceGetByPCIBusId(null_mut(), some));
    fails!(hipErrorInvalidValue, machine, hipDeviceGetByPCIBusId(&mut 0, null()));
    let mut text = [0; 64];
    let text: *mut c_char = text.as_mut_ptr();
    for length in [-1, 0, 12] {
        fails!(hipErrorInvalidValue, machine, hipDeviceGetPCIBusId(text, length, 0));
    }
    fails!(hipErrorInvalidValue, machine, hipDeviceGetPCIBusId(null_mut(), 13, 0));
    for device in [-1, 2] {
        fails!(hipErrorInvalidDevice, machine, hipDeviceGetPCIBusId(text, 13, device));
    }
}

#[test]
fn a_device_tells_its_memory_and_its_generation() {
    for (options, capability) in [("gfx942?memory=1G", (9, 4)), ("gfx90a?memory=1G", (9, 0))] {
        let machine = Machine::new(options);
        let mut bytes = 0;
        ok!(machine, hipDeviceTotalMem(&mut bytes, 0));
        assert_eq!(bytes, 1 << 30);
        let (mut major, mut minor) = (0, 0);
        ok!(machine, hipDeviceComputeCapability(&mut major, &mut minor, 0));
        assert_eq!((major, minor), capability, "{options}");
        fails!(hipErrorInvalidValue, machine, hipDeviceTotalMem(null_mut(), 0));
        fails!(hipErrorInvalidValue, machine, hipDeviceComputeCapability(null_mut(), &mut minor, 0));
        fails!(hipErrorInvalidValue, machine, hipDeviceComputeCapability(&mut major, null_mut(), 0));
        for device in [-1, 1] {
            fails!(hipErrorInvalidDevice, machine, hipDeviceTotalMem(&mut bytes, device));
            fails!(
                hipErrorInvalidDevice,
                machine,
                hipDeviceComputeCapability(&mut major, &mut minor, device)
            );
        }
    }
}

#[test]
fn wishes_for_caches_and_banks_are_taken_and_change_nothing() {
    let machine = Machine::new("");
    for choice in 0..=3 {
        ok!(machine, hipDeviceSetCacheConfig(hipFuncCache_t(choice)));
        let mut told = hipFuncCache_t(9);
        ok!(machine, hipDeviceGetCacheConfig(&mut told));
        assert_eq!(told, hipFuncCache_t::hipFuncCachePreferNone);
    }
    for choice in 0..=2 {
        ok!(machine, hipDeviceSetSharedMemConfig(hipSharedMemConfig(choice)));
        let mut told = hipSharedMemConfig(9);
        ok!(machine, hipDeviceGetSharedMemConfig(&mut told));
        assert_eq!(told, hipSharedMemConfig::hipSharedMemBankSizeFourByte);
    }
    for choice in [4, u32::MAX] {
        fails!(hipErrorInvalidValue, machine, hipDeviceSetCacheConfig(hipFuncCache_t(choice)));
    }
    for choice in [3, u32::MAX] {
        fails!(hipErrorInvalidValue, machine, hipDeviceSetSharedMemConfig(hipSharedMemConfig(choice)));
    }
    fails!(hipErrorInvalidValue, machine, hipDeviceGetCacheConfig(null_mut()));
    fails!(hipErrorInvalidValue, machine, hipDeviceGetSharedMemConfig(null_mut()));
}

#[test]
fn priorities_outside_of_the_range_are_the_nearest_within() {
    let machine = Machine::new("");
    let (mut least, mut greatest) = (9, 9);
    ok!(machine, hipDeviceGetStreamPriorityRange(&mut least, &mut greatest));
    assert_eq!((least, greatest), (1, -1));
    ok!(machine, hipDeviceGetStreamPriorityRange(null_mut(), &mut greatest));
    ok!(machine, hipDeviceGetStreamPriorityRange(&mut least, null_mut()));
    for (wanted, given) in
        [(greatest, greatest), (least, least), (greatest - 1, greatest), (least + 1, least)]
    {
        let (mut stream, mut priority) = (null_mut(), 9);
        ok!(machine, hipStreamCreateWithPriority(&mut stream, 0, wanted));
        ok!(machine, hipStreamGetPriority(stream, &mut priority));
        assert_eq!(priority, given, "{wanted}");
    }
}

#[test]
fn devices_are_linked_by_one_hop() {
    /// The kind of link in HSA's numbers.
    const XGMI: i32 = 4;
    let machine = Machine::new("gfx942?devices=2");
    let attribute = |attribute, device, peer| {
        let mut value = 9;
        (hip!(machine, hipDeviceGetP2PAttribute(&mut value, attribute, device, peer)), value)
    };
    for (wanted, value) in [
        (hipDeviceP2PAttr::hipDevP2PAttrPerformanceRank, XGMI),
        (hipDeviceP2PAttr::hipDevP2PAttrAccessSupported, 1),
        (hipDeviceP2PAttr::hipDevP2PAttrNativeAtomicSupported, 1),
        (hipDeviceP2PAttr::hipDevP2PAttrHipArrayAccessSupported, 1),
    ] {
        assert_eq!(attribute(wanted, 0, 1), (hipError_t::hipSuccess, value));
        assert_eq!(attribute(wanted, 1, 0), (hipError_t::hipSuccess, value));
        for (device, peer) in [(0, 0), (0, 2), (2, 0), (-1, 0), (0, -1)] {
            assert_eq!(attribute(wanted, device, peer), (hipError_t::hipErrorInvalidDevice, 9));
        }
        fails!(hipErrorInvalidValue, machine, hipDeviceGetP2PAttribute(null_mut(), wanted, 0, 1));
    }
    for unknown in [4, u32::MAX] {
        assert_eq!(attribute(hipDeviceP2PAttr(unknown), 0, 1), (hipError_t::hipErrorInvalidValue, 9));
    }

    let (mut link, mut hops) = (9, 9);
    ok!(machine, hipExtGetLinkTypeAndHopCount(1, 0, &mut link, &mut hops));
    assert_eq!((link, hops), (XGMI as u32, 1));
    for (device, peer) in [(0, 0), (-1, 0), (0, -1)] {
        fails!(
            hipErrorInvalidValue,
            machine,
            hipExtGetLinkTypeAndHopCount(device, peer, &mut link, &mut hops)
        );
    }
    fails!(hipErrorInvalidDevice, machine, hipExtGetLinkTypeAndHopCount(0, 2, &mut link, &mut hops));
    fails!(hipErrorInvalidValue, machine, hipExtGetLinkTypeAndHopCount(0, 1, null_mut(), &mut hops));
    fails!(hipErrorInvalidValue, machine, hipExtGetLinkTypeAndHopCount(0, 1, &mut link, null_mut()));
}

#[test]
fn a_stream_tells_its_device() {
    let machine = Machine::new("gfx942?devices=2");
    ok!(machine, hipSetDevice(1));
    let (stream, gone) = (machine.stream(), machine.stream());
    ok!(machine, hipStreamDestroy(gone));
    // The older question answers by its result, and -1 is none.
    assert_eq!(hip!(machine, hipGetStreamDeviceId(gone)), -1);
    fails!(hipErrorContextIsDestroyed, machine, hipStreamGetDevice(gone, &mut 0));
    ok!(machine, hipSetDevice(0));
    let device_of = |stream| {
        let mut device = 9;
        ok!(machine, hipStreamGetDevice(stream, &mut device));
        device
    };
    // The null stream and the thread's own are those of the current device.
    let currents = [0, 2].map(|handle| handle as hipStream_t);
    assert_eq!(device_of(stream), 1);
    assert_eq!(currents.map(device_of), [0; 2]);
    ok!(machine, hipSetDevice(1));
    assert_eq!(currents.map(device_of), [1; 2]);
    let older = [stream, null_mut(), 2 as hipStream_t, 77 as hipStream_t];
    assert_eq!(older.map(|stream| hip!(machine, hipGetStreamDeviceId(stream))), [1, 1, 1, -1]);
    fails!(hipErrorInvalidValue, machine, hipStreamGetDevice(stream, null_mut()));
}

#[test]
fn the_null_stream_s_other_spelling_tells_the_current_device() {
    let machine = Machine::new("gfx942?devices=2");
    for current in [1, 0] {
        ok!(machine, hipSetDevice(current));
        let mut device = 9;
        ok!(machine, hipStreamGetDevice(1 as hipStream_t, &mut device));
        assert_eq!(device, current);
    }
}

#[test]
fn a_stream_tells_its_device_since_hip_5_6() {
    let lacks = |options| Machine::new(options).api.missing().contains(&"hipStreamGetDevice");
    assert!(lacks("gfx942?hip=5.5") && !lacks("gfx942?hip=5.6"));
}
