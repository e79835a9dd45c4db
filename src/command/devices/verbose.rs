// SPDX-License-Identifier: MIT OR Apache-2.0
//! `devices --verbose`: the processors of each device, their facts, and the links between them.

use crate::{Device, DeviceFacts, Result, Topology, TopologyEdge};
use serde::{Deserialize, Serialize};

/// The processors of a driver's devices, and the links between them.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Description {
    pub(super) processors: Vec<Processor>,
    pub(super) links: Vec<Link>,
    /// The devices that cannot be opened, with the reasons.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(super) problems: Vec<String>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Processor {
    pub(super) device: String,
    pub(super) physical_device: u32,
    pub(super) is_host: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pci_address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) numa_node: Option<u32>,
    /// The known facts, by name.
    pub(super) facts: serde_json::Map<String, serde_json::Value>,
}

/// A link, from one processor to another by their numbers in the list.
#[derive(Serialize, Deserialize)]
pub(super) struct Link {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hops: Option<u32>,
    pub(super) peer_access: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) native_atomics: Option<bool>,
    pub(super) copy_cost: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) numa_distance: Option<u32>,
}

/// Opens the devices and describes their processors.
pub(super) fn describe(uris: &[String]) -> Description {
    let mut description = Description::default();
    let mut opened = Vec::new();
    for uri in uris {
        match crate::open(uri) {
            Ok(device) => opened.push((uri, device)),
            Err(error) => description.problems.push(format!("{uri}: {error}")),
        }
    }
    if !opened.is_empty()
        && let Err(error) = add(&mut description, &opened)
    {
        description.problems.push(error.to_string());
    }
    description
}

fn add(description: &mut Description, opened: &[(&String, Device)]) -> Result<()> {
    let topology = Topology::between(&opened.iter().map(|(_, device)| device).collect::<Vec<_>>())?;
    for node in &topology.nodes {
        let Some((uri, device)) = opened.get(node.device as usize) else { continue };
        description.processors.push(Processor {
            device: (*uri).clone(),
            physical_device: node.physical_device,
            is_host: node.is_host,
            pci_address: node.pci_address.map(|address| address.to_string()),
            numa_node: node.numa_node,
            facts: known(&device.facts(node.physical_device)?),
        });
    }
    description.links = topology.edges.iter().map(link).collect();
    Ok(())
}

fn link(edge: &TopologyEdge) -> Link {
    Link {
        from: edge.from,
        to: edge.to,
        kind: edge.link.name().to_owned(),
        hops: edge.hops,
        peer_access: edge.peer_access,
        native_atomics: edge.native_atomics,
        copy_cost: edge.copy_cost,
        numa_distance: edge.numa_distance,
    }
}

/// The facts that the device knows, by their names in the HAL.
fn known(facts: &DeviceFacts) -> serde_json::Map<String, serde_json::Value> {
    let number = |value: Option<u32>| value.map(serde_json::Value::from);
    let bytes = |value: Option<u64>| value.map(serde_json::Value::from);
    let flag = |value: Option<bool>| value.map(serde_json::Value::from);
    let all = [
        ("compute_units", number(facts.compute_units)),
        ("wave_size", number(facts.wave_size)),
        ("max_threads_per_compute_unit", number(facts.max_threads_per_compute_unit)),
        ("compute_dies", number(facts.compute_dies)),
        ("core_clock_khz", number(facts.core_clock_khz)),
        ("memory_clock_khz", number(facts.memory_clock_khz)),
        ("wall_clock_khz", number(facts.wall_clock_khz)),
        ("memory_bus_bits", number(facts.memory_bus_bits)),
        ("l1_cache_bytes", bytes(facts.l1_cache_bytes)),
        ("l2_cache_bytes", bytes(facts.l2_cache_bytes)),
        ("l3_cache_bytes", bytes(facts.l3_cache_bytes)),
        ("local_memory_per_workgroup_bytes", number(facts.local_memory_per_workgroup_bytes)),
        ("local_memory_per_compute_unit_bytes", number(facts.local_memory_per_compute_unit_bytes)),
        ("registers_per_workgroup", number(facts.registers_per_workgroup)),
        ("registers_per_compute_unit", number(facts.registers_per_compute_unit)),
        ("max_vector_registers", number(facts.max_vector_registers)),
        ("total_memory_bytes", bytes(facts.total_memory_bytes)),
        ("free_memory_bytes", bytes(facts.free_memory_bytes)),
        ("is_integrated", flag(facts.is_integrated)),
        ("cooperative_launch", flag(facts.cooperative_launch)),
    ];
    let known = all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    known.collect()
}

impl Description {
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (number, processor) in self.processors.iter().enumerate() {
            let mut place =
                format!("    processor {number}: {} of {}", processor.physical_device, processor.device);
            if processor.is_host {
                place.push_str(", the host");
            }
            if let Some(address) = &processor.pci_address {
                place.push_str(&format!(", PCI {address}"));
            }
            if let Some(node) = processor.numa_node {
                place.push_str(&format!(", NUMA node {node}"));
            }
            text.push_str(&place);
            text.push('\n');
            for (name, value) in &processor.facts {
                text.push_str(&format!("      {name}  {value}\n"));
            }
        }
        for link in &self.links {
            let mut words = vec![format!("processor {} to {}", link.from, link.to), link.kind.clone()];
            words.extend(link.hops.map(|hops| format!("{hops} hops")));
            words.push(if link.peer_access { "peer access" } else { "no peer access" }.to_owned());
            words.extend(link.native_atomics.map(|has| format!("native atomics {has}")));
            words.push(format!("cost {}", link.copy_cost));
            words.extend(link.numa_distance.map(|distance| format!("NUMA distance {distance}")));
            text.push_str(&format!("    {}\n", words.join(", ")));
        }
        for problem in &self.problems {
            text.push_str(&format!("    not described: {}\n", problem.replace('\n', "\n      ")));
        }
        text
    }
}
