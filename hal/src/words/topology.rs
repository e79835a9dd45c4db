// SPDX-License-Identifier: MIT OR Apache-2.0
//! The topology of devices: their processors, and the links between them.

use std::{fmt, str::FromStr};

use crate::words::error::Error;

/// The processors of one or more devices, and a link for each ordered pair of them.
///
/// [`Device::topology`](crate::Device::topology) describes one device, [`Topology::between`](Self::between) several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Topology {
    /// The processors: all of the first device, in the order of
    /// [`Limits::physical_affinity`](crate::Limits::physical_affinity), then all of the next.
    pub nodes: Vec<TopologyNode>,
    /// The links. Each ordered pair of different nodes has one.
    pub edges: Vec<TopologyEdge>,
}

impl Topology {
    /// Nodes, and for each ordered pair of their numbers the edge that `edge` returns.
    pub fn new(nodes: Vec<TopologyNode>, mut edge: impl FnMut(u32, u32) -> TopologyEdge) -> Self {
        let count = nodes.len() as u32;
        let pairs = (0..count).flat_map(|from| (0..count).map(move |to| (from, to)));
        let edges = pairs.filter(|(from, to)| from != to);
        let edges = edges.map(|(from, to)| TopologyEdge { from, to, ..edge(from, to) }).collect();
        Self { nodes, edges }
    }

    /// The link from one node to another, by their numbers. `None` from a node to itself, and beyond the last node.
    pub fn edge(&self, from: u32, to: u32) -> Option<&TopologyEdge> {
        self.edges.iter().find(|edge| edge.from == from && edge.to == to)
    }
}

/// A processor with its memory: a GPU, or the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopologyNode {
    /// The device that it belongs to, counted from 0 in the list given to [`Topology::between`].
    pub device: u32,
    /// Its number among the device's processors, as [`Limits::physical_affinity`](crate::Limits::physical_affinity)
    /// counts them.
    pub physical_device: u32,
    /// Whether the processor is the host's, and its memory the host's.
    pub is_host: bool,
    /// The address on the PCI bus, where it has one and the driver knows it.
    pub pci_address: Option<PciAddress>,
    /// The NUMA node of the host that is nearest. `None` where the system does not say, or where there is not one nearest.
    pub numa_node: Option<u32>,
    /// The library, or the simulated machine, through which the driver reaches the processor. Two nodes with the same
    /// number and the same PCI address are one processor. The number means something in this process only.
    pub runtime: u64,
}

impl TopologyNode {
    /// Processor `physical_device` of a device, of which nothing else is known.
    pub fn new(physical_device: u32) -> Self {
        Self { physical_device, ..Self::default() }
    }

    /// The host as a processor.
    pub fn host(physical_device: u32) -> Self {
        Self { is_host: true, ..Self::new(physical_device) }
    }
}

/// The link from one node to another: how the processor of `from` reaches the memory of `to`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopologyEdge {
    /// The number of the node that the link begins at.
    pub from: u32,
    /// The number of the node that it ends at.
    pub to: u32,
    /// The kind of link.
    pub link: LinkKind,
    /// The links in a row between the two, where the driver knows it.
    pub hops: Option<u32>,
    /// Whether kernels of `from` can read and write the memory of `to`.
    pub peer_access: bool,
    /// Whether atomics of `from` on the memory of `to` are atomic for both, where the driver knows it.
    pub native_atomics: Option<bool>,
    /// The relative cost of moving a byte, from 0 for the same memory to [`MAX_COST`](Self::MAX_COST). It ranks links by
    /// their kind and their hops, and is no measurement.
    pub copy_cost: u8,
    /// The distance between the nearest NUMA nodes as the system states it, 10 for the same node.
    pub numa_distance: Option<u32>,
}

impl TopologyEdge {
    /// The greatest cost.
    pub const MAX_COST: u8 = 15;

