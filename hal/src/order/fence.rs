// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fences: a set of points that stands for all of them.

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

/// A set of (semaphore, value), each semaphore once with its greatest value. Usable wherever a wait or signal
/// list is.
#[derive(Clone, Debug, Default)]
pub struct Fence {
    points: Vec<Point>,
}

impl Fence {
    /// A fence that is already passed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a point; of two on one semaphore the greater value stays.
    pub fn insert(&mut self, point: Point) {
        match self.points.iter_mut().find(|known| known.semaphore.same(&point.semaphore)) {
            Some(known) => known.value = known.value.max(point.value),
            None => self.points.push(point),
        }
    }

    /// Adds every point of another fence or list.
    pub fn extend(&mut self, points: &[Point]) {
        points.iter().for_each(|point| self.insert(point.clone()));
    }

    /// One fence that is passed when all of `fences` are.
    pub fn join<'a>(fences: impl IntoIterator<Item = &'a Fence>) -> Self {
        let mut joined = Self::new();
        fences.into_iter().for_each(|fence| joined.extend(fence));
        joined
    }

    /// Whether every point is reached; the first failure found.
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

    /// Signals every point from the host.
    pub fn signal(&self) -> Result<()> {
        self.points.iter().try_for_each(|point| point.semaphore.signal(point.value))
    }

    /// Fails every semaphore of the fence.
    pub fn fail(&self, error: Error) {
        fail(&self.points, &error);
    }

    /// A future that ends when every point is reached or one semaphore failed.
    pub fn wait(&self) -> FenceWait {
        let waits = self.points.iter().map(|point| point.semaphore.wait(point.value)).collect();
        FenceWait { waits, failure: None }
    }

    /// Blocks until every point is reached; see [`wait_all`].
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
