// SPDX-License-Identifier: MIT OR Apache-2.0
//! The null device behind a wrapper that observes and may change all submissions.
#![allow(dead_code, reason = "each test uses some of it")]

use std::sync::Arc;

use windlass_hal::{
    CommandList, Operation, OperationRef, Point, QueueAffinity, Result,
    driver::{self, Driver},
};

/// A replacement of `submit`.
pub(crate) type Submit =
    dyn Fn(&dyn driver::RawDevice, QueueAffinity, &[Point], &[Point], Operation) -> Result<()> + Send + Sync;

pub(crate) struct Wrapped {
    raw: Arc<dyn driver::RawDevice>,
    submit: Box<Submit>,
    prepare: fn(CommandList) -> CommandList,
}

impl Wrapped {
    /// A null device with this `submit`.
    pub(crate) fn new(
        submit: impl Fn(&dyn driver::RawDevice, QueueAffinity, &[Point], &[Point], Operation) -> Result<()>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self { raw: null(), submit: Box::new(submit), prepare: |list| list }
    }

    /// A null device that changes recordings.
    pub(crate) fn recording(prepare: fn(CommandList) -> CommandList) -> Self {
        let submit =
            |raw: &dyn driver::RawDevice, affinity, waits: &[Point], signals: &[Point], operation| {
                pass(raw, affinity, waits, signals, operation)
            };
        Self { prepare, ..Self::new(submit) }
    }
}

pub(crate) fn null() -> Arc<dyn driver::RawDevice> {
    windlass_null::NullDriver.open(&"null://".parse().unwrap()).unwrap()
}

// SAFETY: objects are those of the inner device, and tests change work within its ranges and objects.
unsafe impl driver::Wrapper for Wrapped {
    fn inner(&self) -> &dyn driver::RawDevice {
        &*self.raw
    }

    unsafe fn prepare(&self, list: CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>> {
        // SAFETY: a test's change of a list stays within the same ranges and objects.
        unsafe { self.raw.prepare((self.prepare)(list)) }
    }

    unsafe fn submit(
        &self,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        operation: OperationRef<'_>,
    ) -> Result<()> {
        (self.submit)(&*self.raw, affinity, waits, signals, operation.into_owned())
    }
}

/// Forwards an operation to the driver.
pub(crate) fn pass(
    raw: &dyn driver::RawDevice,
    affinity: QueueAffinity,
    waits: &[Point],
    signals: &[Point],
    operation: Operation,
) -> Result<()> {
    // SAFETY: the front made the operation, and a test's change of it stays within the same ranges and objects.
    operation.lend(|operation| unsafe { raw.submit(affinity, waits, signals, operation) })
}
