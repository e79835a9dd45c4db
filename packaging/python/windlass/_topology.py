# SPDX-License-Identifier: MIT OR Apache-2.0
"""The processors of devices, and the links between them."""

from __future__ import annotations

import ctypes
import enum
import reprlib
from typing import Any, List, NamedTuple, Optional, Sequence

from . import _abi
from ._buffer import sized
from ._handle import Handle, Object, out
from ._library import lib, number, text

_MOST = 2**32 - 1


class LinkKind(enum.IntEnum):
    """The kind of a link."""

    UNKNOWN = _abi.LINK_UNKNOWN
    """The driver does not know."""
    SAME = _abi.LINK_SAME
    """The same processor with the same memory."""
    XGMI = _abi.LINK_XGMI
    """AMD's Infinity Fabric between GPUs."""
    HOST_BUS = _abi.LINK_HOST_BUS
    """The bus between sockets of the host."""
    PCIE = _abi.LINK_PCIE
    """The PCI Express bus."""
    NETWORK = _abi.LINK_NETWORK
    """A network between machines."""
    HOST_STAGED = _abi.LINK_HOST_STAGED
    """No direct link: bytes move through host memory."""


class TopologyNode(NamedTuple):
    """A processor with its memory."""

    device: int
    """The number of its device in the list that the topology was made of."""
    physical_device: int
    """Its number among the device's processors, as `Device.physical_affinity` takes it."""
    pci_address: Optional[str]
    """The address on the PCI bus, such as "0000:c1:00.0"; None where it has none, or the driver does not know it."""
    numa_node: Optional[int]
    """The NUMA node of the host that is nearest, or None if it is unknown."""
    is_host: bool
    """Whether the processor is the host's."""
    runtime: int
    """The library, or the simulated machine, through which it is reached. Two nodes with the same number and PCI address are one
    processor."""


class TopologyEdge(NamedTuple):
    """The link from one node to another."""

    link: LinkKind
    """The kind of link."""
    hops: Optional[int]
    """The links in a row between the two, or None if it is unknown."""
    peer_access: bool
    """Whether kernels of the first node can read and write the memory of the second."""
    native_atomics: Optional[bool]
    """Whether atomics over the link are atomic for both nodes, or None if it is unknown."""
    copy_cost: int
    """The relative cost of moving a byte, from 0 for the same memory to 15. It ranks links, and is no measurement."""
    numa_distance: Optional[int]
    """The distance between the nearest NUMA nodes, 10 for the same node, or None if it is unknown."""


class Topology(Object):
    """The processors of devices, and a link for each ordered pair of them. It describes the moment at which it was made.
    `Device.topology` is that of one device, `Topology.between` that of several."""

    __slots__ = ()
    KIND = "topology"

    @classmethod
    def between(cls, devices: Sequence[Any]) -> Topology:
        """The topology of devices, at least one. The nodes are the processors of the first device in order, then those of the next."""
        # A device makes its own topology, so its type is in a layer above.
        handles = []
        for device in devices:
            if not isinstance(device, Object) or device.KIND != "device":
                raise TypeError(f"a device is needed, and this is {reprlib.repr(device)}")
            handles.append(device._h)
        return cls._of(handles)

    @classmethod
    def _of(cls, handles: List[Handle]) -> Topology:
        pointer = out()
        array = (ctypes.c_void_p * len(handles))(*(handle.address for handle in handles))
        lib().windlass_topology_create(len(handles), array if handles else None, ctypes.byref(pointer))
        return cls._around(pointer.value)

    @property
    def nodes(self) -> List[TopologyNode]:
        """The processors."""
        found, handle = [], self._h
        for index in range(lib().windlass_topology_node_count(handle)):
            node: Any = sized(_abi.windlass_topology_node_t)
            lib().windlass_topology_node(handle, index, ctypes.byref(node))
            address = None if node.pci_address is None else text(node.pci_address)
            place = node.device, node.physical_device, address, _known(node.numa_node)
            found.append(TopologyNode(*place, bool(node.is_host), node.runtime))
        return found

    def edge(self, start: int, end: int) -> TopologyEdge:
        """The link from one node to another, by their numbers. OutOfRangeError beyond the last, and from a node to itself."""
        edge: Any = sized(_abi.windlass_topology_edge_t)
        from_, to = number("a node", start, _MOST), number("a node", end, _MOST)
        lib().windlass_topology_edge(self._h, from_, to, ctypes.byref(edge))
        atomics = _known(edge.native_atomics)
        try:
            link = LinkKind(edge.link)
        except ValueError:
            link = LinkKind.UNKNOWN
        return TopologyEdge(
            link,
            _known(edge.hops),
            bool(edge.peer_access),
            None if atomics is None else bool(atomics),
            edge.copy_cost,
            _known(edge.numa_distance),
        )


def _known(value: int) -> Optional[int]:
    return None if value == _abi.UNKNOWN else value
