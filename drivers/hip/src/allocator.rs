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
    BufferParams, Code, Error, MemoryType, QueueAffinity, Result, Statistics, callback_pool,
    edge::{Edge, EdgeSource},
};

use crate::{
    buffer::Buffer,
    call::{Hip, HostMemory},
    device::{Inner, lock},
    gpu::Gpu,
};

/// Memory as HIP gave it. Freed by whoever holds it alone.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) place: Place,
    /// Bytes asked of HIP.
    pub(crate) size: u64,
}

/// Where memory lives.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// A GPU's own, at an address that all GPUs of the device share.
    Device {
        gpu: usize,
        address: u64,
    },
    Host(HostMemory),
}

impl Block {
    pub(crate) fn address(&self) -> u64 {
        match self.place {
            Place::Device { address, .. } => address,
            Place::Host(memory) => memory.device,
        }
    }

    fn free(self, hip: &Hip) {
        match self.place {
            Place::Device { address, .. } => hip.free(address),
            Place::Host(memory) => hip.free_host(memory),
        }
    }
}

struct Free {
    block: Arc<Block>,
    /// Lane and epoch of the last use, `None` if that has retired.
    death: Option<(u32, u64)>,
}

impl Free {
    fn settled(&self, device: &Inner) -> bool {
        self.death.is_none_or(|(lane, epoch)| device.has_retired(lane, epoch))
    }
}

/// Where free blocks of a kind of memory are: each GPU's own, and the host's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Heap {
    Host,
    Device(usize),
}

impl Heap {
    fn of(place: &Place) -> Self {
        match place {
            Place::Device { gpu, .. } => Self::Device(*gpu),
            Place::Host(_) => Self::Host,
        }
    }
}

/// Free blocks by heap and size.
type Bins = BTreeMap<Heap, BTreeMap<u64, Vec<Free>>>;

