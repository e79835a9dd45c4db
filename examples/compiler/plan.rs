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
    /// Places the values of all kernels but `result`, each at the lowest address that is free during its life.
    pub fn new(graph: &Graph, kernels: &[Kernel], result: Node) -> Self {
        let mut plan = Self { places: Vec::new(), size: 0, without_reuse: 0 };
        for (first, kernel) in kernels.iter().enumerate().filter(|(_, kernel)| kernel.node != result) {
            let readers = kernels.iter().rposition(|reader| reader.operands.contains(&kernel.node));
            let last = readers.unwrap_or(first);
            let size = graph.shape(kernel.node).bytes().next_multiple_of(ALIGNMENT);
            // Lives that touch overlap: a kernel reads while it writes.
            let mut taken: Vec<&Place> =
                plan.places.iter().filter(|other| other.last >= first && other.first <= last).collect();
            taken.sort_by_key(|other| other.start);
            let mut start = 0;
            for other in taken {
                if start + size <= other.start {
                    break;
                }
                start = start.max(other.end);
            }
            plan.places.push(Place { node: kernel.node, start, end: start + size, first, last });
            plan.size = plan.size.max(start + size);
            plan.without_reuse += size;
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
