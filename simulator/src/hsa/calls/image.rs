// SPDX-License-Identifier: MIT OR Apache-2.0
//! Images. The simulated GPU has none: queries say so, and calls that make images are refused.

use std::ffi::c_void;

use crate::hsa::abi::Agent;
use crate::hsa::call::{Call, hsa};
use crate::hsa::status::{Outcome, Status};

pub unsafe extern "C" fn hsa_ext_image_get_capability(
    agent: Agent,
    geometry: u32,
    format: *const c_void,
    mask: *mut u32,
) -> Status {
    hsa!(hsa_ext_image_get_capability, |call| capability(call, agent, geometry, format, mask))
}

pub unsafe extern "C" fn hsa_ext_image_get_capability_with_layout(
    agent: Agent,
    geometry: u32,
    format: *const c_void,
    layout: u32,
    mask: *mut u32,
) -> Status {
    hsa!(hsa_ext_image_get_capability_with_layout, |call| {
        // 0 is the device's own layout, 1 a linear one.
        if layout > 1 {
            return Err(Status::INVALID_ARGUMENT);
        }
        capability(call, agent, geometry, format, mask)
    })
}

fn capability(
    call: &Call,
    agent: Agent,
    geometry: u32,
    format: *const c_void,
    mask: *mut u32,
) -> Outcome<()> {
    const NOT_SUPPORTED: u32 = 0;
    call.runtime.agent(agent)?;
    if geometry > 7 || format.is_null() {
        return Err(Status::INVALID_ARGUMENT);
    }
    call.put(mask, NOT_SUPPORTED)
}

pub unsafe extern "C" fn hsa_amd_image_get_info_max_dim(
    agent: Agent,
    attribute: u32,
    value: *mut c_void,
) -> Status {
    hsa!(hsa_amd_image_get_info_max_dim, |call| {
        let which = call.runtime.agent(agent)?;
        if !(0x3000..=0x3008).contains(&attribute) {
            return Err(Status::INVALID_ARGUMENT);
        }
        call.runtime.agent_info(which, attribute)?.put(call, value)
    })
}
