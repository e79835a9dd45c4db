// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that queues read and write.
//!
//! An operation on a file moves it in pieces. Memory that the host can reach is moved to and from where it lies; for other
//! memory the device copies each piece from or to host memory, while the next one is on its way between there and the file.
//!
//! Nobody waits for a piece. On Linux the kernel moves the bytes of regular files and block devices by its io_uring, where it
//! offers one; one thread hears from it when they have arrived, however many are under way. Whatever else has bytes, a
//! [`Storage`] of the program's own among it, is called on a thread of the [callback pool](crate::callback_pool), which it
//! may block.

mod direction;
mod follow;
#[cfg_attr(not(all(target_os = "linux", not(miri), not(loom))), path = "no_ring.rs")]
mod ring;
mod transfer;

use std::sync::Arc;

pub use crate::driver::storage::{File, Storage};

use crate::{
    driver::{self, host_call::HostCall, operation::Operation, range::Buffer},
    order::point::Point,
    words::{error::Result, queue_affinity::QueueAffinity},
};
use direction::Direction;
use transfer::Transfer;

/// For drivers without a way of their own: [`Operation::Read`] as a host call that holds no thread while the file's bytes
/// are on their way. Returns at once.
///
/// The bytes go where the buffer lies if the host can reach it. Otherwise the device copies them from host memory, which is
/// taken when the operation begins: 8 MiB at most, however long the range is, and as much again where threads call the
/// [storage](Storage).
///
/// # Safety
/// As for [`driver::Device::submit`].
#[allow(unsafe_code)]
pub unsafe fn read_through_host(
    device: Arc<dyn driver::Device>,
    affinity: QueueAffinity,
    points: (&[Point], &[Point]),
    file: File,
    offset: u64,
    target: Buffer,
) -> Result<()> {
    // SAFETY: the caller's promise, passed on.
    unsafe { submit(device, affinity, points, Direction::Read, file, offset, target) }
}

/// For drivers without a way of their own: [`Operation::Write`] in the way of [`read_through_host`]. Returns at once.
///
/// # Safety
/// As for [`driver::Device::submit`].
#[allow(unsafe_code)]
pub unsafe fn write_through_host(
    device: Arc<dyn driver::Device>,
    affinity: QueueAffinity,
    points: (&[Point], &[Point]),
    source: Buffer,
    file: File,
    offset: u64,
) -> Result<()> {
    // SAFETY: the caller's promise, passed on.
    unsafe { submit(device, affinity, points, Direction::Write, file, offset, source) }
}

/// # Safety
/// As for [`driver::Device::submit`].
#[allow(unsafe_code)]
unsafe fn submit(
    device: Arc<dyn driver::Device>,
    affinity: QueueAffinity,
    (waits, signals): (&[Point], &[Point]),
    direction: Direction,
    file: File,
    offset: u64,
    range: Buffer,
) -> Result<()> {
    let through = device.clone();
    let call = HostCall::unattended(move |ending| {
        // SAFETY: the caller vouches for the whole range, and the waits are reached.
        unsafe { Transfer::begin(through, affinity, direction, file, offset, range, ending) }
    });
    // SAFETY: a host call touches nothing of the device.
    unsafe { device.submit(affinity, waits, signals, Operation::HostCall(call)) }
}
