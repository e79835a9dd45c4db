// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs of memory that grows.

use std::sync::{Arc, Mutex};

use windlass_hal::{
    Buffer, BufferParams, Deadline, Error, Operation, Pattern, QueueAffinity, Result, Semaphore, driver,
    edge::Domain,
};

use crate::pass::Pass;

use super::sabotage::{Inner, Sabotage, Submission, lock};

type Raw = Arc<dyn driver::RawGrowable>;

saboteurs! {
    grows_elsewhere: "A buffer of memory that grows is a new allocation.", Grows(Grown {
        buffer: |grown, _, length| grown.inner.allocate(&BufferParams::device(), length.max(1)),
        ..FAITHFUL
    }), [
        "growable.grows_in_place", "growable.buffers_have_their_range", "growable.kept_pages_come_back",
        "growable.shrinks_and_grows", "growable.dealloca_is_a_barrier",
    ];
    never_grows: "Growing does nothing.", Grows(Grown { grow: |_, _| Ok(()), ..FAITHFUL }),
        ["growable.sizes", "growable.grows_on_many_threads", "growable.outlives_the_device", "growable.counted"];
    grows_a_granule_too_far: "Growing takes a granule more than needed.", Grows(Grown {
        grow: |grown, size| {
            let more = size.saturating_add(grown.raw.granularity()).min(grown.raw.capacity());
            grown.raw.grow_to(if size == 0 { 0 } else { more })
        },
        ..FAITHFUL
    }), ["growable.sizes", "growable.counted"];
    clears_what_grows: "Growing clears all memory.", Grows(Grown {
        grow: |grown, size| grown.raw.grow_to(size).and_then(|()| grown.fill(0, grown.raw.size(), 0)),
        ..FAITHFUL
    }), ["growable.grows_in_place", "growable.shrinks_and_grows"];
    never_shrinks: "Shrinking does nothing.", Grows(Grown { shrink: |_, _| Ok(()), ..FAITHFUL }),
        ["growable.shrinks_and_grows", "growable.counted"];
    shrinks_what_is_used: "Shrinking clears the memory that it takes, although buffers keep it.", Grows(Grown {
        shrink: |grown, size| {
            let end = grown.raw.size();
            grown.fill(size.min(end), end, 0)?;
            grown.raw.shrink_to(size)
        },
        ..FAITHFUL
    }), ["growable.kept_pages_come_back", "growable.work_keeps_its_pages"];
    exhausted_grows_a_little: "A growth that does not fit takes a part.", Grows(Grown {
        grow: |grown, size| grown.raw.grow_to(size).inspect_err(|_| {
            let _ = grown.raw.grow_to(grown.raw.size() + grown.raw.granularity());
        }),
        ..FAITHFUL
    }), ["growable.exhausted_changes_nothing"];
    exhausted_growth_is_internal: "A growth that does not fit is INTERNAL.", Grows(Grown {
        grow: |grown, size| grown.raw.grow_to(size).map_err(|error| Error::internal(error.to_string())),
        ..FAITHFUL
    }), ["growable.exhausted_changes_nothing"];
    reserves_as_internal: "A capacity that does not fit is INTERNAL.", Reserves(|inner, params, capacity| {
        inner.reserve_growable(params, capacity).map_err(|error| Error::internal(error.to_string()))
    }), ["growable.capacity_refused"];
    keeps_what_grew: "Memory that grows is never given back.", Reserves(|inner, params, capacity| {
        inner.reserve_growable(params, capacity).inspect(|raw| std::mem::forget(raw.clone()))
    }), ["growable.counted"];
    skips_kernels_over_growths: "A kernel with a range over several growths does not run.",
        SkipsKernels::default(), ["growable.kernels_see_the_new_part"];
    cuts_work_at_growths: "Work on ranges over several growths ends at the first granule.", Cuts::default(),
        [
            "growable.transfers_cross_growths", "growable.grows_beside_work", "growable.in_command_buffers",
        ];
}

/// A step of memory that grows, and a saboteur's change of it.
#[derive(Clone, Copy)]
struct Grown {
    grow: fn(&Sabotaged, u64) -> Result<()>,
    shrink: fn(&Sabotaged, u64) -> Result<()>,
    buffer: fn(&Sabotaged, u64, u64) -> Result<Arc<dyn driver::RawBuffer>>,
}

const FAITHFUL: Grown = Grown {
    grow: |grown, size| grown.raw.grow_to(size),
    shrink: |grown, size| grown.raw.shrink_to(size),
    buffer: |grown, offset, length| grown.raw.clone().buffer(offset, length),
};

struct Grows(Grown);

