// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transfers between files and buffers.
//!
//! An operation on a file moves it in pieces. Where the host can reach the buffer, pieces move directly between the
//! file and the buffer. Otherwise the device copies each piece to or from host memory, while the next piece moves
//! between that memory and the file.
//!
//! No thread waits for a piece. On Linux, the kernel moves the bytes of regular files and block devices through its
//! io_uring, where it has one. A single thread receives all completions. Other files, such as a [`Storage`] of the
//! program, are called on a thread of the [callback pool](crate::callback_pool), where they may block.

mod direction;
mod follow;
#[cfg_attr(not(all(target_os = "linux", not(miri), not(loom))), path = "no_ring.rs")]
mod ring;
mod transfer;

use std::sync::Arc;

pub use crate::driver::storage::{File, Storage};

use crate::{
    driver::{self, host_call::HostCall, operation::OperationRef, range::Buffer},
    order::point::Point,
    words::{error::Result, queue_affinity::QueueAffinity},
};
use direction::Direction;
use transfer::Transfer;

/// Does an [`OperationRef::Read`] for a driver without file access of its own: as a host call that holds no thread while
/// the bytes move. Returns at once. `points` are the wait list and the signal list; `offset` is in bytes of the file.
///
/// If the host cannot reach the buffer, the device copies the bytes from host memory. This memory is allocated when
/// the operation begins, at most 8 MiB for a range of any length, and as much again where threads call the
/// [storage](Storage).
///
/// # Safety
/// As for [`driver::RawDevice::submit`].
#[allow(unsafe_code)]
pub unsafe fn read_through_host(
    device: Arc<dyn driver::RawDevice>,
    affinity: QueueAffinity,
    points: (&[Point], &[Point]),
    file: &File,
    offset: u64,
    target: &Buffer,
) -> Result<()> {
    // SAFETY: the caller vouches under the same contract.
    unsafe { submit(device, affinity, points, Direction::Read, file, offset, target) }
}

/// Does an [`OperationRef::Write`] in the same way as [`read_through_host`]. Returns at once.
///
/// # Safety
/// As for [`driver::RawDevice::submit`].
#[allow(unsafe_code)]
pub unsafe fn write_through_host(
    device: Arc<dyn driver::RawDevice>,
    affinity: QueueAffinity,
    points: (&[Point], &[Point]),
    source: &Buffer,
    file: &File,
    offset: u64,
) -> Result<()> {
    // SAFETY: the caller vouches under the same contract.
    unsafe { submit(device, affinity, points, Direction::Write, file, offset, source) }
}

/// # Safety
/// As for [`driver::RawDevice::submit`].
#[allow(unsafe_code)]
unsafe fn submit(
    device: Arc<dyn driver::RawDevice>,
    affinity: QueueAffinity,
    (waits, signals): (&[Point], &[Point]),
    direction: Direction,
    file: &File,
    offset: u64,
    range: &Buffer,
) -> Result<()> {
    let (through, file, range) = (device.clone(), file.clone(), range.clone());
    let call = HostCall::unattended(move |ending| {
        // SAFETY: the caller vouches for the whole range, and the waits are reached.
        unsafe { Transfer::begin(through, affinity, direction, file, offset, range, ending) }
    });
    // SAFETY: a host call touches no memory of the device.
    unsafe { device.submit(affinity, waits, signals, OperationRef::HostCall(call)) }
}
