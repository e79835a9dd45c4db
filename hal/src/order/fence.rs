// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fences: sets of points that are waited for together.

use std::{
    future::Future,
    ops::Deref,
    pin::Pin,
    task::{Context, Poll},
};

use crate::{
    order::{
        deadline::Deadline,
        point::{Point, fail},
        wait::{Wait, WaitPolicy, wait_all},
    },
    words::error::{Error, Result},
};

/// A set of points that holds each semaphore once, with its greatest value. It dereferences to `[Point]`, so it serves
/// as a wait list or a signal list.
#[derive(Clone, Debug, Default)]
pub struct Fence {
    points: Vec<Point>,
}

impl Fence {
    /// An empty fence, which is passed from the start.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a point. Of two points on one semaphore the greater value stays.
    pub fn insert(&mut self, point: Point) {
        match self.points.iter_mut().find(|known| known.semaphore.same(&point.semaphore)) {
            Some(known) => known.value = known.value.max(point.value),
            None => self.points.push(point),
        }
    }

    /// Adds all points of a list or of another fence.
    pub fn extend(&mut self, points: &[Point]) {
        points.iter().for_each(|point| self.insert(point.clone()));
    }

    /// Joins fences: the result is passed when all of `fences` are.
    pub fn join<'a>(fences: impl IntoIterator<Item = &'a Fence>) -> Self {
        let mut joined = Self::new();
        fences.into_iter().for_each(|fence| joined.extend(fence));
        joined
    }

    /// Whether all points are reached. A failed semaphore returns its error. Retires finished work first, and never
    /// blocks.
    pub fn query(&self) -> Result<bool> {
        let mut passed = true;
        for point in &self.points {
            point.semaphore.poll_sources(point.value);
            match point.semaphore.reached(point.value) {
                Some(Ok(())) => {}
                Some(Err(error)) => return Err(error),
                None => passed = false,
            }
        }
        Ok(passed)
    }

    /// Signals all points from the host. The errors are those of [`Semaphore::signal`](crate::Semaphore::signal).
    pub fn signal(&self) -> Result<()> {
        self.points.iter().try_for_each(|point| point.semaphore.signal(point.value))
    }

    /// Fails all semaphores of the fence.
    pub fn fail(&self, error: Error) {
        fail(&self.points, &error);
    }

    /// Returns a future that ends when all points are reached, or with the error of a failed semaphore.
    pub fn wait(&self) -> FenceWait {
        let waits = self.points.iter().map(|point| point.semaphore.wait(point.value)).collect();
        FenceWait { waits, failure: None }
    }

    /// Blocks until all points are reached. See [`wait_all`] for the errors.
    pub fn wait_blocking(&self, deadline: impl Into<Deadline>) -> Result<()> {
        wait_all(&self.points, deadline, WaitPolicy::default())
    }
}

impl Deref for Fence {
    type Target = [Point];
    fn deref(&self) -> &[Point] {
        &self.points
    }
}

impl FromIterator<Point> for Fence {
    fn from_iter<I: IntoIterator<Item = Point>>(points: I) -> Self {
        let mut fence = Self::new();
        points.into_iter().for_each(|point| fence.insert(point));
        fence
    }
}

/// The future of [`Fence::wait`].
#[derive(Debug)]
#[must_use = "a wait does nothing until it is polled"]
pub struct FenceWait {
    waits: Vec<Wait>,
    failure: Option<Error>,
}

impl Future for FenceWait {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let Self { waits, failure } = &mut *self;
        waits.retain_mut(|wait| match Pin::new(wait).poll(cx) {
            Poll::Pending => true,
            Poll::Ready(result) => {
                *failure = failure.take().or(result.err());
                false
            }
        });
        match failure {
            Some(error) => Poll::Ready(Err(error.clone())),
            None if waits.is_empty() => Poll::Ready(Ok(())),
            None => Poll::Pending,
        }
    }
}
