// SPDX-License-Identifier: MIT OR Apache-2.0
//! The topology of a device, and of several: processors and the links between them.

use windlass_hal::{Code, Device, LinkKind, Topology, TopologyEdge, TopologyNode};

use crate::{
    check::{ensure, ensure_eq, refused},
    context::Context,
    outcome::Outcome,
};

suite! { "topology";
    #[smoke] nodes_are_the_physical_devices: "A topology has a node for each physical device, in their order, and no two nodes are one processor.";
    every_pair_has_a_link: "Each ordered pair of processors has one link, over which kernels reach the memory, and none leads to itself.";
    stays: "The topology of an opened device does not change.";
    between_devices: "The topology of two devices has the processors of both, and a link for each ordered pair.";
    named_twice: "A device that is named twice is the same processors twice.";
    of_no_device_refused: "The topology of no devices is INVALID_ARGUMENT.";
}

/// Checks that each ordered pair of nodes has one edge, with a cost that fits its kind.
fn check_edges(topology: &Topology) -> Outcome {
    let count = topology.nodes.len() as u32;
    ensure_eq!(topology.edges.len() as u32, count * count.saturating_sub(1), "edges of {count} nodes");
    for from in 0..count {
        for to in (0..count).filter(|to| *to != from) {
            let edges = topology.edges.iter().filter(|edge| (edge.from, edge.to) == (from, to));
            ensure_eq!(edges.count(), 1, "edges from node {from} to node {to}");
            ensure!(topology.edge(from, to).is_some(), "no edge is found from {from} to {to}");
        }
        ensure_eq!(topology.edge(from, from), None, "the edge of node {from} to itself");
    }
    for edge in &topology.edges {
        ensure!(edge.copy_cost <= TopologyEdge::MAX_COST, "the cost of {edge:?}");
        ensure_eq!(edge.copy_cost == 0, edge.link == LinkKind::Same, "whether {edge:?} costs nothing");
    }
    Ok(())
}

fn check_nodes(device: &Device, nodes: &[TopologyNode], number: u32) -> Outcome {
    ensure_eq!(nodes.len() as u32, device.limits().physical_devices, "nodes of device {number}");
    for (index, node) in nodes.iter().enumerate() {
        ensure_eq!((node.device, node.physical_device), (number, index as u32), "the numbers of {node:?}");
        let twin = nodes[..index].iter().find(|other| {
            node.pci_address.is_some()
                && (other.pci_address, other.runtime) == (node.pci_address, node.runtime)
        });
        ensure_eq!(twin, None, "the node with the place of {node:?}");
    }
    Ok(())
}

fn nodes_are_the_physical_devices(ctx: &Context) -> Outcome {
    check_nodes(ctx.device(), &ctx.device().topology()?.nodes, 0)
}

fn every_pair_has_a_link(ctx: &Context) -> Outcome {
    let topology = ctx.device().topology()?;
    check_edges(&topology)?;
    for edge in &topology.edges {
        ensure!(edge.peer_access, "kernels do not reach over {edge:?}, but the device has one memory");
    }
    Ok(())
}

fn stays(ctx: &Context) -> Outcome {
    let before = ctx.device().topology()?;
    let buffer = ctx.filled(1 << 16, 1)?;
    ensure_eq!(ctx.device().topology()?, before, "the topology while memory is in use");
    drop(buffer);
    ensure_eq!(ctx.device().topology()?, before, "the topology afterwards");
    Ok(())
}

fn between_devices(ctx: &Context) -> Outcome {
    let other = ctx.open()?;
    let both = Topology::between(&[ctx.device(), &other])?;
    let first = ctx.device().limits().physical_devices as usize;
    ensure!(both.nodes.len() > first, "{} nodes of two devices", both.nodes.len());
    check_nodes(ctx.device(), &both.nodes[..first], 0)?;
    check_nodes(&other, &both.nodes[first..], 1)?;
    check_edges(&both)?;
    let own = ctx.device().topology()?;
    for edge in &own.edges {
        ensure_eq!(both.edge(edge.from, edge.to), Some(edge), "an edge within the first device");
    }
    Ok(())
}

fn named_twice(ctx: &Context) -> Outcome {
    let twice = Topology::between(&[ctx.device(), ctx.device()])?;
    let count = ctx.device().limits().physical_devices;
    ensure_eq!(twice.nodes.len() as u32, 2 * count, "the nodes");
    for index in 0..count {
        let edge = twice.edge(index, count + index);
        let same = edge.is_some_and(|edge| edge.link == LinkKind::Same && edge.peer_access);
        ensure!(same, "the link of processor {index} with itself is {edge:?}");
    }
    check_edges(&twice)
}

fn of_no_device_refused(_ctx: &Context) -> Outcome {
    refused(Topology::between(&[]), Code::InvalidArgument, "the topology of no devices").map(drop)
}
