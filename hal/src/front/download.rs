// SPDX-License-Identifier: MIT OR Apache-2.0
//! Downloads: copies of a buffer to the host.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use crate::{
    front::device::Device,
    kit::mapping::Mapping,
    order::{deadline::Deadline, semaphore::Semaphore, wait::Wait},
    words::error::Result,
};

/// The future bytes of a buffer. A thread can [`wait`](Self::wait) for them instead of polling. See
/// [`Queue::download`](crate::Queue::download).
#[must_use = "a download does nothing more until it is polled or waited for"]
pub struct Download {
    pub(super) wait: Wait,
    pub(super) done: Semaphore,
    pub(super) mapping: Mapping,
    pub(super) _device: Device,
}

impl Download {
    /// Blocks until the bytes have arrived. `DEADLINE_EXCEEDED` when the deadline passes; otherwise the errors are
    /// those of the copy.
    pub fn wait(self, deadline: impl Into<Deadline>) -> Result<Vec<u8>> {
        self.done.wait_blocking(1, deadline)?;
        Ok(self.mapping.to_vec())
    }
}

impl Future for Download {
    type Output = Result<Vec<u8>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.wait).poll(cx).map_ok(|()| self.mapping.to_vec())
    }
}

impl fmt::Debug for Download {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Download({} bytes)", self.mapping.len())
    }
}
