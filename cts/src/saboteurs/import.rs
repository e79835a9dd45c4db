// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs of imports: whose memory they show, and when it is given back.

use std::sync::{Arc, Mutex};

use windlass_hal::{
    BufferParams, BufferUsage, Error, External, Operation, Release, Result, Statistics, driver,
};

use super::{
    device::Allows,
    sabotage::{Inner, Sabotage, Submission, import, lock},
};

type Raw = Arc<dyn driver::RawBuffer>;

saboteurs! {
    imports_a_copy: "An import of host memory is other memory of the same size.",
        Imports(|inner, params, memory, release| match memory {
            External::Host { size, .. } => {
                std::mem::forget(release);
                inner.allocate(params, size)
            }
            memory => import(inner, params, memory, release),
        }),
        [
            "import.contents", "import.written_by_transfers", "import.read_by_transfers", "import.mapped",
            "import.any_alignment", "import.subspans", "import.table", "import.overlaps",
            "import.usage_is_enforced",
        ];
    imports_other_device_memory: "An import of a device address is other memory of the same size.",
        Imports(|inner, params, memory, release| match memory {
            External::Device { size, .. } => {
                release.run();
                inner.allocate(params, size)
            }
            memory => import(inner, params, memory, release),
        }), ["export.round_trip", "export.round_trip_of_a_part", "export.import_released"];
    imports_the_first_half: "An import is half as long as was asked for.",
        Imports(|inner, params, memory, release| import(inner, params, half(memory), release)),
        ["import.contents", "export.round_trip"];
    never_releases_imports: "The release of an import is forgotten.",
        Imports(|inner, params, memory, release| {
            std::mem::forget(release);
            import(inner, params, memory, Release::new(|| {}))
        }),
        [
            "import.released_with_the_last_handle", "import.released_after_the_work",
            "import.released_after_failed_work", "import.released_by_a_command_buffer",
            "import.released_after_the_device", "import.released_on_many_threads", "import.imported_again",
            "export.import_released",
        ];
    releases_imports_at_once: "An import is given back to its owner as soon as it is made.",
        Imports(|inner, params, memory, release| {
            // The cases that catch it keep the memory themselves until no work can reach it.
            let imported = import(inner, params, memory, Release::new(|| {}));
            release.run();
            imported
        }),
        [
            "import.released_with_the_last_handle", "import.released_after_the_work",
            "import.released_by_a_command_buffer", "import.released_after_the_device",
            "import.dealloca_is_a_barrier", "export.import_released",
        ];
    refuses_to_import: "Imports are UNIMPLEMENTED without a declared lack.",
        Imports(|_, _, memory, _| Err(Error::unimplemented(format!("importing {memory:?}")))),
        ["import.contents", "import.argument", "export.round_trip", "export.imported_argument", "import.misaligned_refused",
        "import.belongs_to_its_device", "export.imported_by_another_device"];
    imports_aligned_memory_alone: "An import must begin at a multiple of 4096 bytes.",
        Imports(|inner, params, memory, release| match memory.address() % 4096 {
            0 => import(inner, params, memory, release),
            _ => Err(Error::invalid_argument("the memory is not aligned to a page")),
        }), ["import.any_alignment"];
    counts_imports: "Statistics count imports as allocations.", CountsImports::default(),
        ["import.not_counted"];
    refuses_deallocas_of_imports: "A dealloca of an import is refused.", Deallocas::default(),
        ["import.dealloca_is_a_barrier"];
    knows_no_heaps: "A device has no heaps.", Allows(|limits| limits.heaps.clear()),
        ["heap.kinds", "heap.alignment_holds", "heap.allocatable_is_allocated", "heap.importable_without_a_lack", "heap.a_wish_is_low_performance"];
    heaps_are_small: "Every heap is said to take a kilobyte at most.",
        Allows(|limits| limits.heaps.iter_mut().for_each(|heap| heap.max_size = 1 << 10)),
        ["heap.allocatable_is_allocated", "heap.too_large_is_nothing"];
    heaps_align_wildly: "Heaps promise an alignment that allocations do not have.",
        Allows(|limits| limits.heaps.iter_mut().for_each(|heap| heap.min_alignment = 1 << 30)),
        ["heap.alignment_holds"];
    heaps_have_odd_alignments: "Heaps have an alignment that is no power of two.",
        Allows(|limits| limits.heaps.iter_mut().for_each(|heap| heap.min_alignment = 768)), ["heap.kinds"];
    heaps_take_no_transfers: "Heaps are said to take no transfers and no dispatches.",
        Allows(|limits| limits.heaps.iter_mut().for_each(|heap| heap.usage = BufferUsage::MAPPING)),
        ["heap.kinds", "heap.transfer_and_dispatch_by_usage"];
}

/// Changes imports.
struct Imports(fn(&Inner, &BufferParams, External, Release) -> Result<Raw>);

impl Sabotage for Imports {
    fn import(
        &self,
        inner: &Inner,
        params: &BufferParams,
        memory: External,
        release: Release,
    ) -> Result<Raw> {
        (self.0)(inner, params, memory, release)
    }
}

/// What was imported so far.
#[derive(Default)]
struct CountsImports(Mutex<u64>);

impl Sabotage for CountsImports {
    fn import(
        &self,
        inner: &Inner,
        params: &BufferParams,
        memory: External,
        release: Release,
    ) -> Result<Raw> {
        *lock(&self.0) += memory.size();
        import(inner, params, memory, release)
    }

    fn statistics(&self, inner: &Inner) -> Statistics {
        let mut statistics = inner.statistics();
        statistics.host_bytes_used += *lock(&self.0);
        statistics
    }
}

/// The addresses of imports.
#[derive(Default)]
struct Deallocas(Mutex<Vec<u64>>);

impl Sabotage for Deallocas {
    fn import(
        &self,
        inner: &Inner,
        params: &BufferParams,
        memory: External,
        release: Release,
    ) -> Result<Raw> {
        let imported = import(inner, params, memory, release)?;
        lock(&self.0).push(imported.device_address());
        Ok(imported)
    }

    fn submit(&self, inner: &Inner, s: Submission<'_>) -> Result<()> {
        match &s.operation {
            Operation::Dealloca { buffer } if lock(&self.0).contains(&buffer.device_address()) => {
                Err(Error::invalid_argument("the buffer was imported"))
            }
            _ => s.to(inner),
        }
    }
}

fn half(memory: External) -> External {
    match memory {
        External::Host { pointer, size } => External::Host { pointer, size: size.div_ceil(2) },
        External::Device { address, size } => External::Device { address, size: size.div_ceil(2) },
        other => other,
    }
}
