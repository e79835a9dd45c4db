// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs of topologies.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use windlass_hal::{Topology, TopologyEdge};

use super::sabotage::{Inner, Sabotage};

saboteurs! {
    loses_a_processor: "The last processor is not in the topology.", Tells(|topology| topology.nodes.truncate(topology.nodes.len().saturating_sub(1))),
        ["topology.nodes_are_the_physical_devices", "topology.between_devices", "topology.named_twice"];
    numbers_processors_from_one: "Processors are numbered from 1.",
        Tells(|topology| topology.nodes.iter_mut().for_each(|node| node.physical_device += 1)),
        ["topology.nodes_are_the_physical_devices", "topology.between_devices"];
    links_to_itself: "A processor has a link to itself.",
        Tells(|topology| topology.edges.push(TopologyEdge::default())), ["topology.every_pair_has_a_link"];
    moves_processors: "A processor is near another NUMA node whenever the topology is asked.", Moves(AtomicU32::new(0)),
        ["topology.stays"];
}

struct Tells(fn(&mut Topology));

impl Sabotage for Tells {
    fn topology(&self, inner: &Inner) -> Topology {
        let mut topology = inner.topology();
        (self.0)(&mut topology);
        topology
    }
}

struct Moves(AtomicU32);

impl Sabotage for Moves {
    fn topology(&self, inner: &Inner) -> Topology {
        let mut topology = inner.topology();
        topology.nodes.iter_mut().for_each(|node| node.numa_node = Some(self.0.fetch_add(1, Relaxed)));
        topology
    }
}
