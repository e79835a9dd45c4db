// SPDX-License-Identifier: MIT OR Apache-2.0
//! A mapping gives no slice, by neither a method nor an index.

fn first(mapping: &windlass_hal::Mapping) -> u8 {
    mapping.as_slice()[0]
}

fn main() {}
