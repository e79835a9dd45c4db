// SPDX-License-Identifier: MIT OR Apache-2.0
//! User objects: resources of the client's that graphs refer to. A function of the client's ends one when nobody refers to it.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use crate::handles::{HandleKind, Handles};

/// A resource of the client's.
#[derive(Debug)]
struct UserObject {
    destroy: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
    /// References of the client and of graphs.
    count: Mutex<u64>,
}

// SAFETY: the pointer is the client's own datum, handed back to the client's own function and not looked at. HIP says
// that the function is called on any thread, so the client vouches for this.
unsafe impl Send for UserObject {}
// SAFETY: the pointer is only read.
unsafe impl Sync for UserObject {}

/// The user objects of a simulator.
pub(crate) struct UserObjects(Handles<UserObject>);

impl UserObjects {
    pub(crate) fn new(salt: u64) -> Self {
        Self(Handles::new(HandleKind::UserObject, salt))
    }

    /// Enters an object with so many references. `None` when no handles are left.
    ///
    /// # Safety
    /// `destroy` may be called once, on any thread, with `data`.
    pub(crate) unsafe fn insert(
        &self,
        destroy: unsafe extern "C" fn(*mut c_void),
        data: *mut c_void,
        count: u64,
    ) -> Option<u64> {
        let object = UserObject { destroy, data, count: Mutex::new(count) };
        self.0.insert(Arc::new(object)).map(|handle| handle.get())
    }

    /// The number of references; 0 for a handle of no object.
    pub(crate) fn count(&self, handle: u64) -> u64 {
        let object = self.0.get(handle);
        object.map_or(0, |object| *object.count.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds references. False for a handle of no object.
    pub(crate) fn retain(&self, handle: u64, count: u64) -> bool {
        let Some(object) = self.0.get(handle) else { return false };
        let mut references = object.count.lock().unwrap_or_else(PoisonError::into_inner);
        if *references == 0 {
            return false;
        }
        *references = references.saturating_add(count);
        true
    }

    /// Removes references, unless there are fewer. The client's function ends an object without any, on this thread.
    pub(crate) fn release(&self, handle: u64, count: u64) {
        let Some(object) = self.0.get(handle) else { return };
        {
            let mut references = object.count.lock().unwrap_or_else(PoisonError::into_inner);
            if *references < count {
                return;
            }
            *references -= count;
            if *references > 0 || count == 0 {
                return;
            }
        }
        if self.0.remove(handle).is_some() {
            // SAFETY: the count reaches zero once, and the client gave function and datum for this call.
            unsafe { (object.destroy)(object.data) };
        }
    }
}

/// References to user objects, one to each, until dropped.
pub(crate) struct References {
    pub(crate) table: Arc<UserObjects>,
    pub(crate) handles: Vec<u64>,
}

impl References {
    /// Takes a reference to each object that exists.
    pub(crate) fn take(table: &Arc<UserObjects>, handles: impl IntoIterator<Item = u64>) -> Self {
        let taken = handles.into_iter().filter(|handle| table.retain(*handle, 1)).collect();
        Self { table: table.clone(), handles: taken }
    }
}

impl Drop for References {
    fn drop(&mut self) {
        for handle in self.handles.drain(..) {
            self.table.release(handle, 1);
        }
    }
}

impl std::fmt::Debug for References {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("References").field(&self.handles).finish()
    }
}
