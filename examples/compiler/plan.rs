// SPDX-License-Identifier: MIT OR Apache-2.0
//! The plan of memory: a place for each intermediate value in one buffer, shared by values that never live at once.

use crate::{
    graph::{Graph, Node},
    kernels::Kernel,
};

/// The alignment of places in bytes.
const ALIGNMENT: u64 = 256;

/// A value in the buffer: its bytes, and the kernels from its writer to its last reader.
struct Place {
    node: Node,
    start: u64,
    end: u64,
    first: usize,
    last: usize,
}

pub struct Plan {
    places: Vec<Place>,
    /// The size of the buffer in bytes.
    pub size: u64,
    /// The bytes of all values side by side.
    pub without_reuse: u64,
}

impl Plan {
    /// Places the values of all kernels but `result`, the largest first, each at the lowest address that is free during
    /// its life.
    pub fn new(graph: &Graph, kernels: &[Kernel], result: Node) -> Self {
        let mut values: Vec<Place> = Vec::new();
        for (first, kernel) in kernels.iter().enumerate().filter(|(_, kernel)| kernel.node != result) {
            let reader = kernels.iter().rposition(|reader| reader.operands.contains(&kernel.node));
            let size = graph.shape(kernel.node).bytes().next_multiple_of(ALIGNMENT);
            values.push(Place {
                node: kernel.node,
                start: 0,
                end: size,
                first,
                last: reader.unwrap_or(first),
            });
        }
        values.sort_by_key(|value| std::cmp::Reverse(value.end));
        let mut plan = Self { places: Vec::new(), size: 0, without_reuse: 0 };
        for mut value in values {
            // Lives that touch overlap: a kernel reads while it writes.
            let is_beside = |other: &&Place| other.last >= value.first && other.first <= value.last;
            let mut taken: Vec<&Place> = plan.places.iter().filter(is_beside).collect();
            taken.sort_by_key(|other| other.start);
            let size = value.end;
            for other in taken {
                if value.start + size > other.start {
                    value.start = value.start.max(other.end);
                }
            }
            value.end = value.start + size;
            plan.size = plan.size.max(value.end);
            plan.without_reuse += size;
            plan.places.push(value);
        }
        plan
    }

    /// The place of a value in bytes. `None` for inputs and the result.
    pub fn offset(&self, node: Node) -> Option<u64> {
        self.places.iter().find(|place| place.node == node).map(|place| place.start)
    }

    pub fn values(&self) -> usize {
        self.places.len()
    }
}
