// SPDX-License-Identifier: MIT OR Apache-2.0
//! A buffer has no bytes for the host at all; a mapping copies in and out.

fn bytes(buffer: &windlass_hal::Buffer) -> &[u8] {
    buffer
}

fn main() {}
