// SPDX-License-Identifier: MIT OR Apache-2.0
//! The primitives that the semaphore and the pending set are built on: the standard library's, or loom's when
//! the crate is model-checked (`--cfg loom`).
//!
//! `Arc` stays the standard one in both worlds: loom's cannot hold a trait object, and no ordering here rests on
//! a reference count.

#[cfg(loom)]
pub(crate) use loom::sync::{
    Condvar, Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU64, Ordering},
};
#[cfg(not(loom))]
pub(crate) use std::sync::{
    Condvar, Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

/// Locks, and goes on with the data of a thread that panicked: every critical section of this crate leaves its
/// data valid at each step, and a poisoned semaphore would turn one panic into many hangs.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// [`lock`] for what loom does not model.
pub(crate) fn lock_std<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
