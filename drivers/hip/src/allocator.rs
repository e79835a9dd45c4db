// SPDX-License-Identifier: MIT OR Apache-2.0
//! Device and pinned host memory: the device's own pools, and the slabs of all pools.
//!
//! `windlass_hal::pool` places buffers in slabs, reuses released memory and counts. On hardware, small buffers share slabs,
//! and a large buffer is an allocation of its own. Some devices check accesses against the size that was asked of HIP. There
//! every buffer is an allocation of exactly its size, so that the device detects every overrun.

use std::sync::Arc;

use windlass_hal::{
    Accounts, Buffer, BufferParams, Code, Error, MemoryType, PoolKind, PoolParams, QueueAffinity, Result,
    driver,
    pool::{Placed, SlabRequest, SlabSource, Slabs},
};

use crate::{
    buffer::{Block, MemoryLocation, Returns},
    gpu::Gpu,
    gpus::Gpus,
    hip::Hip,
};

/// HIP aligns every allocation to this many bytes.
pub(crate) const ALIGNMENT: u64 = 256;

/// Bytes of a slab of device memory unless the URI says otherwise. A slab of pinned host memory has an eighth of that.
pub(crate) const SLAB: u64 = 32 << 20;

/// The memory of a device.
pub(crate) struct Allocator {
    gpus: Arc<Gpus>,
    /// For each GPU its own memory.
    device: Box<[Tiers]>,
    host: Tiers,
    accounts: Arc<Accounts>,
    /// For each GPU. Host memory goes back through the first.
    returns: Box<[Arc<Returns>]>,
}

/// The first use of a buffer. It decides how memory is found for it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// It is used at once.
    Now,
    /// It is used at once, and the caller may wait until HIP has freed idle memory. No submission may wait for that.
    Patient,
    /// These queues use it, ordered behind the last use of its memory.
    Ordered(QueueAffinity),
}

/// The pools of one kind of memory.
struct Tiers {
    /// The pool of slabs, and the largest size in bytes that it serves. `None` if every buffer is an allocation of its own.
    small: Option<(u64, Arc<Slabs>)>,
    large: Arc<Slabs>,
}

impl Tiers {
    fn new(memory: BufferParams, slab: u64, exact: bool) -> Result<Self> {
        let pool = |kind| Slabs::new(PoolParams::new(kind).with_memory(memory), ALIGNMENT).map(Arc::new);
        let small = match slab {
            0 => None,
            slab_size => Some((slab_size / 8, pool(PoolKind::Tlsf { slab_size })?)),
        };
        Ok(Self { small, large: pool(PoolKind::Passthrough { exact })? })
    }

    fn for_size(&self, size: u64, alignment: u64) -> &Arc<Slabs> {
        match &self.small {
            Some((most, small)) if size.saturating_add(alignment) <= *most => small,
            _ => &self.large,
        }
    }

    fn pools(&self) -> impl Iterator<Item = &Arc<Slabs>> {
        self.small.iter().map(|(_, small)| small).chain([&self.large])
    }
}

impl Allocator {
    /// With slabs of `slab` bytes. With 0 every buffer is an allocation of its own.
    pub(crate) fn new(gpus: &Arc<Gpus>, slab: u64) -> Result<Self> {
        let exact = gpus.iter().any(|gpu| gpu.hip.quirks.exact_sizes);
        let accounts = Arc::<Accounts>::default();
        let returns = |gpu: &Arc<Gpu>| Arc::new(Returns::new(gpu.hip.clone(), accounts.clone()));
        let device = |gpu: &Arc<Gpu>| {
            let affinity = gpus.limits.physical_affinity(gpu.index as u32).unwrap_or(QueueAffinity::ANY);
            Tiers::new(BufferParams::device().with_queue_affinity(affinity), slab, exact)
        };
        Ok(Self {
            gpus: gpus.clone(),
            device: gpus.iter().map(device).collect::<Result<_>>()?,
            host: Tiers::new(BufferParams::host(), slab / 8, exact)?,
            returns: gpus.iter().map(returns).collect(),
            accounts,
        })
    }

