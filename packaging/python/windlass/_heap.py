# SPDX-License-Identifier: MIT OR Apache-2.0
"""The kinds of memory of a device, and the possible uses of buffers."""

from __future__ import annotations

import ctypes
import enum
from typing import Any, List, NamedTuple, Optional

from . import _abi
from ._buffer import BufferParams, BufferUsage, MemoryType, params_argument, sized
from ._handle import Handle
from ._library import lib, number


class Heap(NamedTuple):
    """A kind of memory that a device allocates: its place, the allowed uses, the size in bytes of the largest buffer in an empty heap (None
    if it is unknown), and the alignment in bytes of all addresses."""

    memory_type: MemoryType
    usage: BufferUsage
    max_size: Optional[int]
    min_alignment: int


class Compatibility(enum.IntFlag):
    """The possible uses of buffers with given parameters, with IREE's numbers. Nothing stands for a buffer that cannot be."""

    ALLOCATABLE = _abi.COMPATIBILITY_ALLOCATABLE
    """The device can allocate them."""
    IMPORTABLE = _abi.COMPATIBILITY_IMPORTABLE
    """Foreign memory can be imported as such a buffer."""
    EXPORTABLE = _abi.COMPATIBILITY_EXPORTABLE
    """Their addresses can be exported."""
    QUEUE_TRANSFER = _abi.COMPATIBILITY_QUEUE_TRANSFER
    """Queues can fill, update and copy them."""
    QUEUE_DISPATCH = _abi.COMPATIBILITY_QUEUE_DISPATCH
    """Dispatches can use them."""
    LOW_PERFORMANCE = _abi.COMPATIBILITY_LOW_PERFORMANCE
    """They are in another memory than the parameters prefer."""


def heaps_of(device: Handle) -> List[Heap]:
    """The kinds of memory of a device."""
    found = []
    for index in range(lib().windlass_device_heap_count(device)):
        heap: Any = sized(_abi.windlass_heap_t)
        lib().windlass_device_heap(device, index, ctypes.byref(heap))
        most = None if heap.max_size == _abi.UNKNOWN_BYTES else heap.max_size
        found.append(Heap(MemoryType(heap.memory_type), BufferUsage(heap.usage), most, heap.min_alignment))
    return found


def compatibility_of(device: Handle, size: int, params: Optional[BufferParams]) -> Compatibility:
    """The possible uses of a buffer of a device."""
    found = ctypes.c_uint32()
    argument = params_argument(params)
    lib().windlass_device_compatibility(device, argument, number("a size", size), ctypes.byref(found))
    return Compatibility(found.value)
