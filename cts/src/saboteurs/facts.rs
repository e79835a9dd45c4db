// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs of facts and of occupancy.

use std::{
    any::Any,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

use windlass_hal::{
    DeviceFacts, FunctionInfo, GlobalInfo, Occupancy, QueueAffinity, Result, SuggestedWorkgroup, driver,
    edge::Domain,
};

use super::{
    executable::reflected,
    sabotage::{Inner, Sabotage, load, lock},
};

saboteurs! {
    tells_another_wave_size: "The facts tell waves of 7 work-items.", Tells(|facts| facts.wave_size = Some(7)),
        ["facts.agree_with_the_limits"];
    invents_memory: "The facts tell a byte too much memory.",
        Tells(|facts| facts.total_memory_bytes = facts.total_memory_bytes.map(|bytes| bytes + 1)),
        ["facts.memory_adds_up"];
    frees_too_much: "More memory is free than there is.",
        Tells(|facts| facts.free_memory_bytes = facts.total_memory_bytes.map(|bytes| bytes + 1)),
        ["facts.memory_adds_up", "facts.free_memory_is_that_of_now"];
    remembers_free_memory: "The free memory is that of the first question.", Remembers::default(),
        ["facts.free_memory_is_that_of_now"];
    clocks_drift: "The clock rate differs whenever it is asked.", Drifts(AtomicU32::new(1)), ["facts.stay"];
    takes_all_registers: "Functions take more vector registers than the device has, in waves of 7 work-items.",
        Registers, ["facts.resources_of_functions"];
    nothing_fits: "No workgroup fits a compute unit.", Fits(|_, _| 0), ["facts.occupancy"];
    larger_workgroups_fit_better: "More workgroups fit a compute unit when they are larger.",
        Fits(|_, threads| threads), ["facts.occupancy"];
    suggests_too_many_threads: "The suggested workgroup has 2^20 work-items.", Suggests(|_| {
        SuggestedWorkgroup::new(1 << 20, 1)
    }), ["facts.suggested_workgroup_runs"];
    suggests_nothing: "The suggested workgroup has no work-items.", Suggests(|_| SuggestedWorkgroup::default()),
        ["facts.suggested_workgroup_runs"];
}

struct Tells(fn(&mut DeviceFacts));

impl Sabotage for Tells {
    fn facts(&self, inner: &Inner, physical_device: u32) -> Result<DeviceFacts> {
        let mut facts = inner.facts(physical_device)?;
        (self.0)(&mut facts);
        Ok(facts)
    }
}

#[derive(Default)]
struct Remembers(Mutex<Option<u64>>);

impl Sabotage for Remembers {
    fn facts(&self, inner: &Inner, physical_device: u32) -> Result<DeviceFacts> {
        let mut facts = inner.facts(physical_device)?;
        let now = facts.free_memory_bytes.unwrap_or_default();
        facts.free_memory_bytes = Some(*lock(&self.0).get_or_insert(now));
        Ok(facts)
    }
}

struct Drifts(AtomicU32);

impl Sabotage for Drifts {
    fn facts(&self, inner: &Inner, physical_device: u32) -> Result<DeviceFacts> {
        let mut facts = inner.facts(physical_device)?;
        facts.core_clock_khz = Some(self.0.fetch_add(1, Relaxed));
        Ok(facts)
    }
}

struct Registers;

impl Sabotage for Registers {
    fn load(&self, inner: &Inner, code: &[u8]) -> Result<Arc<dyn driver::RawExecutable>> {
        reflected(inner, code, |functions| {
            for function in functions {
                function.resources.vector_registers = Some(1 << 20);
                function.resources.wave_size = Some(7);
            }
        })
    }
}

struct Fits(fn(Occupancy, u32) -> u32);

impl Sabotage for Fits {
    fn load(&self, inner: &Inner, code: &[u8]) -> Result<Arc<dyn driver::RawExecutable>> {
        let raw = load(inner, code)?;
        Ok(Arc::new(Occupied { raw, fits: self.0, suggests: |suggested| suggested }))
    }
}

struct Suggests(fn(SuggestedWorkgroup) -> SuggestedWorkgroup);

impl Sabotage for Suggests {
    fn load(&self, inner: &Inner, code: &[u8]) -> Result<Arc<dyn driver::RawExecutable>> {
        let fits = |found: Occupancy, _| found.workgroups_per_compute_unit;
        Ok(Arc::new(Occupied { raw: load(inner, code)?, fits, suggests: self.0 }))
    }
}

struct Occupied {
    raw: Arc<dyn driver::RawExecutable>,
    fits: fn(Occupancy, u32) -> u32,
    suggests: fn(SuggestedWorkgroup) -> SuggestedWorkgroup,
}

// SAFETY: the descriptions are forwarded with the code.
unsafe impl driver::RawExecutable for Occupied {
    fn domain(&self) -> Domain {
        self.raw.domain()
    }

    fn functions(&self) -> &[FunctionInfo] {
        self.raw.functions()
    }

    fn globals(&self) -> &[GlobalInfo] {
        self.raw.globals()
    }

    fn occupancy(
        &self,
        function: u32,
        affinity: QueueAffinity,
        threads: u32,
        dynamic_local_memory: u32,
    ) -> Result<Occupancy> {
        let found = self.raw.occupancy(function, affinity, threads, dynamic_local_memory)?;
        Ok(Occupancy::new((self.fits)(found, threads)))
    }

    fn suggested_workgroup(
        &self,
        function: u32,
        affinity: QueueAffinity,
        dynamic_local_memory: u32,
    ) -> Result<SuggestedWorkgroup> {
        self.raw.suggested_workgroup(function, affinity, dynamic_local_memory).map(self.suggests)
    }

    fn as_any(&self) -> &dyn Any {
        self.raw.as_any()
    }
}
