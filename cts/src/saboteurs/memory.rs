// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs of memory: its owners, its lifetime, and the host's view of it.

use std::{
    any::Any,
    ptr::NonNull,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
};

use windlass_hal::{
    Buffer, BufferParams, Error, Location, Operation, QueueAffinity, Result,
    driver::{self, HostPointer},
    edge::Domain,
};

use crate::pass::Pass;

use super::{
    executable::moved,
    sabotage::{Inner, LetsGo, Only, Sabotage, Submission, Submit, alone, lock, signal_all},
    transfer::whole,
};

type Raw = Arc<dyn driver::RawBuffer>;

saboteurs! {
    deallocas_at_once: "A dealloca frees the memory when it is submitted.",
        Only("queue_dealloca", |inner, s| {
            let (waits, signals) = (s.waits, s.signals);
            inner.pass(s.affinity, waits, signals, Operation::Barrier)?;
            Submission { waits: &[], signals: &[], ..s }.to(inner)
        }), ["alloca.counts_until_the_dealloca"];
    never_deallocas: "A dealloca frees nothing.",
        Only("queue_dealloca", |inner, s| Submission { operation: Operation::Barrier, ..s }.to(inner)),
        ["alloca.dealloca_returns_memory", "alloca.refused_after_the_dealloca"];
    keeps_what_is_deallocated: "Memory whose dealloca has run is not freed.",
        Only("queue_dealloca", |inner, s| {
            if let Operation::Dealloca { buffer } = &s.operation {
                std::mem::forget(buffer.clone());
            }
            Submission { operation: Operation::Barrier, ..s }.to(inner)
        }),
        [
            "alloca.dealloca_returns_memory", "pool.blocks_run_out_and_come_back", "pool.trim", "pool.counts",
        ];
    deallocas_what_failed: "A dealloca whose wait fails frees the memory.",
        Only("queue_dealloca", |inner, s| s.hold(inner, |inner, result, mut held| {
            let signals = std::mem::take(&mut held.signals);
            held.run(inner);
            signal_all(&signals, result);
        })), ["alloca.counts_until_the_dealloca"];
    refuses_deallocas_of_allocations: "A dealloca of memory that no queue allocated is refused.",
        Allocations::refusing(), ["alloca.dealloca_of_an_allocation", "operation.signals_dealloca"];
    gives_memory_twice: "An alloca gets the memory of another one that is in use.", Shares::while_in_use(),
        ["alloca.reuse_spares_work_in_flight", "alloca.dropped_without_dealloca"];
    reuses_too_soon: "An alloca gets memory whose dealloca was submitted and has not run.",
        Shares::once_released(),
        ["alloca.reuse_spares_work_in_flight", "alloca.failed_dealloca_keeps_memory"];
    allocations_overlap: "An allocation gets the memory of another one of its size.", Shares::allocations(),
        ["buffer.allocations_do_not_overlap", "alloca.pipelined"];
    ignores_alignment: "Requested alignments are ignored.", IgnoresAlignment,
        ["buffer.min_alignment_honoured", "alloca.alignment"];
    refuses_empty_allocations: "An allocation of no bytes is refused.", RefusesEmpty,
        ["buffer.empty_allocation"];
    allocates_too_little: "An allocation has at most 4096 bytes.", AtMost(4096),
        ["buffer.sizes_and_alignment", "buffer.statistics_count", "export.device_address"];
    allocations_are_a_byte_longer: "An allocation is a byte longer than requested.", Longer(|size| size + 1),
        ["buffer.subspan_bounds", "buffer.mapping_bounds", "transfer.update_length_mismatch_refused"];
    allocations_are_rounded_up: "The size of an allocation is rounded up to 64 bytes.",
        Longer(|size| size.next_multiple_of(64)), ["transfer.copy_length_mismatch_refused", "buffer.subspan_bounds"];
    allocations_begin_a_byte_late: "An allocation begins a byte after an aligned address.", Late,
        ["buffer.sizes_and_alignment", "transfer.fill_misaligned_refused"];
    allocates_what_does_not_fit: "An allocation that does not fit is made smaller instead of refused.", AtMost(1 << 26),
        ["buffer.too_large_is_exhausted", "alloca.too_large_is_exhausted"];
    exhausted_is_internal: "An allocation that does not fit is INTERNAL.", Refusal(|error| {
        Error::internal(error.to_string())
    }), ["buffer.too_large_is_exhausted", "alloca.too_large_is_exhausted"];
    exhausted_for_ever: "After an allocation that did not fit every allocation fails.", Exhausted::default(),
        ["buffer.too_large_is_exhausted", "alloca.too_large_is_exhausted"];
    keeps_all_memory: "Memory is never freed.", Keeps::default(),
        ["lifetime.completed_work_releases_buffers"];
    keeps_memory_of_copies: "The source of a copy is kept for ever.", KeepsCopies::default(),
        ["lifetime.completed_work_releases_buffers"];
    keeps_memory_of_failed_work: "The buffers of failed work are kept for ever.",
        Submit(|inner, s| {
            let kept = buffers(&s.operation);
            s.pass_then(inner, move |result, signals| {
                if result.is_err() {
                    std::mem::forget(kept);
                }
                signal_all(signals, result);
            })
        }), ["lifetime.failed_work_releases_buffers"];
    cannot_map: "Memory for the host cannot be mapped.", Maps(|_| None),
        [
            "buffer.mapping_reads_what_was_written", "buffer.mapping_of_subspan",
            "lifetime.mapping_outlives_device", "export.outlives_the_device", "export.empty_refused",
        ];
    maps_a_copy: "A mapping shows memory that the device does not see.", Maps(shadow),
        ["buffer.mapping_sees_device_writes", "buffer.device_sees_mapping_writes", "export.host_pointer"];
    mislocates_memory: "Memory for the host is said to be a GPU's own.", Mislocates, ["export.location"];
    lets_go_of_sources: "A copy or a write whose source has no other handle is forgotten.",
        LetsGo(|o| matches!(o, Operation::Copy { source, .. } | Operation::Write { source, .. } if alone([source]))),
        ["operation.keeps_copy", "operation.keeps_write", "lifetime.submission_keeps_buffers"];
}

