// SPDX-License-Identifier: MIT OR Apache-2.0
//! Executables: where device code would be. This driver has none, and each method shows what it would owe.

use std::{any::Any, sync::Arc};

use windlass_hal::{
    Error, FunctionInfo, GlobalInfo, QueueAffinity, Result, SymbolInfo, driver, edge::Domain,
};

/// Loaded code. What is in flight keeps it alive, so that dropping it may unload the code.
pub(crate) struct Executable {
    domain: Domain,
    functions: Vec<FunctionInfo>,
    globals: Vec<GlobalInfo>,
}

impl Executable {
    /// Reads the pieces of code, hostile bytes among them: whatever is wrong is an error that says what and where.
    pub(crate) fn load(domain: Domain, code: &[&[u8]]) -> Result<Self> {
        Ok(Self { domain, functions: functions_of(code)?, globals: Vec::new() })
    }
}

/// What the code says of its entry points: names, parameters with their places in the argument block, workgroup sizes.
fn functions_of(code: &[&[u8]]) -> Result<Vec<FunctionInfo>> {
    let bytes: usize = code.iter().map(|piece| piece.len()).sum();
    Err(Error::unimplemented(format!(
        "loading {bytes} bytes of code: the null device runs no kernels; open hip:// or hip-sim://gfx942"
    )))
}

// SAFETY: the descriptions are read from the code that is loaded here, and never change.
unsafe impl driver::RawExecutable for Executable {
    /// Answers the domain of the device that loaded the code, by which fronts refuse foreign executables.
    fn domain(&self) -> Domain {
        self.domain
    }

    /// Lists the entry points in an order that never changes, because `Dispatch::function` is an index into it, and with
    /// the layout after which the front packs arguments.
    fn functions(&self) -> &[FunctionInfo] {
        &self.functions
    }

    /// Lists the variables that [`global`](driver::RawExecutable::global) finds, in an order that never changes; an empty
    /// list goes with the declared lack `Feature::Globals`.
    fn globals(&self) -> &[GlobalInfo] {
        &self.globals
    }

    /// Gives a variable's memory as a buffer that keeps this executable loaded, or `FAILED_PRECONDITION` where the queues
    /// of `affinity` do not share one copy; the lack is `Feature::Globals`.
    fn global(self: Arc<Self>, index: u32, _affinity: QueueAffinity) -> Result<Arc<dyn driver::RawBuffer>> {
        Err(Error::unimplemented(format!(
            "global variable {index}: the null device has none; open hip:// or hip-sim://gfx942"
        )))
    }

    /// Lists kernels, functions and variables with their addresses as the queues of `affinity` see them, and never waits
    /// for the device; the lack is `Feature::Symbols`.
    fn symbols(&self, _affinity: QueueAffinity) -> Result<Vec<SymbolInfo>> {
        Err(Error::unimplemented("symbols: the null device knows none; open hip:// or hip-sim://gfx942"))
    }

    /// Answers `self`, so that `submit` and `prepare` find this type again behind the trait object.
    fn as_any(&self) -> &dyn Any {
        self
    }
}
