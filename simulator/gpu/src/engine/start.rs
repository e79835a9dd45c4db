// SPDX-License-Identifier: MIT OR Apache-2.0
//! A valid launch: its sizes, its arguments and its dispatch packet. [`Opening`](super::opening::Opening) has the registers.

use super::fault::Fault;
use super::kernel::Kernel;
use super::launch::{Launch, OfQueue, Placed};
use super::service::Service;
use crate::exec::{Cause, Gws, Outside, PRIVATE_APERTURE, SHARED_APERTURE};
use crate::memory::{Block, Grants, Memory};
use crate::part::Part;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use windlass_codeobject::{ArgKind, HiddenKind, KernelDescriptor};

/// LDS is allocated in units of this many bytes.
const LDS_UNIT: u32 = 512;
/// Bytes of private memory of each work-item in addition to those that the kernel declares, if its stack has no fixed
/// size.
const DYNAMIC_STACK: u32 = 16 * 1024;
/// The most private memory of each work-item.
const MAX_PRIVATE: u32 = 1 << 20;

/// Arrivals at a step that are interpreted: a translation takes about as long as these.
const COLD: u32 = 64;
const PACKET: u64 = 64;
/// Bytes of zeros in place of the HSA queue.
const QUEUE: u64 = 256;

/// A valid launch, with the data that all of its waves share.
pub(super) struct Start {
    pub(super) descriptor: KernelDescriptor,
    /// Workgroups.
    pub(super) grid: [u32; 3],
    block: [u32; 3],
    /// Lanes of a wave.
    pub(super) wave_size: u32,
    /// Work-items in the whole grid.
    items: [u32; 3],
    /// Bytes of LDS.
    pub(super) lds: u32,
    /// Bytes of LDS that the kernel and its launch ask for, if an access past them is a fault.
    pub(super) lds_limit: Option<u32>,
    /// The number of arrivals at a step before it is translated; `None` if none is.
    pub(super) cold: Option<u32>,
    /// The memory that the kernel may use.
    pub(super) reach: Grants,
    pub(super) private: u32,
    pub(super) part: &'static Part,
    pub(super) mode: u32,
    pub(super) arguments: u64,
    pub(super) packet: u64,
    pub(super) queue: u64,
    pub(super) preloaded: Vec<u32>,
    /// The barriers of a cooperative queue.
    pub(super) gws: Option<Arc<Gws>>,
    /// Whether all workgroups must be in flight together.
    pub(super) together: bool,
    /// Hidden arguments that lead to services of the runtime.
    services: Vec<(HiddenKind, u64)>,
    /// The runtime that answers interrupts and has the clock.
    pub(super) outside: Option<Arc<dyn Outside>>,
    /// The clock of compute units in kHz.
    pub(super) clock: u32,
}

