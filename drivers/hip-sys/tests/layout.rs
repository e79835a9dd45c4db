// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two layouts of hipDeviceProp_t, and other ABI facts that the bindings must preserve.

use std::mem::{offset_of, size_of};

use windlass_hip_sys::bindings::*;
use windlass_hip_sys::{EntryPoints, Feature, Version};

#[test]
fn device_properties_of_rocm_5() {
    assert_eq!(size_of::<hipDeviceProp_tR0000>(), 792);
    assert_eq!(offset_of!(hipDeviceProp_tR0000, totalGlobalMem), 256);
    assert_eq!(offset_of!(hipDeviceProp_tR0000, sharedMemPerBlock), 264);
    assert_eq!(offset_of!(hipDeviceProp_tR0000, warpSize), 276);
    assert_eq!(offset_of!(hipDeviceProp_tR0000, multiProcessorCount), 336);
    assert_eq!(offset_of!(hipDeviceProp_tR0000, gcnArch), 392);
    assert_eq!(offset_of!(hipDeviceProp_tR0000, gcnArchName), 396);
}

#[test]
fn device_properties_of_rocm_6() {
    assert_eq!(size_of::<hipDeviceProp_tR0600>(), 1472);
    assert_eq!(offset_of!(hipDeviceProp_tR0600, uuid), 256);
    assert_eq!(offset_of!(hipDeviceProp_tR0600, totalGlobalMem), 288);
    assert_eq!(offset_of!(hipDeviceProp_tR0600, sharedMemPerBlock), 296);
    assert_eq!(offset_of!(hipDeviceProp_tR0600, warpSize), 308);
    assert_eq!(offset_of!(hipDeviceProp_tR0600, multiProcessorCount), 388);
    assert_eq!(offset_of!(hipDeviceProp_tR0600, cooperativeLaunch), 688);
    assert_eq!(offset_of!(hipDeviceProp_tR0600, gcnArchName), 1160);
}

#[test]
fn attribute_numbers_are_those_of_every_version() {
    assert_eq!(hipDeviceAttribute_t::hipDeviceAttributeWarpSize.0, 87);
    assert_eq!(hipDeviceAttribute_t::hipDeviceAttributeMultiprocessorCount.0, 63);
    assert_eq!(hipDeviceAttribute_t::hipDeviceAttributePciBusId.0, 67);
    assert_eq!(hipDeviceAttribute_t::hipDeviceAttributeMemoryPoolsSupported.0, 88);
}

#[test]
fn enumerations_and_properties_of_pools_have_their_sizes() {
    assert_eq!(size_of::<hipError_t>(), 4);
    assert_eq!(size_of::<hipMemPoolProps>(), 88);
    assert_eq!(size_of::<dim3>(), 12);
    assert_eq!(size_of::<hipUUID>(), 16);
}

#[test]
fn versions_come_apart() {
    let version = Version::from_number(50_221_153);
    assert_eq!(version, Some(Version { major: 5, minor: 2, patch: 21153 }));
    assert_eq!(Version::from_number(0), None);
    assert_eq!(Version::from_number(-1), None);
}

#[test]
fn every_feature_names_functions_of_the_table() {
    for feature in Feature::all() {
        assert!(!feature.entry_points().is_empty(), "{feature}");
        for name in feature.entry_points() {
            assert!(EntryPoints::NAMES.contains(name), "{feature} needs {name}, which is not in the table");
        }
    }
}

#[test]
fn every_required_function_is_in_the_table() {
    for name in EntryPoints::none().missing_required() {
        assert!(EntryPoints::NAMES.contains(&name), "{name} is required and not in the table");
    }
}
