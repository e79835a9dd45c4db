// SPDX-License-Identifier: MIT OR Apache-2.0
//! The topology of devices: their processors, and the links between them.

use std::{
    ffi::{CString, c_char},
    mem::MaybeUninit,
    ptr::{self, NonNull},
};

use facade::{Device, Error, LinkKind, Result, Topology};

use crate::{
    boundary::{fallible, infallible},
    device::windlass_device_t,
    error::windlass_error_t,
    handle::{self, Shell, object, used},
    memory::{Growing, c_string, give, list, write_struct},
    unknown::{WINDLASS_UNKNOWN, flag, number},
};

/// The processors of one or more devices, and a link for each ordered pair of them.
pub struct windlass_topology_t(Shell<Told>);
object!(windlass_topology_t, Told, "topology");

/// A topology with C strings.
pub(crate) struct Told {
    topology: Topology,
    addresses: Vec<Option<CString>>,
}

/// A processor with its memory. The string belongs to the topology.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_topology_node_t {
    /// sizeof this struct, set by the caller: windlass_topology_node_init does so.
    pub struct_size: usize,
    /// The number of its device in the list that the topology was made of.
    pub device: u32,
    /// Its number among the device's processors, as windlass_device_physical_affinity takes it.
    pub physical_device: u32,
    /// The address on the PCI bus, such as "0000:c1:00.0"; NULL where it has none, or the driver does not know it.
    pub pci_address: *const c_char,
    /// The NUMA node of the host that is nearest, or WINDLASS_UNKNOWN.
    pub numa_node: u32,
    /// Whether the processor is the host's: 0 or 1.
    pub is_host: u32,
    /// The library, or the simulated machine, through which the processor is reached. Two nodes with the same number and
    /// the same PCI address are one processor.
    pub runtime: u64,
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_topology_node_t {
    const NAME: &'static str = "windlass_topology_node_t";
}

/// The kind of a link: one of WINDLASS_LINK_*. Later versions may add kinds.
pub type windlass_link_kind_t = u32;

/// The driver does not know.
pub const WINDLASS_LINK_UNKNOWN: windlass_link_kind_t = 0;
/// Both nodes are the same processor with the same memory.
pub const WINDLASS_LINK_SAME: windlass_link_kind_t = 1;
/// AMD's Infinity Fabric between GPUs.
pub const WINDLASS_LINK_XGMI: windlass_link_kind_t = 2;
/// The bus between sockets of the host.
pub const WINDLASS_LINK_HOST_BUS: windlass_link_kind_t = 3;
/// The PCI Express bus.
pub const WINDLASS_LINK_PCIE: windlass_link_kind_t = 4;
/// A network between machines.
pub const WINDLASS_LINK_NETWORK: windlass_link_kind_t = 5;
/// No direct link: bytes move through host memory.
pub const WINDLASS_LINK_HOST_STAGED: windlass_link_kind_t = 6;

/// The link from one node to another.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_topology_edge_t {
    /// sizeof this struct, set by the caller: windlass_topology_edge_init does so.
    pub struct_size: usize,
    /// The kind of link.
    pub link: windlass_link_kind_t,
    /// The links in a row between the two, or WINDLASS_UNKNOWN.
    pub hops: u32,
    /// Whether kernels of the first node can read and write the memory of the second: 0 or 1.
    pub peer_access: u32,
    /// Whether atomics over the link are atomic for both nodes: 0, 1 or WINDLASS_UNKNOWN.
    pub native_atomics: u32,
    /// The relative cost of moving a byte, from 0 for the same memory to 15. It ranks links, and is no measurement.
    pub copy_cost: u32,
    /// The distance between the nearest NUMA nodes, 10 for the same node, or WINDLASS_UNKNOWN.
    pub numa_distance: u32,
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_topology_edge_t {
    const NAME: &'static str = "windlass_topology_edge_t";
}

