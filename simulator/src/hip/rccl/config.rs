// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads the configuration of a communicator.

use std::mem::offset_of;

use windlass_hip_sys::rccl::{NCCL_CONFIG_UNDEF_INT, ncclConfig_t};

use super::frame::{Answer, wrong};
use crate::hip::boundary::call::Call;

/// Whether calls of the communicator wait. `inherited` holds where the configuration leaves it open.
pub(super) fn is_blocking(call: &Call, config: *const ncclConfig_t, inherited: bool) -> Answer<bool> {
    const NEEDED: usize = offset_of!(ncclConfig_t, blocking) + size_of::<i32>();
    if config.is_null() {
        return Ok(inherited);
    }
    let field = |offset: usize| config.cast::<u8>().wrapping_add(offset).cast::<u32>();
    // The structures of all versions begin with a size and a mark.
    let size = call.get(config.cast::<usize>()).unwrap_or(0);
    let magic = call.get(field(offset_of!(ncclConfig_t, magic))).unwrap_or(0);
    if magic != ncclConfig_t::MAGIC {
        return wrong("the ncclConfig_t was not set up by NCCL_CONFIG_INITIALIZER");
    }
    if size < NEEDED {
        return wrong(format!("the ncclConfig_t has {size} bytes, and the first version has {NEEDED}"));
    }
    match call.get(field(offset_of!(ncclConfig_t, blocking)).cast::<i32>()) {
        Ok(NCCL_CONFIG_UNDEF_INT) => Ok(inherited),
        Ok(0) => Ok(false),
        Ok(1) => Ok(true),
        other => wrong(format!("blocking is {other:?} in the ncclConfig_t, and may be 0 or 1")),
    }
}