impl Sabotage for Grows {
    fn reserve_growable(&self, inner: &Inner, params: &BufferParams, capacity: u64) -> Result<Raw> {
        let raw = inner.reserve_growable(params, capacity)?;
        Ok(Arc::new(Sabotaged { raw, inner: inner.clone(), how: self.0 }))
    }
}

struct Reserves(fn(&Inner, &BufferParams, u64) -> Result<Raw>);

impl Sabotage for Reserves {
    fn reserve_growable(&self, inner: &Inner, params: &BufferParams, capacity: u64) -> Result<Raw> {
        (self.0)(inner, params, capacity)
    }
}

/// Memory that grows, behind a saboteur.
struct Sabotaged {
    raw: Raw,
    inner: Inner,
    how: Grown,
}

impl Sabotaged {
    /// Fills a range, and waits for it.
    fn fill(&self, start: u64, end: u64, byte: u8) -> Result<()> {
        if start == end {
            return Ok(());
        }
        let buffer = self.raw.clone().buffer(start, end - start)?;
        let (target, done) = (Buffer::from_driver(buffer, BufferParams::device()), Semaphore::new(0));
        let operation = Operation::Fill { target, pattern: Pattern::from(byte) };
        self.inner.pass(QueueAffinity::ANY, &[], &[done.at(1)], operation)?;
        done.wait_blocking(1, Deadline::NEVER)
    }
}

// SAFETY: everything is that of the memory that this keeps, or of another allocation of the device.
unsafe impl driver::RawGrowable for Sabotaged {
    fn domain(&self) -> Domain {
        self.raw.domain()
    }
    fn device_address(&self) -> u64 {
        self.raw.device_address()
    }
    fn capacity(&self) -> u64 {
        self.raw.capacity()
    }
    fn granularity(&self) -> u64 {
        self.raw.granularity()
    }
    fn size(&self) -> u64 {
        self.raw.size()
    }
    fn grow_to(&self, size: u64) -> Result<()> {
        (self.how.grow)(self, size)
    }
    fn shrink_to(&self, size: u64) -> Result<()> {
        (self.how.shrink)(self, size)
    }
    fn buffer(self: Arc<Self>, offset: u64, length: u64) -> Result<Arc<dyn driver::RawBuffer>> {
        (self.how.buffer)(&self, offset, length)
    }
}

/// Shortens transfers to the first granule that they touch.
#[derive(Default)]
struct Cuts {
    /// Address, capacity and granularity of each reservation.
    known: Mutex<Vec<(u64, u64, u64)>>,
}

impl Cuts {
    fn cut(&self, buffer: &Buffer) -> Option<u64> {
        let known = lock(&self.known);
        let address = buffer.device_address();
        let (start, _, granule) =
            known.iter().rev().find(|(start, size, _)| (*start..start + size).contains(&address))?;
        let left = granule - (address - start) % granule;
        (buffer.len() > left).then_some(left)
    }
}

impl Sabotage for Cuts {
    fn reserve_growable(&self, inner: &Inner, params: &BufferParams, capacity: u64) -> Result<Raw> {
        let raw = inner.reserve_growable(params, capacity)?;
        lock(&self.known).push((raw.device_address(), raw.capacity(), raw.granularity()));
        Ok(raw)
    }

    fn submit(&self, inner: &Inner, mut s: Submission<'_>) -> Result<()> {
        match &mut s.operation {
            Operation::Fill { target, .. } => {
                if let Some(left) = self.cut(target) {
                    *target = target.subspan(0, left)?;
                }
            }
            Operation::Copy { source, target } => {
                if let Some(left) = self.cut(source).or_else(|| self.cut(target)) {
                    (*source, *target) = (source.subspan(0, left)?, target.subspan(0, left)?);
                }
            }
            Operation::Execute { bindings, .. }
                if bindings.iter().any(|buffer| self.cut(buffer).is_some()) =>
            {
                s.operation = Operation::Barrier;
            }
            _ => {}
        }
        s.to(inner)
    }
}

/// Does not run kernels whose buffers reach over a granule.
#[derive(Default)]
struct SkipsKernels(Cuts);

impl Sabotage for SkipsKernels {
    fn reserve_growable(&self, inner: &Inner, params: &BufferParams, capacity: u64) -> Result<Raw> {
        self.0.reserve_growable(inner, params, capacity)
    }

    fn submit(&self, inner: &Inner, mut s: Submission<'_>) -> Result<()> {
        if let Operation::Dispatch(dispatch) = &s.operation
            && dispatch.resources.iter().any(|buffer| self.0.cut(buffer).is_some())
        {
            s.operation = Operation::Barrier;
        }
        s.to(inner)
    }
}
