// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parameters and the statistics of a launch.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use windlass_codeobject::HiddenKind;

use crate::exec::{Gws, Outside};
use crate::memory::Grants;

/// The parameters of a dispatch.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Launch<'a> {
    /// Workgroups in x, y and z.
    pub grid: [u32; 3],
    /// Work-items of a workgroup in x, y and z.
    pub block: [u32; 3],
    /// Work-items of the whole grid. Less than `grid` times `block` if the last workgroups are partial.
    pub work_items: Option<[u32; 3]>,
    /// Bytes of LDS in addition to those that the kernel declares.
    pub dynamic_lds: u32,
    /// Bytes of private memory of each work-item of a kernel whose stack has no fixed size, if the kernel declares fewer.
    /// `None` gives 16 KiB more than it declares.
    pub stack: Option<u32>,
    /// The explicit arguments in the kernel's layout. Missing bytes read as zero. Hidden arguments are added.
    pub arguments: &'a [u8],
    /// Whether an access past the end of LDS is a fault. Otherwise reads give zero and writes vanish, as on hardware.
    pub lds_faults: bool,
    /// Whether hot code is translated into code of the host's processor. Otherwise all is interpreted; the results are
    /// the same.
    pub translates: bool,
    /// The memory that the kernel may use.
    pub reach: Grants,
    /// The seed for the order in which workgroups start. Without one they start in ascending order.
    pub seed: Option<u64>,
    /// The arguments and the packet, if the client has written them to memory. `arguments` is empty then.
    pub placed: Option<Placed>,
}

/// The queue's part of a dispatch.
#[derive(Clone, Default)]
pub struct OfQueue {
    /// Set when the dispatch is to stop, with [`Cause::Cancelled`](super::Cause::Cancelled).
    pub stop: Arc<AtomicBool>,
    /// The barriers of a cooperative queue.
    pub gws: Option<Arc<Gws>>,
    /// Whether all workgroups must be in flight together, because they wait for each other.
    pub together: bool,
    /// Hidden arguments that lead to services of the runtime.
    pub arguments: Vec<(HiddenKind, u64)>,
    /// The runtime that answers interrupts and has the clock.
    pub outside: Option<Arc<dyn Outside>>,
}

/// A dispatch whose arguments and packet the client has written to memory.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// Address of the arguments, hidden ones included.
    pub arguments: u64,
    /// Address of the dispatch packet.
    pub packet: u64,
    /// Address of the queue.
    pub queue: u64,
    /// Bytes of private memory of each work-item. As on hardware, the packet decides, not the kernel's need.
    pub private_segment_size: u32,
    /// Bytes of LDS of each workgroup. The packet decides here too.
    pub group_segment_size: u32,
}

impl<'a> Launch<'a> {
    /// A launch of `grid` workgroups of `block` work-items.
    pub fn new(grid: [u32; 3], block: [u32; 3], arguments: &'a [u8]) -> Self {
        let (work_items, dynamic_lds, lds_faults, seed, placed) = (None, 0, true, None, None);
        let (stack, translates, reach) = (None, true, Grants::ALL);
        Self {
            grid,
            block,
            work_items,
            dynamic_lds,
            stack,
            arguments,
            lds_faults,
            translates,
            reach,
            seed,
            placed,
        }
    }
}

/// The work that a dispatch executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Workgroups.
    pub workgroups: u64,
    /// Waves.
    pub waves: u64,
    /// Instructions, each counted once per wave.
    pub instructions: u64,
}
