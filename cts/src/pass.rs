// SPDX-License-Identifier: MIT OR Apache-2.0
//! Handing work on to a driver, which believes what it is handed.

use std::sync::Arc;

use windlass_hal::{CommandList, Operation, Point, QueueAffinity, Result, driver};

/// What the devices of this crate pass on to the device behind them: all of it came in through their own `submit` and
/// `prepare`, whose callers vouched for it, and what they change of it stays within the same ranges and objects.
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
