// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs of what a device says of its memory, and of trimming.

use std::{
    mem::swap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
};

use windlass_hal::{BufferParams, Result, Statistics, driver};

use super::sabotage::{Inner, Sabotage};

saboteurs! {
    statistics_are_zero: "Statistics count nothing.", Counts(|statistics| *statistics = Statistics::default()),
        ["buffer.statistics_count", "alloca.dealloca_returns_memory", "statistics.host_and_device_apart", "export.keeps_the_memory"];
    statistics_never_fall: "Statistics count what is in use only upwards.",
        Counts(|statistics| statistics.device_bytes_used = statistics.device_bytes_peak),
        ["buffer.statistics_count", "alloca.dealloca_of_an_allocation", "alloca.released_on_another_queue"];
    statistics_forget_the_peak: "The peak of the statistics falls with the use.",
        Counts(|statistics| statistics.device_bytes_peak = statistics.device_bytes_used),
        ["buffer.statistics_count", "statistics.peak_is_the_greatest"];
    statistics_miscount: "Statistics count one allocation too many.",
        Counts(|statistics| statistics.allocations += u64::from(statistics.device_bytes_used > 0)),
        ["buffer.statistics_count"];
    statistics_swap_kinds: "Statistics count device memory as the host's, and the other way round.",
        Counts(|statistics| {
            swap(&mut statistics.device_bytes_used, &mut statistics.host_bytes_used);
            swap(&mut statistics.device_bytes_peak, &mut statistics.host_bytes_peak);
            swap(&mut statistics.device_bytes_allocated, &mut statistics.host_bytes_allocated);
            swap(&mut statistics.device_bytes_freed, &mut statistics.host_bytes_freed);
        }), ["statistics.host_and_device_apart"];
    statistics_round_up: "Statistics count bytes in pages.",
        Counts(|statistics| {
            for bytes in [&mut statistics.device_bytes_used, &mut statistics.host_bytes_used] {
                *bytes = bytes.next_multiple_of(4096);
            }
        }), ["statistics.sizes_as_asked"];
    statistics_forget_what_was_freed: "Statistics do not count what was freed.",
        Counts(|statistics| {
            statistics.device_bytes_freed = 0;
            statistics.host_bytes_freed = 0;
        }), ["statistics.allocated_less_freed_is_used", "statistics.counts_of_many_threads"];
    statistics_count_allocations_upwards: "Statistics count allocations, and never one less.",
        Upwards::default(), ["statistics.subspans_count_nothing"];
    statistics_of_all_devices: "Statistics count what every device of the driver allocates.",
        OfAll::default(), ["statistics.devices_apart"];
    never_trims: "Trimming does nothing.", Trims(|_| {}, AtomicBool::new(false)), ["statistics.trim_gives_back"];
    trims_the_counts: "Trimming begins the counts anew.",
        Trims(|statistics| statistics.host_bytes_allocated = 0, AtomicBool::new(false)),
        ["statistics.trim_spares_what_is_used", "statistics.trim_gives_back"];
}

struct Counts(fn(&mut Statistics));

impl Sabotage for Counts {
    fn statistics(&self, inner: &Inner) -> Statistics {
        let mut statistics = inner.statistics();
        (self.0)(&mut statistics);
        statistics
    }
}

/// The most allocations that were ever told.
#[derive(Default)]
struct Upwards(AtomicU64);

impl Sabotage for Upwards {
    fn statistics(&self, inner: &Inner) -> Statistics {
        let mut statistics = inner.statistics();
        let before = self.0.fetch_max(statistics.allocations, Relaxed);
        statistics.allocations = statistics.allocations.max(before);
        statistics
    }
}

/// Bytes that any device allocated.
#[derive(Default)]
struct OfAll(AtomicU64);

impl Sabotage for OfAll {
    fn allocate(
        &self,
        inner: &Inner,
        params: &BufferParams,
        size: u64,
    ) -> Result<Arc<dyn driver::RawBuffer>> {
        inner.allocate(params, size).inspect(|_| {
            self.0.fetch_add(size, Relaxed);
        })
    }

    fn statistics(&self, inner: &Inner) -> Statistics {
        let mut statistics = inner.statistics();
        statistics.device_bytes_allocated = self.0.load(Relaxed);
        statistics
    }
}

/// Does not trim, and changes the statistics once it should have.
struct Trims(fn(&mut Statistics), AtomicBool);

impl Sabotage for Trims {
    fn trim(&self, _inner: &Inner) {
        self.1.store(true, Relaxed);
    }

    fn statistics(&self, inner: &Inner) -> Statistics {
        let mut statistics = inner.statistics();
        if self.1.load(Relaxed) {
            (self.0)(&mut statistics);
        }
        statistics
    }
}
