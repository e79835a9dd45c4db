// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that grows in place, over HIP's virtual memory: each growth is memory of its own, mapped behind the last.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use windlass_hal::{
    Error, MemoryType, Result, callback_pool,
    edge::Domain,
    growable::{AddressSpace, Growable},
    pool::SlabSource,
};

use crate::{buffer::Returns, gpus::Gpus, hip::Hip, sync::lock, virtual_memory::Physical};

/// The origin of the memory.
pub(crate) struct Source {
    pub(crate) gpus: Arc<Gpus>,
    /// The GPU whose memory it is, by its number within the device.
    pub(crate) gpu: usize,
    pub(crate) device: Arc<dyn SlabSource>,
    /// Counts memory on its way back, for which allocations wait.
    pub(crate) returns: Arc<Returns>,
    /// Gives idle memory of the GPU back to HIP, and waits for all memory on its way back.
    pub(crate) reclaim: Box<dyn Fn() + Send + Sync>,
}

/// Reserved addresses that all GPUs of a device use. It keeps the device open.
pub(crate) struct HipSpace {
    source: Source,
    /// The first address and the size of the whole reservation, which may begin before the aligned part that is in use.
    whole: (u64, u64),
    /// The memory of each mapping, by its address.
    mapped: Mutex<HashMap<u64, Physical>>,
    /// Whether HIP has kept a mapping that it was to end. The addresses must stay reserved then.
    stuck: Arc<AtomicBool>,
}

/// The type that the accounts count this memory as.
const KIND: MemoryType = MemoryType::DEVICE_LOCAL;

impl Source {
    fn hip(&self) -> &Hip {
        &self.gpus[self.gpu].hip
    }
}

impl HipSpace {
    /// The GPU whose memory is behind the addresses, by its number within the device.
    pub(crate) fn gpu(&self) -> usize {
        self.source.gpu
    }

    fn hip(&self) -> &Hip {
        self.source.hip()
    }

    /// The bytes that are missing, if the GPU has fewer than `size` free.
    fn shortage(&self, size: u64) -> Result<()> {
        match self.hip().memory() {
            Some((free, total)) if free < size => Err(Error::resource_exhausted(format!(
                "{size} bytes; {free} of {total} bytes are free; drop buffers, trim other devices of this GPU, or end other \
                 programs that use it"
            ))),
            _ => Ok(()),
        }
    }
}

/// Reserves `capacity` bytes of addresses, at a multiple of `min_alignment`.
pub(crate) fn reserve(source: Source, min_alignment: u64, capacity: u64) -> Result<Growable<HipSpace>> {
    let hip = source.hip();
    let mut granularity = 1;
    for gpu in source.gpus.iter() {
        granularity = granularity.max(gpu.hip.granularity()?);
    }
    // AMD's HIP ignores the alignment that it is asked for (6.4.43484), so more addresses are reserved for a larger one.
    let slack = if min_alignment > granularity { min_alignment } else { 0 };
    let capacity = capacity.checked_next_multiple_of(granularity);
    let size = capacity.and_then(|capacity| capacity.checked_add(slack)).filter(|size| *size < 1 << 56);
    let (Some(capacity), Some(size)) = (capacity, size) else {
        return Err(Error::resource_exhausted("the address space is smaller"));
    };
    let base = hip.reserve_addresses(size)?;
    let space = HipSpace { source, whole: (base, size), mapped: Mutex::default(), stuck: Arc::default() };
    Ok(Growable::new(space, base.next_multiple_of(slack.max(1)), capacity, granularity))
}

impl AddressSpace for HipSpace {
    fn domain(&self) -> Domain {
        self.source.gpus.domain
    }

    fn usable(&self) -> Result<()> {
        self.source.device.usable()
    }

    /// Pools may keep the missing memory idle, and memory that shrank away may be on its way back.
    fn check_room(&self, size: u64) -> Result<()> {
        self.shortage(size).or_else(|_| {
            (self.source.reclaim)();
            self.shortage(size)
        })
    }

    fn commit(&self, address: u64, size: u64) -> Result<()> {
        let hip = self.hip();
        let memory = hip.create_memory(size);
        let memory = memory.map_err(|error| self.shortage(size).err().unwrap_or(error))?;
        let mapped = hip.map_memory(address, size, memory);
        let gpus = self.source.gpus.iter().map(|gpu| &gpu.hip);
        let opened = mapped.clone().and_then(|()| hip.open_memory(address, size, gpus));
        if let Err(error) = opened {
            if self.usable().is_err() {
                // Work in flight on a lost device fails at once.
                self.source.device.poll();
            }
            // At once, because the caller may release the reservation next.
            give_back(hip, address, size, mapped.is_ok(), memory, &self.stuck);
            return Err(error);
        }
        let accounts = self.source.device.accounts();
        accounts.reserve(KIND, size);
        accounts.allocate(KIND, size);
        lock(&self.mapped).insert(address, memory);
        Ok(())
    }

    fn decommit(&self, address: u64, size: u64, done: Box<dyn FnOnce() + Send>) {
        let accounts = self.source.device.accounts();
        accounts.free(KIND, size);
        accounts.unreserve(KIND, size);
        let Some(memory) = lock(&self.mapped).remove(&address) else { return };
        let (hip, stuck) = (self.hip().clone(), self.stuck.clone());
        if hip.keeps_all() {
            return;
        }
        let returns = self.source.returns.clone();
        returns.begin();
        callback_pool::spawn(Box::new(move || {
            give_back(&hip, address, size, true, memory, &stuck);
            returns.end();
            done();
        }));
    }

    fn release(&self, _address: u64, _capacity: u64) {
        let (hip, (base, size)) = (self.hip().clone(), self.whole);
        // Each piece of memory is back before the reservation goes.
        if !hip.keeps_all() && !self.stuck.load(Ordering::Acquire) {
            callback_pool::spawn(Box::new(move || {
                hip.give_back(|hip| hip.free_addresses(base, size));
            }));
        }
    }
}

/// Gives memory back to HIP, which may wait for the device. That of a lost device stays.
fn give_back(hip: &Hip, address: u64, size: u64, is_mapped: bool, memory: Physical, stuck: &AtomicBool) {
    hip.give_back(|hip| {
        if is_mapped && !hip.unmap_memory(address, size) {
            stuck.store(true, Ordering::Release);
        }
        hip.release_memory(memory);
    });
}
