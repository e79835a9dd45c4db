// SPDX-License-Identifier: MIT OR Apache-2.0
//! Points: a semaphore with a value. Wait lists and signal lists consist of them.

use smallvec::SmallVec;

use crate::{
    order::{notifications::Notifications, semaphore::Semaphore},
    words::error::Error,
};

/// A value of a semaphore, as an element of a wait list or a signal list. See [`Semaphore::at`].
#[derive(Clone, Debug)]
pub struct Point {
    /// The timeline.
    pub semaphore: Semaphore,
    /// The value to wait for or to signal.
    pub value: u64,
}

impl Semaphore {
    /// A point of this timeline, for wait lists and signal lists.
    pub fn at(&self, value: u64) -> Point {
        Point { semaphore: self.clone(), value }
    }
}

/// The most elements whose memory a cleared list keeps.
pub(super) const KEPT: usize = 64;

/// An owned wait list or signal list. Up to four points need no heap.
#[derive(Clone, Debug, Default)]
pub struct Points(SmallVec<[Point; 4]>);

impl Points {
    /// Adds a point.
    #[inline]
    pub fn push(&mut self, point: Point) {
        self.0.push(point);
    }

    /// Adds clones of all points.
    #[inline]
    pub fn extend(&mut self, points: &[Point]) {
        for point in points {
            self.0.push(point.clone());
        }
    }

    /// Removes all points. A list of usual length keeps its memory.
    #[inline]
    pub fn clear(&mut self) {
        self.0.clear();
        if self.0.capacity() > KEPT {
            *self = Self::default();
        }
    }
}

impl From<&[Point]> for Points {
    fn from(points: &[Point]) -> Self {
        Self(points.iter().cloned().collect())
    }
}

impl std::ops::Deref for Points {
    type Target = [Point];
    #[inline]
    fn deref(&self) -> &[Point] {
        &self.0
    }
}

/// Advances each semaphore of a signal list to its value, in the order of the list, when the work has completed. Values above
/// [`Semaphore::MAX_VALUE`] count as that maximum.
pub fn reach(signals: &[Point]) {
    for (index, signal) in signals.iter().enumerate() {
        if signal.semaphore.raise(signal.value) {
            return reach_attended(&signals[index..]);
        }
    }
}

/// Reaches signals, the first of which is raised and may have waiters.
fn reach_attended(signals: &[Point]) {
    let mut notifications = Notifications::new();
    for (index, signal) in signals.iter().enumerate() {
        match index {
            0 => signal.semaphore.notify(&mut notifications),
            _ => signal.semaphore.advance(signal.value, &mut notifications),
        }
    }
    notifications.fire();
}

/// Fails each semaphore of a signal list with the error of the work.
pub fn fail(signals: &[Point], error: &Error) {
    let mut notifications = Notifications::new();
    for signal in signals {
        signal.semaphore.fail_into(error.clone(), &mut notifications);
    }
    notifications.fire();
}