/// The buffers that an operation names.
fn buffers(operation: &Operation) -> Vec<Buffer> {
    match operation {
        Operation::Fill { target, .. }
        | Operation::Update { target, .. }
        | Operation::Read { target, .. } => {
            vec![target.clone()]
        }
        Operation::Copy { source, target } => vec![source.clone(), target.clone()],
        _ => Vec::new(),
    }
}

/// Hands out memory a second time.
struct Shares {
    /// The memory that may be handed out again: its size, its parameters, and the allocation.
    known: Mutex<Vec<(u64, BufferParams, Raw)>>,
    what: Shared,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shared {
    Reserved,
    Released,
    Allocated,
}

impl Shares {
    fn while_in_use() -> Self {
        Self { known: Mutex::default(), what: Shared::Reserved }
    }

    fn once_released() -> Self {
        Self { known: Mutex::default(), what: Shared::Released }
    }

    fn allocations() -> Self {
        Self { known: Mutex::default(), what: Shared::Allocated }
    }

    fn known(&self, domain: Domain, params: &BufferParams, size: u64) -> Option<Raw> {
        let known = lock(&self.known);
        let fits = |(known_size, known_params, raw): &&(u64, BufferParams, Raw)| {
            (*known_size, known_params) == (size, params) && raw.domain() == domain
        };
        known.iter().rev().find(fits).map(|(_, _, raw)| raw.clone())
    }
}

impl Sabotage for Shares {
    fn allocate(&self, inner: &Inner, params: &BufferParams, size: u64) -> Result<Raw> {
        let mappable = params.usage.contains(windlass_hal::BufferUsage::MAPPING);
        if self.what != Shared::Allocated || mappable {
            return inner.allocate(params, size);
        }
        if let Some(raw) = self.known(inner.domain(), params, size) {
            return Ok(raw);
        }
        let raw = inner.allocate(params, size)?;
        lock(&self.known).push((size, *params, raw.clone()));
        Ok(raw)
    }

    fn reserve(
        &self,
        inner: &Inner,
        affinity: QueueAffinity,
        params: &BufferParams,
        size: u64,
    ) -> Result<Raw> {
        if self.what != Shared::Allocated
            && let Some(raw) = self.known(inner.domain(), params, size)
        {
            return Ok(raw);
        }
        let raw = inner.reserve(affinity, params, size)?;
        if self.what == Shared::Reserved {
            lock(&self.known).push((size, *params, raw.clone()));
        }
        Ok(raw)
    }

