// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nor by a method, nor by an index.

fn first(mapping: &windlass_hal::Mapping) -> u8 {
    mapping.as_slice()[0]
}

fn main() {}
