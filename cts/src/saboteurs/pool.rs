// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs of what pools place their buffers in.

use std::{
    ops::Range,
    sync::{Arc, Mutex},
};

use windlass_hal::{
    Accounts, Buffer, BufferParams, Operation, Result, driver,
    pool::{SlabRequest, SlabSource},
};

use super::sabotage::{Inner, Sabotage, Submission, lock};

type Slab = Arc<dyn driver::RawBuffer>;

saboteurs! {
    forgets_work_on_pools: "Transfers that touch a pool's memory are forgotten.", Forgets::default(),
        ["pool.tlsf", "pool.fixed_block", "pool.passthrough", "pool.outlives_its_handle"];
    gives_a_slab_twice: "A pool gets memory that it has already, or that another one has.", Twice::default(),
        ["pool.neighbours_do_not_overlap"];
}

/// Remembers where the memory of pools lies.
#[derive(Default)]
struct Forgets(Arc<Mutex<Vec<Range<u64>>>>);

impl Sabotage for Forgets {
    fn memory(&self, inner: &Inner) -> Arc<dyn SlabSource> {
        let places = self.0.clone();
        Slabs::of(inner, move |source, request| {
            let slab = source.allocate_slab(request)?;
            let start = slab.device_address();
            lock(&places).push(start..start + slab.size());
            Ok(slab)
        })
    }

    fn submit(&self, inner: &Inner, mut s: Submission<'_>) -> Result<()> {
        let touches =
            |buffer: &Buffer| lock(&self.0).iter().any(|place| place.contains(&buffer.device_address()));
        let forgotten = match &s.operation {
            Operation::Fill { target, .. } => touches(target),
            Operation::Copy { source, target } => touches(source) || touches(target),
            _ => false,
        };
        if forgotten {
            s.operation = Operation::Barrier;
        }
        s.to(inner)
    }
}

/// Remembers every slab.
#[derive(Default)]
struct Twice(Arc<Mutex<Vec<(u64, BufferParams, Slab)>>>);

impl Sabotage for Twice {
    fn memory(&self, inner: &Inner) -> Arc<dyn SlabSource> {
        let (known, domain) = (self.0.clone(), inner.domain());
        Slabs::of(inner, move |source, request| {
            let mut known = lock(&known);
            let fits = |(size, params, slab): &&(u64, BufferParams, Slab)| {
                (*size, *params) == (request.size, request.params) && slab.domain() == domain
            };
            if let Some((_, _, slab)) = known.iter().find(fits) {
                return Ok(slab.clone());
            }
            let slab = source.allocate_slab(request)?;
            known.push((request.size, request.params, slab.clone()));
            Ok(slab)
        })
    }
}

/// A device's memory, for pools, with another way to allocate.
struct Slabs<A> {
    source: Arc<dyn SlabSource>,
    allocate: A,
}

impl<A> Slabs<A>
where
    A: Fn(&dyn SlabSource, &SlabRequest) -> Result<Slab> + Send + Sync + 'static,
{
    fn of(inner: &Inner, allocate: A) -> Arc<dyn SlabSource> {
        Arc::new(Self { source: inner.memory(), allocate })
    }
}

impl<A> SlabSource for Slabs<A>
where
    A: Fn(&dyn SlabSource, &SlabRequest) -> Result<Slab> + Send + Sync + 'static,
{
    fn allocate_slab(&self, request: &SlabRequest) -> Result<Slab> {
        (self.allocate)(self.source.as_ref(), request)
    }

    fn has_retired(&self, lane: u32, epoch: u64) -> bool {
        self.source.has_retired(lane, epoch)
    }

    fn poll(&self) {
        self.source.poll();
    }

    fn usable(&self) -> Result<()> {
        self.source.usable()
    }

    fn accounts(&self) -> &Accounts {
        self.source.accounts()
    }
}
