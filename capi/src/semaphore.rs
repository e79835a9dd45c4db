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

/// A timeline semaphore: a payload of 64 bits that only grows, and the one way in which work is ordered. It belongs to no
/// device. Waiting for a value that nobody has promised yet is legal.
pub struct windlass_semaphore_t(Shell<Semaphore>);
object!(windlass_semaphore_t, Semaphore, "semaphore");

/// The greatest payload. Larger values are refused with OUT_OF_RANGE.
pub const WINDLASS_SEMAPHORE_MAX_VALUE: u64 = 0x7FFF_FFFF_FFFF_FFFF;

/// A value of a semaphore: what wait lists and signal lists are made of. It borrows the semaphore for the call that it is
/// passed to.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_point_t {
    /// The timeline.
    pub semaphore: Option<NonNull<windlass_semaphore_t>>,
    /// The value to wait for or to signal.
    pub value: u64,
}

/// Points as the HAL takes them; few of them need no heap.
pub(crate) type Points = SmallVec<[Point; 4]>;

/// A wait list or a signal list of the caller's.
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

/// What an operation waits for and what it signals.
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

/// Makes a timeline that starts at a value, cut to WINDLASS_SEMAPHORE_MAX_VALUE. The caller owns it.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_semaphore_create(
    initial: u64,
    semaphore: Option<&mut MaybeUninit<Option<NonNull<windlass_semaphore_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| give(semaphore, || Ok(Semaphore::new(initial))))
}

/// Adds a reference and gives the semaphore back. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_semaphore_retain(
    semaphore: Option<NonNull<windlass_semaphore_t>>,
) -> Option<NonNull<windlass_semaphore_t>> {
    infallible(None, || handle::retain(semaphore).map(|()| semaphore))
}

/// Gives a reference back. NULL is right. What was submitted with the semaphore keeps it.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_semaphore_release(semaphore: Option<NonNull<windlass_semaphore_t>>) {
    infallible((), || {
        handle::release(semaphore);
        Ok(())
    });
}

/// The payload as it is now; the failure of a semaphore that failed. Never blocks.
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

/// Raises the payload from the host and wakes whoever waited for it. At or below the payload, and on a failed semaphore, it
/// does nothing.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_semaphore_signal(
    semaphore: Option<NonNull<windlass_semaphore_t>>,
    value: u64,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| used(semaphore)?.signal(value))
}

/// Fails the semaphore: sticky, and the first failure wins. Whoever waits for a value that was not reached gets the failure
/// at once, work that depends on it does not run. A code that does not exist becomes UNKNOWN; the message may be NULL. What is
/// returned says whether this call went well, not the failure.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_semaphore_fail(
    semaphore: Option<NonNull<windlass_semaphore_t>>,
    code: windlass_code_t,
    message: *const c_char,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the header asks of the caller what `text` asks.
        let error = unsafe { error_of(code, message) }?;
        used(semaphore)?.fail(error);
        Ok(())
    })
}

/// Fails the semaphore with an error that came from elsewhere, which the caller keeps. See windlass_semaphore_fail.
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
