// SPDX-License-Identifier: MIT OR Apache-2.0
//! Locks that go on after a thread has panicked: every critical section of this crate leaves its data valid.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Locks, also when a thread panicked while it held the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks if no other thread holds the lock.
pub(crate) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
