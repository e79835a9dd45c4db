// SPDX-License-Identifier: MIT OR Apache-2.0
//! Slabs and the buffers placed in them: the core of a pool.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, atomic::AtomicBool},
};

use ::slab::Slab;

use super::{
    fixed_block::FixedBlock,
    frontier::Frontier,
    params::{PoolKind, PoolParams},
    passthrough::Passthrough,
    placed::Placed,
    statistics::PoolStatistics,
    strategy::{Place, Rank, Reach, Request, Strategy, Taken},
    tlsf::Tlsf,
};
use crate::{
    driver::{
        self,
        allocator::{SlabRequest, SlabSource},
    },
    words::{
        buffer_params::BufferParams,
        error::{Code, Error, Result, ResultExt},
        queue_affinity::QueueAffinity,
        sync::lock_std as lock,
    },
};

/// The result of a request for memory. No result makes the host wait for the device.
#[derive(Debug)]
pub enum Acquire {
    /// Memory that no work uses, or that the same queue used last.
    Ok(Arc<Placed>),
    /// Memory of a slab that was added for the request.
    OkFresh(Arc<Placed>),
    /// Memory whose last use is in flight elsewhere. The device must wait for its [`birth`](Placed::birth).
    NeedsWait(Arc<Placed>),
    /// The pool may not grow, and all its memory is in use, or in flight where the request must not wait.
    Exhausted(Error),
    /// Growing would exceed the budget of the pool.
    OverBudget(Error),
}

impl Acquire {
    /// The memory, or the error.
    pub fn memory(self) -> Result<Arc<Placed>> {
        match self {
            Self::Ok(placed) | Self::OkFresh(placed) | Self::NeedsWait(placed) => Ok(placed),
            Self::Exhausted(error) | Self::OverBudget(error) => Err(error),
        }
    }
}

/// Memory of one kind, in slabs. It knows no device; each call takes the [`SlabSource`].
pub struct Slabs {
    params: PoolParams,
    /// The alignment of all slabs in bytes.
    granule: u64,
    state: Mutex<SlabsState>,
    /// Held while a slab is allocated, so that the next thread first looks at the rest of the new slab.
    growing: Mutex<()>,
}

struct SlabsState {
    strategy: Box<dyn Strategy>,
    slabs: Slab<(Arc<dyn driver::RawBuffer>, u64)>,
    counts: PoolStatistics,
    /// The most bytes that slabs with a buffer had at one time.
    most_busy: u64,
}

/// Slabs to be dropped when no lock is held.
type Gone = Vec<Arc<dyn driver::RawBuffer>>;

impl Slabs {
    /// An empty pool of a device whose allocations are multiples of `granule` bytes. `INVALID_ARGUMENT` for impossible
    /// parameters.
    pub fn new(params: PoolParams, granule: u64) -> Result<Self> {
        let granule = granule.max(1);
        check_alignment(granule)?;
        check_alignment(params.memory.min_alignment)?;
        let strategy: Box<dyn Strategy> = match params.kind {
            PoolKind::Passthrough { exact } => Box::new(Passthrough::new(granule, exact)),
            PoolKind::Tlsf { slab_size: 0 } => {
                return Err(Error::invalid_argument("a slab_size of 0 bytes; 16 MiB or more is usual"));
            }
            PoolKind::Tlsf { slab_size } => Box::new(Tlsf::new(granule, slab_size)),
            PoolKind::FixedBlock { block_size, blocks } => {
                let strategy = FixedBlock::new(block_size, blocks, params.memory.min_alignment, granule);
                Box::new(strategy.ok_or_else(|| {
                    Error::invalid_argument(format!(
                        "{blocks} blocks of {block_size} bytes, aligned to {}: no memory has that",
                        params.memory.min_alignment.max(granule)
                    ))
                })?)
            }
        };
        let counts = PoolStatistics { budget: params.budget, ..PoolStatistics::default() };
        let state = SlabsState { strategy, slabs: Slab::new(), counts, most_busy: 0 };
        Ok(Self { params, granule, state: Mutex::new(state), growing: Mutex::new(()) })
    }

