// SPDX-License-Identifier: MIT OR Apache-2.0
//! Device and pinned host memory, kept for reuse.
//!
//! `hipFree` and `hipHostFree` synchronise the device, so memory goes back to HIP on a thread of the callback pool
//! and only when it is asked for ([`trim`](Allocator::trim)) or when an allocation fails. Until then blocks wait
//! here, each with the point in a stream behind which it may be used again: a new buffer either comes after that
//! point already, or makes its stream wait for it.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use windlass_hal::{
    BufferParams, Error, MemoryType, Result, Statistics, callback_pool,
    edge::{Edge, EdgeSource},
};

use crate::{
    buffer::Buffer,
    call::{Hip, HostMemory},
    device::{Inner, lock},
};

/// Memory as HIP gave it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) place: Place,
    /// Bytes asked of HIP.
    pub(crate) size: u64,
}

/// Where memory lives.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Device(u64),
    Host(HostMemory),
}

impl Block {
    pub(crate) fn address(&self) -> u64 {
        match self.place {
            Place::Device(address) => address,
            Place::Host(memory) => memory.device,
        }
    }

    fn free(self, hip: &Hip) {
        match self.place {
            Place::Device(address) => hip.free(address),
            Place::Host(memory) => hip.free_host(memory),
        }
    }
}

struct Free {
    block: Block,
    /// Lane and epoch of the last use, `None` if that has retired.
    death: Option<(u32, u64)>,
}

#[derive(Default)]
struct Bins {
    /// Free blocks by size, apart for device (0) and host (1).
    free: [BTreeMap<u64, Vec<Free>>; 2],
    /// The device is lost: nothing is reused or given back.
    quarantined: bool,
}

#[derive(Default)]
pub(crate) struct Allocator {
    bins: Mutex<Bins>,
    device_used: AtomicU64,
    device_reserved: AtomicU64,
    device_peak: AtomicU64,
    host_used: AtomicU64,
    allocations: AtomicU64,
}

/// HIP aligns every allocation to this, so a smaller alignment needs nothing.
pub(crate) const ALIGNMENT: u64 = 256;

impl Allocator {
    /// A buffer. With `ordered`, its memory may still be in use by work that the buffer's `birth` edge stands for.
    pub(crate) fn allocate(
        &self,
        device: &Arc<Inner>,
        params: &BufferParams,
        size: u64,
        ordered: bool,
    ) -> Result<Buffer> {
        if params.min_alignment > ALIGNMENT {
            return Err(Error::unimplemented(format!(
                "an alignment of {} bytes; HIP aligns allocations to {ALIGNMENT}",
                params.min_alignment
            )));
        }
        let host = params.memory_type.contains(MemoryType::HOST_VISIBLE);
        let asked = size.max(1);
        let (block, birth) = match self.reuse(device, host, asked, ordered) {
            Some(found) => found,
            None => (self.fresh(device, host, asked)?, None),
        };
        self.allocations.fetch_add(1, Relaxed);
        if host {
            self.host_used.fetch_add(size, Relaxed);
        } else {
            let used = self.device_used.fetch_add(size, Relaxed) + size;
            self.device_peak.fetch_max(used, Relaxed);
        }
        Ok(Buffer::new(device.clone(), block, size, birth))
    }

    /// The smallest free block that serves, preferring one that nothing uses any more.
    fn reuse(
        &self,
        device: &Arc<Inner>,
        host: bool,
        size: u64,
        ordered: bool,
    ) -> Option<(Block, Option<Edge>)> {
        let most = if device.quirks.exact_sizes { size } else { size.saturating_add(size / 8) };
        let mut bins = lock(&self.bins);
        if bins.quarantined {
            return None;
        }
        let bin = &mut bins.free[usize::from(host)];
        let settled = |free: &Free| free.death.is_none_or(|(lane, epoch)| device.has_retired(lane, epoch));
        let (key, index) = bin.range(size..=most).find_map(|(key, blocks)| {
            let index = blocks.iter().rposition(settled);
            index.or_else(|| blocks.len().checked_sub(1).filter(|_| ordered)).map(|index| (*key, index))
        })?;
        let blocks = bin.get_mut(&key)?;
        let free = blocks.swap_remove(index);
        if blocks.is_empty() {
            bin.remove(&key);
        }
        drop(bins);
        let birth = free
            .death
            .filter(|(lane, epoch)| !device.has_retired(*lane, *epoch))
            .map(|(lane, epoch)| Edge { source: device.clone() as Arc<dyn EdgeSource>, lane, epoch });
        Some((free.block, birth))
    }