    /// A link of a kind, with the cost that this kind and number of hops have.
    pub fn new(link: LinkKind, hops: Option<u32>) -> Self {
        let more = hops.unwrap_or(1).saturating_sub(1);
        let (first, each): (u32, u32) = match link {
            LinkKind::Same => (0, 0),
            LinkKind::Xgmi => (2, 2),
            LinkKind::HostBus => (4, 2),
            LinkKind::Pcie => (6, 2),
            LinkKind::Network => (10, 2),
            LinkKind::HostStaged => (12, 1),
            LinkKind::Unknown => (u32::from(Self::MAX_COST), 0),
        };
        let cost = more.saturating_mul(each).saturating_add(first).min(u32::from(Self::MAX_COST));
        Self { link, hops, copy_cost: cost as u8, ..Self::default() }
    }

    /// A link over which kernels can use the memory at its end.
    #[must_use]
    pub fn with_peer_access(self) -> Self {
        Self { peer_access: true, ..self }
    }
}

/// The kind of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LinkKind {
    /// Both nodes are the same processor with the same memory.
    Same,
    /// AMD's Infinity Fabric between GPUs.
    Xgmi,
    /// The bus between sockets of the host.
    HostBus,
    /// The PCI Express bus.
    Pcie,
    /// A network between machines.
    Network,
    /// No direct link: bytes move through host memory.
    HostStaged,
    /// The driver does not know.
    #[default]
    Unknown,
}

impl LinkKind {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Xgmi => "xgmi",
            Self::HostBus => "host_bus",
            Self::Pcie => "pcie",
            Self::Network => "network",
            Self::HostStaged => "host_staged",
            Self::Unknown => "unknown",
        }
    }
}

/// An address on the PCI bus. As text it is `0000:c1:00.0`: domain, bus, device and function in hexadecimal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct PciAddress {
    /// The domain.
    pub domain: u32,
    /// The bus.
    pub bus: u8,
    /// The device on the bus.
    pub device: u8,
    /// The function of the device.
    pub function: u8,
}

impl fmt::Display for PciAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:02x}:{:02x}.{:x}", self.domain, self.bus, self.device, self.function)
    }
}

impl FromStr for PciAddress {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let parse = || {
            let (rest, function) = text.split_once('.')?;
            let mut parts = rest.split(':');
            let address = Self {
                domain: u32::from_str_radix(parts.next()?, 16).ok()?,
                bus: u8::from_str_radix(parts.next()?, 16).ok()?,
                device: u8::from_str_radix(parts.next()?, 16).ok()?,
                function: u8::from_str_radix(function, 16).ok()?,
            };
            parts.next().is_none().then_some(address)
        };
        parse().ok_or_else(|| {
            Error::invalid_argument(format!("`{text}` is no PCI address: one like 0000:c1:00.0 is expected"))
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_pci_address_reads_as_it_is_written() {
        let address: PciAddress = "0001:C1:1f.7".parse().unwrap();
        assert_eq!((address.domain, address.bus, address.device, address.function), (1, 0xc1, 0x1f, 7));
        assert_eq!(address.to_string(), "0001:c1:1f.7");
        for wrong in ["", "c1:00.0", "0:0:0:0.0", "0000:c1:00", "0000:1c1:00.0", "0000:c1:00.g"] {
            assert!(wrong.parse::<PciAddress>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn costs_grow_with_hops_and_never_beyond_the_greatest() {
        use LinkKind::{HostStaged, Pcie, Same, Unknown, Xgmi};
        let cost = |link, hops| TopologyEdge::new(link, Some(hops)).copy_cost;
        assert_eq!(cost(Same, 9), 0);
        assert!(cost(Xgmi, 1) < cost(Xgmi, 2) && cost(Xgmi, 1) < cost(Pcie, 1));
        assert!(cost(Pcie, 1) < cost(HostStaged, 1));
        assert_eq!(cost(Xgmi, u32::MAX), TopologyEdge::MAX_COST);
        assert_eq!(TopologyEdge::new(Unknown, None).copy_cost, TopologyEdge::MAX_COST);
    }
}
