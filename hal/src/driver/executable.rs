// SPDX-License-Identifier: MIT OR Apache-2.0
//! The executables of a driver: loaded device code.

use std::{any::Any, sync::Arc};

use crate::{
    driver::RawBuffer,
    order::edge::Domain,
    words::{
        error::{Error, Result},
        facts::{Occupancy, SuggestedWorkgroup},
        function_info::{FunctionInfo, GlobalInfo},
        queue_affinity::QueueAffinity,
        symbol::SymbolInfo,
    },
};

/// Loaded device code.
///
/// # Safety
/// Fronts and drivers rely on [`domain`](Self::domain), [`functions`](Self::functions) and [`globals`](Self::globals),
/// which never change. They must describe the code that the driver of this domain runs for this object, so a wrapper that
/// forwards [`as_any`](Self::as_any) must forward these three as well: the front checks arguments by the descriptions,
/// and the driver launches the code that `as_any` leads it to.
#[allow(unsafe_code)]
pub unsafe trait RawExecutable: Any + Send + Sync {
    /// The device that loaded the code.
    fn domain(&self) -> Domain;

    /// The functions that can be dispatched. The index of a function is its number.
    fn functions(&self) -> &[FunctionInfo];

    /// The global variables that can be looked up. The index of a variable is its number.
    fn globals(&self) -> &[GlobalInfo] {
        &[]
    }

    /// The memory of one of [`globals`](Self::globals), by number, as kernels on the queues of `affinity` see it. The
    /// buffer keeps the executable loaded. `FAILED_PRECONDITION` where these queues do not share one copy.
    fn global(self: Arc<Self>, index: u32, affinity: QueueAffinity) -> Result<Arc<dyn RawBuffer>> {
        let _ = (index, affinity);
        Err(Error::unimplemented("looking up a global variable: the driver offers none"))
    }

    /// The kernels, functions and variables of the code, as the queues of `affinity` see them. `FAILED_PRECONDITION`
    /// where these queues do not share one copy. A driver without this declares the lack of
    /// [`Feature::Symbols`](crate::Feature::Symbols).
    fn symbols(&self, _affinity: QueueAffinity) -> Result<Vec<SymbolInfo>> {
        Err(Error::unimplemented("symbols: the driver does not read the symbols of code"))
    }

    /// How many workgroups of `threads` work-items, each with `dynamic_local_memory` bytes of local memory beside its
    /// static ones, a compute unit runs at once: of the first processor that has a queue of `affinity`. A driver without
    /// this declares the lack of [`Feature::Occupancy`](crate::Feature::Occupancy).
    fn occupancy(
        &self,
        _function: u32,
        _affinity: QueueAffinity,
        _threads: u32,
        _dynamic_local_memory: u32,
    ) -> Result<Occupancy> {
        Err(Error::unimplemented("occupancy: the driver does not know how workgroups share a compute unit"))
    }

    /// A workgroup size that fills a processor with this function, for workgroups with `dynamic_local_memory` bytes of
    /// local memory beside their static ones. As for [`occupancy`](Self::occupancy).
    fn suggested_workgroup(
        &self,
        _function: u32,
        _affinity: QueueAffinity,
        _dynamic_local_memory: u32,
    ) -> Result<SuggestedWorkgroup> {
        Err(Error::unimplemented("occupancy: the driver does not know how workgroups share a compute unit"))
    }

    /// Lets the driver find its own type again.
    fn as_any(&self) -> &dyn Any;
}
