// SPDX-License-Identifier: MIT OR Apache-2.0
//! Timeline semaphores, and lists of their values.

use std::{ffi::c_char, mem::MaybeUninit, ptr::NonNull};

use facade::{Point, Result, ResultExt, Semaphore};
use smallvec::SmallVec;

use crate::{
    boundary::{fallible, infallible},
    error::{error_of, windlass_code_t, windlass_error_t},
    handle::{self, Shell, object, used},
    memory::{give, list, out},
};

/// A timeline semaphore: a payload of 64 bits that only grows. Semaphores are the only way to order work. They belong
/// to no device. A wait for a value that no operation has promised yet is legal.
pub struct windlass_semaphore_t(Shell<Semaphore>);
object!(windlass_semaphore_t, Semaphore, "semaphore");

/// The maximum payload. Larger values are refused with OUT_OF_RANGE.
pub const WINDLASS_SEMAPHORE_MAX_VALUE: u64 = 0x7FFF_FFFF_FFFF_FFFF;

/// A value of a semaphore, for wait lists and signal lists. It borrows the semaphore for the call.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_point_t {
    /// The timeline.
    pub semaphore: Option<NonNull<windlass_semaphore_t>>,
    /// The value to wait for or to signal.
    pub value: u64,
}

/// Points in the HAL's form; short lists need no heap.
pub(crate) type Points = SmallVec<[Point; 4]>;

/// A wait list or a signal list of the caller.
///
/// # Safety
/// As for [`list`].
pub(crate) unsafe fn points_of(name: &str, count: usize, points: *const windlass_point_t) -> Result<Points> {
    // SAFETY: the same contract.
    let points = unsafe { list(name, count, points) }?;
    let point = |(index, point): (usize, &windlass_point_t)| {
        let semaphore = used(point.semaphore).context(|| format!("looking at point {index} of `{name}`"))?;
        Ok(semaphore.at(point.value))
    };
    points.iter().enumerate().map(point).collect()
}

/// The wait list and the signal list of an operation.
pub(crate) struct Lists {
    pub(crate) waits: Points,
    pub(crate) signals: Points,
}

/// The wait list and the signal list of the caller's.
///
/// # Safety
/// As for [`list`], for both.
pub(crate) unsafe fn lists_of(
    wait_count: usize,
    waits: *const windlass_point_t,
    signal_count: usize,
    signals: *const windlass_point_t,
) -> Result<Lists> {
    // SAFETY: the same contract.
    let waits = unsafe { points_of("waits", wait_count, waits) }?;
    // SAFETY: the same contract.
    let signals = unsafe { points_of("signals", signal_count, signals) }?;
    Ok(Lists { waits, signals })
}

/// Makes a timeline that starts at a value, limited to WINDLASS_SEMAPHORE_MAX_VALUE. The caller owns it.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_semaphore_create(
    initial: u64,
    semaphore: Option<&mut MaybeUninit<Option<NonNull<windlass_semaphore_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| give(semaphore, || Ok(Semaphore::new(initial))))
}

/// Adds a reference and returns the semaphore. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_semaphore_retain(
    semaphore: Option<NonNull<windlass_semaphore_t>>,
) -> Option<NonNull<windlass_semaphore_t>> {
    infallible(None, || handle::retain(semaphore).map(|()| semaphore))
}

/// Releases a reference. NULL is allowed. Submitted work keeps the semaphore.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_semaphore_release(semaphore: Option<NonNull<windlass_semaphore_t>>) {
    infallible((), || {
        handle::release(semaphore);
        Ok(())
    });
}

/// A number for the timeline that no other of the process has or had: two handles may be of one timeline. Operations and
/// records of profiles name semaphores by it. 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_semaphore_id(semaphore: Option<NonNull<windlass_semaphore_t>>) -> u64 {
    infallible(0, || Ok(used(semaphore)?.id()))
}

/// The current payload, or the failure of a failed semaphore. Never blocks.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_semaphore_query(
    semaphore: Option<NonNull<windlass_semaphore_t>>,
    value: Option<&mut MaybeUninit<u64>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let value = out("value", value)?;
        value.write(used(semaphore)?.query()?);
        Ok(())
    })
}

/// Raises the payload from the host and wakes waiting threads. Does nothing for a value at or below the payload, and
/// on a failed semaphore.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_semaphore_signal(
    semaphore: Option<NonNull<windlass_semaphore_t>>,
    value: u64,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| used(semaphore)?.signal(value))
}

/// Fails the semaphore. The first failure stays. Waits for values that were not reached get the failure at once, and
/// work that depends on them does not run. An unknown code becomes UNKNOWN; the message may be NULL. The returned
/// error is about this call, and is not the failure.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_semaphore_fail(
    semaphore: Option<NonNull<windlass_semaphore_t>>,
    code: windlass_code_t,
    message: *const c_char,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `text`.
        let error = unsafe { error_of(code, message) }?;
        used(semaphore)?.fail(error);
        Ok(())
    })
}

/// Fails the semaphore with an existing error, which the caller keeps. See windlass_semaphore_fail.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_semaphore_fail_with(
    semaphore: Option<NonNull<windlass_semaphore_t>>,
    error: Option<NonNull<windlass_error_t>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let error = windlass_error_t::get(error)?;
        used(semaphore)?.fail(error);
        Ok(())
    })
}
