// SPDX-License-Identifier: MIT OR Apache-2.0
//! Executables: the place of device code. This driver runs no code, and each method shows the contract that it would
//! keep.

use std::{any::Any, sync::Arc};

use windlass_hal::{
    Error, FunctionInfo, GlobalInfo, Occupancy, QueueAffinity, Result, SuggestedWorkgroup, SymbolInfo,
    driver, edge::Domain,
};

/// Loaded code. In-flight work keeps it alive, so dropping it may unload the code.
pub(crate) struct Executable {
    domain: Domain,
    functions: Vec<FunctionInfo>,
    globals: Vec<GlobalInfo>,
}

impl Executable {
    /// Reads the pieces of code. The bytes may be hostile, and every fault is an error that names the fault and its
    /// place.
    pub(crate) fn load(domain: Domain, code: &[&[u8]]) -> Result<Self> {
        Ok(Self { domain, functions: functions_of(code)?, globals: Vec::new() })
    }
}

/// The entry points of the code: names, parameters with their offsets in the argument block, workgroup sizes.
fn functions_of(code: &[&[u8]]) -> Result<Vec<FunctionInfo>> {
    let bytes: usize = code.iter().map(|piece| piece.len()).sum();
    Err(Error::unimplemented(format!(
        "loading {bytes} bytes of code: the null device runs no kernels; open hip:// or hip-sim://gfx942"
    )))
}

// SAFETY: the descriptions are read from the code that is loaded here, and never change.
unsafe impl driver::RawExecutable for Executable {
    /// Returns the domain of the device that loaded the code, by which fronts refuse foreign executables.
    fn domain(&self) -> Domain {
        self.domain
    }

    /// Lists the entry points in an order that never changes, because `Dispatch::function` is an index into it, and
    /// with the layout by which the front packs arguments.
    fn functions(&self) -> &[FunctionInfo] {
        &self.functions
    }

    /// Lists the variables that [`global`](driver::RawExecutable::global) finds, in an order that never changes; an
    /// empty list goes with the declared lack `Feature::Globals`.
    fn globals(&self) -> &[GlobalInfo] {
        &self.globals
    }

    /// Returns a variable's memory as a buffer that keeps this executable loaded, or `FAILED_PRECONDITION` if the
    /// queues of `affinity` do not share one copy; the lack is `Feature::Globals`.
    fn global(self: Arc<Self>, index: u32, _affinity: QueueAffinity) -> Result<Arc<dyn driver::RawBuffer>> {
        Err(Error::unimplemented(format!(
            "global variable {index}: the null device has none; open hip:// or hip-sim://gfx942"
        )))
    }

    /// Lists kernels, functions and variables with the addresses that the queues of `affinity` use, and never waits
    /// for the device; the lack is `Feature::Symbols`.
    fn symbols(&self, _affinity: QueueAffinity) -> Result<Vec<SymbolInfo>> {
        Err(Error::unimplemented("symbols: the null device knows none; open hip:// or hip-sim://gfx942"))
    }

    /// Returns how many workgroups of this size a compute unit of the first queue's processor runs at once, 0 if not
    /// even one fits; the lack is `Feature::Occupancy`.
    fn occupancy(
        &self,
        function: u32,
        _affinity: QueueAffinity,
        _threads: u32,
        _dynamic_local_memory: u32,
    ) -> Result<Occupancy> {
        Err(Error::unimplemented(format!(
            "the occupancy of function {function}: the null device runs no kernels"
        )))
    }

    /// Returns a workgroup size that the function can be launched with and that fills the processor, and how many of
    /// such workgroups that takes; the lack is `Feature::Occupancy`.
    fn suggested_workgroup(
        &self,
        function: u32,
        _affinity: QueueAffinity,
        _dynamic_local_memory: u32,
    ) -> Result<SuggestedWorkgroup> {
        Err(Error::unimplemented(format!(
            "a workgroup size of function {function}: the null device runs no kernels"
        )))
    }

    /// Returns `self`, so that `submit` and `prepare` find this type again behind the trait object.
    fn as_any(&self) -> &dyn Any {
        self
    }
}