/// The memory of a device. Once the device is lost nothing is reused or given back: it may still write anywhere.
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
    /// A buffer. With `ordered`, the queues that it is for, its memory may still be in use by work that the buffer's
    /// `birth` edge stands for.
    pub(crate) fn allocate(
        &self,
        device: &Arc<Inner>,
        params: &BufferParams,
        size: u64,
        ordered: Option<QueueAffinity>,
    ) -> Result<Buffer> {
        let host = params.memory_type.contains(MemoryType::HOST_VISIBLE);
        let alignment = params.min_alignment.max(ALIGNMENT);
        let asked = size.max(1).checked_add(alignment - ALIGNMENT).ok_or_else(|| {
            Error::out_of_range(format!(
                "{size} bytes aligned to {alignment} are more than an address space has"
            ))
        })?;
        let near = params.queue_affinity.intersection(ordered.unwrap_or(QueueAffinity::ANY));
        let heap = if host { Heap::Host } else { Heap::Device(device.gpu_of(near).index) };
        let (block, birth) = match self.reuse(device, heap, asked, ordered) {
            Some(found) => found,
            None => (Arc::new(self.fresh(device, heap, asked, ordered.is_none())?), None),
        };
        self.allocations.fetch_add(1, Relaxed);
        if host {
            self.host_used.fetch_add(size, Relaxed);
        } else {
            let used = self.device_used.fetch_add(size, Relaxed) + size;
            self.device_peak.fetch_max(used, Relaxed);
        }
        let offset = block.address().next_multiple_of(alignment) - block.address();
        Ok(Buffer::new(device.clone(), block, offset, size, birth))
    }

    /// Writes bytes to pinned memory that the device can read.
    pub(crate) fn stage(&self, device: &Arc<Inner>, bytes: &[u8]) -> Result<windlass_hal::Buffer> {
        let params = BufferParams::host();
        let staging = self.allocate(device, &params, bytes.len() as u64, None)?;
        let staging = windlass_hal::Buffer::from_driver(Arc::new(staging), params);
        staging.map()?.write(0, bytes)?;
        Ok(staging)
    }

    /// The smallest free block that serves, preferring one that nothing uses any more, then one whose last use is in
    /// a queue that the new one is for.
    fn reuse(
        &self,
        device: &Arc<Inner>,
        heap: Heap,
        size: u64,
        ordered: Option<QueueAffinity>,
    ) -> Option<(Arc<Block>, Option<Edge>)> {
        if device.is_lost() {
            return None;
        }
        let most = if device.hip.quirks.exact_sizes { size } else { size.saturating_add(size / 8) };
        let mut bins = lock(&self.bins);
        let bin = bins.get_mut(&heap)?;
        let (key, index) = bin.range(size..=most).find_map(|(key, blocks)| {
            let near = |affinity: QueueAffinity| {
                let near = |free: &Free| free.death.is_some_and(|(lane, _)| affinity.bits() >> lane & 1 == 1);
                blocks.iter().rposition(near).or_else(|| blocks.len().checked_sub(1))
            };
            let settled = blocks.iter().rposition(|free| free.settled(device));
            settled.or_else(|| ordered.and_then(near)).map(|index| (*key, index))
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

    fn fresh(&self, device: &Arc<Inner>, heap: Heap, size: u64, may_wait: bool) -> Result<Block> {
        let allocate = || -> Result<Place> {
            match heap {
                Heap::Host => device.hip.malloc_host(size).map(Place::Host),
                Heap::Device(gpu) => {
                    device.gpus[gpu].hip.malloc(size).map(|address| Place::Device { gpu, address })
                }
            }
        };
        let place = allocate().or_else(|error| {
            if error.code() != Code::ResourceExhausted {
                return Err(error);
            }
            // Nobody waits for the device in the order of a queue: freed memory is there for the next attempt.
            if !may_wait {
                self.trim(device);
                return Err(error);
            }
            if self.give_back(device) { allocate() } else { Err(error) }
        });
        let place = place.map_err(|error| match error.code() {
            Code::ResourceExhausted => exhausted(device, size, &error),
            _ => error,
        })?;
        if heap != Heap::Host {
            self.device_reserved.fetch_add(size, Relaxed);
        }
        Ok(Block { place, size })
    }

    /// Takes a buffer's block back.
    pub(crate) fn put_back(&self, device: &Inner, block: Arc<Block>, size: u64, death: Option<(u32, u64)>) {
        self.allocations.fetch_sub(1, Relaxed);
        let host = matches!(block.place, Place::Host(_));
        if host { &self.host_used } else { &self.device_used }.fetch_sub(size, Relaxed);
        if device.is_lost() {
            return;
        }
        lock(&self.bins)
            .entry(Heap::of(&block.place))
            .or_default()
            .entry(block.size)
            .or_default()
            .push(Free { block, death });
    }

    /// Gives settled blocks back to HIP on a thread of the callback pool.
    pub(crate) fn trim(&self, device: &Arc<Inner>) {
        let blocks = self.take_settled(device);
        if blocks.is_empty() {
            return;
        }
        let gpus = device.gpus.clone();
        callback_pool::spawn(Box::new(move || free_all(&gpus, blocks)));
    }

    /// Gives settled blocks back to HIP and waits for it; `false` if there were none. The one place where a caller
    /// waits for `hipFree`: the alternative is to fail an allocation for which there is memory.
    fn give_back(&self, device: &Arc<Inner>) -> bool {
        let blocks = self.take_settled(device);
        let any = !blocks.is_empty();
        free_all(&device.gpus, blocks);
        any
    }

    /// Takes out the blocks that nothing uses and no handle names any more.
    fn take_settled(&self, device: &Inner) -> Vec<Block> {
        device.retire();
        let mut taken = Vec::new();
        if device.is_lost() {
            return taken;
        }
        let mut bins = lock(&self.bins);
        for bin in bins.values_mut() {
            bin.retain(|_, blocks| {
                for free in std::mem::take(blocks) {
                    let Free { block, death } = free;
                    let free = |block| Free { block, death };
                    if death.is_some_and(|(lane, epoch)| !device.has_retired(lane, epoch)) {
                        blocks.push(free(block));
                        continue;
                    }
                    match Arc::try_unwrap(block) {
                        Ok(block) => taken.push(block),
                        Err(block) => blocks.push(free(block)),
                    }
                }
                !blocks.is_empty()
            });
        }
        drop(bins);
        let device_bytes = taken.iter().filter(|block| matches!(block.place, Place::Device { .. }));
        self.device_reserved.fetch_sub(device_bytes.map(|block| block.size).sum(), Relaxed);
        taken
    }

    /// Every free block, for a device that goes away; nothing is in flight any more, and no handle is left.
    pub(crate) fn take_all(&mut self) -> Vec<Block> {
        let bins = self.bins.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        let free = std::mem::take(bins).into_values().flat_map(BTreeMap::into_values).flatten();
        free.filter_map(|free| Arc::into_inner(free.block)).collect()
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

#[cold]
fn exhausted(device: &Inner, size: u64, error: &Error) -> Error {
    let free = device.hip.memory().map_or_else(String::new, |(free, total)| {
        format!("; {free} of {total} bytes are free; drop buffers, or call Device::trim in another process")
    });
    Error::resource_exhausted(format!("{size} bytes: {}{free}", error.message()))
}

/// Frees blocks, unless the device is lost.
pub(crate) fn free_all(gpus: &[Arc<Gpu>], mut blocks: Vec<Block>) {
    for gpu in gpus {
        let own = |block: &mut Block| match Heap::of(&block.place) {
            Heap::Host => gpu.index == 0,
            Heap::Device(index) => gpu.index == index,
        };
        gpu.hip.give_back(|hip| blocks.extract_if(.., own).for_each(|block| block.free(hip)));
    }
}
