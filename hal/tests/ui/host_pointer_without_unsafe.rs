// SPDX-License-Identifier: MIT OR Apache-2.0
//! Only a driver can vouch for a pointer.

fn vouch(pointer: std::ptr::NonNull<u8>) -> windlass_hal::driver::HostPointer {
    windlass_hal::driver::HostPointer::new(pointer)
}

fn main() {}