    fn submit(&self, inner: &Inner, s: Submission<'_>) -> Result<()> {
        if let (Shared::Released, Operation::Dealloca { buffer }) = (self.what, &s.operation) {
            lock(&self.known).push((buffer.len(), buffer.params(), buffer.raw().clone()));
        }
        s.to(inner)
    }
}

/// Remembers the buffers that queues allocated.
struct Allocations(Mutex<Vec<usize>>);

impl Allocations {
    fn refusing() -> Self {
        Self(Mutex::default())
    }
}

fn address(raw: &Raw) -> usize {
    Arc::as_ptr(raw).cast::<()>().addr()
}

impl Sabotage for Allocations {
    fn reserve(
        &self,
        inner: &Inner,
        affinity: QueueAffinity,
        params: &BufferParams,
        size: u64,
    ) -> Result<Raw> {
        let raw = inner.reserve(affinity, params, size)?;
        lock(&self.0).push(address(&raw));
        Ok(raw)
    }

    fn submit(&self, inner: &Inner, s: Submission<'_>) -> Result<()> {
        match &s.operation {
            Operation::Dealloca { buffer } if !lock(&self.0).contains(&address(buffer.raw())) => {
                Err(Error::invalid_argument("the buffer was not allocated on a queue"))
            }
            _ => s.to(inner),
        }
    }
}

struct IgnoresAlignment;

impl Sabotage for IgnoresAlignment {
    fn allocate(&self, inner: &Inner, params: &BufferParams, size: u64) -> Result<Raw> {
        // A page of padding, so that no allocation is aligned by luck.
        let padding = inner.allocate(&params.with_min_alignment(0), 1 << 12)?;
        let raw = inner.allocate(&params.with_min_alignment(0), size);
        drop(padding);
        raw
    }

    fn reserve(
        &self,
        inner: &Inner,
        affinity: QueueAffinity,
        params: &BufferParams,
        size: u64,
    ) -> Result<Raw> {
        inner.reserve(affinity, &params.with_min_alignment(0), size)
    }
}

struct RefusesEmpty;

impl Sabotage for RefusesEmpty {
    fn allocate(&self, inner: &Inner, params: &BufferParams, size: u64) -> Result<Raw> {
        match size {
            0 => Err(Error::invalid_argument("an allocation needs at least one byte")),
            _ => inner.allocate(params, size),
        }
    }
}

struct AtMost(u64);

impl Sabotage for AtMost {
    fn allocate(&self, inner: &Inner, params: &BufferParams, size: u64) -> Result<Raw> {
        inner.allocate(params, size.min(self.0))
    }

    fn reserve(
        &self,
        inner: &Inner,
        affinity: QueueAffinity,
        params: &BufferParams,
        size: u64,
    ) -> Result<Raw> {
        inner.reserve(affinity, params, size.min(self.0))
    }
}

struct Longer(fn(u64) -> u64);

impl Sabotage for Longer {
    fn allocate(&self, inner: &Inner, params: &BufferParams, size: u64) -> Result<Raw> {
        inner.allocate(params, (self.0)(size))
    }
}

struct Late;

impl Sabotage for Late {
    fn allocate(&self, inner: &Inner, params: &BufferParams, size: u64) -> Result<Raw> {
        let raw = inner.allocate(params, size + 1)?;
        Ok(moved(raw, |address| address + 1, |size| size - 1))
    }
}

struct Refusal(fn(Error) -> Error);

impl Sabotage for Refusal {
    fn allocate(&self, inner: &Inner, params: &BufferParams, size: u64) -> Result<Raw> {
        inner.allocate(params, size).map_err(self.0)
    }

    fn reserve(
        &self,
        inner: &Inner,
        affinity: QueueAffinity,
        params: &BufferParams,
        size: u64,
    ) -> Result<Raw> {
        inner.reserve(affinity, params, size).map_err(self.0)
    }
}

#[derive(Default)]
struct Exhausted(AtomicBool);

impl Exhausted {
    fn note(&self, allocate: impl FnOnce() -> Result<Raw>) -> Result<Raw> {
        if self.0.load(Ordering::Acquire) {
            return Err(Error::resource_exhausted("memory ran out once"));
        }
        allocate().inspect_err(|_| self.0.store(true, Ordering::Release))
    }
}

impl Sabotage for Exhausted {
    fn allocate(&self, inner: &Inner, params: &BufferParams, size: u64) -> Result<Raw> {
        self.note(|| inner.allocate(params, size))
    }

