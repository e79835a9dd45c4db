// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers that a device may not know.

/// A number of 32 bits that the device does not know.
pub const WINDLASS_UNKNOWN: u32 = u32::MAX;
/// A number of 64 bits that the device does not know.
pub const WINDLASS_UNKNOWN_BYTES: u64 = u64::MAX;

/// A number for C.
pub(crate) fn number(value: Option<u32>) -> u32 {
    value.unwrap_or(WINDLASS_UNKNOWN)
}

/// A truth value for C.
pub(crate) fn flag(value: Option<bool>) -> u32 {
    value.map_or(WINDLASS_UNKNOWN, u32::from)
}

/// A number of 64 bits for C.
pub(crate) fn bytes(value: Option<u64>) -> u64 {
    value.unwrap_or(WINDLASS_UNKNOWN_BYTES)
}