impl Start {
    /// Checks a launch.
    pub(super) fn new(kernel: &Kernel, launch: &Launch<'_>) -> Result<Self, Box<Fault>> {
        let description = kernel.description();
        let refuse = |reason: String| Fault::before_start(kernel.name(), Cause::InvalidLaunch { reason });
        let block = launch.block;
        let size: u64 = block.iter().map(|&extent| u64::from(extent)).fold(1, u64::saturating_mul);
        if launch.grid.contains(&0) || size == 0 {
            return Err(refuse(format!("grid {:?} of workgroups {block:?} is empty", launch.grid)));
        }
        // The bounds in the kernel's metadata are promises to the compiler, and hardware does not know them. AMD's HIP
        // launches one of its own kernels with twice as many work-items.
        if size > u64::from(Part::WORKGROUP) {
            return Err(refuse(format!(
                "{size} work-items in a workgroup, at most {} are possible",
                Part::WORKGROUP
            )));
        }
        let mut items = [0; 3];
        for (axis, items) in items.iter_mut().enumerate() {
            let full = u64::from(launch.grid[axis]) * u64::from(block[axis]);
            let asked = launch.work_items.map_or(full, |items| items[axis].into());
            *items = u32::try_from(asked)
                .map_err(|_| refuse(format!("{asked} work-items in one dimension, 2^32 - 1 are possible")))?;
            if u64::from(*items).div_ceil(block[axis].into()) != u64::from(launch.grid[axis]) {
                let [grid, block] = [launch.grid[axis], block[axis]];
                return Err(refuse(format!("{items} work-items do not take {grid} workgroups of {block}")));
            }
        }
        let workgroups = launch.grid.iter().try_fold(1u64, |total, &extent| total.checked_mul(extent.into()));
        if workgroups.is_none() {
            return Err(refuse(format!("a grid of {:?} workgroups, 2^64 - 1 are possible", launch.grid)));
        }
        let lds = match launch.placed {
            Some(placed) => placed.group_segment_size,
            None => description.group_segment_size.saturating_add(launch.dynamic_lds),
        };
        let part = kernel.module().part();
        if lds > part.lds {
            let [own, more] = [description.group_segment_size, launch.dynamic_lds];
            return Err(refuse(format!("{own} + {more} bytes of LDS, there are {}", part.lds)));
        }
        let declared = description.private_segment_size;
        let private = match (launch.placed, launch.stack) {
            (Some(placed), _) => placed.private_segment_size,
            (None, _) if !description.uses_dynamic_stack => declared,
            (None, Some(stack)) => declared.max(stack),
            (None, None) => declared.saturating_add(DYNAMIC_STACK),
        };
        if private > MAX_PRIVATE {
            return Err(refuse(format!(
                "{private} bytes of private memory, at most {MAX_PRIVATE} are given"
            )));
        }
        let wave_size = description.wavefront_size;
        if part.set_of_waves(wave_size).is_none() {
            let sizes: Vec<_> = part.wave_sizes().map(|size| size.to_string()).collect();
            let (part, sizes) = (part.name(), sizes.join(" or "));
            return Err(refuse(format!("waves of {wave_size} lanes, those of a {part} have {sizes}")));
        }
        let rsrc1 = description.descriptor.compute_pgm_rsrc1;
        let mode =
            rsrc1 >> 12 & 0xff | (rsrc1 >> 21 & 1) << 8 | (rsrc1 >> 23 & 1) << 9 | (rsrc1 >> 26 & 1) << 23;
        Ok(Self {
            descriptor: description.descriptor,
            grid: launch.grid,
            block,
            wave_size,
            items,
            lds: lds.next_multiple_of(LDS_UNIT),
            lds_limit: launch.lds_faults.then_some(lds),
            cold: launch.translates.then_some(COLD),
            reach: launch.reach,
            private,
            part,
            mode,
            arguments: 0,
            packet: 0,
            queue: 0,
            preloaded: Vec::new(),
            gws: None,
            together: false,
            services: Vec::new(),
            outside: None,
            clock: part.clock.unsigned_abs(),
        })
    }

    /// Takes what the queue gives the dispatch. Returns the flag that stops it.
    pub(super) fn join(&mut self, queue: OfQueue) -> Arc<AtomicBool> {
        let OfQueue { stop, gws, together, arguments, outside } = queue;
        (self.gws, self.together, self.services, self.outside) = (gws, together, arguments, outside);
        stop
    }

    /// Takes the arguments and the dispatch packet that the client has written to memory.
    fn find(&mut self, memory: &Arc<Memory>, kernel: &Kernel, placed: Placed) -> Result<(), Box<Fault>> {
        (self.arguments, self.packet, self.queue) = (placed.arguments, placed.packet, placed.queue);
        let first = self.descriptor.kernarg_preload_offset() as usize;
        let count = self.descriptor.kernarg_preload_length() as usize;
        let mut bytes = vec![0; count * 4];
        if count > 0 {
            let read = memory.read(placed.arguments + first as u64 * 4, &mut bytes);
            read.map_err(|error| {
                let reason = format!("the arguments cannot be read: {error}");
                Fault::before_start(kernel.name(), Cause::InvalidLaunch { reason })
            })?;
        }
        self.preloaded = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        Ok(())
    }

    /// Writes the arguments and the dispatch packet to device memory, unless the client has done so.
    pub(super) fn place(
        &mut self,
        memory: &Arc<Memory>,
        kernel: &Kernel,
        launch: &Launch<'_>,
    ) -> Result<Option<Block>, Box<Fault>> {
        if let Some(placed) = launch.placed {
            return self.find(memory, kernel, placed).map(|()| None);
        }
        let description = kernel.description();
        let size = u64::from(description.kernarg_size).next_multiple_of(64);
        let fail = |error: crate::memory::MemoryError| {
            Fault::before_start(kernel.name(), Cause::OutOfMemory { reason: error.to_string() })
        };
        let block = Block::new(memory, size + PACKET + QUEUE).map_err(fail)?;
        self.arguments = block.address();
        self.packet = self.arguments + size;
        self.queue = self.packet + PACKET;
        let mut bytes = vec![0u8; (size + PACKET + QUEUE) as usize];
        let (arguments, rest) = bytes.split_at_mut(size as usize);
        let given = launch.arguments.len().min(description.kernarg_size as usize);
        arguments[..given].copy_from_slice(&launch.arguments[..given]);
        for arg in &description.args {
            if let ArgKind::Hidden(kind) = arg.kind {
                let value = self.hidden(kind, launch).to_le_bytes();
                let start = arg.offset as usize;
                let len = (arg.size as usize).min(value.len());
                if let Some(slot) = arguments.get_mut(start..start + len) {
                    slot.copy_from_slice(&value[..len]);
                }
            }
        }
        self.write_packet(rest, kernel);
        let first = self.descriptor.kernarg_preload_offset() as usize;
        self.preloaded = arguments
            .as_chunks()
            .0
            .iter()
            .skip(first)
            .take(self.descriptor.kernarg_preload_length() as usize)
            .map(|word| u32::from_le_bytes(*word))
            .collect();
        memory.write(block.address(), &bytes).map_err(fail)?;
        Ok(Some(block))
    }

