// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command buffers of a driver: lists that are prepared for replay.

use std::{any::Any, fmt};

use crate::{driver::command_list::CommandList, order::edge::Domain};

/// A prepared command list.
///
/// # Safety
/// Fronts and drivers rely on [`domain`](Self::domain) and [`list`](Self::list), which never change. The list must be
/// the one that the driver replays for this object: the front checks binding tables by it, and the driver replays the
/// list that [`as_any`](Self::as_any) leads it to.
#[allow(unsafe_code)]
pub unsafe trait RawCommandBuffer: Any + Send + Sync {
    /// The device that prepared it.
    fn domain(&self) -> Domain;

    /// The recorded list.
    fn list(&self) -> &CommandList;

    /// Lets the driver find its own type again.
    fn as_any(&self) -> &dyn Any;
}

impl fmt::Debug for dyn RawCommandBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CommandBuffer({} commands)", self.list().commands().len())
    }
}
