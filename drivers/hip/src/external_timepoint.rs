// SPDX-License-Identifier: MIT OR Apache-2.0
//! External timepoints: places in the order of other libraries' work.

use std::{any::Any, sync::Arc};

use windlass_hal::{driver, edge::Domain};

use crate::call::Event;

/// A place in the order of another library's work.
pub(crate) struct Timepoint {
    pub(crate) domain: Domain,
    /// An event of the driver, recorded at the call. `None` if the place was reached then.
    pub(crate) event: Option<Arc<Event>>,
}

impl driver::RawTimepoint for Timepoint {
    fn domain(&self) -> Domain {
        self.domain
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