/// The topology of `count` devices, at least one. The nodes are the processors of the first device in order, then those
/// of the next. The caller owns the topology.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_topology_create(
    count: usize,
    devices: *const Option<NonNull<windlass_device_t>>,
    topology: Option<&mut MaybeUninit<Option<NonNull<windlass_topology_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(topology, || {
            // SAFETY: the contract in the header covers that of `list`.
            let devices = unsafe { list("devices", count, devices) }?;
            let devices = devices.iter().map(|device| Ok(used(*device)?.device.clone()));
            let devices = devices.collect::<Result<Vec<Device>>>()?;
            let topology = Topology::between(&devices.iter().collect::<Vec<_>>())?;
            let address = |node: &facade::TopologyNode| node.pci_address.map(|at| c_string(&at.to_string()));
            let addresses = topology.nodes.iter().map(address).collect();
            Ok(Told { topology, addresses })
        })
    })
}

/// Adds a reference and returns the topology. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_topology_retain(
    topology: Option<NonNull<windlass_topology_t>>,
) -> Option<NonNull<windlass_topology_t>> {
    infallible(None, || handle::retain(topology).map(|()| topology))
}

/// Releases a reference. NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_topology_release(topology: Option<NonNull<windlass_topology_t>>) {
    infallible((), || {
        handle::release(topology);
        Ok(())
    });
}

/// The number of nodes; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_topology_node_count(topology: Option<NonNull<windlass_topology_t>>) -> usize {
    infallible(0, || Ok(used(topology)?.topology.nodes.len()))
}

/// A node by number, from 0. OUT_OF_RANGE if there are fewer. The string is valid until the topology's last reference is
/// released.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_topology_node(
    topology: Option<NonNull<windlass_topology_t>>,
    index: usize,
    node: *mut windlass_topology_node_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let told = used(topology)?;
        let nodes = &told.topology.nodes;
        let of = nodes.get(index).ok_or_else(|| {
            Error::out_of_range(format!("node {index} of a topology that has {}", nodes.len()))
        })?;
        let address = told.addresses.get(index).and_then(Option::as_ref);
        let value = windlass_topology_node_t {
            struct_size: size_of::<windlass_topology_node_t>(),
            device: of.device,
            physical_device: of.physical_device,
            pci_address: address.map_or(ptr::null(), |address| address.as_ptr()),
            numa_node: number(of.numa_node),
            is_host: of.is_host.into(),
            runtime: of.runtime,
        };
        // SAFETY: the contract in the header covers that of `write_struct`.
        unsafe { write_struct(node, &value) }
    })
}

/// The link from one node to another. OUT_OF_RANGE for a node beyond the last, and from a node to itself.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_topology_edge(
    topology: Option<NonNull<windlass_topology_t>>,
    from: u32,
    to: u32,
    edge: *mut windlass_topology_edge_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let told = used(topology)?;
        let of = told.topology.edge(from, to).ok_or_else(|| {
            let count = told.topology.nodes.len();
            Error::out_of_range(format!(
                "a link from node {from} to node {to} of a topology that has {count}"
            ))
        })?;
        let value = windlass_topology_edge_t {
            struct_size: size_of::<windlass_topology_edge_t>(),
            link: match of.link {
                LinkKind::Same => WINDLASS_LINK_SAME,
                LinkKind::Xgmi => WINDLASS_LINK_XGMI,
                LinkKind::HostBus => WINDLASS_LINK_HOST_BUS,
                LinkKind::Pcie => WINDLASS_LINK_PCIE,
                LinkKind::Network => WINDLASS_LINK_NETWORK,
                LinkKind::HostStaged => WINDLASS_LINK_HOST_STAGED,
                _ => WINDLASS_LINK_UNKNOWN,
            },
            hops: of.hops.unwrap_or(WINDLASS_UNKNOWN),
            peer_access: of.peer_access.into(),
            native_atomics: flag(of.native_atomics),
            copy_cost: of.copy_cost.into(),
            numa_distance: number(of.numa_distance),
        };
        // SAFETY: the contract in the header covers that of `write_struct`.
        unsafe { write_struct(edge, &value) }
    })
}
