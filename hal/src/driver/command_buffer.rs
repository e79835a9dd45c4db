// SPDX-License-Identifier: MIT OR Apache-2.0
//! A command list that a driver has prepared for replay.

use std::{any::Any, fmt};

use crate::{driver::command_list::CommandList, order::edge::Domain};

/// A prepared command list.
pub trait CommandBuffer: Any + Send + Sync {
    /// The device it belongs to.
    fn domain(&self) -> Domain;

    /// What was recorded.
    fn list(&self) -> &CommandList;

    /// For the driver, to find its own type again.
    fn as_any(&self) -> &dyn Any;
}

impl fmt::Debug for dyn CommandBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CommandBuffer({} commands)", self.list().commands().len())
    }
}
