// SPDX-License-Identifier: MIT OR Apache-2.0
//! Handles: the numbers behind the opaque pointers of generated code.
//!
//! A number says its kind in its upper bits, and is never used twice. No handle is an address, so a wrong one cannot
//! lead to memory.

use std::{
    collections::HashMap,
    ffi::c_void,
    ptr,
    sync::{Arc, PoisonError, RwLock},
};

use facade::{Error, Result};

/// A kind of objects that handles stand for.
pub(crate) trait Kind: Send + Sync + Sized + 'static {
    /// The name in messages.
    const NAME: &'static str;
    /// A number that no other kind has.
    const TAG: usize;
    /// The live objects.
    fn table() -> &'static Table<Self>;
}

/// The live objects of a kind.
pub(crate) struct Table<T>(RwLock<Live<T>>);

struct Live<T> {
    objects: Option<HashMap<usize, Arc<T>>>,
    last: usize,
}

/// Bits for the number of an object. With its tag a handle is no address that Linux gives a program.
const BITS: u32 = usize::BITS - 8;

impl<T: Kind> Table<T> {
    pub(crate) const fn new() -> Self {
        Self(RwLock::new(Live { objects: None, last: 0 }))
    }

    /// Makes a handle of an object.
    pub(crate) fn insert(&self, object: Arc<T>) -> *mut c_void {
        let mut live = self.0.write().unwrap_or_else(PoisonError::into_inner);
        live.last += 1;
        let handle = T::TAG << BITS | live.last << 4;
        live.objects.get_or_insert_default().insert(handle, object);
        ptr::without_provenance_mut(handle)
    }

    /// The object of a handle. `INVALID_ARGUMENT` for any other pointer.
    pub(crate) fn get(&self, handle: *mut c_void) -> Result<Arc<T>> {
        let live = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let object = live.objects.as_ref().and_then(|objects| objects.get(&handle.addr()));
        object.cloned().ok_or_else(|| live.unknown(handle))
    }

    /// Ends a handle and returns its object.
    pub(crate) fn remove(&self, handle: *mut c_void) -> Result<Arc<T>> {
        let mut live = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let object = live.objects.as_mut().and_then(|objects| objects.remove(&handle.addr()));
        object.ok_or_else(|| live.unknown(handle))
    }

    /// All live objects.
    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        let live = self.0.read().unwrap_or_else(PoisonError::into_inner);
        live.objects.iter().flat_map(HashMap::values).cloned().collect()
    }
}

impl<T: Kind> Live<T> {
    #[cold]
    fn unknown(&self, handle: *mut c_void) -> Error {
        let (name, number) = (T::NAME, handle.addr());
        let was = number >> BITS == T::TAG && (number & !(T::TAG << BITS)) >> 4 <= self.last;
        Error::invalid_argument(match number {
            0 => format!("the {name} is null"),
            _ if was => format!("the {name} {number:#x} was destroyed before"),
            _ => format!("{number:#x} is no {name} of this library"),
        })
    }
}