    /// The parameters of the pool.
    pub fn params(&self) -> &PoolParams {
        &self.params
    }

    /// The [`Reach`] of a request. `None` means that the memory is used at once.
    pub fn reach(&self, ordered: Option<QueueAffinity>) -> Reach {
        match ordered {
            None => Reach::Now,
            Some(queues) if self.params.device_waits => Reach::Ordered(queues),
            Some(queues) => Reach::Unwaited(queues),
        }
    }

    /// Takes memory for a buffer. An error is one of the device: it is lost, or has no memory left.
    pub fn acquire(
        self: &Arc<Self>,
        source: &Arc<dyn SlabSource>,
        size: u64,
        min_alignment: u64,
        reach: Reach,
    ) -> Result<Acquire> {
        source.usable()?;
        let request = self.request(size, min_alignment, reach)?;
        let mut state = lock(&self.state);
        if let Some(taken) = state.strategy.take(&request, &|lane, epoch| source.has_retired(lane, epoch)) {
            return self.place(state, source, taken, &request, false);
        }
        drop(state);
        self.acquire_slowly(source, &request)
    }

    fn request(&self, size: u64, min_alignment: u64, reach: Reach) -> Result<Request> {
        check_alignment(min_alignment)?;
        let alignment = min_alignment.max(self.params.memory.min_alignment).max(self.granule);
        if let PoolKind::FixedBlock { block_size, .. } = self.params.kind
            && (size > block_size || alignment > self.params.memory.min_alignment.max(self.granule))
        {
            return Err(Error::invalid_argument(format!(
                "{size} bytes aligned to {alignment} are no block of {}: its blocks have {block_size} bytes and are \
                 aligned to {}",
                self.describe(),
                self.params.memory.min_alignment.max(self.granule)
            )));
        }
        // Twice the alignment covers the rounding of any strategy.
        let bytes = size.max(1).checked_add(alignment).and_then(|bytes| bytes.checked_add(bytes / 16));
        if bytes.is_none_or(|bytes| i64::try_from(bytes).is_err()) {
            return Err(Error::resource_exhausted(format!(
                "{size} bytes aligned to {alignment} are more than an address space has"
            )));
        }
        Ok(Request { size, alignment, reach })
    }

    #[cold]
    fn acquire_slowly(self: &Arc<Self>, source: &Arc<dyn SlabSource>, request: &Request) -> Result<Acquire> {
        source.poll();
        let one_at_a_time = lock(&self.growing);
        let result = self.grow(source, request);
        drop(one_at_a_time);
        if result.is_err() {
            // Polling finds a lost device, and fails all its other work at once.
            source.poll();
        }
        result
    }

    fn grow(self: &Arc<Self>, source: &Arc<dyn SlabSource>, request: &Request) -> Result<Acquire> {
        let retired = |lane, epoch| source.has_retired(lane, epoch);
        let mut state = lock(&self.state);
        if let Some(taken) = state.strategy.take_thoroughly(request, &retired) {
            return self.place(state, source, taken, request, false);
        }
        let Some(growth) = state.strategy.growth(request) else {
            state.counts.exhausted += 1;
            let counts = state.counts;
            drop(state);
            return Ok(Acquire::Exhausted(self.exhausted(request, &counts)));
        };
        // Idle slabs must not use up the budget that the request needs.
        let over =
            (state.counts.bytes_reserved.saturating_add(growth.least)).saturating_sub(self.params.budget);
        let mut gone = Gone::new();
        if over > 0 {
            let keep = state.strategy.idle().saturating_sub(over);
            gone = state.give_back(keep, &retired);
        }
        let room = self.params.budget.saturating_sub(state.counts.bytes_reserved);
        if room < growth.least {
            state.counts.over_budget += 1;
            let counts = state.counts;
            drop(state);
            drop(gone);
            return Ok(Acquire::OverBudget(self.over_budget(request, growth.least, &counts)));
        }
        drop(state);
        drop(gone);
        let (slab, bytes) = self.allocate(source, growth.best.min(room), growth.least)?;
        let mut state = lock(&self.state);
        let base = slab.device_address();
        let key = state.slabs.insert((slab, bytes));
        state.counts.bytes_reserved += bytes;
        state.strategy.add(key as u32, base, bytes);
        let taken = state.strategy.take(request, &retired);
        let taken =
            taken.ok_or_else(|| Error::internal("a slab that was added for a request does not hold it"));
        self.place(state, source, taken?, request, true)
    }

