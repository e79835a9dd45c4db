// SPDX-License-Identifier: MIT OR Apache-2.0
//! Forwards work to a driver, which trusts its caller.

use std::sync::Arc;

use windlass_hal::{CommandList, Operation, Point, QueueAffinity, Result, driver};

/// Forwards calls from a wrapper of this crate to the device behind it. The callers of the wrapper's own `submit` and
/// `prepare` have vouched for the work. The wrapper's changes stay within the same ranges and objects.
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
        // SAFETY: see the trait.
        unsafe { self.submit(affinity, waits, signals, operation) }
    }

    fn pass_list(&self, list: CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>> {
        // SAFETY: see the trait.
        unsafe { self.prepare(list) }
    }
}
