// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fences: sets of points that are waited for together.

use std::{
    mem::MaybeUninit,
    ptr::NonNull,
    sync::{Mutex, PoisonError},
};

use facade::{Fence, Result, WaitPolicy};

use crate::{
    boundary::{fallible, infallible},
    error::windlass_error_t,
    handle::{self, Shell, object, used},
    memory::{check_list, give, out},
    semaphore::{points_of, windlass_point_t, windlass_semaphore_t},
    wait::deadline,
};

/// A set of points that holds each semaphore once, with its greatest value. Threads may share a fence.
pub struct windlass_fence_t(Shell<Mutex<Held>>);
object!(windlass_fence_t, Mutex<Held>, "fence");

/// A fence, and a handle of each of its semaphores in the same order.
#[derive(Default)]
pub(crate) struct Held {
    fence: Fence,
    handles: Vec<Retained>,
}

/// A reference to a semaphore's handle.
struct Retained(NonNull<windlass_semaphore_t>);

// SAFETY: handles are for any thread.
unsafe impl Send for Retained {}

impl Drop for Retained {
    fn drop(&mut self) {
        handle::release(Some(self.0));
    }
}

impl Held {
    fn insert(&mut self, point: windlass_point_t) -> Result<()> {
        let semaphore = used(point.semaphore)?;
        let before = self.fence.len();
        self.fence.insert(semaphore.at(point.value));
        if self.fence.len() > before
            && let Some(handle) = point.semaphore
        {
            // The use above keeps the semaphore, so the reference can be added unless C gave up its last one meanwhile.
            match handle::retain(Some(handle)) {
                Ok(()) => self.handles.push(Retained(handle)),
                Err(_) => self.handles.push(Retained(handle::create(semaphore.clone()))),
            }
        }
        Ok(())
    }

    fn points(&self) -> impl Iterator<Item = windlass_point_t> {
        let values = self.fence.iter().map(|point| point.value);
        self.handles
            .iter()
            .zip(values)
            .map(|(held, value)| windlass_point_t { semaphore: Some(held.0), value })
    }
}

/// The points of a fence, which may be waited for without its lock.
fn snapshot(fence: Option<NonNull<windlass_fence_t>>) -> Result<Fence> {
    Ok(used(fence)?.lock().unwrap_or_else(PoisonError::into_inner).fence.clone())
}

/// Makes an empty fence, which is passed from the start. The caller owns it.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_fence_create(
    fence: Option<&mut MaybeUninit<Option<NonNull<windlass_fence_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| give(fence, || Ok(Mutex::default())))
}

/// Adds points; another fence's come from windlass_fence_points. Of two points on one semaphore the greater value stays.
/// The fence keeps the semaphores. After an error it has the points before the wrong one.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_fence_insert(
    fence: Option<NonNull<windlass_fence_t>>,
    count: usize,
    points: *const windlass_point_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `points_of`.
        unsafe { points_of("points", count, points) }?;
        let fence = used(fence)?;
        let mut held = fence.lock().unwrap_or_else(PoisonError::into_inner);
        for index in 0..count {
            // SAFETY: `points_of` found a list of this length.
            held.insert(unsafe { *points.add(index) })?;
        }
        Ok(())
    })
}

/// Writes the first `capacity` points to `points`, for a wait list or a signal list, and the number of all to `count`.
/// `points` may be NULL where `capacity` is 0. The semaphores are valid until the fence's last reference is released.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_fence_points(
    fence: Option<NonNull<windlass_fence_t>>,
    capacity: usize,
    points: *mut windlass_point_t,
    count: Option<&mut MaybeUninit<usize>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let count = out("count", count)?;
        check_list("points", capacity, points)?;
        let fence = used(fence)?;
        let held = fence.lock().unwrap_or_else(PoisonError::into_inner);
        for (index, point) in held.points().take(capacity).enumerate() {
            // SAFETY: the caller's list has room for `capacity` points.
            unsafe { points.add(index).write(point) };
        }
        count.write(held.handles.len());
        Ok(())
    })
}

/// Whether all points are reached. Returns the error of a failed semaphore. Never blocks.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_fence_query(
    fence: Option<NonNull<windlass_fence_t>>,
    passed: Option<&mut MaybeUninit<bool>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let passed = out("passed", passed)?;
        passed.write(snapshot(fence)?.query()?);
        Ok(())
    })
}

/// Signals all points from the host.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_fence_signal(
    fence: Option<NonNull<windlass_fence_t>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| snapshot(fence)?.signal())
}

/// Fails all semaphores of the fence with an error, which the caller keeps.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_fence_fail(
    fence: Option<NonNull<windlass_fence_t>>,
    error: Option<NonNull<windlass_error_t>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let error = windlass_error_t::get(error)?;
        snapshot(fence)?.fail(error);
        Ok(())
    })
}

/// Blocks until all points that the fence has now are reached. Returns the failure of any; DEADLINE_EXCEEDED if the
/// timeout expires first.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_fence_wait(
    fence: Option<NonNull<windlass_fence_t>>,
    timeout_ns: u64,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| facade::wait_all(&snapshot(fence)?, deadline(timeout_ns), WaitPolicy::default()))
}

/// Adds a reference and returns the fence. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_fence_retain(
    fence: Option<NonNull<windlass_fence_t>>,
) -> Option<NonNull<windlass_fence_t>> {
    infallible(None, || handle::retain(fence).map(|()| fence))
}

/// Releases a reference. NULL is allowed. The semaphores are not changed.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_fence_release(fence: Option<NonNull<windlass_fence_t>>) {
    infallible((), || {
        handle::release(fence);
        Ok(())
    });
}
