// SPDX-License-Identifier: MIT OR Apache-2.0
//! An external timepoint as a driver keeps it.

use std::{any::Any, fmt};

use crate::order::edge::Domain;

/// A place in the order of another library's work, noted for an
/// [`OperationRef::ImportTimepoint`](crate::OperationRef::ImportTimepoint). The other library may record its event
/// again, or destroy it and the stream, without an effect on this.
pub trait RawTimepoint: Any + Send + Sync {
    /// The device that noted it.
    fn domain(&self) -> Domain;

    /// Lets the driver find its own type again.
    fn as_any(&self) -> &dyn Any;
}

impl fmt::Debug for dyn RawTimepoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawTimepoint({:?})", self.domain())
    }
}
