// SPDX-License-Identifier: MIT OR Apache-2.0
//! The GPUs of a device in the machine: their places, and the links between them, as HIP and Linux tell them.

use std::{fs, sync::Arc};

use windlass_hal::{LinkKind, PciAddress, Topology, TopologyEdge, TopologyNode};
use windlass_hip_sys::{Api, Found};

use crate::{gpus::Gpus, hip::Hip, peers::Link};

impl Gpus {
    pub(crate) fn topology(&self) -> Topology {
        let nodes: Vec<_> = self.iter().map(|gpu| node(&gpu.hip, gpu.index as u32)).collect();
        let numa: Vec<_> = nodes.iter().map(|node| node.numa_node).collect();
        Topology::new(nodes, |from, to| {
            let (from, to) = (from as usize, to as usize);
            edge(&self[from].hip, self[to].hip.ordinal(), (numa[from], numa[to]))
        })
    }

    /// The link from a GPU of the device to any GPU of the same HIP.
    pub(crate) fn edge_to(&self, from: u32, to: &TopologyNode) -> Option<TopologyEdge> {
        let hip = &self.get(from as usize)?.hip;
        if to.runtime != runtime(&hip.api) {
            return None;
        }
        let ordinal = hip.at_pci_address(to.pci_address?)?;
        Some(edge(hip, ordinal, (node(hip, from).numa_node, to.numa_node)))
    }
}

fn node(hip: &Hip, index: u32) -> TopologyNode {
    let mut node = TopologyNode::new(index);
    node.pci_address = hip.pci_address();
    node.runtime = runtime(&hip.api);
    // The address of a simulated GPU is that of no device, or of another one.
    node.numa_node = node.pci_address.filter(|_| !hip.api.origin().simulated).and_then(numa_node);
    node
}

/// The same number for all tables of one library. Each table of an implementation in this process is a machine of its own.
fn runtime(api: &Arc<Api>) -> u64 {
    let library = api.entries().address("hipGetDeviceCount");
    match (api.origin().found, library) {
        (Found::InProcess, _) | (_, None) => Arc::as_ptr(api).addr() as u64,
        (_, Some(entry)) => entry.addr() as u64,
    }
}

fn edge(hip: &Hip, to: i32, (from_node, to_node): (Option<u32>, Option<u32>)) -> TopologyEdge {
    if hip.ordinal() == to {
        return TopologyEdge::new(LinkKind::Same, Some(0)).with_peer_access();
    }
    let peer_access = hip.may_reach(to).unwrap_or(false);
    let mut edge = match hip.link(to) {
        _ if !peer_access => TopologyEdge::new(LinkKind::HostStaged, None),
        Some(Link { kind, hops }) => TopologyEdge::new(link(kind), Some(hops)).with_peer_access(),
        None => TopologyEdge::new(LinkKind::Unknown, None).with_peer_access(),
    };
    edge.native_atomics = hip.native_atomics(to);
    edge.numa_distance = from_node.zip(to_node).and_then(|(from, to)| numa_distance(from, to));
    edge
}

/// A kind of link by HSA's number, `hsa_amd_link_info_type_t`.
fn link(number: u32) -> LinkKind {
    match number {
        0 | 1 => LinkKind::HostBus,
        2 => LinkKind::Pcie,
        3 => LinkKind::Network,
        4 => LinkKind::Xgmi,
        _ => LinkKind::Unknown,
    }
}

/// The NUMA node of a PCI device; `None` if the system has no such nodes.
fn numa_node(address: PciAddress) -> Option<u32> {
    let node = fs::read_to_string(format!("/sys/bus/pci/devices/{address}/numa_node")).ok()?;
    node.trim().parse().ok()
}

fn numa_distance(from: u32, to: u32) -> Option<u32> {
    let distances = fs::read_to_string(format!("/sys/devices/system/node/node{from}/distance")).ok()?;
    distances.split_whitespace().nth(to as usize)?.parse().ok()
}
