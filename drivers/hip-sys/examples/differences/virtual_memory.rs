// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reserved addresses, memory without addresses, and mappings.

use std::ptr;

use anyhow::{Result, ensure};
use windlass_hip_sys::bindings::*;

use crate::lab::{Lab, need};

/// The size of reservations and of memory in bytes, a multiple of every granularity.
const SIZE: usize = 2 << 20;

impl Lab {
    fn reserve(&self) -> Result<u64> {
        let mut pointer = ptr::null_mut();
        need!(self.hipMemAddressReserve(&mut pointer, SIZE, 0, ptr::null_mut(), 0));
        Ok(pointer as u64)
    }

    /// Reserved addresses.
    pub(crate) fn reserved(&self, value: &str) -> Result<u64> {
        let offset = match value {
            "device" | "plain" => return self.memory(value, "good"),
            "inside" => 4096,
            "odd" => 1,
            _ => 0,
        };
        let base = self.reserve()?;
        if value == "freed" {
            need!(self.hipMemAddressFree(base as *mut c_void, SIZE));
        }
        Ok(base + offset)
    }

    /// Memory without addresses.
    pub(crate) fn made(&self, value: &str) -> Result<u64> {
        let mut handle = ptr::null_mut();
        let properties = self.memory_properties("good") as *const hipMemAllocationProp;
        need!(self.hipMemCreate(&mut handle, SIZE, properties, 0));
        if value == "released" {
            need!(self.hipMemRelease(handle));
        }
        Ok(handle as u64)
    }

    /// Memory at reserved addresses.
    pub(crate) fn mapped(&self, value: &str) -> Result<u64> {
        if ["device", "plain"].contains(&value) {
            return self.memory(value, "good");
        }
        let base = self.reserve()?;
        if value == "reserved" {
            return Ok(base);
        }
        let handle = self.made("good")? as hipMemGenericAllocationHandle_t;
        need!(self.hipMemMap(base as *mut c_void, SIZE, 0, handle, 0));
        if value == "unmapped" {
            need!(self.hipMemUnmap(base as *mut c_void, SIZE));
        }
        Ok(base + if value == "inside" { 4096 } else { 0 })
    }

    pub(crate) fn memory_properties(&self, value: &str) -> u64 {
        // SAFETY: zeroes are null pointers and numbers.
        let mut properties: hipMemAllocationProp = unsafe { std::mem::zeroed() };
        properties.type_.0 = if value == "type" { 7 } else { 1 };
        properties.location.type_.0 = if value == "location" { 7 } else { 1 };
        properties.location.id = if value == "device" { 77 } else { 0 };
        properties.__bindgen_anon_1.requestedHandleType.0 = u32::from(value == "shared") * 7;
        self.keep_value(properties)
    }
}
