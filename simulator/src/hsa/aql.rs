// SPDX-License-Identifier: MIT OR Apache-2.0
//! AQL packets in a queue's ring.

use smallvec::SmallVec;

use super::abi::Signal;
use super::signal::Comparison;
use super::status::{Outcome, Status};

/// Bytes of a packet.
pub(crate) const SIZE: u64 = 64;
/// The type of a slot of the ring without a packet.
pub(crate) const INVALID: u16 = 1;

const VENDOR_SPECIFIC: u16 = 0;
const KERNEL_DISPATCH: u16 = 2;
const BARRIER_AND: u16 = 3;
const BARRIER_OR: u16 = 5;
/// AMD's format of a vendor-specific packet that waits for a signal's value.
const BARRIER_VALUE: u8 = 2;

/// A packet, decoded.
#[derive(Clone, Debug)]
pub(crate) struct Aql {
    /// Whether it waits for all packets before it.
    pub(crate) barrier: bool,
    pub(crate) completion: Signal,
    pub(crate) body: Body,
}

/// The work of a packet.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Dispatch(DispatchPacket),
    /// Waits until all of these conditions hold.
    All(SmallVec<[(Signal, Comparison); 5]>),
    /// Waits until one of these conditions holds.
    Any(SmallVec<[(Signal, Comparison); 5]>),
}

/// `hsa_kernel_dispatch_packet_t`, without its header and completion signal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DispatchPacket {
    pub(crate) workgroup: [u32; 3],
    /// Work-items of the grid.
    pub(crate) grid: [u32; 3],
    pub(crate) private_segment_size: u32,
    pub(crate) group_segment_size: u32,
    pub(crate) kernel_object: u64,
    pub(crate) kernarg_address: u64,
}

/// The type in a header.
pub(crate) fn kind(header: u16) -> u16 {
    header & 0xff
}

impl Aql {
    /// Reads a packet.
    ///
    /// # Errors
    /// `INVALID_PACKET_FORMAT` for an unknown type or format, or an invalid number of dimensions.
    pub(crate) fn read(bytes: &[u8; SIZE as usize]) -> Outcome<Self> {
        let header = u16_at(bytes, 0);
        let body = match kind(header) {
            KERNEL_DISPATCH => Body::Dispatch(dispatch(bytes)?),
            BARRIER_AND => Body::All(dependencies(bytes)),
            BARRIER_OR => Body::Any(dependencies(bytes)),
            VENDOR_SPECIFIC if bytes[2] == BARRIER_VALUE => {
                let signal = Signal { handle: u64_at(bytes, 8) };
                let (value, mask) = (u64_at(bytes, 16) as i64, u64_at(bytes, 24) as i64);
                let how = Comparison::new(u32_at(bytes, 32), value);
                let how = how.map_err(|_| Status::INVALID_PACKET_FORMAT)?.masked(mask);
                Body::All(SmallVec::from_iter((signal.handle != 0).then_some((signal, how))))
            }
            _ => return Err(Status::INVALID_PACKET_FORMAT),
        };
        Ok(Self { barrier: header >> 8 & 1 != 0, completion: Signal { handle: u64_at(bytes, 56) }, body })
    }
}

fn dispatch(bytes: &[u8; SIZE as usize]) -> Outcome<DispatchPacket> {
    let dimensions = usize::from(u16_at(bytes, 2) & 3);
    if dimensions == 0 {
        return Err(Status::INVALID_PACKET_FORMAT);
    }
    // Dimensions beyond those in the setup field have one work-item.
    let used = |axis: usize, value: u32| if axis < dimensions { value } else { 1 };
    Ok(DispatchPacket {
        workgroup: std::array::from_fn(|axis| used(axis, u16_at(bytes, 4 + 2 * axis).into())),
        grid: std::array::from_fn(|axis| used(axis, u32_at(bytes, 12 + 4 * axis))),
        private_segment_size: u32_at(bytes, 24),
        group_segment_size: u32_at(bytes, 28),
        kernel_object: u64_at(bytes, 32),
        kernarg_address: u64_at(bytes, 40),
    })
}

/// The signals of a barrier packet that must become zero.
fn dependencies(bytes: &[u8; SIZE as usize]) -> SmallVec<[(Signal, Comparison); 5]> {
    let signals = (0..5).map(|index| Signal { handle: u64_at(bytes, 8 + 8 * index) });
    signals.filter(|signal| signal.handle != 0).map(|signal| (signal, Comparison::equals(0))).collect()
}

fn array<const N: usize>(bytes: &[u8; SIZE as usize], at: usize) -> [u8; N] {
    std::array::from_fn(|index| bytes.get(at + index).copied().unwrap_or(0))
}

fn u16_at(bytes: &[u8; SIZE as usize], at: usize) -> u16 {
    u16::from_le_bytes(array(bytes, at))
}

fn u32_at(bytes: &[u8; SIZE as usize], at: usize) -> u32 {
    u32::from_le_bytes(array(bytes, at))
}

fn u64_at(bytes: &[u8; SIZE as usize], at: usize) -> u64 {
    u64::from_le_bytes(array(bytes, at))
}
