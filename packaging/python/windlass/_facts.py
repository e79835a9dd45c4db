# SPDX-License-Identifier: MIT OR Apache-2.0
"""Facts of the processors of a device."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from . import _abi


class DeviceFacts(NamedTuple):
    """The facts of one processor of a device. None stands for a fact that the device does not know. A fact without a unit in its name is
    a count."""

    compute_units: Optional[int]
    wave_size: Optional[int]
    max_threads_per_compute_unit: Optional[int]
    compute_dies: Optional[int]
    core_clock_khz: Optional[int]
    memory_clock_khz: Optional[int]
    wall_clock_khz: Optional[int]
    memory_bus_bits: Optional[int]
    local_memory_per_workgroup_bytes: Optional[int]
    local_memory_per_compute_unit_bytes: Optional[int]
    registers_per_workgroup: Optional[int]
    registers_per_compute_unit: Optional[int]
    max_vector_registers: Optional[int]
    is_integrated: Optional[bool]
    cooperative_launch: Optional[bool]
    l1_cache_bytes: Optional[int]
    l2_cache_bytes: Optional[int]
    l3_cache_bytes: Optional[int]
    total_memory_bytes: Optional[int]
    free_memory_bytes: Optional[int]


_WIDE = {"l1_cache_bytes", "l2_cache_bytes", "l3_cache_bytes", "total_memory_bytes", "free_memory_bytes"}
_FLAGS = {"is_integrated", "cooperative_launch"}


def facts_of(struct: Any) -> DeviceFacts:
    """The facts of a struct of C."""
    return DeviceFacts(*(_fact(name, getattr(struct, name)) for name in DeviceFacts._fields))


def _fact(name: str, value: int) -> Any:
    if value == (_abi.UNKNOWN_BYTES if name in _WIDE else _abi.UNKNOWN):
        return None
    return bool(value) if name in _FLAGS else value
