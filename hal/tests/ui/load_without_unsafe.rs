// SPDX-License-Identifier: MIT OR Apache-2.0
//! Device code can write anywhere, so loading it is unsafe.

fn load(device: &windlass_hal::Device) {
    let _ = device.load_executable(&[]);
}

fn main() {}