    /// A buffer, which keeps `device` open. If memory is short, idle memory is given back; only with [`Need::Patient`] does the
    /// caller wait for that.
    pub(crate) fn allocate(
        &self,
        device: Arc<dyn SlabSource>,
        params: &BufferParams,
        size: u64,
        need: Need,
    ) -> Result<Arc<Placed>> {
        let ordered = match need {
            Need::Ordered(queues) => Some(queues),
            Need::Now | Need::Patient => None,
        };
        let near = params.queue_affinity.intersection(ordered.unwrap_or(QueueAffinity::ANY));
        let (gpu, tiers) = match is_host(params) {
            true => (0, &self.host),
            false => {
                let gpu = self.gpus.nearest(near).index;
                (gpu, &self.device[gpu])
            }
        };
        let slabs = tiers.for_size(size, params.min_alignment);
        let attempt = || slabs.acquire(&device, size, params.min_alignment, slabs.reach(ordered))?.memory();
        let returns = &self.returns[gpu];
        let finished = returns.finished();
        attempt().or_else(|error| {
            let short = error.code() == Code::ResourceExhausted;
            if short && need == Need::Patient && returns.wait(finished) { attempt() } else { Err(error) }
        })
    }

    /// Stages bytes: writes them to pinned memory, which the device can read and which keeps `device` open. Never waits.
    pub(crate) fn stage(&self, device: Arc<dyn SlabSource>, bytes: &[u8]) -> Result<Buffer> {
        let params = BufferParams::host();
        let staging = self.allocate(device, &params, bytes.len() as u64, Need::Now)?;
        let staging = Buffer::from_driver(staging, params);
        staging.map()?.write(0, bytes)?;
        Ok(staging)
    }

    /// Gives idle memory back to HIP, on a thread of the callback pool.
    pub(crate) fn give_back_idle(&self, device: &dyn SlabSource) {
        if self.gpus.hip.keeps_all() {
            return;
        }
        for pool in self.device.iter().chain([&self.host]).flat_map(Tiers::pools) {
            pool.give_back_idle(device);
        }
    }

    /// The memory of a GPU on its way back to HIP.
    pub(crate) fn returns(&self, gpu: usize) -> &Arc<Returns> {
        &self.returns[gpu]
    }

    /// Gives idle memory back to HIP, and waits until HIP has that of one GPU.
    pub(crate) fn reclaim(&self, device: &dyn SlabSource, gpu: usize) {
        self.give_back_idle(device);
        let returns = &self.returns[gpu];
        returns.wait(returns.finished());
    }

    /// A new slab for a pool of `device`.
    pub(crate) fn allocate_slab(
        &self,
        device: &dyn SlabSource,
        request: &SlabRequest,
    ) -> Result<Arc<dyn driver::RawBuffer>> {
        let host = is_host(&request.params);
        let gpu = if host { 0 } else { self.gpus.nearest(request.params.queue_affinity).index };
        let hip = &self.gpus[gpu].hip;
        let allocate = || match host {
            true => hip.malloc_host(request.size).map(MemoryLocation::Host),
            false => hip.malloc(request.size).map(|address| MemoryLocation::Device { gpu, address }),
        };
        // Pools may keep enough memory for reuse. Once that is freed, the next attempt finds it.
        let place = allocate().inspect_err(|error| {
            if error.code() == Code::ResourceExhausted {
                self.give_back_idle(device);
            }
        });
        let place = place.map_err(|error| match error.code() {
            Code::ResourceExhausted => exhausted(hip, request.size, &error),
            _ => error,
        })?;
        Ok(Arc::new(Block::new(self.gpus.domain, place, request.size, self.returns[gpu].clone())))
    }

    pub(crate) fn accounts(&self) -> &Accounts {
        &self.accounts
    }
}

fn is_host(params: &BufferParams) -> bool {
    params.memory_type.contains(MemoryType::HOST_VISIBLE)
}

#[cold]
fn exhausted(hip: &Hip, size: u64, error: &Error) -> Error {
    let free = hip.memory().map_or_else(String::new, |(free, total)| {
        format!("; {free} of {total} bytes are free; drop buffers, trim other devices of this GPU, or end other programs that use it")
    });
    Error::resource_exhausted(format!("{size} bytes: {}{free}", error.message()))
}