    fn reserve(
        &self,
        inner: &Inner,
        affinity: QueueAffinity,
        params: &BufferParams,
        size: u64,
    ) -> Result<Raw> {
        self.note(|| inner.reserve(affinity, params, size))
    }
}

#[derive(Default)]
struct Keeps(Mutex<Vec<Raw>>);

impl Sabotage for Keeps {
    fn allocate(&self, inner: &Inner, params: &BufferParams, size: u64) -> Result<Raw> {
        inner.allocate(params, size).inspect(|raw| lock(&self.0).push(raw.clone()))
    }

    fn reserve(
        &self,
        inner: &Inner,
        affinity: QueueAffinity,
        params: &BufferParams,
        size: u64,
    ) -> Result<Raw> {
        inner.reserve(affinity, params, size).inspect(|raw| lock(&self.0).push(raw.clone()))
    }
}

#[derive(Default)]
struct KeepsCopies(Mutex<Vec<Buffer>>);

impl Sabotage for KeepsCopies {
    fn submit(&self, inner: &Inner, s: Submission<'_>) -> Result<()> {
        if let Operation::Copy { source, .. } = &s.operation {
            lock(&self.0).push(whole(source));
        }
        s.to(inner)
    }
}

/// Changes the host's view of mappable memory.
struct Maps(fn(&Raw) -> Option<Shadow>);

impl Sabotage for Maps {
    fn allocate(&self, inner: &Inner, params: &BufferParams, size: u64) -> Result<Raw> {
        let raw = inner.allocate(params, size)?;
        if raw.host_pointer().is_none() {
            return Ok(raw);
        }
        Ok(Arc::new(Mapped { shadow: (self.0)(&raw), raw }))
    }
}

/// Gives memory for the host the location of a GPU's own.
struct Mislocates;

impl Sabotage for Mislocates {
    fn allocate(&self, inner: &Inner, params: &BufferParams, size: u64) -> Result<Raw> {
        let raw = inner.allocate(params, size)?;
        Ok(if raw.host_pointer().is_some() { Arc::new(Mislocated(raw)) } else { raw })
    }
}

struct Mislocated(Raw);

// SAFETY: size, address and pointer are those of the buffer that this keeps.
unsafe impl driver::RawBuffer for Mislocated {
    fn domain(&self) -> Domain {
        self.0.domain()
    }

    fn size(&self) -> u64 {
        self.0.size()
    }

    fn device_address(&self) -> u64 {
        self.0.device_address()
    }

    fn host_pointer(&self) -> Option<HostPointer> {
        self.0.host_pointer()
    }

    fn location(&self) -> Option<Location> {
        Some(Location::Rocm(0))
    }

    fn as_any(&self) -> &dyn Any {
        self.0.as_any()
    }
}

type Shadow = Box<[AtomicU8]>;

fn shadow(raw: &Raw) -> Option<Shadow> {
    Some((0..raw.size()).map(|_| AtomicU8::new(0)).collect())
}

/// A buffer with other memory for the host than for the device, or with none for the host.
struct Mapped {
    raw: Raw,
    shadow: Option<Shadow>,
}

// SAFETY: size and address are those of the buffer that this keeps. The pointer is to as many bytes, which live as
// long as this object. The bytes are not the device's own, which is the fault of this saboteur, but no access goes
// out of bounds.
unsafe impl driver::RawBuffer for Mapped {
    fn domain(&self) -> Domain {
        self.raw.domain()
    }

    fn size(&self) -> u64 {
        self.raw.size()
    }

    fn device_address(&self) -> u64 {
        self.raw.device_address()
    }

    fn host_pointer(&self) -> Option<HostPointer> {
        let start = NonNull::from(&**self.shadow.as_ref()?).cast();
        // SAFETY: the slice has as many bytes as the buffer, lives as long, and never moves. Atomics may be written
        // through a shared pointer, and all references to them are to atomics.
        Some(unsafe { HostPointer::new(start) })
    }

    fn as_any(&self) -> &dyn Any {
        self.raw.as_any()
    }
}