    /// Allocates a slab of `best` bytes, or of `least` bytes if there is no memory for that.
    fn allocate(
        &self,
        source: &Arc<dyn SlabSource>,
        best: u64,
        least: u64,
    ) -> Result<(Arc<dyn driver::RawBuffer>, u64)> {
        let params = BufferParams { min_alignment: 0, ..self.params.memory };
        let attempt = |size| {
            let request = SlabRequest { size, params };
            source.allocate_slab(&request).map(|slab| (slab, size))
        };
        let result = attempt(best).or_else(|error| match error.code() {
            // Idle slabs of this pool may hold the missing memory.
            Code::ResourceExhausted if self.give_back_idle(source.as_ref()) => attempt(least),
            Code::ResourceExhausted if best > least => attempt(least),
            _ => Err(error),
        });
        let (slab, bytes) = match self.params.name.is_empty() {
            true => result?,
            false => result.context(|| format!("adding a slab to {}", self.describe()))?,
        };
        if slab.size() < bytes || !slab.device_address().is_multiple_of(self.granule) {
            return Err(Error::internal(format!(
                "the driver gave a slab of {} bytes at {:#x} for {bytes} bytes aligned to {}",
                slab.size(),
                slab.device_address(),
                self.granule
            )));
        }
        Ok((slab, bytes))
    }

    fn place(
        self: &Arc<Self>,
        mut state: MutexGuard<'_, SlabsState>,
        source: &Arc<dyn SlabSource>,
        taken: Taken,
        request: &Request,
        fresh: bool,
    ) -> Result<Acquire> {
        let Taken { place, death: birth } = taken;
        let size = request.size;
        let slab = state.slabs.get(place.slab as usize).map(|(slab, _)| slab.clone());
        let slab = slab.ok_or_else(|| Error::internal("a place in a slab that is gone"))?;
        let waits = request.reach.rank(&birth) == Some(Rank::Wait);
        let busy = state.counts.bytes_reserved - state.strategy.idle();
        state.most_busy = state.most_busy.max(busy);
        let counts = &mut state.counts;
        counts.bytes_used += size;
        counts.bytes_peak = counts.bytes_peak.max(counts.bytes_used);
        counts.bytes_held += place.held;
        counts.buffers += 1;
        match (fresh, waits) {
            (true, _) => counts.acquired_fresh += 1,
            (false, true) => counts.acquired_with_wait += 1,
            (false, false) => counts.acquired += 1,
        }
        drop(state);
        source.accounts().allocate(self.params.memory.memory_type, size);
        let placed = Arc::new(Placed {
            slab,
            place,
            size,
            birth,
            released: AtomicBool::new(false),
            slabs: self.clone(),
            source: source.clone(),
        });
        Ok(match (fresh, waits) {
            (true, _) => Acquire::OkFresh(placed),
            (false, true) => Acquire::NeedsWait(placed),
            (false, false) => Acquire::Ok(placed),
        })
    }

