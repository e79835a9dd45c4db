// SPDX-License-Identifier: MIT OR Apache-2.0
//! The topology of a device, and the facts of its processors.

use windlass_hal::{DeviceFacts, LinkKind, Result, Topology, TopologyEdge, TopologyNode};

use crate::{
    api::{self, Handle, api, check, sized, text},
    bindings::*,
};

/// A number that the library may not know.
pub(crate) fn number(value: u32) -> Option<u32> {
    (value != WINDLASS_UNKNOWN).then_some(value)
}

/// A truth value that the library may not know.
pub(crate) fn flag(value: u32) -> Option<bool> {
    number(value).map(|value| value != 0)
}

fn bytes(value: u64) -> Option<u64> {
    // The header writes it as a hexadecimal number, which bindgen may take for one of another type.
    (value != u64::MAX).then_some(value)
}

pub(crate) fn of(device: &Handle<windlass_device_t>) -> Result<Topology> {
    let devices = [device.get()];
    // SAFETY: a list of one handle.
    let topology = Handle::from(api::topology, |topology| unsafe {
        api().windlass_topology_create(1, devices.as_ptr(), topology)
    })?;
    // SAFETY: a handle.
    let count = unsafe { api().windlass_topology_node_count(topology.get()) };
    let nodes = (0..count).map(|index| node(&topology, index)).collect::<Result<_>>()?;
    Ok(Topology::new(nodes, |from, to| edge(&topology, from, to).unwrap_or_default()))
}

fn node(topology: &Handle<windlass_topology_t>, index: usize) -> Result<TopologyNode> {
    let mut given = sized!(windlass_topology_node_t);
    // SAFETY: the struct states its size.
    check(unsafe { api().windlass_topology_node(topology.get(), index, &mut given) })?;
    let mut node = TopologyNode::new(given.physical_device);
    node.device = given.device;
    node.is_host = given.is_host != 0;
    node.numa_node = number(given.numa_node);
    node.runtime = given.runtime;
    node.pci_address = (!given.pci_address.is_null()).then(|| text(given.pci_address).parse()).transpose()?;
    Ok(node)
}

fn edge(topology: &Handle<windlass_topology_t>, from: u32, to: u32) -> Result<TopologyEdge> {
    let mut given = sized!(windlass_topology_edge_t);
    // SAFETY: the struct states its size.
    check(unsafe { api().windlass_topology_edge(topology.get(), from, to, &mut given) })?;
    let link = match given.link {
        WINDLASS_LINK_SAME => LinkKind::Same,
        WINDLASS_LINK_XGMI => LinkKind::Xgmi,
        WINDLASS_LINK_HOST_BUS => LinkKind::HostBus,
        WINDLASS_LINK_PCIE => LinkKind::Pcie,
        WINDLASS_LINK_NETWORK => LinkKind::Network,
        WINDLASS_LINK_HOST_STAGED => LinkKind::HostStaged,
        _ => LinkKind::Unknown,
    };
    let mut edge = TopologyEdge::new(link, number(given.hops));
    edge.peer_access = given.peer_access != 0;
    edge.native_atomics = flag(given.native_atomics);
    edge.copy_cost = given.copy_cost as u8;
    edge.numa_distance = number(given.numa_distance);
    Ok(edge)
}

pub(crate) fn facts(device: &Handle<windlass_device_t>, physical_device: u32) -> Result<DeviceFacts> {
    let mut given = sized!(windlass_device_facts_t);
    // SAFETY: the struct states its size.
    check(unsafe { api().windlass_device_facts(device.get(), physical_device, &mut given) })?;
    let mut facts = DeviceFacts::default();
    facts.compute_units = number(given.compute_units);
    facts.wave_size = number(given.wave_size);
    facts.max_threads_per_compute_unit = number(given.max_threads_per_compute_unit);
    facts.compute_dies = number(given.compute_dies);
    facts.core_clock_khz = number(given.core_clock_khz);
    facts.memory_clock_khz = number(given.memory_clock_khz);
    facts.wall_clock_khz = number(given.wall_clock_khz);
    facts.memory_bus_bits = number(given.memory_bus_bits);
    facts.l1_cache_bytes = bytes(given.l1_cache_bytes);
    facts.l2_cache_bytes = bytes(given.l2_cache_bytes);
    facts.l3_cache_bytes = bytes(given.l3_cache_bytes);
    facts.local_memory_per_workgroup_bytes = number(given.local_memory_per_workgroup_bytes);
    facts.local_memory_per_compute_unit_bytes = number(given.local_memory_per_compute_unit_bytes);
    facts.registers_per_workgroup = number(given.registers_per_workgroup);
    facts.registers_per_compute_unit = number(given.registers_per_compute_unit);
    facts.max_vector_registers = number(given.max_vector_registers);
    facts.total_memory_bytes = bytes(given.total_memory_bytes);
    facts.free_memory_bytes = bytes(given.free_memory_bytes);
    facts.is_integrated = flag(given.is_integrated);
    facts.cooperative_launch = flag(given.cooperative_launch);
    Ok(facts)
}
