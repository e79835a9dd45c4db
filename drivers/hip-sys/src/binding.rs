// SPDX-License-Identifier: MIT OR Apache-2.0
//! [`Binding`]: which instance of an implementation in this process a call is for.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Tells an implementation in this process which of its instances the next call on this thread is for.
///
/// # Contract
///
/// `enter(context)` may be called on any thread at any time while `keep_alive` lives, and affects only the calling
/// thread.
pub struct Binding {
    /// The argument of `enter`; valid as long as `keep_alive` lives.
    pub context: *const (),
    /// Called before each HIP call, on the calling thread.
    pub enter: unsafe fn(*const ()),
    /// Keeps the instance alive.
    pub keep_alive: Arc<dyn Any + Send + Sync>,
}

impl fmt::Debug for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Binding").field("context", &self.context).finish_non_exhaustive()
    }
}