    /// Takes the memory of a buffer back.
    pub(super) fn release(&self, source: &dyn SlabSource, place: Place, size: u64, death: Frontier) {
        source.accounts().free(self.params.memory.memory_type, size);
        let usable = source.usable().is_ok();
        let mut state = lock(&self.state);
        let counts = &mut state.counts;
        counts.bytes_used -= size;
        counts.buffers -= 1;
        counts.released += 1;
        if !usable {
            // Work on a lost device may still write there.
            return;
        }
        counts.bytes_held -= place.held;
        let retired = |lane, epoch| source.has_retired(lane, epoch);
        state.strategy.put(place, death, &retired);
        let mut gone = Gone::new();
        // More than the program ever used at one time serves nobody: sizes that never come back would pile up.
        let retained = self.params.retained.min(state.most_busy);
        if state.strategy.idle() > retained {
            gone = state.give_back(retained, &retired);
        }
        drop(state);
        drop(gone);
    }

    /// Returns slabs to the device that hold no buffer and that no work uses. Returns whether there were any. Does not
    /// wait.
    pub fn trim(&self, source: &dyn SlabSource) -> bool {
        source.poll();
        source.usable().is_ok() && self.give_back_idle(source)
    }

    /// [`trim`](Self::trim) without polling: calls only `has_retired` of the source.
    pub fn give_back_idle(&self, source: &dyn SlabSource) -> bool {
        let mut state = lock(&self.state);
        let gone = state.give_back(0, &|lane, epoch| source.has_retired(lane, epoch));
        drop(state);
        !gone.is_empty()
    }

    /// The present counts.
    pub fn statistics(&self) -> PoolStatistics {
        let state = lock(&self.state);
        let mut counts = state.counts;
        counts.bytes_idle = state.strategy.idle();
        counts.slabs = state.slabs.len() as u64;
        counts
    }

    fn describe(&self) -> String {
        match self.params.name.as_str() {
            "" => format!("the {} pool", self.params.kind.name()),
            name => format!("the {} pool `{name}`", self.params.kind.name()),
        }
    }

    fn exhausted(&self, request: &Request, counts: &PoolStatistics) -> Error {
        Error::resource_exhausted(format!(
            "{} bytes of {}: its {} bytes are in use by {} buffers or by work in flight; release buffers, wait for \
             work, or make a larger pool",
            request.size,
            self.describe(),
            counts.bytes_reserved,
            counts.buffers
        ))
    }

    fn over_budget(&self, request: &Request, growth: u64, counts: &PoolStatistics) -> Error {
        Error::resource_exhausted(format!(
            "{} bytes of {}: {growth} bytes more would exceed its budget of {}, of which {} are taken and {} in use by \
             {} buffers; release buffers, or raise PoolParams::budget",
            request.size,
            self.describe(),
            self.params.budget,
            counts.bytes_reserved,
            counts.bytes_used,
            counts.buffers
        ))
    }
}

impl SlabsState {
    /// Takes out unused slabs without a buffer, except for `keep` bytes.
    fn give_back(&mut self, keep: u64, retired: &dyn Fn(u32, u64) -> bool) -> Gone {
        let keys = self.strategy.reclaim(keep, retired);
        let mut gone = Gone::with_capacity(keys.len());
        for key in keys {
            if let Some((slab, bytes)) = self.slabs.try_remove(key as usize) {
                self.counts.bytes_reserved -= bytes;
                self.counts.slabs_given_back += 1;
                gone.push(slab);
            }
        }
        gone
    }
}

fn check_alignment(alignment: u64) -> Result<()> {
    match alignment {
        0 => Ok(()),
        alignment if alignment.is_power_of_two() => Ok(()),
        _ => Err(Error::invalid_argument(format!("an alignment of {alignment} bytes is not a power of two"))),
    }
}

impl fmt::Debug for Slabs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slabs")
            .field("name", &self.params.name)
            .field("kind", &self.params.kind)
            .field("statistics", &self.statistics())
            .finish_non_exhaustive()
    }
}
