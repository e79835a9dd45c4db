// SPDX-License-Identifier: MIT OR Apache-2.0
//! The primitives under the semaphore and the pending set: those of the standard library, or those of loom when the
//! crate is model-checked (`--cfg loom`).
//!
//! `Arc` is the standard one in both cases. loom's `Arc` cannot hold a trait object, and no ordering here depends on a
//! reference count.

#[cfg(loom)]
pub(crate) use loom::{
    sync::{
        Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread_local,
};
#[cfg(not(loom))]
pub(crate) use std::{
    sync::{
        Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread_local,
};

/// Locks a mutex, even after a thread has panicked while holding it. Each critical section of this crate leaves its
/// data valid at each step, and a poisoned semaphore would turn one panic into many hangs.
#[inline]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// [`lock`] for mutexes that loom does not model.
pub(crate) fn lock_std<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Sets a flag before this thread reads another atomic, in one total order with [`ordered_load`] of other threads.
#[inline]
pub(crate) fn ordered_store(flag: &AtomicBool) {
    flag.store(true, Ordering::SeqCst);
    // loom orders sequentially consistent fences, and treats such accesses as acquire and release.
    #[cfg(loom)]
    loom::sync::atomic::fence(Ordering::SeqCst);
}

/// Reads a flag after this thread wrote another atomic with [`Ordering::SeqCst`].
#[inline]
pub(crate) fn ordered_load(flag: &AtomicBool) -> bool {
    #[cfg(loom)]
    loom::sync::atomic::fence(Ordering::SeqCst);
    flag.load(Ordering::SeqCst)
}
