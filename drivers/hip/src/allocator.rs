// SPDX-License-Identifier: MIT OR Apache-2.0
//! Device and pinned host memory: the device's own pools, and where all pools take slabs from.
//!
//! `windlass_hal::pool` places buffers, reuses what was released and counts. On hardware small buffers share slabs and
//! large ones are allocations of their own. Where the device checks accesses against the size that was asked for,
//! every buffer is an allocation of exactly its size, so that no overrun finds room to spare.

use std::sync::Arc;

use windlass_hal::{
    Accounts, BufferParams, Code, Error, Limits, MemoryType, PoolKind, PoolParams, QueueAffinity, Result,
    Statistics, driver,
    pool::{Placed, SlabRequest, SlabSource, Slabs},
};

use crate::{
    buffer::{Block, Place, Returns},
    call::Hip,
    device::Inner,
    gpu::Gpu,
};

/// HIP aligns every allocation to this.
pub(crate) const ALIGNMENT: u64 = 256;

/// Bytes of a slab of device memory where the URI does not say; one of pinned host memory is an eighth of it.
pub(crate) const SLAB: u64 = 32 << 20;

/// The memory of a device.
pub(crate) struct Allocator {
    /// Each GPU's own memory.
    device: Box<[Tiers]>,
    host: Tiers,
    accounts: Arc<Accounts>,
    /// For each GPU; host memory goes by the first.
    returns: Box<[Arc<Returns>]>,
}

/// What a buffer is for, and so what may be done to find memory for it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// It is used at once.
    Now,
    /// It is used at once, and the caller may wait until HIP has freed what lies idle. Nothing that submits may.
    Patient,
    /// These queues use it, behind work that its birth stands for.
    Ordered(QueueAffinity),
}

/// The pools of one kind of memory.
struct Tiers {
    /// Buffers up to a size share slabs, if there are slabs.
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
    /// With slabs of `slab` bytes; 0 for an allocation of its own for each buffer.
    pub(crate) fn new(gpus: &[Gpu], limits: &Limits, slab: u64) -> Result<Self> {
        let exact = gpus.iter().any(|gpu| gpu.hip.quirks.exact_sizes);
        let accounts = Arc::<Accounts>::default();
        let returns = |gpu: &Gpu| Arc::new(Returns::new(gpu.hip.clone(), accounts.clone()));
        let device = |gpu: &Gpu| {
            let affinity = limits.physical_affinity(gpu.index as u32).unwrap_or(QueueAffinity::ANY);
            Tiers::new(BufferParams::device().with_queue_affinity(affinity), slab, exact)
        };
        Ok(Self {
            device: gpus.iter().map(device).collect::<Result<_>>()?,
            host: Tiers::new(BufferParams::host(), slab / 8, exact)?,
            returns: gpus.iter().map(returns).collect(),
            accounts,
        })
    }

    /// A buffer. Where memory is short, what lies idle is given back; only with [`Need::Patient`] does the caller wait for
    /// that.
    pub(crate) fn allocate(
        &self,
        device: &Arc<Inner>,
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
                let gpu = device.gpu_of(near).index;
                (gpu, &self.device[gpu])
            }
        };
        let slabs = tiers.for_size(size, params.min_alignment);
        let source: Arc<dyn SlabSource> = device.clone();
        let attempt = || slabs.acquire(&source, size, params.min_alignment, slabs.reach(ordered))?.memory();
        let returns = &self.returns[gpu];
        let settled = returns.settled();
        attempt().or_else(|error| {
            let short = error.code() == Code::ResourceExhausted;
            if short && need == Need::Patient && returns.wait(settled) { attempt() } else { Err(error) }
        })
    }

    /// Writes bytes to pinned memory that the device can read. Never waits.
    pub(crate) fn stage(&self, device: &Arc<Inner>, bytes: &[u8]) -> Result<windlass_hal::Buffer> {
        let params = BufferParams::host();
        let staging = self.allocate(device, &params, bytes.len() as u64, Need::Now)?;
        let staging = windlass_hal::Buffer::from_driver(staging, params);
        staging.map()?.write(0, bytes)?;
        Ok(staging)
    }

    /// Gives back what nobody uses, on a thread of the callback pool.
    pub(crate) fn trim(&self, device: &Inner) {
        device.retire();
        self.give_back_idle(device);
    }

    fn give_back_idle(&self, device: &Inner) {
        if device.hip.keeps_all() {
            return;
        }
        for pool in self.device.iter().chain([&self.host]).flat_map(Tiers::pools) {
            pool.give_back_idle(device);
        }
    }

    pub(crate) fn statistics(&self) -> Statistics {
        self.accounts.statistics()
    }
}

impl SlabSource for Inner {
    fn allocate_slab(&self, request: &SlabRequest) -> Result<Arc<dyn driver::Buffer>> {
        let host = is_host(&request.params);
        let gpu = if host { 0 } else { self.gpu_of(request.params.queue_affinity).index };
        let hip = &self.gpus[gpu].hip;
        let allocate = || match host {
            true => hip.malloc_host(request.size).map(Place::Host),
            false => hip.malloc(request.size).map(|address| Place::Device { gpu, address }),
        };
        // What is kept for reuse may be what is missing: once it is freed, it is there for the next attempt.
        let place = allocate().inspect_err(|error| {
            if error.code() == Code::ResourceExhausted {
                self.allocator.give_back_idle(self);
            }
        });
        let place = place.map_err(|error| match error.code() {
            Code::ResourceExhausted => exhausted(hip, request.size, &error),
            _ => error,
        })?;
        Ok(Arc::new(Block::new(self.domain, place, request.size, self.allocator.returns[gpu].clone())))
    }

    fn has_retired(&self, lane: u32, epoch: u64) -> bool {
        Self::has_retired(self, lane, epoch)
    }

    fn poll(&self) {
        self.retire();
    }

    fn usable(&self) -> Result<()> {
        Self::usable(self)
    }

    fn accounts(&self) -> &Accounts {
        &self.allocator.accounts
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