    fn fresh(&self, device: &Arc<Inner>, host: bool, size: u64) -> Result<Block> {
        let allocate = || -> Result<Place> {
            match host {
                true => device.hip.malloc_host(size).map(Place::Host),
                false => device.hip.malloc(size).map(Place::Device),
            }
        };
        let place = allocate().or_else(|error| {
            if error.code() != windlass_hal::Code::ResourceExhausted || !self.give_back(device) {
                return Err(error);
            }
            allocate()
        });
        let place = place.map_err(|error| {
            let free = device.hip.memory().map_or_else(String::new, |(free, total)| {
                format!("; {free} of {total} bytes are free; drop buffers, or call Device::trim in another process")
            });
            Error::new(error.code(), format!("{size} bytes: {}{free}", error.message()))
        })?;
        if !host {
            self.device_reserved.fetch_add(size, Relaxed);
        }
        Ok(Block { place, size })
    }

    /// Takes a buffer's block back.
    pub(crate) fn put_back(&self, device: &Inner, block: Block, size: u64, death: Option<(u32, u64)>) {
        self.allocations.fetch_sub(1, Relaxed);
        let host = matches!(block.place, Place::Host(_));
        if host { &self.host_used } else { &self.device_used }.fetch_sub(size, Relaxed);
        let mut bins = lock(&self.bins);
        if bins.quarantined || device.is_lost() {
            return;
        }
        bins.free[usize::from(host)].entry(block.size).or_default().push(Free { block, death });
    }

    /// From now on nothing is reused or given back: a lost device may still write anywhere.
    pub(crate) fn quarantine(&self) {
        let mut bins = lock(&self.bins);
        bins.quarantined = true;
        bins.free = Default::default();
    }

    /// Gives settled blocks back to HIP on a thread of the callback pool.
    pub(crate) fn trim(&self, device: &Arc<Inner>) {
        let blocks = self.take_settled(device);
        if blocks.is_empty() {
            return;
        }
        let hip = device.hip.clone();
        callback_pool::spawn(Box::new(move || free_all(&hip, blocks)));
    }

    /// Gives settled blocks back to HIP and waits for it; `false` if there were none. The one place where a caller
    /// waits for `hipFree`: the alternative is to fail an allocation for which there is memory.
    fn give_back(&self, device: &Arc<Inner>) -> bool {
        let blocks = self.take_settled(device);
        let any = !blocks.is_empty();
        free_all(&device.hip, blocks);
        any
    }

    fn take_settled(&self, device: &Inner) -> Vec<Block> {
        let mut taken = Vec::new();
        let mut bins = lock(&self.bins);
        for bin in &mut bins.free {
            bin.retain(|_, blocks| {
                blocks.retain(|free| {
                    let settled = free.death.is_none_or(|(lane, epoch)| device.has_retired(lane, epoch));
                    if settled {
                        taken.push(free.block);
                    }
                    !settled
                });
                !blocks.is_empty()
            });
        }
        drop(bins);
        let device_bytes = taken.iter().filter(|block| matches!(block.place, Place::Device(_)));
        self.device_reserved.fetch_sub(device_bytes.map(|block| block.size).sum(), Relaxed);
        taken
    }

    /// Every free block, for a device that goes away; nothing is in flight any more.
    pub(crate) fn take_all(&mut self) -> Vec<Block> {
        let bins = self.bins.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        let bins = std::mem::take(&mut bins.free);
        bins.into_iter().flat_map(BTreeMap::into_values).flatten().map(|free| free.block).collect()
    }

    pub(crate) fn statistics(&self) -> Statistics {
        let mut statistics = Statistics::default();
        statistics.device_bytes_used = self.device_used.load(Relaxed);
        statistics.device_bytes_reserved = self.device_reserved.load(Relaxed);
        statistics.device_bytes_peak = self.device_peak.load(Relaxed);
        statistics.host_bytes_used = self.host_used.load(Relaxed);
        statistics.allocations = self.allocations.load(Relaxed);
        statistics
    }
}

/// Frees blocks with the device current. Blocks of a device that cannot be made current any more stay.
pub(crate) fn free_all(hip: &Hip, blocks: Vec<Block>) {
    if let Ok(_current) = hip.current() {
        blocks.into_iter().for_each(|block| block.free(hip));
    }
}

/// Copies into fresh pinned memory that no queue knows yet.
pub(crate) fn write_staging(buffer: &Buffer, bytes: &[u8]) -> Result<()> {
    match buffer.block().place {
        Place::Host(memory) if bytes.len() as u64 <= buffer.block().size => {
            // SAFETY: the block is at least as long, was just taken from the allocator, and nothing submitted uses it
            // yet: its last use has retired (`ordered` is false for staging).
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory.host.as_ptr(), bytes.len()) };
            Ok(())
        }
        _ => Err(Error::internal("a staging buffer must be host memory of sufficient size")),
    }
}
