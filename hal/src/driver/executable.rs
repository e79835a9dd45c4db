// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loaded device code, as a driver offers it.

use std::{any::Any, sync::Arc};

use crate::{
    driver::Buffer,
    order::edge::Domain,
    words::{
        error::{Error, Result},
        function_info::{FunctionInfo, GlobalInfo},
        queue_affinity::QueueAffinity,
        symbol::SymbolInfo,
    },
};

/// Loaded device code.
pub trait Executable: Any + Send + Sync {
    /// The device it belongs to.
    fn domain(&self) -> Domain;

    /// What it offers, in the order of its own numbering.
    fn functions(&self) -> &[FunctionInfo];

    /// The global variables that can be looked up.
    fn globals(&self) -> &[GlobalInfo] {
        &[]
    }

    /// The memory of one of [`globals`](Self::globals), by number, as kernels on the queues of `affinity` see it. The
    /// buffer keeps the executable loaded. `FAILED_PRECONDITION` where these queues do not share one copy.
    fn global(self: Arc<Self>, index: u32, affinity: QueueAffinity) -> Result<Arc<dyn Buffer>> {
        let _ = (index, affinity);
        Err(Error::unimplemented("looking up a global variable: the driver offers none"))
    }

    /// Its kernels, functions and variables, as the queues of `affinity` see them. `FAILED_PRECONDITION` where these do not
    /// share one copy. A driver that cannot tell declares it, [`Feature::Symbols`](crate::Feature::Symbols).
    fn symbols(&self, _affinity: QueueAffinity) -> Result<Vec<SymbolInfo>> {
        Err(Error::unimplemented("symbols: the driver does not know what the code names"))
    }

    /// For the driver, to find its own type again.
    fn as_any(&self) -> &dyn Any;
}
