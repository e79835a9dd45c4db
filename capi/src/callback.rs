// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the C program gives along with a callback.

use std::ffi::c_void;

/// The callback's first argument. The header says that it may be used on any thread.
#[derive(Clone, Copy)]
pub(crate) struct UserData(pub(crate) *mut c_void);

// SAFETY: it is only handed back, to functions of the caller that are declared to take it on any thread.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

/// Called once when the library needs user data no more; may be NULL. On any thread. It must not block.
pub type windlass_destroy_t = Option<unsafe extern "C" fn(user_data: *mut c_void)>;

/// User data with its end: destroyed when this is dropped.
pub(crate) struct OwnedUserData {
    pub(crate) data: UserData,
    pub(crate) destroy: windlass_destroy_t,
}

impl Drop for OwnedUserData {
    fn drop(&mut self) {
        if let Some(destroy) = self.destroy {
            // SAFETY: the caller gave the function for this, and it is called once.
            unsafe { destroy(self.data.0) };
        }
    }
}
