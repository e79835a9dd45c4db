// SPDX-License-Identifier: MIT OR Apache-2.0
//! Edges: the conditions for a packet to run beside the packets before it in its queue.

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use super::queue::Point;

/// A state of memory that kernels and the host change without notice, such as the value of a signal.
pub(crate) trait Condition: Send + Sync {
    /// Whether it holds now. The scheduler calls this often, and under its lock: it must not block.
    fn holds(&self) -> bool;
}

/// One condition for a packet to run.
#[derive(Clone)]
pub(crate) enum Edge {
    /// The end of a packet.
    Point(Point),
    /// A condition that the scheduler polls until it holds.
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
