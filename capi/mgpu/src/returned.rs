// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sign that a device has let go of memory of the host.

use std::{
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

use crate::stream::lock;

/// How long the device may take to let go of memory when its work is done.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The sign that the device has let go of registered memory.
#[derive(Default)]
pub(crate) struct Returned(Mutex<bool>, Condvar);

impl Returned {
    pub(crate) fn set(&self) {
        *lock(&self.0) = true;
        self.1.notify_all();
    }

    /// Whether the memory was returned in time.
    pub(crate) fn wait(&self) -> bool {
        let waiting = self.1.wait_timeout_while(lock(&self.0), PATIENCE, |returned| !*returned);
        *waiting.unwrap_or_else(PoisonError::into_inner).0
    }
}
