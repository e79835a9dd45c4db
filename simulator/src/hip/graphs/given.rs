// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parameters as a client gave them, for the functions that give them back.

use std::fmt;

/// A struct of the client's, with its pointers.
#[derive(Clone, Copy)]
pub(crate) struct Given<T>(pub(crate) T);

// SAFETY: nobody follows the pointers of the struct. They are numbers that are handed back to the client.
unsafe impl<T: Copy> Send for Given<T> {}
// SAFETY: a reference to it gives nothing but copies of it.
unsafe impl<T: Copy> Sync for Given<T> {}

impl<T> fmt::Debug for Given<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Given").finish_non_exhaustive()
    }
}
