// SPDX-License-Identifier: MIT OR Apache-2.0
//! Blocking waits.

use std::{mem::MaybeUninit, ptr::NonNull, time::Duration};

use facade::{Deadline, Error, Result, WaitPolicy};

use crate::{
    boundary::fallible,
    error::windlass_error_t,
    handle::used,
    memory::out,
    semaphore::{points_of, windlass_point_t, windlass_semaphore_t},
};

/// A timeout that never expires. All timeouts are in nanoseconds from now; 0 checks once without blocking.
pub const WINDLASS_TIMEOUT_INFINITE: u64 = u64::MAX;

/// The deadline of a wait that begins now.
pub(crate) fn deadline(timeout_ns: u64) -> Deadline {
    match timeout_ns {
        WINDLASS_TIMEOUT_INFINITE => Deadline::NEVER,
        span => Deadline::after(Duration::from_nanos(span)),
    }
}

/// How a blocking wait spends its time: one of WINDLASS_WAIT_*.
pub type windlass_wait_policy_t = u32;

/// Polls for one or two microseconds, then sleeps. The functions without a policy wait so.
pub const WINDLASS_WAIT_SPIN_THEN_BLOCK: windlass_wait_policy_t = 0;
/// Polls until the end. Has the lowest latency and uses a whole core.
pub const WINDLASS_WAIT_SPIN: windlass_wait_policy_t = 1;
/// Sleeps at once.
pub const WINDLASS_WAIT_BLOCK: windlass_wait_policy_t = 2;

fn policy_of(policy: windlass_wait_policy_t) -> Result<WaitPolicy> {
    match policy {
        WINDLASS_WAIT_SPIN_THEN_BLOCK => Ok(WaitPolicy::SpinThenBlock),
        WINDLASS_WAIT_SPIN => Ok(WaitPolicy::Spin),
        WINDLASS_WAIT_BLOCK => Ok(WaitPolicy::Block),
        unknown => Err(Error::invalid_argument(format!("the unknown wait policy {unknown}"))),
    }
}

/// Blocks until the payload reaches a value. Returns the semaphore's failure if it fails first, DEADLINE_EXCEEDED if
/// the timeout expires first. Spins briefly, then sleeps.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_semaphore_wait(
    semaphore: Option<NonNull<windlass_semaphore_t>>,
    value: u64,
    timeout_ns: u64,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| used(semaphore)?.wait_blocking(value, deadline(timeout_ns)))
}

/// Blocks until every point is reached. Fails at once with the failure of any; DEADLINE_EXCEEDED if the timeout
/// expires first. An empty list counts as reached.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_wait_all(
    count: usize,
    points: *const windlass_point_t,
    timeout_ns: u64,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `list`.
        let points = unsafe { points_of("points", count, points) }?;
        facade::wait_all(&points, deadline(timeout_ns), WaitPolicy::default())
    })
}

/// Blocks until one point is reached, and returns its index. A failure ends the wait unless another point is reached.
/// An empty list is INVALID_ARGUMENT.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_wait_any(
    count: usize,
    points: *const windlass_point_t,
    timeout_ns: u64,
    index: Option<&mut MaybeUninit<usize>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let index = out("index", index)?;
        // SAFETY: the contract in the header covers that of `list`.
        let points = unsafe { points_of("points", count, points) }?;
        index.write(facade::wait_any(&points, deadline(timeout_ns), WaitPolicy::default())?);
        Ok(())
    })
}

/// windlass_semaphore_wait with a policy.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_semaphore_wait_with(
    semaphore: Option<NonNull<windlass_semaphore_t>>,
    value: u64,
    timeout_ns: u64,
    policy: windlass_wait_policy_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| used(semaphore)?.wait_blocking_with(value, deadline(timeout_ns), policy_of(policy)?))
}

/// windlass_wait_all with a policy.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_wait_all_with(
    count: usize,
    points: *const windlass_point_t,
    timeout_ns: u64,
    policy: windlass_wait_policy_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `list`.
        let points = unsafe { points_of("points", count, points) }?;
        facade::wait_all(&points, deadline(timeout_ns), policy_of(policy)?)
    })
}

/// windlass_wait_any with a policy.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_wait_any_with(
    count: usize,
    points: *const windlass_point_t,
    timeout_ns: u64,
    policy: windlass_wait_policy_t,
    index: Option<&mut MaybeUninit<usize>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let index = out("index", index)?;
        // SAFETY: the contract in the header covers that of `list`.
        let points = unsafe { points_of("points", count, points) }?;
        index.write(facade::wait_any(&points, deadline(timeout_ns), policy_of(policy)?)?);
        Ok(())
    })
}