    /// The value of a hidden argument. Missing ones are null, except for a [`Service`] that the runtime lacks.
    fn hidden(&self, kind: HiddenKind, launch: &Launch<'_>) -> u64 {
        // Only whole workgroups count. The partial one at the end is the remainder.
        let whole = |axis: usize| (self.items[axis] / self.block[axis]).into();
        let remainder = |axis: usize| (self.items[axis] % self.block[axis]).into();
        match kind {
            HiddenKind::BlockCountX => whole(0),
            HiddenKind::BlockCountY => whole(1),
            HiddenKind::BlockCountZ => whole(2),
            HiddenKind::GroupSizeX => self.block[0].into(),
            HiddenKind::GroupSizeY => self.block[1].into(),
            HiddenKind::GroupSizeZ => self.block[2].into(),
            HiddenKind::RemainderX => remainder(0),
            HiddenKind::RemainderY => remainder(1),
            HiddenKind::RemainderZ => remainder(2),
            // HIP launches in three dimensions always.
            HiddenKind::GridDims => 3,
            HiddenKind::DynamicLdsSize => launch.dynamic_lds.into(),
            HiddenKind::PrivateBase => PRIVATE_APERTURE >> 32,
            HiddenKind::SharedBase => SHARED_APERTURE >> 32,
            HiddenKind::QueuePtr => self.queue,
            _ => match self.services.iter().find(|(of, _)| *of == kind) {
                Some((_, address)) => *address,
                None => Service::for_argument(kind).map_or(0, Service::address),
            },
        }
    }

    /// The packet with which a queue would start the kernel. Kernels read sizes from it.
    fn write_packet(&self, packet: &mut [u8], kernel: &Kernel) {
        let mut put = |offset: usize, bytes: &[u8]| {
            if let Some(slot) = packet.get_mut(offset..offset + bytes.len()) {
                slot.copy_from_slice(bytes);
            }
        };
        // A kernel dispatch with system scope fences, in three dimensions.
        put(0, &0x1402u16.to_le_bytes());
        put(2, &3u16.to_le_bytes());
        for axis in 0..3 {
            put(4 + 2 * axis, &(self.block[axis] as u16).to_le_bytes());
            put(12 + 4 * axis, &self.items[axis].to_le_bytes());
        }
        put(24, &self.private.to_le_bytes());
        put(28, &self.lds.to_le_bytes());
        put(32, &kernel.handle().to_le_bytes());
        put(40, &self.arguments.to_le_bytes());
    }

    /// The workgroup of a number, counted x first.
    pub(super) fn workgroup(&self, number: u64) -> [u32; 3] {
        let [x, y, _] = self.grid.map(u64::from);
        [(number % x) as u32, (number / x % y) as u32, (number / x / y) as u32]
    }

    /// Work-items of a workgroup; fewer at the end of a grid that they do not divide.
    pub(super) fn extent(&self, workgroup: [u32; 3]) -> [u32; 3] {
        std::array::from_fn(|axis| {
            let first = u64::from(workgroup[axis]) * u64::from(self.block[axis]);
            u64::from(self.items[axis]).saturating_sub(first).min(self.block[axis].into()) as u32
        })
    }

    /// The position of a lane in its workgroup.
    pub(super) fn work_item(&self, workgroup: [u32; 3], wave: u32, lane: u32) -> [u32; 3] {
        let [x, y, _] = self.extent(workgroup).map(|extent| extent.max(1));
        let number = wave * self.wave_size + lane;
        [number % x, number / x % y, number / x / y]
    }
}
