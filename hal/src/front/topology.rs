// SPDX-License-Identifier: MIT OR Apache-2.0
//! The topology of opened devices, and the facts of their processors.

use crate::{
    front::device::Device,
    words::{
        error::{Error, Result, ResultExt},
        facts::DeviceFacts,
        fork,
        topology::{LinkKind, Topology, TopologyEdge, TopologyNode},
    },
};

impl Device {
    /// The device's processors, one node for each of [`Limits::physical_devices`](crate::Limits::physical_devices), and
    /// the links between them. A device of one GPU has one node and no link. Facts that the system does not tell are
    /// `None`. `FAILED_PRECONDITION` in a child made by `fork`.
    pub fn topology(&self) -> Result<Topology> {
        fork::check()?;
        Ok(self.open.raw.topology())
    }

    /// The facts of one of the device's processors, counted from 0 as
    /// [`Limits::physical_affinity`](crate::Limits::physical_affinity) counts them. The free memory is that of now.
    /// `OUT_OF_RANGE` where there are fewer processors.
    pub fn facts(&self, physical_device: u32) -> Result<DeviceFacts> {
        fork::check()?;
        let count = self.limits().physical_devices;
        if physical_device >= count {
            return Err(Error::out_of_range(format!(
                "physical device {physical_device} of a device that has {count}"
            )));
        }
        let facts = self.open.raw.facts(physical_device);
        facts.context(|| format!("asking physical device {physical_device} for its facts"))
    }
}

impl Topology {
    /// The processors of all these devices, and the links between each two of them. Between processors of devices that
    /// do not know each other bytes move through host memory. `INVALID_ARGUMENT` for no devices.
    pub fn between(devices: &[&Device]) -> Result<Self> {
        if devices.is_empty() {
            return Err(Error::invalid_argument("the topology of no devices"));
        }
        let own: Vec<Self> = devices.iter().map(|device| device.topology()).collect::<Result<_>>()?;
        let mut nodes = Vec::new();
        let mut firsts = Vec::new();
        for (device, topology) in own.iter().enumerate() {
            firsts.push(nodes.len() as u32);
            let numbered = |node: &TopologyNode| TopologyNode { device: device as u32, ..node.clone() };
            nodes.extend(topology.nodes.iter().map(numbered));
        }
        let all = nodes.clone();
        Ok(Self::new(nodes, |from, to| {
            let (start, end) = (&all[from as usize], &all[to as usize]);
            let device = start.device as usize;
            let (raw, other) = (&devices[device].open.raw, &devices[end.device as usize].open.raw);
            if start.device != end.device
                && raw.domain() == other.domain()
                && start.physical_device == end.physical_device
            {
                return TopologyEdge::new(LinkKind::Same, Some(0)).with_peer_access();
            }
            if raw.domain() == other.domain() {
                let (from, to) = (from - firsts[device], to - firsts[end.device as usize]);
                return own[device].edge(from, to).cloned().unwrap_or_default();
            }
            let known = raw.edge_to(start.physical_device, end);
            known.unwrap_or_else(|| match start.is_host && end.is_host {
                true => TopologyEdge::new(LinkKind::Same, Some(0)).with_peer_access(),
                false => TopologyEdge::new(LinkKind::HostStaged, None),
            })
        }))
    }
}
