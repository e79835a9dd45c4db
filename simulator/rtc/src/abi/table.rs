// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs and linkers that callers hold, by the handles that they got.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::code::Code;
use crate::linker::Linker;
use crate::program::Program;

/// `hiprtcProgram` or `hiprtcLinkState`: a number that is never used again, in the place of AMD's pointer.
pub type Handle = *mut c_void;

/// The objects of one kind.
pub(super) struct Table<T> {
    objects: Mutex<Option<HashMap<usize, Arc<Mutex<T>>>>>,
    /// The code for a handle that is none.
    unknown: Code,
}

pub(super) static PROGRAMS: Table<Program> =
    Table { objects: Mutex::new(None), unknown: Code::ERROR_INVALID_PROGRAM };
pub(super) static LINKERS: Table<Linker> =
    Table { objects: Mutex::new(None), unknown: Code::ERROR_INVALID_INPUT };

/// The number of the latest handle. The numbers lie where no memory is mapped, so no pointer is taken for a handle.
static NEXT: Mutex<usize> = Mutex::new(0x1000);

impl<T> Table<T> {
    pub(super) fn insert(&self, object: T) -> Handle {
        let mut next = lock(&NEXT);
        *next += 16;
        lock(&self.objects).get_or_insert_default().insert(*next, Arc::new(Mutex::new(object)));
        *next as Handle
    }

    /// Runs `body` with an object, which other threads cannot use meanwhile.
    pub(super) fn with<R>(
        &self,
        handle: Handle,
        body: impl FnOnce(&mut T) -> Result<R, Code>,
    ) -> Result<R, Code> {
        let found = lock(&self.objects).as_ref().and_then(|objects| objects.get(&(handle as usize)).cloned());
        let found = found.ok_or(self.unknown)?;
        let mut object = lock(&found);
        body(&mut object)
    }

    pub(super) fn remove(&self, handle: Handle) -> Result<(), Code> {
        let removed = lock(&self.objects).as_mut().and_then(|objects| objects.remove(&(handle as usize)));
        removed.map(drop).ok_or(self.unknown)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `body` with a linker, for HIP's own functions of linking.
///
/// # Errors
/// `HIPRTC_ERROR_INVALID_INPUT` if the handle is none, else what `body` says.
pub fn for_linker<R>(linker: Handle, body: impl FnOnce(&mut Linker) -> Result<R, Code>) -> Result<R, Code> {
    LINKERS.with(linker, body)
}
