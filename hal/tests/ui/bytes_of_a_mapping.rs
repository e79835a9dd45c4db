// SPDX-License-Identifier: MIT OR Apache-2.0
//! A mapping gives no reference to bytes that a queue may touch.

fn bytes(mapping: &windlass_hal::Mapping) -> &[u8] {
    mapping
}

fn main() {}
