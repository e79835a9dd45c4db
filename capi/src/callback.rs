// SPDX-License-Identifier: MIT OR Apache-2.0
//! A callback's user data, and its release.

use std::ffi::c_void;

use crate::exception::contained;

/// The callback's first argument. By the header's contract it may be used on any thread.
#[derive(Clone, Copy)]
pub(crate) struct UserData(pub(crate) *mut c_void);

// SAFETY: it is only passed back, to functions of the caller that accept it on any thread.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

/// Called once when the library no longer needs the user data, on any thread. May be NULL. It must not block.
pub type windlass_destroy_t = Option<unsafe extern "C-unwind" fn(user_data: *mut c_void)>;

/// User data, released when this is dropped.
pub(crate) struct OwnedUserData {
    pub(crate) data: UserData,
    pub(crate) destroy: windlass_destroy_t,
}

impl Drop for OwnedUserData {
    fn drop(&mut self) {
        if let Some(destroy) = self.destroy {
            // SAFETY: the caller gave the function for this purpose, and it is called once.
            contained("the function that ends user data", || unsafe { destroy(self.data.0) });
        }
    }
}
