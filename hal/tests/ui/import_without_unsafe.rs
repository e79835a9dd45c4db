// SPDX-License-Identifier: MIT OR Apache-2.0
//! No check can validate a raw pointer, so importing one is unsafe.

fn import(device: &windlass_hal::Device) {
    let (host, memory) = (windlass_hal::BufferParams::host(), windlass_hal::BufferParams::device());
    let _ = device.import_host_pointer(&host, std::ptr::NonNull::dangling(), 64, || {});
    let _ = device.import_device_address(&memory, 4096, 64, || {});
    let _ = device.import_host(&host, [0; 64]);
}

fn main() {}
