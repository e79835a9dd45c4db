// SPDX-License-Identifier: MIT OR Apache-2.0
//! Forwards work to a driver, which trusts its caller.

use std::sync::Arc;

use windlass_hal::{CommandList, Operation, Point, QueueAffinity, Result, driver};

/// Forwards calls from a wrapper of this crate to the device behind it. Only these wrappers call it, inside of their own
/// `submit` and `prepare`, whose callers vouched for the work. A wrapper changes the work only within the ranges and
/// objects that its caller named.
pub(crate) trait Pass {
    fn pass(
        &self,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        operation: Operation,
    ) -> Result<()>;

    fn pass_list(&self, list: CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>>;
}

impl Pass for dyn driver::RawDevice {
    fn pass(
        &self,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        operation: Operation,
    ) -> Result<()> {
        // SAFETY: the caller of the wrapper vouched for the work, as the trait says.
        operation.lend(|operation| unsafe { self.submit(affinity, waits, signals, operation) })
    }

    fn pass_list(&self, list: CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>> {
        // SAFETY: the caller of the wrapper vouched for the work, as the trait says.
        unsafe { self.prepare(list) }
    }
}
