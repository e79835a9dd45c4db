// SPDX-License-Identifier: MIT OR Apache-2.0
//! Edges: what a packet waits for beside the packets before it in its queue.

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use super::queue::Point;

/// A state of memory that kernels and the host change without a word, such as the value of a signal.
pub(crate) trait Condition: Send + Sync {
    /// Whether it holds now. Asked often, and under the scheduler's lock: it blocks for nothing.
    fn holds(&self) -> bool;
}

/// One thing that a packet waits for.
#[derive(Clone)]
pub(crate) enum Edge {
    /// The end of a packet.
    Point(Point),
    /// A condition that is asked for until it holds.
    Condition(Arc<dyn Condition>),
}

/// The edges of one packet.
pub(crate) type Edges = SmallVec<[Edge; 2]>;

impl Edge {
    pub(crate) fn is_reached(&self) -> bool {
        match self {
            Self::Point(point) => point.is_reached(),
            Self::Condition(condition) => condition.holds(),
        }
    }
}

impl From<Point> for Edge {
    fn from(point: Point) -> Self {
        Self::Point(point)
    }
}

impl fmt::Debug for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Point(point) => f.debug_tuple("Point").field(point).finish(),
            Self::Condition(_) => f.write_str("Condition"),
        }
    }
}
